//! What the decision keeps of virtual LQD's queues for a model's features, as arrays, so that scans
//! take several queues at a time.

use crate::tracker::{Form, Kept};
use dropcast_data::SwitchSpec;

/// Scans take this many queues at a time, at least where a vector has 128 bits.
pub(super) const LANES: usize = 8;

/// The length of arrays that are scanned.
pub(super) fn scanned(switch: &SwitchSpec) -> usize {
    switch.queues().next_multiple_of(LANES)
}

/// Members of 64 bits.
pub(super) fn wide_members(kept: Kept, listed: bool) -> String {
    let mut text = String::new();
    if listed {
        text += "    /* A bit for each virtual queue: 1 if it is not empty. */\n    @u64 busy[@WORDS];\n";
    }
    if kept.arrivals {
        text += "    /* The last event of each virtual queue. */\n    @u64 heard_ns[@CSWITCH_QUEUES];\n";
    }
    if kept.averages {
        text += "    /* The last removal from each virtual queue, and from the buffer. */\n    \
            @u64 updated_ns[@CSWITCH_QUEUES];\n    @u64 buffer_updated_ns;\n";
    }
    if kept.total {
        text += "    /* Expected bytes of all virtual queues. */\n    @u64 projected;\n";
    }
    if kept.classes.any() {
        text += "    /* Expected bytes of the queues in each length class, and below the cut. */\n    @u64 class_bytes[@CLASSES];\n    @u64 below_bytes;\n";
    }
    text
}

/// Members of 32 bits.
pub(super) fn narrow_members(kept: Kept, counts_busy: bool) -> String {
    let mut text = String::new();
    if counts_busy {
        text += "    /* Virtual queues that are not empty. */\n    @u32 busy_queues;\n";
    }
    if kept.arrivals {
        text += "    /* Recent arrivals of each virtual queue, bytes. */\n    @u32 recent[@CSWITCH_QUEUES];\n";
    }
    if kept.averages {
        text += "    /* Moving averages of virtual LQD's queues and buffer, bytes. */\n    \
            @u32 average[@CSWITCH_QUEUES];\n    @u32 buffer_average;\n";
    }
    if kept.classes.any() {
        text += "    /* Queues in each length class, and from the cut on; the class of the cut. */\n    @u32 class_queues[@CLASSES];\n    @u32 above;\n    @u32 cut;\n";
    }
    text
}

/// The beginning of an empty switch: nothing is cut.
pub(super) const NO_CLASSES: &str = "    state->cut = @CLASSESu;\n";

/// The code of sums by length class, if a feature needs them.
pub(super) fn classes(kept: Kept) -> String {
    let of = |is_needed: bool, text: &str| if is_needed { text.to_owned() } else { String::new() };
    [
        of(kept.classes.any(), include_str!("classes.h")),
        of(kept.classes.all, include_str!("classed.h")),
        of(kept.classes.cut, include_str!("cut.h")),
    ]
    .concat()
}

/// Length classes up to that of the buffer, as `features/src/classes.rs` numbers them.
pub(crate) fn class_count(switch: &SwitchSpec) -> usize {
    let units = switch.buffer_bytes >> 10;
    let halvings = units.checked_ilog2().unwrap_or(0).saturating_sub(2);
    (4 * halvings + (units >> halvings)) as usize + 1
}

/// Words that hold a bit for each queue.
pub(super) fn words(switch: &SwitchSpec) -> usize {
    switch.queues().div_ceil(64)
}

