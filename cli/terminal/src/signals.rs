//! A command that is asked to end leaves no working folders.

use dropcast_pipeline::leave_nothing;
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Removes what jobs are at work on before a signal ends the process, as it would without us. A signal that is
/// ignored, such as SIGHUP under `nohup`, stays so.
pub(crate) fn leave_nothing_at_signals() {
    let ends = [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU];
    let ends = ends.into_iter().filter(|&signal| !is_ignored(signal));
    // Without it the next job cleans up.
    let Ok(mut signals) = Signals::new(ends) else { return };
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            leave_nothing(|| {
                let _ = emulate_default_handler(signal);
            });
        }
    };
    // Nor without a thread.
    let _ = std::thread::Builder::new().spawn(watch);
}

/// Lets a write beyond the limit on a file's size (`ulimit -f`) fail like any other, in place of a signal that
/// ends the process.
pub(crate) fn survive_large_writes() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether the process was started so that it ignores a signal. Where that cannot be known, it is taken to.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}
