//! Byte features on the scale of another buffer.
//!
//! LQD pushes out when the buffer is full, so what counts is a queue's share of the buffer: with
//! the buffer and all queues twice as large, LQD would decide the same. So rows of switches with
//! different buffers are scaled to one buffer before a forest sees them, and a forest's thresholds
//! are scaled to the buffer of the switch it will run in.

use crate::{FeatureRange, Forest, Model, Node};
use dropcast_data::{LabelledBatch, SwitchSpecs};
use dropcast_features::Feature;
use std::collections::BTreeMap;

/// Scales bytes of a switch with one buffer to those of a switch with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferScale {
    from_bytes: u64,
    to_bytes: u64,
}

/// The model does not record its buffer, so there is nothing to scale from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model does not record the buffer its thresholds are for")]
pub struct UnknownBuffer;

impl BufferScale {
    /// The scale from buffer to buffer, bytes; `None` if they are equal or one is 0.
    pub fn between(from_bytes: u32, to_bytes: u32) -> Option<Self> {
        let differ = from_bytes != to_bytes && from_bytes > 0 && to_bytes > 0;
        differ.then_some(BufferScale { from_bytes: from_bytes.into(), to_bytes: to_bytes.into() })
    }

    /// `value * to / from`, rounded down, saturating at `u32::MAX`.
    pub fn value(self, value: u32) -> u32 {
        saturated(u64::from(value) * self.to_bytes / self.from_bytes)
    }

    /// The threshold that splits unscaled values as `threshold` splits scaled ones: the largest `x`
    /// with `value(x) <= threshold`.
    pub fn threshold(self, threshold: u32) -> u32 {
        if threshold == u32::MAX {
            return u32::MAX;
        }
        // x * to / from < threshold + 1, that is x * to < (threshold + 1) * from.
        saturated(((u64::from(threshold) + 1) * self.from_bytes - 1) / self.to_bytes)
    }

    /// The unscaled values that are in `range` once they are scaled; if there are none, the one value just below.
    fn range(self, range: FeatureRange) -> FeatureRange {
        let highest = self.threshold(range.highest);
        let below = range.lowest.checked_sub(1).map(|below| self.threshold(below));
        let lowest = below.map_or(0, |below| below.saturating_add(1).min(highest));
        FeatureRange { lowest, highest }
    }
}

/// Scales the byte columns of `features` to `buffer_bytes`, for each row of a switch with another
/// buffer. Rows without a switch number belong to switch 0; rows of a switch without a description
/// are unchanged.
pub fn scale_to_buffer(
    batch: &mut LabelledBatch,
    features: &[Feature],
    switches: &SwitchSpecs,
    buffer_bytes: u32,
) {
    let rows = batch.len();
    let scale_of = |id| BufferScale::between(switches.get(id)?.buffer_bytes, buffer_bytes);
    let scales: Vec<Option<BufferScale>> = match (switches, &batch.arrivals) {
        (SwitchSpecs::Each(_), Some(arrivals)) => {
            let mut known = BTreeMap::new();
            let scale_of = |&id: &u16| *known.entry(id).or_insert_with(|| scale_of(id));
            arrivals.switch_id.iter().map(scale_of).collect()
        }
        _ => vec![scale_of(0); rows],
    };
    if scales.iter().all(Option::is_none) {
        return;
    }
    for (_, column) in
        features.iter().zip(&mut batch.features).filter(|(feature, _)| feature.scales_with_buffer())
    {
        for (value, scale) in column.iter_mut().zip(&scales) {
            *value = scale.map_or(*value, |scale| scale.value(*value));
        }
    }
}

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<P: Clone> Model<P> {
    /// The same model for a switch with another buffer, in bytes: on unscaled features it decides
    /// there as this one does on features scaled to its own buffer.
    ///
    /// # Errors
    /// [`UnknownBuffer`].
    pub fn for_buffer(&self, buffer_bytes: u32) -> Result<Self, UnknownBuffer> {
        let own_bytes = self.switch.buffer_bytes.ok_or(UnknownBuffer)?;
        let mut model = self.clone();
        if let Some(scale) = BufferScale::between(buffer_bytes, own_bytes) {
            let features = self.features.features();
            scale_thresholds(&mut model.forest, features, scale);
            for (range, feature) in model.ranges.iter_mut().flatten().zip(features) {
                if feature.scales_with_buffer() {
                    *range = scale.range(*range);
                }
            }
            model.switch.buffer_bytes = Some(buffer_bytes);
            model.rescaled_from_bytes = self.rescaled_from_bytes.or(Some(own_bytes));
        }
        Ok(model)
    }
}

