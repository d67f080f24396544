//! Samples of bounded size that do not depend on the order in which candidates are met.

/// The `capacity` smallest of all items offered: a uniform sample without replacement where an
/// item begins with a hash of its identity.
#[derive(Clone, Debug)]
pub(crate) struct Smallest<T> {
    capacity: usize,
    kept: Vec<T>,
    /// Items from this one on are not among the smallest.
    limit: Option<T>,
}

impl<T: Ord + Clone> Smallest<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Smallest { capacity, kept: Vec::new(), limit: None }
    }

    /// Whether an item that compares to the current limit by `order` would be refused.
    pub(crate) fn refuses(&self, order: impl Fn(&T) -> bool) -> bool {
        self.limit.as_ref().is_some_and(order)
    }

    /// Offers an item.
    pub(crate) fn offer(&mut self, item: T) {
        if self.limit.as_ref().is_some_and(|limit| item >= *limit) {
            return;
        }
        self.kept.push(item);
        if self.kept.len() >= 2 * self.capacity {
            self.shrink();
        }
    }

    /// The sample, in ascending order.
    pub(crate) fn into_sorted(mut self) -> Vec<T> {
        self.kept.sort_unstable();
        self.kept.truncate(self.capacity);
        self.kept
    }

    fn shrink(&mut self) {
        let (_, first_out, _) = self.kept.select_nth_unstable(self.capacity);
        self.limit = Some(first_out.clone());
        self.kept.truncate(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_smallest_whatever_the_order(
            items in prop::collection::vec(0_u32..50, 0..80),
            capacity in 1_usize..10,
        ) {
            let mut sample = Smallest::new(capacity);
            items.iter().for_each(|&item| sample.offer(item));
            let mut sorted = items;
            sorted.sort_unstable();
            sorted.truncate(capacity);
            prop_assert_eq!(sample.into_sorted(), sorted);
        }
    }
}
