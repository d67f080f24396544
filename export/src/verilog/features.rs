//! The features' registers along the trees' levels.

use super::pipeline::{PipedFeature, Pipeline};

/// Registers for every feature and stage in which it is needed.
pub(super) fn stages(pipeline: &Pipeline) -> String {
    pipeline.features.iter().map(feature_stages).collect()
}

fn feature_stages(feature: &PipedFeature) -> String {
    let PipedFeature { name, bits, stages } = feature;
    let (range, input) = (format!("[{}:0]", bits.saturating_sub(1)), port(feature));
    if *stages == 0 {
        return format!(
            "\n    // No split uses {name}.\n    wire unused_{name} = &{{1'b0, {input}}};\n"
        );
    }
    let first = if *bits == 32 {
        input
    } else {
        format!("{input}[31:{bits}] != 0 ? {{{bits}{{1'b1}}}} : {input}{range}")
    };
    let registers: Vec<String> = (0..*stages).map(|stage| register(feature, stage)).collect();
    let shifts: String = (1..*stages)
        .map(|stage| format!("        {} <= {};\n", registers[stage], registers[stage - 1]))
        .collect();
    let about = match bits {
        32 => String::new(),
        _ => format!(
            ", saturated at {}: larger values are above every threshold too",
            (1_u64 << bits) - 1
        ),
    };
    format!(
        "
    // {name}{about}.
    reg {range} {registers};

    always @(posedge clk) begin
        {zeroth} <= {first};
{shifts}    end
",
        registers = registers.join(", "),
        zeroth = registers[0],
    )
}

/// The port of a feature. The prefix avoids Verilog's keywords and other ports' names.
pub(super) fn port(feature: &PipedFeature) -> String {
    format!("in_{}", feature.name)
}

/// The register that holds a feature in a stage.
pub(super) fn register(feature: &PipedFeature, stage: usize) -> String {
    format!("s{stage}_{}", feature.name)
}