fn scale_thresholds(forest: &mut Forest, features: &[Feature], scale: BufferScale) {
    for node in forest.trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
        if let Node::Split { feature, threshold, .. } = node
            && features[usize::from(*feature)].scales_with_buffer()
        {
            *threshold = scale.threshold(*threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SwitchContext, Tree};
    use proptest::prelude::*;

    /// Values and thresholds near each other after scaling, or anywhere.
    fn case() -> impl Strategy<Value = (u32, u32, u32, u32)> {
        (1..=u32::MAX, 1..=u32::MAX, any::<u32>(), any::<u32>(), any::<bool>(), 0..3_u32).prop_map(
            |(from, to, value, threshold, near, off)| {
                let scale = BufferScale::between(from, to);
                let scaled = scale.map_or(value, |scale| scale.value(value));
                let near_threshold = (scaled.saturating_add(1)).saturating_sub(off);
                (from, to, value, if near { near_threshold } else { threshold })
            },
        )
    }

    proptest! {
        #[test]
        fn a_scaled_range_holds_the_values_that_the_range_holds_after_scaling(
            (from, to) in (1..=u32::MAX, 1..=u32::MAX),
            ends in any::<[u32; 2]>(),
            value in any::<u32>(),
            (near, shift) in (any::<bool>(), 0_u32..32),
        ) {
            let ends = ends.map(|end| end >> shift);
            let range = FeatureRange { lowest: ends[0].min(ends[1]), highest: ends[0].max(ends[1]) };
            if let Some(scale) = BufferScale::between(from, to) {
                let before = scale.range(range);
                prop_assert!(before.lowest <= before.highest);
                let value = if near { before.lowest.saturating_add(value % 3).saturating_sub(1) } else { value };
                let scaled = scale.value(value);
                let is_within = (range.lowest..=range.highest).contains(&scaled);
                let is_empty = scale.value(before.highest) < range.lowest;
                prop_assert_eq!((before.lowest..=before.highest).contains(&value) && !is_empty, is_within);
            }
        }

        #[test]
        fn a_scaled_threshold_decides_as_the_threshold_does_of_scaled_values(
            (from, to, value, threshold) in case(),
        ) {
            if let Some(scale) = BufferScale::between(from, to) {
                let exact = u128::from(value) * u128::from(to) / u128::from(from);
                let expected = exact.min(u128::from(u32::MAX)) <= u128::from(threshold);
                prop_assert_eq!(scale.value(value) <= threshold, expected);
                prop_assert_eq!(value <= scale.threshold(threshold), expected);
            }
        }
    }

    #[test]
    fn one_buffer_needs_no_scale() {
        assert_eq!(BufferScale::between(7, 7), None);
        assert_eq!(BufferScale::between(0, 7), None);
        assert_eq!(BufferScale::between(7, 0), None);
    }

    #[test]
    fn only_thresholds_in_bytes_follow_the_buffer() {
        let split =
            |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
        let leaf = |weight| Node::Leaf { weight };
        let nodes = vec![split(0, 99, 1, 2), leaf(0), split(1, 3, 3, 4), leaf(9), leaf(200)];
        let forest =
            Forest { features: Vec::new(), vote_threshold: 127, trees: vec![Tree { nodes }] };
        let features = "queue_length,rank".parse().unwrap();
        let switch = SwitchContext { buffer_bytes: Some(1000), ..SwitchContext::default() };
        let model = Model::<()>::new(forest, features, switch);
        let other = model.for_buffer(500).unwrap();
        assert_eq!(other.forest.trees[0].nodes[0], split(0, 49, 1, 2));
        assert_eq!(other.forest.trees[0].nodes[2], split(1, 3, 3, 4));
        assert_eq!(other.switch.buffer_bytes, Some(500));
        assert_eq!(other.rescaled_from_bytes, Some(1000));
        assert_eq!(other.for_buffer(250).unwrap().rescaled_from_bytes, Some(1000));
        assert_eq!(model.for_buffer(1000).unwrap(), model);
        let unknown = Model { switch: SwitchContext::default(), ..model };
        assert_eq!(unknown.for_buffer(500), Err(UnknownBuffer));
    }
}
