//! What a forest takes as tables.

use dropcast_export::{Encoding, Measured, TableResources};

/// The size of a forest as tables, in the encodings of others too, and what tools measured.
pub fn resources_text(resources: &TableResources) -> String {
    let (forest, totals) = (&resources.forest, &resources.totals);
    let share = totals.ternary_share.map_or_else(String::new, |share| {
        format!(" ({:.0} % of {} the naive way)", 100.0 * share, totals.naive_ternary_entries)
    });
    let mut text = format!(
        "\
{} trees of depth {}: {} splits, {} leaves; {} bytes as .dct
As match-action tables ({}):
  tables            {}, in {} stages by dependencies; not placed
  ternary entries   {}{share}; {} to load as P4
  range entries     {}, if a device matches ranges
  TCAM key          {} bits, and as many of mask
  SRAM action data  {} bits
  codes per packet  {} bits

",
        forest.trees,
        forest.depth,
        forest.splits,
        forest.leaves,
        forest.dct_bytes,
        resources.note,
        totals.tables,
        totals.stages,
        totals.ternary_entries,
        totals.loaded_entries,
        totals.range_entries,
        totals.tcam_key_bits,
        totals.sram_action_bits,
        totals.metadata_bits,
    );
    text += &row(["feature", "thresholds", "ranges", "ternary", "naive", "code bits"]);
    for feature in &resources.features {
        text += &row([
            &feature.feature,
            &feature.thresholds.to_string(),
            &feature.range_entries.to_string(),
            &feature.ternary_entries.to_string(),
            &feature.naive_ternary_entries.to_string(),
            &feature.code_bits.to_string(),
        ]);
    }
    text += "\nThe same trees in other encodings (docs/resources.md):\n";
    text += &row(["encoding", "ternary", "exact", "TCAM bits", "code bits", "combines by"]);
    resources.encodings.iter().map(encoding).for_each(|line| text += &line);
    text += &tools(&resources.measured);
    text
}

/// Measurements by tools, if any.
fn tools(measured: &Measured) -> String {
    let count = |count: Option<u64>| count.map(|count| count.to_string());
    let lines = [
        ("Verilog, lookup tables of 6 inputs", count(measured.luts)),
        ("Verilog, flip-flops", count(measured.flip_flops)),
        ("eBPF, instructions", count(measured.ebpf_instructions)),
        ("C, ns for a prediction", measured.ns_per_prediction.map(|ns| format!("{ns:.1}"))),
    ];
    let lines: Vec<String> = lines
        .into_iter()
        .filter_map(|(what, count)| Some(format!("  {what:34}  {:>11}\n", count?)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nMeasured by tools of this machine:\n{}", lines.concat())
}

fn encoding(of: &Encoding) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "too many".to_owned(), |n| n.to_string());
    row([
        &of.name,
        &count(of.ternary_entries),
        &count(of.exact_entries),
        &count(of.tcam_key_bits),
        &of.metadata_bits.to_string(),
        &of.combines,
    ])
}

fn row(cells: [&str; 6]) -> String {
    let [name, rest @ ..] = cells;
    let rest: String = rest.iter().map(|cell| format!("  {cell:>11}")).collect();
    format!("  {name:22}{rest}\n")
}
