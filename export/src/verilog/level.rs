//! The state machine that keeps the bytes of a queue or the buffer with their moving average.

use super::about;
use crate::checked::Checked;
use crate::origin::Column;
use dropcast_features::{Feature, Memory};

/// The module; placeholders begin with `@`.
const LEVEL: &str = include_str!("level.v");

const WHAT: &str = "\
The bytes in a queue, or in the whole shared buffer, with their moving average: one module per
queue and one for the buffer. These are the queues of push-out Longest Queue Drop, run virtually
beside the switch. When a packet is accepted, add its bytes to its queue and to the buffer; when it
departs or is pushed out, remove them from both. Clocks in which ready is low ignore both; add and
remove do not come together. A packet's features are bytes and average before it is added, with ready.

The average is ns3-trunc, trunc(g * bytes + (1 - g) * average) with g = min(elapsed, TAU_NS) / TAU_NS,
bit for bit as double precision computes it: in integers, with every step rounded as a double
is. A removal takes up to 160 clocks. Simpler averages are faster, but differ.
";

/// The file, if the model has moving averages and states their time constant.
pub(super) fn module(model: &Checked<'_>) -> Option<String> {
    let is_average = |column: &Column| {
        column.name.parse().is_ok_and(|feature: Feature| feature.memory() == Memory::MovingAverages)
    };
    let has_averages = model.origin.columns.iter().any(is_average);
    (has_averages && model.average_ns > 0).then(|| {
        let name = format!("{}_level", model.prefix);
        LEVEL
            .replace("@ABOUT\n", &about::about(model, &name, WHAT))
            .replace("@MODULE", &name)
            .replace("@TAU", &model.average_ns.to_string())
    })
}
