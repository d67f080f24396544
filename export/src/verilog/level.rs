//! The state machine that keeps the bytes of a queue or the buffer with their moving average.

use super::{about, average};
use crate::checked::Checked;

/// The module; placeholders begin with `@`.
const LEVEL: &str = include_str!("level.v");

const WHAT: &str = "\
The bytes in a queue, or in the whole shared buffer, with their moving average: one module per
queue and one for the buffer. These are the queues of push-out Longest Queue Drop, run virtually
beside the switch. When a packet is accepted, add its bytes to its queue and to the buffer; when it
departs or is pushed out, remove them from both. Clocks in which ready is low ignore both; add and
remove do not come together. A packet's features are bytes and average before it is added, with ready.

Needs the module of the average in the file beside; a removal takes up to 120 clocks.
";

/// The file, if the model has moving averages and states their time constant.
pub(super) fn module(model: &Checked<'_>) -> Option<String> {
    average::is_needed(model).then(|| {
        let name = format!("{}_level", model.prefix);
        LEVEL
            .replace("@ABOUT\n", &about::about(model, &name, WHAT))
            .replace("@MODULE", &name)
            .replace("@AVERAGE", &average::name(model))
            .replace("@TAU", &model.average_ns.to_string())
    })
}
