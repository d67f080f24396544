// example_oracle.p4: would push-out Longest Queue Drop drop this packet?
//
// Written by dropcast 0.1.0 from model "example",
// SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
// 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
// Moving averages have a time constant of 8000 ns.
// Features, recorded before the packet is added to the buffer:
//   queue_length (bytes): bytes in the packet's queue before it is added
//   occupancy (bytes): bytes in the shared buffer before the packet is added

// ExampleOracle() oracle; ... oracle.apply(features, score, drop) looks up a code for each feature,
// then a weight for each tree, and adds the weights up. drop is 1 if push-out Longest Queue Drop is
// predicted to drop the packet, else 0.
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
    bit<1> tree_0_queue_length;
    bit<1> tree_0_occupancy;
    bit<16> weight_0;
    bit<1> tree_1_occupancy;
    bit<16> weight_1;
    bit<16> excess;

    @id(0x015f0000)
    action set_codes_of_queue_length(bit<1> for_tree_0) {
        tree_0_queue_length = for_tree_0;
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
    action set_codes_of_occupancy(bit<1> for_tree_0, bit<1> for_tree_1) {
        tree_0_occupancy = for_tree_0;
        tree_1_occupancy = for_tree_1;
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
        default_action = set_codes_of_occupancy(0x1, 0x1);
        size = 15;
#else
        const default_action = set_codes_of_occupancy(0x1, 0x1);
        const entries = {
            0xaae60 &&& 0xffffffff : set_codes_of_occupancy(0x0, 0x0);
            0xdbba0 &&& 0xffffffff : set_codes_of_occupancy(0x0, 0x1);
            0xaae60 &&& 0xffffffe0 : set_codes_of_occupancy(0x0, 0x1);
            0xdbb80 &&& 0xffffffe0 : set_codes_of_occupancy(0x0, 0x1);
            0xaae00 &&& 0xffffff80 : set_codes_of_occupancy(0x0, 0x0);
            0xdbb80 &&& 0xffffff80 : set_codes_of_occupancy(0x1, 0x1);
            0xaae00 &&& 0xfffffe00 : set_codes_of_occupancy(0x0, 0x1);
            0xdbc00 &&& 0xfffffc00 : set_codes_of_occupancy(0x1, 0x1);
            0xab000 &&& 0xfffff000 : set_codes_of_occupancy(0x0, 0x1);
            0xac000 &&& 0xffffc000 : set_codes_of_occupancy(0x0, 0x1);
            0xdc000 &&& 0xffffc000 : set_codes_of_occupancy(0x1, 0x1);
            0xb0000 &&& 0xffff0000 : set_codes_of_occupancy(0x0, 0x1);
            0xe0000 &&& 0xfffe0000 : set_codes_of_occupancy(0x1, 0x1);
            0xc0000 &&& 0xfffc0000 : set_codes_of_occupancy(0x0, 0x1);
            0x0 &&& 0xfff00000 : set_codes_of_occupancy(0x0, 0x0);
        }
#endif
    }

    @id(0x015f0002)
    action set_weight_0(bit<16> weight) {
        weight_0 = weight;
    }

    @id(0x025f0002)
    table tree_0 {
        key = {
            tree_0_queue_length : ternary @name("queue_length");
            tree_0_occupancy : ternary @name("occupancy");
        }
        actions = {
            set_weight_0;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = set_weight_0(2);
        size = 2;
#else
        const default_action = set_weight_0(2);
        const entries = {
            (0x1 &&& 0x1, 0x0 &&& 0x1) : set_weight_0(40);
            (0x1 &&& 0x1, 0x1 &&& 0x1) : set_weight_0(230);
        }
#endif
    }

    @id(0x015f0003)
    action set_weight_1(bit<16> weight) {
        weight_1 = weight;
    }

    @id(0x025f0003)
    table tree_1 {
        key = {
            tree_1_occupancy : ternary @name("occupancy");
        }
        actions = {
            set_weight_1;
        }
#ifdef EXAMPLE_RUNTIME_ENTRIES
        default_action = set_weight_1(5);
        size = 1;
#else
        const default_action = set_weight_1(5);
        const entries = {
            0x1 &&& 0x1 : set_weight_1(120);
        }
#endif
    }

    @id(0x015f0004)
    action predict_accept() {
        drop = 0;
    }

    @id(0x015f0005)
    action predict_drop() {
        drop = 1;
    }

    @id(0x025f0004)
    table vote {
        key = {
            excess : exact @name("excess");
        }
        actions = {
            predict_accept;
            predict_drop;
        }
        const default_action = predict_drop();
        const entries = {
            0 : predict_accept();
        }
    }

    apply {
        code_queue_length.apply();
        code_occupancy.apply();
        tree_0.apply();
        tree_1.apply();
        weight_0 = weight_0 + weight_1;
        score = weight_0;
        // Saturating: 0 unless the score is above the vote threshold. A tie accepts.
        excess = score |-| 160;
        vote.apply();
    }
}

#endif // EXAMPLE_ORACLE_P4
