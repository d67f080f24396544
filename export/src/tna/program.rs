//! A program for Tofino that answers packets carrying features.

use crate::about::commented;
use crate::p4::{
    EGRESS, FeatureShape, INGRESS, P4, answer, fit_containers, headers, parser_states,
    program_file, word_name,
};
use crate::target::EmittedFile;

/// `NAME_tna.p4`.
pub(super) fn program(p4: &P4<'_>) -> EmittedFile {
    let name = p4.prefix();
    let what =
        format!("{name}_tna.p4: {name}_oracle.p4 on packets that carry features, for Tofino");
    // In containers of their own: one action writes the answer from a sum and a number.
    let answers = [("hdr.query.score", p4.shape.score_bits), ("hdr.query.drop", 16)];
    let answers = answers.map(|(field, bits)| (field.to_owned(), bits));
    let pragma = |(field, bits)| format!("@pa_container_size(\"ingress\", \"{field}\", {bits})\n");
    let pragmas: String = answers.into_iter().chain(code_words(p4)).map(pragma).collect();
    let start =
        "        packet.extract(ig_intr_md);\n        packet.advance(PORT_METADATA_SIZE);\n";
    let text = format!(
        "\
{}
#include <core.p4>
#include <tna.p4>
#include \"{name}_oracle.p4\"

{}
struct metadata_t {{
}}

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {{
{}}}

control {INGRESS}(inout headers_t hdr, inout metadata_t meta,
                     in ingress_intrinsic_metadata_t ig_intr_md,
                     in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                     inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {{
    {}Oracle() oracle;

    apply {{
        if (hdr.query.isValid()) {{
{}            ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
            ig_tm_md.bypass_egress = 1;
        }} else {{
            ig_dprsr_md.drop_ctl = 1;
        }}
    }}
}}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {{
    apply {{
        packet.emit(hdr);
    }}
}}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {{
    state start {{
        packet.extract(eg_intr_md);
        transition accept;
    }}
}}

control {EGRESS}(inout headers_t hdr, inout metadata_t meta,
                    in egress_intrinsic_metadata_t eg_intr_md,
                    in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                    inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {{
    apply {{
    }}
}}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {{
    apply {{
        packet.emit(hdr);
    }}
}}

Pipeline(IngressParser(), {INGRESS}(), IngressDeparser(),
         EgressParser(), {EGRESS}(), EgressDeparser()) pipe;

Switch(pipe) main;
",
        commented(&p4.about_program(&what), "//"),
        headers(p4, &pragmas),
        parser_states("start", start),
        p4.type_name(),
        answer(p4),
    );
    program_file(p4, "_tna.p4", text)
}

/// The words of codes by their names in the program, with their bits, each to be in a container of its own:
/// p4c-barefoot fails at some words that it cuts into several. None if there are not enough containers
/// of their sizes: then it has to cut.
fn code_words(p4: &P4<'_>) -> Vec<(String, usize)> {
    let of_feature = |(feature, words): (&FeatureShape, &Vec<usize>)| {
        let field = p4.field(feature.column);
        let named =
            |(word, &bits)| (format!("oracle_{}", word_name(&field, word, words.len())), bits);
        words.iter().enumerate().map(named).collect::<Vec<_>>()
    };
    let words: Vec<(String, usize)> =
        p4.shape.features.iter().zip(&p4.words).flat_map(of_feature).collect();
    let sizes = words.iter().map(|&(_, bits)| bits);
    if fit_containers(sizes, p4.model.origin.columns.len(), p4.sums.0) { words } else { Vec::new() }
}