/// The function that changes a virtual queue and all that is kept about it.
pub(super) fn change(kept: Kept, listed: bool, counts_busy: bool) -> String {
    const BUSY: &str = "    state->busy[queue / 64u] = (state->busy[queue / 64u] & ~((@u64)1 << queue % 64u))\n        | (@u64)(state->bytes[queue] > 0 ? 1u : 0u) << queue % 64u;\n";

    let (mut before, mut declared) = (String::new(), String::new());
    let mut after = if listed { BUSY.to_owned() } else { String::new() };
    if counts_busy {
        declared += "    const @u32 before_bytes = state->bytes[queue];\n";
        after += "    state->busy_queues += (state->bytes[queue] > 0 ? 1u : 0u) - (before_bytes > 0 ? 1u : 0u);\n";
    }
    if kept.arrivals {
        declared += "    const @u64 heard_ns = state->heard_ns[queue];\n";
        after += "    state->recent[queue] = @prefixrecent(\n        state->recent[queue], arrived_bytes, time_ns > heard_ns ? time_ns - heard_ns : 0u);\n    state->heard_ns[queue] = time_ns;\n";
    }
    if kept.total {
        let expected = "@prefixexpected(\n        state->bytes[queue], state->recent[queue], @prefixport_drain_bytes(queue / @CQUEUES_PER_PORT), 16u)";
        before += &format!("    state->projected -= {expected};\n");
        after += &format!("    state->projected += {expected};\n");
    }
    if kept.classes.any() {
        let expected = "@prefixexpected(\n        state->bytes[queue], state->recent[queue], @prefixport_drain_bytes(queue / @CQUEUES_PER_PORT), 2u)";
        declared += &format!("    const @u64 before = {expected};\n");
        after += &format!("    @prefixreclass(state, before, {expected});\n");
    }
    if !kept.arrivals {
        after += "    (void)arrived_bytes;\n";
    }
    if kept.averages {
        after += "    if (removed_bytes > 0) {\n        const @u64 updated_ns = state->updated_ns[queue], buffer_updated_ns = state->buffer_updated_ns;\n\n        state->average[queue] = @prefixaverage(state->average[queue], state->bytes[queue],\n            time_ns > updated_ns ? time_ns - updated_ns : 0u);\n        state->buffer_average = @prefixaverage(state->buffer_average, state->buffer_bytes,\n            time_ns > buffer_updated_ns ? time_ns - buffer_updated_ns : 0u);\n        state->updated_ns[queue] = time_ns;\n        state->buffer_updated_ns = time_ns;\n    }\n";
    }
    if !kept.arrivals && !kept.averages {
        after += "    (void)time_ns;\n";
    }
    let gap = if declared.is_empty() { "" } else { "\n" };
    format!(
        "\
/* A virtual queue changes at time_ns: bytes are added, or removed; arrived_bytes is the size of a packet
 * that has arrived for it and was added or rejected, otherwise 0. */
@inline void @prefixchange(struct @prefixdecision *state, @u32 queue, @u32 added_bytes,
    @u32 removed_bytes, @u32 arrived_bytes, @u64 time_ns)
{{
{declared}{gap}{before}    state->bytes[queue] = state->bytes[queue] + added_bytes - removed_bytes;
    state->buffer_bytes = state->buffer_bytes + added_bytes - removed_bytes;
{after}}}
"
    )
}

/// As [`FORM`], for machines whose loops are calls of steps.
pub(super) const EACH: Form<'_> = Form {
    member: |level, member| match level {
        "sum" => format!("scan->{member}"),
        "total" => format!("scan.{member}"),
        _ => (FORM.member)(level, member),
    },
    scan_variables: "",
    step: "\
/* A scan of all queues for the features of a packet that arrives for queue. */
struct @prefixscan {
    const struct @prefixdecision *state;
    @u32 queue;
@members};

static long @prefixscan_step(@u32 at, void *context)
{
    struct @prefixscan *scan = context;
    const struct @prefixdecision *state = scan->state;
    const @u32 queue = scan->queue;
@ahead
    (void)queue;
@terms    return 0;
}

",
    scan: "    \
    struct @prefixscan scan = {.state = state, .queue = queue};

    @prefixloop(@CSWITCH_QUEUES, @prefixscan_step, &scan, 0);
",
    ..FORM
};

