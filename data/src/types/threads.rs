//! The one way to work on several threads.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;

/// A pool of threads, idle between calls.
///
/// ```
/// use dropcast_data::Threads;
///
/// let threads = Threads::new(2.try_into()?);
/// assert_eq!(threads.map(vec![1, 2, 3], |number| number * 10), [10, 20, 30]);
/// # Ok::<(), std::num::TryFromIntError>(())
/// ```
#[derive(Debug)]
pub struct Threads {
    /// `None` for one thread, the caller's.
    pool: Option<ThreadPool>,
}

/// More threads than this do not help, and the system may be unable to start them.
const MOST_THREADS: usize = 256;

impl Threads {
    /// As many threads as asked for, at most 256. If the system cannot start them, the caller's
    /// thread does all the work.
    pub fn new(threads: NonZeroUsize) -> Self {
        let threads = threads.get().min(MOST_THREADS);
        let start = || ThreadPoolBuilder::new().num_threads(threads).build().ok();
        Threads { pool: if threads > 1 { start() } else { None } }
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// The results of `work` on each item, in order. Free threads take items.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.into_par_iter().with_max_len(1).map(&work).collect())
            }
            _ => items.into_iter().map(work).collect(),
        }
    }

    /// The results of both, at once if there are threads.
    pub fn join<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match &self.pool {
            Some(pool) => pool.join(one, other),
            None => (one(), other()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> Threads {
        Threads::new(NonZeroUsize::new(count).unwrap())
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for count in [1, 3, 200] {
            let items = Vec::from_iter(0..100);
            let expected: Vec<String> = items.iter().map(ToString::to_string).collect();
            assert_eq!(threads(count).map(items, |item| item.to_string()), expected);
        }
    }

    #[test]
    fn as_many_threads_work_as_are_asked_for() {
        assert_eq!([1, 2, 7].map(|count| threads(count).count()), [1, 2, 7]);
        assert_eq!(threads(usize::MAX).count(), MOST_THREADS);
    }
}
