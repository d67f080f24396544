// example_tna.p4: example_oracle.p4 on packets that carry features, for Tofino
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
// Features, recorded before the packet is added to the buffer:
//   queue_length (bytes): bytes in the packet's queue before it is added
//   occupancy (bytes): bytes in the shared buffer before the packet is added

#include <core.p4>
#include <tna.p4>
#include "example_oracle.p4"

// Packets that carry a query: an EtherType for local experiments (IEEE Std 802).
const bit<16> QUERY_ETHERTYPE = 0x88B5;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

// Features, set by the sender; score and drop (0 or 1) are filled in before the packet returns.
@pa_container_size("ingress", "hdr.query.score", 16)
@pa_container_size("ingress", "hdr.query.drop", 16)
@pa_container_size("ingress", "oracle_codes_of_queue_length", 8)
@pa_container_size("ingress", "oracle_codes_of_occupancy", 8)
header query_t {
    bit<32> queue_length;
    bit<32> occupancy;
    bit<16> score;
    bit<16> drop;
}

struct headers_t {
    ethernet_t ethernet;
    query_t query;
}

struct metadata_t {
}

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
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
}

control QueryIngress(inout headers_t hdr, inout metadata_t meta,
                     in ingress_intrinsic_metadata_t ig_intr_md,
                     in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                     inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    ExampleOracle() oracle;

    apply {
        if (hdr.query.isValid()) {
            example_features_t features;
            features.queue_length = hdr.query.queue_length;
            features.occupancy = hdr.query.occupancy;
            oracle.apply(features, hdr.query.score, hdr.query.drop);
            bit<48> asked_by = hdr.ethernet.source;
            hdr.ethernet.source = hdr.ethernet.destination;
            hdr.ethernet.destination = asked_by;
            ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
            ig_tm_md.bypass_egress = 1;
        } else {
            ig_dprsr_md.drop_ctl = 1;
        }
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition accept;
    }
}

control QueryEgress(inout headers_t hdr, inout metadata_t meta,
                    in egress_intrinsic_metadata_t eg_intr_md,
                    in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                    inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), QueryIngress(), IngressDeparser(),
         EgressParser(), QueryEgress(), EgressDeparser()) pipe;

Switch(pipe) main;
