// example_v1model.p4: example_oracle.p4 on packets that carry features, for BMv2
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
// Features, recorded before the packet is added to the buffer:
//   queue_length (bytes): bytes in the packet's queue before it is added
//   occupancy (bytes): bytes in the shared buffer before the packet is added

#include <core.p4>
#include <v1model.p4>
#include "example_oracle.p4"

// Packets that carry a query: an EtherType for local experiments (IEEE Std 802).
const bit<16> QUERY_ETHERTYPE = 0x88B5;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

// Features, set by the sender; score and drop (0 or 1) are filled in before the packet returns.
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

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
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
                     inout standard_metadata_t standard_metadata) {
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
            standard_metadata.egress_spec = standard_metadata.ingress_port;
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

control QueryEgress(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    apply {
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control NoCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control PacketDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(PacketParser(), NoVerify(), QueryIngress(), QueryEgress(), NoCompute(), PacketDeparser()) main;
