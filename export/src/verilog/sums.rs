//! The features of the decision, and the sums over all queues that some need.

use super::length_classes;
use crate::checked::Checked;
use crate::ident::identifier;
use crate::tracker;

/// A sum over all queues.
struct Sum {
    name: &'static str,
    /// Declarations, lines of `ADVANCED`, lines of `SCAN`.
    declared: String,
    clear: String,
    add: String,
}

/// The sums that the model's features need.
fn needed(model: &Checked<'_>) -> Vec<Sum> {
    let has = |names: &[&str]| {
        model.origin.columns.iter().any(|column| names.contains(&column.name.as_str()))
    };
    let mut sums = Vec::new();
    let mut ahead = |name: &'static str, eighths: u32, limit: &str| {
        sums.push(Sum {
            name,
            declared: format!(
                "    reg  [63:0] {name};
    wire [63:0] coming_{eighths}{name} = {{32'd0, bytes[at]}} + 64'd{eighths} * {{32'd0, recent[at]}};
    wire [63:0] drained_{eighths}{name} = drain_bytes(at) / 64'd{parts};
    wire [63:0] ahead_{name} = bytes[at] != 32'd0 && coming_{eighths}{name} > drained_{eighths}{name}
        ? coming_{eighths}{name} - drained_{eighths}{name} : 64'd0;
",
                parts = 16 / eighths,
            ),
            clear: format!("                {name} <= 64'd0;\n"),
            add: format!("                {name} <= {name} + {};\n", limit.replace('@', name)),
        });
    };
    let limited = "(ahead_@ < {32'd0, bytes[own]} ? ahead_@ : {32'd0, bytes[own]})";
    for (feature, eighths) in
        [("level_in_quarter_rtt", 2), ("level_in_one_rtt", 8), ("level_in_two_rtts", 16)]
    {
        if has(&[feature]) {
            ahead(feature, eighths, limited);
        }
    }
    if has(&["projected_occupancy"]) {
        ahead("projected_occupancy", 16, "ahead_@");
    }
    let mut simple = |name: &'static str, bits: u32, add: &str| {
        sums.push(Sum {
            name,
            declared: format!("    reg  [{}:0] {name};\n", bits - 1),
            clear: format!("                {name} <= {bits}'d0;\n"),
            add: format!("                {add}\n"),
        });
    };
    if has(&["level_occupancy"]) {
        simple(
            "level_occupancy",
            64,
            "level_occupancy <= level_occupancy
                    + {32'd0, bytes[at] < bytes[own] ? bytes[at] : bytes[own]};",
        );
    }
    if has(&["longest_queue", "longest_gap"]) {
        simple("most_bytes", 32, "most_bytes <= bytes[at] > most_bytes ? bytes[at] : most_bytes;");
    }
    if has(&["rank"]) {
        simple("rank", 32, "rank <= rank + {31'd0, bytes[at] > bytes[own]};");
    }
    sums
}

/// Whether no feature is such a sum.
pub(super) fn are_none(model: &Checked<'_>) -> bool {
    needed(model).is_empty()
}

/// Lines of `ADVANCED`.
pub(super) fn clears(model: &Checked<'_>) -> String {
    needed(model).iter().map(|sum| sum.clear.as_str()).collect()
}

/// Lines of `SCAN`.
pub(super) fn adds(model: &Checked<'_>) -> String {
    needed(model).iter().map(|sum| sum.add.as_str()).collect()
}

/// The declarations of the sums, and the values of the row.
pub(super) fn features(model: &Checked<'_>) -> String {
    let declared: String = needed(model).iter().map(|sum| sum.declared.as_str()).collect();
    let mut text = "    // The features.\n".to_owned() + &declared;
    for column in &model.origin.columns {
        let value = match column.name.as_str() {
            "queue_length" => "bytes[own]".to_owned(),
            "occupancy" => "buffer_bytes".to_owned(),
            "avg_queue_length" => "average[own]".to_owned(),
            "avg_occupancy" => "buffer_average".to_owned(),
            tracker::CLASSED => length_classes::CLASSED.to_owned(),
            tracker::CUT => length_classes::CUT.to_owned(),
            "longest_queue" => "most_bytes".to_owned(),
            "rank" => "rank".to_owned(),
            "longest_gap" => "most_bytes > bytes[own] ? most_bytes - bytes[own] : 32'd0".to_owned(),
            sum => {
                let sum = needed(model).into_iter().find(|of| of.name == sum).map(|of| of.name);
                let sum = sum.unwrap_or_default();
                format!("{sum}[63:32] != 32'd0 ? 32'hffffffff : {sum}[31:0]")
            }
        };
        text += &format!("    wire [31:0] row_{} = {value};\n", identifier(&column.name));
    }
    text
}
