//! Keeping a library's panic on damaged input from being ours.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `step`; if it panics, gives the message of the panic instead of printing it.
///
/// For steps whose state is given up after a panic. The panic hook is wrapped once for the process:
/// panics outside guarded steps are reported as they were before.
pub(crate) fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    static WRAP_HOOK: Once = Once::new();
    WRAP_HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                report(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(outer);
    done.map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded(|| -> u8 { panic!("plain") }), Err("plain".to_owned()));
        let number = 3;
        assert_eq!(guarded(|| -> u8 { panic!("number {number}") }), Err("number 3".to_owned()));
        assert!(!GUARDED.get());
    }
}
