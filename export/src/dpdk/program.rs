//! The program: headers, metadata, actions, tables, and the order of look-ups.

use super::groups::{Group, Groups, Part};
use crate::about::{self, commented};
use crate::checked::Checked;
use crate::tables::{FeatureTable, TreeTable};

/// The whole file.
pub(super) fn text(model: &Checked<'_>, groups: &Groups) -> String {
    [
        about(model),
        headers(groups),
        metadata(groups),
        ACTIONS.to_owned(),
        groups.groups.iter().map(|group| tables(groups, group)).collect(),
        pipeline(model, groups),
    ]
    .concat()
}

fn about(model: &Checked<'_>) -> String {
    let name = &model.prefix;
    let what = format!(
        "{name}.spec: would push-out Longest Queue Drop drop this packet? For DPDK's SWX pipeline"
    );
    let mut lines = about::about(model, &what);
    lines.extend(
        [
            "It answers queries and keeps no queues. DPDK applications decide with the C code of",
            "Credence, which keeps them: docs/dpdk.md.",
        ]
        .map(str::to_owned),
    );
    commented(&lines, ";") + "\n"
}

fn headers(groups: &Groups) -> String {
    let features: String =
        groups.features.iter().map(|name| format!("\tbit<32> {name}\n")).collect();
    format!(
        "\
struct ethernet_h {{
\tbit<48> destination
\tbit<48> source
\tbit<16> ethertype
}}

header ethernet instanceof ethernet_h

; Features, set by the sender.
struct query_h {{
{features}}}

header query instanceof query_h

; Filled in before the packet goes back; drop is 0 or 1.
struct prediction_h {{
\tbit<32> score
\tbit<8> drop
}}

header prediction instanceof prediction_h

"
    )
}

fn metadata(groups: &Groups) -> String {
    let about = match groups.groups.as_slice() {
        [_] => "; Codes of features; tN_ belongs to tree N.".to_owned(),
        [first, ..] => format!(
            "; Codes of features, shared by groups of {} trees; tN_ belongs to tree N of a group.",
            first.tables.trees.len()
        ),
        [] => String::new(),
    };
    format!(
        "\
{about}
struct metadata_t {{
\tbit<32> port
\tbit<32> score
\tbit<64> asked_by
{}}}

metadata instanceof metadata_t

",
        lines(&groups.fields(), |part| format!("\tbit<{}> {}", part.bits, part.name))
    )
}

fn lines(parts: &[Part], line: impl Fn(&Part) -> String) -> String {
    parts.iter().map(|part| line(part) + "\n").collect()
}

const ACTIONS: &str = "\
; Never runs: entries cover all values.
action no_entry args none {
\treturn
}

struct weight_t {
\tbit<8> weight
}

action add_weight args instanceof weight_t {
\tadd m.score t.weight
\treturn
}

";

/// The tables of a group of trees.
fn tables(groups: &Groups, group: &Group) -> String {
    let features =
        group.tables.features.iter().map(|feature| feature_table(groups, group, feature));
    let trees = group.trees().map(|(place, tree)| tree_table(groups, group, place, tree));
    features.chain(trees).collect()
}

/// The action that sets the codes of a feature, and the table that calls it.
fn feature_table(groups: &Groups, group: &Group, feature: &FeatureTable) -> String {
    let name = groups.feature_table(group, feature);
    let parts = feature.trees.iter().flat_map(|&place| groups.parts(place, feature.column));
    let parts: Vec<Part> = parts.collect();
    let key = format!("\t\th.query.{} wildcard\n", groups.features[feature.column]);
    format!(
        "\
struct {name}_t {{
{data}}}

action set_{name} args instanceof {name}_t {{
{moves}\treturn
}}

{table}",
        data = lines(&parts, |part| format!("\tbit<{}> {}", part.bits, part.name)),
        moves = lines(&parts, |part| format!("\tmov m.{0} t.{0}", part.name)),
        table = table(&name, &key, &format!("set_{name}"), feature.prefixes.len()),
    )
}

fn tree_table(groups: &Groups, group: &Group, place: usize, tree: &TreeTable) -> String {
    let parts = tree.keys.iter().flat_map(|key| groups.parts(place, key.column));
    let parts: Vec<Part> = parts.collect();
    let key = lines(&parts, |part| format!("\t\tm.{} wildcard", part.name));
    table(&group.tree_table(place), &key, "add_weight", tree.leaves.len())
}

fn table(name: &str, key: &str, action: &str, size: usize) -> String {
    format!(
        "\
table {name} {{
\tkey {{
{key}\t}}

\tactions {{
\t\t{action}
\t\tno_entry
\t}}

\tdefault_action no_entry args none const
\tsize {size}
}}

"
    )
}

fn pipeline(model: &Checked<'_>, groups: &Groups) -> String {
    let lookups: String = groups.groups.iter().map(|group| lookups(groups, group)).collect();
    format!(
        "\
; Packets of other EtherTypes return unchanged. 0x88B5 is for local experiments (IEEE Std 802).
apply {{
\trx m.port
\textract h.ethernet
\tjmpneq SEND h.ethernet.ethertype 0x88B5
\textract h.query
\textract h.prediction
\tmov m.score {constant}
{lookups}\tmov h.prediction.score m.score
\tmov h.prediction.drop 0
\tjmpgt DROP m.score {vote}
\tjmp ANSWER
\tDROP : mov h.prediction.drop 1
\tANSWER : mov m.asked_by h.ethernet.source
\tmov h.ethernet.source h.ethernet.destination
\tmov h.ethernet.destination m.asked_by
\tSEND : emit h.ethernet
\temit h.query
\temit h.prediction
\ttx m.port
}}
",
        constant = groups.constant_score(),
        vote = model.forest.vote_threshold,
    )
}

fn lookups(groups: &Groups, group: &Group) -> String {
    let features = group.tables.features.iter().map(|feature| groups.feature_table(group, feature));
    let trees = group.trees().map(|(place, _)| group.tree_table(place));
    features.chain(trees).map(|name| format!("\ttable {name}\n")).collect()
}
