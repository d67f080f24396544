//! A program for BMv2 that answers packets carrying features, to try the oracle and to show its
//! use.

use super::names::{EGRESS, INGRESS};
use super::program::P4;
use super::text_file::program_file;
use crate::about::commented;
use crate::target::EmittedFile;

/// `NAME_v1model.p4`.
pub(super) fn program(p4: &P4<'_>) -> EmittedFile {
    let name = p4.prefix();
    let what =
        format!("{name}_v1model.p4: {name}_oracle.p4 on packets that carry features, for BMv2");
    let lines = p4.about_program(&what);
    let text = format!(
        "\
{}
#include <core.p4>
#include <v1model.p4>
#include \"{name}_oracle.p4\"

{}
struct metadata_t {{
}}

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {{
{}}}

control {INGRESS}(inout headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {{
    {}Oracle() oracle;

    apply {{
        if (hdr.query.isValid()) {{
{}            standard_metadata.egress_spec = standard_metadata.ingress_port;
        }} else {{
            mark_to_drop(standard_metadata);
        }}
    }}
}}

control {EGRESS}(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {{
    apply {{
    }}
}}

control NoVerify(inout headers_t hdr, inout metadata_t meta) {{
    apply {{
    }}
}}

control NoCompute(inout headers_t hdr, inout metadata_t meta) {{
    apply {{
    }}
}}

control PacketDeparser(packet_out packet, in headers_t hdr) {{
    apply {{
        packet.emit(hdr);
    }}
}}

V1Switch(PacketParser(), NoVerify(), {INGRESS}(), {EGRESS}(), NoCompute(), PacketDeparser()) main;
",
        commented(&lines, "//"),
        headers(p4),
        PARSER_STATES,
        p4.type_name(),
        answer(p4),
    );
    program_file(p4, "_v1model.p4", text)
}

/// Ethernet, and a query: features in, score and prediction out.
fn headers(p4: &P4<'_>) -> String {
    let columns = 0..p4.model.origin.columns.len();
    let fields: String = columns.map(|at| format!("    bit<32> {};\n", p4.field(at))).collect();
    format!(
        "\
// Packets that carry a query: an EtherType for local experiments (IEEE Std 802).
const bit<16> QUERY_ETHERTYPE = 0x88B5;

header ethernet_t {{
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}}

// Features, set by the sender; score and drop (0 or 1) are filled in before the packet returns.
header query_t {{
{fields}    bit<{bits}> score;
    bit<16> drop;
}}

struct headers_t {{
    ethernet_t ethernet;
    query_t query;
}}
",
        bits = p4.shape.score_bits,
    )
}

/// The parser states for these headers.
const PARSER_STATES: &str = "    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            QUERY_ETHERTYPE : query;
            default : accept;
        }
    }

    state query {
        packet.extract(hdr.query);
        transition accept;
    }
";

/// Applies the oracle, fills in the answer and returns the packet to its sender.
fn answer(p4: &P4<'_>) -> String {
    let name = p4.prefix();
    let set = |at: usize| {
        let field = p4.field(at);
        format!("            features.{field} = hdr.query.{field};\n")
    };
    let columns = 0..p4.model.origin.columns.len();
    format!(
        "            {name}_features_t features;
{}            oracle.apply(features, hdr.query.score, hdr.query.drop);
            bit<48> asked_by = hdr.ethernet.source;
            hdr.ethernet.source = hdr.ethernet.destination;
            hdr.ethernet.destination = asked_by;
",
        columns.map(set).collect::<String>(),
    )
}
