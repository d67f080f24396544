//! How much the parts of a sweep's rows can show.

use crate::PipelineError;
use crate::traces::LabelledTraces;
use dropcast_data::SwitchSpec;
use dropcast_train::{Part, PartSize, RunBatch, RunSwitch, Split, SweepParts, rows_of_part};
use std::collections::BTreeMap;

/// Counts the rows of each part of `split`, with their drops and episodes of drops.
pub(super) fn part_sizes(
    traces: &LabelledTraces,
    split: &Split,
    seed: u64,
) -> Result<SweepParts, PipelineError> {
    // Labels are what matters; a column of features there must be.
    let traces =
        traces.with_features(traces.features().features().iter().take(1).copied().collect());
    let size = |part| part_size(&traces, split, seed, part);
    Ok(SweepParts {
        train: size(Part::Train)?,
        validation: size(Part::Validation)?,
        test: size(Part::Test)?,
    })
}

fn part_size(
    traces: &LabelledTraces,
    split: &Split,
    seed: u64,
    part: Part,
) -> Result<Option<PartSize>, PipelineError> {
    if !split.keeps(part) {
        return Ok(None);
    }
    let mut size = PartSize::default();
    // None as soon as any drop's time or switch is not known.
    let mut episodes = (!split.is_random()).then(Episodes::default);
    for batch in rows_of_part(traces, traces.features().len(), split, seed, part)? {
        let RunBatch { run, batch } = batch?;
        size.rows += batch.len() as u64;
        let dropped = batch.drop.iter().enumerate().filter(|(_, dropped)| **dropped);
        for (row, _) in dropped {
            size.drops += 1;
            let arrivals = batch.arrivals.as_ref();
            let arrival = arrivals.map(|of| (of.switch_id[row], of.time_ns[row]));
            episodes = episodes.take().and_then(|mut episodes| {
                let (switch, time_ns) = arrival?;
                episodes.add((run, switch), time_ns, traces.spec(run, switch)?);
                Some(episodes)
            });
        }
    }
    size.episodes = episodes.map(|episodes| episodes.count);
    Ok(Some(size))
}

/// Episodes of drops, of all switches.
#[derive(Default)]
struct Episodes {
    count: u64,
    /// When the last drop of a switch arrived.
    last_ns: BTreeMap<RunSwitch, u64>,
}

impl Episodes {
    fn add(&mut self, switch: RunSwitch, time_ns: u64, spec: &SwitchSpec) {
        let last_ns = self.last_ns.insert(switch, time_ns);
        let continues = |last_ns: u64| time_ns.saturating_sub(last_ns) <= spec.drain_ns();
        self.count += u64::from(!last_ns.is_some_and(continues));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_that_follow_each_other_sooner_than_a_buffer_drains_are_one_episode() {
        // 1 MB at 10 Gb/s: 0.8 ms.
        let spec = SwitchSpec::uniform(4, 10_000_000_000, 1_000_000, 32_000);
        assert_eq!(spec.drain_ns(), 800_000);
        let large = SwitchSpec::uniform(4, 10_000_000_000, u32::MAX, 32_000);
        assert_eq!(large.drain_ns(), 3_435_973_836);
        let mut episodes = Episodes::default();
        for (switch, time_ns) in
            [(1, 0), (1, 700_000), (2, 800_000), (1, 1_500_000), (1, 2_300_001)]
        {
            episodes.add((9, switch), time_ns, &spec);
        }
        assert_eq!(episodes.count, 3, "two at switch 1, one at switch 2");
        episodes.add((8, 1), 2_300_001, &spec);
        assert_eq!(episodes.count, 4, "another run");
    }
}
