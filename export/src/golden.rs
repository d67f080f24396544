//! Rows with scores, and packets with verdicts: what one's own code of a model is checked with.

use crate::checked::Checked;
use crate::decision;
use crate::packets::{PacketArrival, PolicyPackets, decided};
use crate::target::{EmittedFile, Emitter};
use crate::vectors::Vectors;
use crate::{ExportError, Origin};
use dropcast_data::random::SplitMix64;
use dropcast_data::{SwitchSpec, Victim};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_switch::policies::oracle::drain_time_ns;
use dropcast_switch::{Credence, Fit, LineRate, Live};

/// Rows and packets.
pub(crate) const TARGET: Emitter = Emitter {
    name: "vectors",
    about: "rows with scores and decisions as CSV, to check your own code; with --switch packets with verdicts",
    decides: true,
    has_layouts: false,
    emit,
};

const SEED: u64 = 1;
const RANDOM_ROWS: usize = 10_000;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let file = |what: &str, text: String| EmittedFile {
        name: format!("{}_{what}.csv", model.prefix),
        bytes: text.into_bytes(),
    };
    let rows = Vectors::new(model.forest, SEED, RANDOM_ROWS)?;
    let mut files = vec![file("rows", rows.to_csv(model.forest))];
    if let Some(switch) = &model.origin.switch {
        decision::check(model, switch, TARGET.name)?;
        files.push(file("packets", credence_packets(model.forest, model.origin, switch)?.to_csv()));
    }
    Ok(files)
}

/// What Credence with a forest decides about 20,000 packets that arrive in bursts, and when these leave: its ports and virtual LQD's serve at
/// line rate, predictions are always followed.
///
/// # Errors
/// If the origin has a feature that dropcast does not compute.
pub fn credence_packets(
    forest: &Forest,
    origin: &Origin,
    switch: &SwitchSpec,
) -> Result<PolicyPackets, ExportError> {
    let names: Vec<&str> = origin.columns.iter().map(|column| column.name.as_str()).collect();
    let features: FeatureSet = names.join(",").parse().map_err(|error| ExportError::Decision {
        target: TARGET.name,
        problem: format!("{error}"),
    })?;
    let live = Live { features, oracle: forest.clone() };
    let (victim, fit, service) = (Victim::default(), Fit::Exact, LineRate::new(switch));
    let policy = Credence::new(switch, victim, fit, service, live);
    Ok(decided(policy, switch, bursts(switch)))
}

/// So many packets arrive.
const ARRIVALS: usize = 20_000;

/// Bursts of up to one and a half buffers towards one to seven queues, or all, at rates from that of a port to 32 times as
/// much, with packets for a queue of the burst before and for others between them. One burst in three is of two buffers.
fn bursts(spec: &SwitchSpec) -> Vec<PacketArrival> {
    let random = &mut SplitMix64::new(1);
    let buffer_bytes = spec.buffer_bytes;
    let last_queue = u32::try_from(spec.queues() - 1).unwrap_or(u32::MAX);
    // Large buffers are filled by large packets, so that they overflow often enough.
    let largest = (buffer_bytes / 64).clamp(1_500, 9_000).min(buffer_bytes);
    let drain_ns = u32::try_from(drain_time_ns(spec)).unwrap_or(u32::MAX);
    let (mut now, mut left_bytes, mut before, mut speed) = (0_u64, 0, 0, 1);
    let mut hot = [0, 0];
    let arrival = |nth| {
        let others = if nth < ARRIVALS / 2 { 3 } else { 15 };
        if left_bytes == 0 {
            left_bytes = u64::from(random.between(buffer_bytes / 8, buffer_bytes)) * 3 / 2;
            before = hot[0];
            hot = [random.between(0, last_queue); 2];
            hot = match random.between(0, 7) {
                7 => [0, last_queue],
                more => [hot[0], hot[1].saturating_add(more).min(last_queue)],
            };
            speed = 1_u128 << random.between(0, 5);
            if random.between(0, 2) == 0 {
                // Eight queues overflow: predictions come true, and are followed.
                (hot[1], speed) = (hot[0].saturating_add(7).min(last_queue), 32);
                left_bytes = 2 * u64::from(buffer_bytes);
            }
            // A port alone takes longer to send a full buffer than all together.
            now += u64::from(random.between(0, drain_ns)) << (2 * random.between(0, 3));
        }
        let size_bytes = random.between(64.min(largest), largest);
        left_bytes = left_bytes.saturating_sub(size_bytes.into());
        let port = hot[0] as usize / usize::from(spec.queues_per_port);
        let sent_bits_ns = u128::from(size_bytes) * 8_000_000_000;
        let gap_ns = sent_bits_ns / (speed * u128::from(spec.line_rate_bps[port])).max(1);
        now = now.saturating_add(u64::try_from(gap_ns).unwrap_or(u64::MAX));
        let queue = match random.between(0, others) {
            0 => random.between(0, last_queue),
            1 => before,
            _ => random.between(hot[0], hot[1]),
        };
        PacketArrival { time_ns: now, queue: queue as usize, size_bytes }
    };
    (0..ARRIVALS).map(arrival).collect()
}
