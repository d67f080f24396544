//! Work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` on each of `threads` threads, this one among them.
pub(crate) fn on_threads<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut results = vec![work()];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

/// `work` of each item, in their order; an item is taken by whichever thread is free.
pub(crate) fn map_on_threads<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items: Vec<_> = items.into_iter().map(|item| std::sync::Mutex::new(Some(item))).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let item = items.get(at)?.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        item.map(|item| (at, item))
    };
    let done = on_threads(threads.min(items.len()), || {
        Vec::from_iter(std::iter::from_fn(|| take().map(|(at, item)| (at, work(item)))))
    });
    let mut done: Vec<(usize, R)> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for threads in [0, 1, 3, 200] {
            let items = Vec::from_iter(0..100);
            let expected: Vec<String> = items.iter().map(ToString::to_string).collect();
            assert_eq!(map_on_threads(items, threads, |item| item.to_string()), expected);
        }
    }
}