/// How features are read from the arrays.
pub(super) const FORM: Form<'_> = Form {
    function: "observe_all",
    about: "",
    parameters: "const struct @prefixdecision *state, @u32 queue",
    names: &["state", "queue"],
    member: |level, member| match (level, member) {
        ("queue", member) => format!("state->{member}[queue]"),
        ("one", "drain_bytes") => "@prefixport_drain_bytes(at / @CQUEUES_PER_PORT)".to_owned(),
        ("one", member) => format!("state->{member}[at]"),
        ("sum" | "total", member) => member.to_owned(),
        (_, "projected") => "state->projected".to_owned(),
        (_, member) => format!("state->buffer_{member}"),
    },
    scan_variables: "    @u64 left;\n    @u32 word;\n",
    step: "",
    scan: "\
@sums@ahead
    for (word = 0; word < @WORDS; word++) {
        for (left = state->busy[word]; left != 0; left &= left - 1u) {
        const @u32 at = 64u * word + @prefixlowest(left);

@terms        }
    }
",
};

/// The function that finds the longest pushable queue; if `is_bounded`, its loop is a call of steps.
pub(super) fn longest(switch: &SwitchSpec, is_bounded: bool) -> String {
    let bits = switch.queues().next_power_of_two().trailing_zeros();
    let all = switch.pushable.iter().all(|&pushable| pushable);
    let mask = switch.pushable.iter().rev().fold(0_u32, |mask, &of| mask << 1 | u32::from(of));
    let pushable = match all {
        true => String::new(),
        false => format!("(({mask:#x}u >> (at % @CQUEUES_PER_PORT)) & 1u) != 0 && "),
    };
    let about = "\
/* The longest pushable queue of virtual LQD, the lowest of equally long ones; the number of queues if
 * all of these are empty. */
@inline @u32 @prefixlongest(const struct @prefixdecision *state)
{
";
    if is_bounded {
        return format!(
            "\
/* A scan of all queues for the longest. */
struct @prefixsearch {{
    const struct @prefixdecision *state;
    @u32 longest;
    @u32 longest_bytes;
}};

static long @prefixsearch_step(@u32 at, void *context)
{{
    struct @prefixsearch *search = context;
    const @u32 bytes = search->state->bytes[at];

    if ({pushable}bytes > search->longest_bytes) {{
        search->longest = at;
        search->longest_bytes = bytes;
    }}
    return 0;
}}

{about}    struct @prefixsearch search = {{state, @CSWITCH_QUEUES, 0}};

    @prefixloop(@CSWITCH_QUEUES, @prefixsearch_step, &search, 0);
    return search.longest;
}}
"
        );
    }
    if u64::from(switch.buffer_bytes) << bits >= 1 << 31 {
        return format!(
            "\
{about}    @u32 at, longest = @CSWITCH_QUEUES, longest_bytes = 0;

    for (at = 0; at < @CSWITCH_QUEUES; at++) {{
        if ({pushable}state->bytes[at] > longest_bytes) {{
            longest = at;
            longest_bytes = state->bytes[at];
        }}
    }}
    return longest;
}}
"
        );
    }
    let last = (1_u32 << bits) - 1;
    let (table, pushable) = if all {
        (String::new(), "")
    } else {
        let of = |at: usize| match at < switch.queues()
            && switch.pushable[at % usize::from(switch.queues_per_port)]
        {
            true => "0xffffffffu".to_owned(),
            false => "0u".to_owned(),
        };
        let masks = wrapped(&(0..scanned(switch)).map(of).collect::<Vec<_>>());
        let table = format!("    static const @u32 pushable[@SCANNED] = {{\n{masks}    }};\n");
        (table, "pushable[at] & ")
    };
    format!(
        "\
{about}{table}    @i32 longest = 0;
    @u32 at;

    for (at = 0; at < @SCANNED; at++) {{
        /* Compared as length, then as lower number. */
        const @i32 key = (@i32)({pushable}(state->bytes[at] << {bits} | ({last}u - at)));

        longest = key > longest ? key : longest;
    }}
    return longest > {last} ? {last}u - ((@u32)longest & {last}u) : @CSWITCH_QUEUES;
}}
"
    )
}

/// Values of an array, eight to a line.
pub(super) fn wrapped(values: &[String]) -> String {
    values.chunks(8).map(|line| format!("        {},\n", line.join(", "))).collect()
}
