// example_oracle.p4: would push-out Longest Queue Drop drop this packet?
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
// Features, recorded before the packet is added to the buffer:
//   queue_length (bytes): bytes in the packet's queue before it is added
//   occupancy (bytes): bytes in the shared buffer before the packet is added

// ExampleOracle() oracle; ... oracle.apply(features, score, drop) looks up codes of each feature, then
// a weight for each tree, and adds the weights up. drop is 1 if push-out Longest Queue Drop is
// predicted to drop the packet, else 0.
//
// It answers queries and keeps no queues. A switch must add what Credence is around it (docs/p4.md), by
// its traffic manager or a processor beside the pipeline, since registers update one cell for a packet:
//
//   arrival(port, queue, size_bytes, now_ns), all in bytes, before the packet is added:
//     features   x, of virtual LQD's queues
//     threshold  the packet's queue in virtual LQD, with the packet
//     drop if the buffer has no room, else
//     accept while every queue of the switch is shorter than B/N, else
//     drop if queue + size_bytes > threshold + slack_bytes (docs/decision.md), else
//     drop if this oracle predicts it
//   departure(port, queue, size_bytes, now_ns): an accepted packet leaves its queue
//
// The entries are constant, unless EXAMPLE_RUNTIME_ENTRIES is defined: then each table has only its
// default action until entries are loaded.
// Of the constant entries below, the first that matches wins.

#ifndef EXAMPLE_ORACLE_P4
#define EXAMPLE_ORACLE_P4

struct example_features_t {
    bit<32> queue_length; // bytes
    bit<32> occupancy; // bytes
}

control ExampleOracle(in example_features_t x, out bit<16> score, out bit<16> drop) {
    // One table writes all of a word, so that tables can share a stage.
    bit<8> codes_of_queue_length;
    bit<8> codes_of_occupancy;
    bit<16> sum_0;

    @id(0x015f0000)
    action set_codes_of_queue_length(bit<8> codes) {
        codes_of_queue_length = codes;
    }

    @id(0x025f0000)
    table code_queue_length {
        key = {
            x.queue_length : ternary @name("queue_length");
        }
        actions = {
            set_codes_of_queue_length;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = set_codes_of_queue_length(0x1);
        size = 7;
#else
        const default_action = set_codes_of_queue_length(0x1);
        const entries = {
            0x7530 &&& 0xffffffff : set_codes_of_queue_length(0x0);
            0x7530 &&& 0xfffffff0 : set_codes_of_queue_length(0x1);
            0x7500 &&& 0xffffffc0 : set_codes_of_queue_length(0x0);
            0x7400 &&& 0xffffff00 : set_codes_of_queue_length(0x0);
            0x7000 &&& 0xfffffc00 : set_codes_of_queue_length(0x0);
            0x7000 &&& 0xfffff000 : set_codes_of_queue_length(0x1);
            0x0 &&& 0xffff8000 : set_codes_of_queue_length(0x0);
        }
#endif
    }

    @id(0x015f0001)
    action set_codes_of_occupancy(bit<8> codes) {
        codes_of_occupancy = codes;
    }

    @id(0x025f0001)
    table code_occupancy {
        key = {
            x.occupancy : ternary @name("occupancy");
        }
        actions = {
            set_codes_of_occupancy;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = set_codes_of_occupancy(0x3);
        size = 15;
#else
        const default_action = set_codes_of_occupancy(0x3);
        const entries = {
            0xaae60 &&& 0xffffffff : set_codes_of_occupancy(0x0);
            0xdbba0 &&& 0xffffffff : set_codes_of_occupancy(0x2);
            0xaae60 &&& 0xffffffe0 : set_codes_of_occupancy(0x2);
            0xdbb80 &&& 0xffffffe0 : set_codes_of_occupancy(0x2);
            0xaae00 &&& 0xffffff80 : set_codes_of_occupancy(0x0);
            0xdbb80 &&& 0xffffff80 : set_codes_of_occupancy(0x3);
            0xaae00 &&& 0xfffffe00 : set_codes_of_occupancy(0x2);
            0xdbc00 &&& 0xfffffc00 : set_codes_of_occupancy(0x3);
            0xab000 &&& 0xfffff000 : set_codes_of_occupancy(0x2);
            0xac000 &&& 0xffffc000 : set_codes_of_occupancy(0x2);
            0xdc000 &&& 0xffffc000 : set_codes_of_occupancy(0x3);
            0xb0000 &&& 0xffff0000 : set_codes_of_occupancy(0x2);
            0xe0000 &&& 0xfffe0000 : set_codes_of_occupancy(0x3);
            0xc0000 &&& 0xfffc0000 : set_codes_of_occupancy(0x2);
            0x0 &&& 0xfff00000 : set_codes_of_occupancy(0x0);
        }
#endif
    }

    @id(0x015f0002)
    action set_weight_0(bit<16> weight) {
        sum_0 = weight;
    }

    @id(0x025f0002)
    table tree_0 {
        key = {
            codes_of_queue_length[0:0] : ternary @name("codes_of_queue_length");
            codes_of_occupancy[0:0] : ternary @name("codes_of_occupancy");
        }
        actions = {
            set_weight_0;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = set_weight_0(0x2);
        size = 2;
#else
        const default_action = set_weight_0(0x2);
        const entries = {
            (0x1 &&& 0x1, 0x0 &&& 0x1) : set_weight_0(0x28);
            (0x1 &&& 0x1, 0x1 &&& 0x1) : set_weight_0(0xe6);
        }
#endif
    }

    @id(0x015f0003)
    action add_weight_1(bit<16> weight) {
        sum_0 = sum_0 + weight;
    }

    @id(0x025f0003)
    table tree_1 {
        key = {
            codes_of_occupancy[1:1] : ternary @name("codes_of_occupancy");
        }
        actions = {
            add_weight_1;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = add_weight_1(0x5);
        size = 1;
#else
        const default_action = add_weight_1(0x5);
        const entries = {
            0x1 &&& 0x1 : add_weight_1(0x78);
        }
#endif
    }

    @id(0x015f0004)
    action predict_drop() {
        score = sum_0;
        drop = 1;
    }

    @id(0x015f0005)
    action predict_accept() {
        score = sum_0;
        drop = 0;
    }

    @id(0x025f0004)
    table vote {
        key = {
            sum_0 : ternary @name("score");
        }
        actions = {
            predict_drop;
            predict_accept;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = predict_accept();
        size = 7;
#else
        const default_action = predict_accept();
        const entries = {
            0x100 &&& 0x100 : predict_drop();
            0xc0 &&& 0x1c0 : predict_drop();
            0xb0 &&& 0x1f0 : predict_drop();
            0xa8 &&& 0x1f8 : predict_drop();
            0xa4 &&& 0x1fc : predict_drop();
            0xa2 &&& 0x1fe : predict_drop();
            0xa1 &&& 0x1ff : predict_drop();
        }
#endif
    }

    apply {
        code_queue_length.apply();
        code_occupancy.apply();
        tree_0.apply();
        tree_1.apply();
        vote.apply();
    }
}

#endif // EXAMPLE_ORACLE_P4
