# example_bfrt.py: entries for example_tna.p4, compiled with -D EXAMPLE_RUNTIME_ENTRIES
#
# Written by dropcast 0.1.0 from model "example",
# SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
# 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
# Moving averages have a time constant of 8000 ns.
# Features, recorded before the packet is added to the buffer:
#   queue_length (bytes): bytes in the packet's queue before it is added
#   occupancy (bytes): bytes in the shared buffer before the packet is added
# Load them with: bfshell -b $PWD/example_bfrt.py
# Of the entries that match, Tofino takes the one with the lowest priority.

oracle = bfrt.example_tna.pipe.QueryIngress.oracle

oracle.code_queue_length.clear()
oracle.code_queue_length.set_default_with_set_codes_of_queue_length(for_tree_0=0x1)
# value, mask, priority, for_tree_0
for value, mask, priority, for_tree_0 in [
    (0x7530, 0xffffffff, 0, 0x0),
    (0x7530, 0xfffffff0, 4, 0x1),
    (0x7500, 0xffffffc0, 6, 0x0),
    (0x7400, 0xffffff00, 8, 0x0),
    (0x7000, 0xfffffc00, 10, 0x0),
    (0x7000, 0xfffff000, 12, 0x1),
    (0x0, 0xffff8000, 15, 0x0),
]:
    oracle.code_queue_length.add_with_set_codes_of_queue_length(queue_length=value, queue_length_mask=mask, MATCH_PRIORITY=priority, for_tree_0=for_tree_0)

oracle.code_occupancy.clear()
oracle.code_occupancy.set_default_with_set_codes_of_occupancy(for_tree_0=0x1, for_tree_1=0x1)
# value, mask, priority, for_tree_0, for_tree_1
for value, mask, priority, for_tree_0, for_tree_1 in [
    (0xaae60, 0xffffffff, 0, 0x0, 0x0),
    (0xdbba0, 0xffffffff, 0, 0x0, 0x1),
    (0xaae60, 0xffffffe0, 5, 0x0, 0x1),
    (0xdbb80, 0xffffffe0, 5, 0x0, 0x1),
    (0xaae00, 0xffffff80, 7, 0x0, 0x0),
    (0xdbb80, 0xffffff80, 7, 0x1, 0x1),
    (0xaae00, 0xfffffe00, 9, 0x0, 0x1),
    (0xdbc00, 0xfffffc00, 10, 0x1, 0x1),
    (0xab000, 0xfffff000, 12, 0x0, 0x1),
    (0xac000, 0xffffc000, 14, 0x0, 0x1),
    (0xdc000, 0xffffc000, 14, 0x1, 0x1),
    (0xb0000, 0xffff0000, 16, 0x0, 0x1),
    (0xe0000, 0xfffe0000, 17, 0x1, 0x1),
    (0xc0000, 0xfffc0000, 18, 0x0, 0x1),
    (0x0, 0xfff00000, 20, 0x0, 0x0),
]:
    oracle.code_occupancy.add_with_set_codes_of_occupancy(occupancy=value, occupancy_mask=mask, MATCH_PRIORITY=priority, for_tree_0=for_tree_0, for_tree_1=for_tree_1)

oracle.tree_0.clear()
oracle.tree_0.set_default_with_set_weight_0(weight=2)
# queue_length, queue_length_mask, occupancy, occupancy_mask, weight; no two match the same packet
for queue_length, queue_length_mask, occupancy, occupancy_mask, weight in [
    (0x1, 0x1, 0x0, 0x1, 40),
    (0x1, 0x1, 0x1, 0x1, 230),
]:
    oracle.tree_0.add_with_set_weight_0(queue_length=queue_length, queue_length_mask=queue_length_mask, occupancy=occupancy, occupancy_mask=occupancy_mask, MATCH_PRIORITY=0, weight=weight)

oracle.tree_1.clear()
oracle.tree_1.set_default_with_set_weight_1(weight=5)
# occupancy, occupancy_mask, weight; no two match the same packet
for occupancy, occupancy_mask, weight in [
    (0x1, 0x1, 120),
]:
    oracle.tree_1.add_with_set_weight_1(occupancy=occupancy, occupancy_mask=occupancy_mask, MATCH_PRIORITY=0, weight=weight)

bfrt.complete_operations()
