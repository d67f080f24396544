# example_bfrt.py: entries for example_tna.p4, compiled with -D EXAMPLE_RUNTIME_ENTRIES
#
# Written by dropcast 0.1.0 from model "example",
# SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
# 2 trees of depth 2; a drop is predicted if and only if the score is above 160.
# Features, recorded before the packet is added to the buffer:
#   queue_length (bytes): bytes in the packet's queue before it is added
#   occupancy (bytes): bytes in the shared buffer before the packet is added
# Load them with: bfshell -b $PWD/example_bfrt.py
# Of the entries that match, Tofino takes the one with the lowest priority.
# The vote is emptied first and loaded last: meanwhile no drop is predicted.

oracle = bfrt.example_tna.pipe.QueryIngress.oracle

oracle.vote.clear()
oracle.vote.set_default_with_predict_accept()

oracle.code_queue_length.clear()
oracle.code_queue_length.set_default_with_set_codes_of_queue_length(codes=0x1)
for queue_length, queue_length_mask, MATCH_PRIORITY, codes in [
    (0x7530, 0xffffffff, 0, 0x0),
    (0x7530, 0xfffffff0, 4, 0x1),
    (0x7500, 0xffffffc0, 6, 0x0),
    (0x7400, 0xffffff00, 8, 0x0),
    (0x7000, 0xfffffc00, 10, 0x0),
    (0x7000, 0xfffff000, 12, 0x1),
    (0x0, 0xffff8000, 15, 0x0),
]:
    oracle.code_queue_length.add_with_set_codes_of_queue_length(queue_length=queue_length, queue_length_mask=queue_length_mask, MATCH_PRIORITY=MATCH_PRIORITY, codes=codes)

oracle.code_occupancy.clear()
oracle.code_occupancy.set_default_with_set_codes_of_occupancy(codes=0x3)
for occupancy, occupancy_mask, MATCH_PRIORITY, codes in [
    (0xaae60, 0xffffffff, 0, 0x0),
    (0xdbba0, 0xffffffff, 0, 0x2),
    (0xaae60, 0xffffffe0, 5, 0x2),
    (0xdbb80, 0xffffffe0, 5, 0x2),
    (0xaae00, 0xffffff80, 7, 0x0),
    (0xdbb80, 0xffffff80, 7, 0x3),
    (0xaae00, 0xfffffe00, 9, 0x2),
    (0xdbc00, 0xfffffc00, 10, 0x3),
    (0xab000, 0xfffff000, 12, 0x2),
    (0xac000, 0xffffc000, 14, 0x2),
    (0xdc000, 0xffffc000, 14, 0x3),
    (0xb0000, 0xffff0000, 16, 0x2),
    (0xe0000, 0xfffe0000, 17, 0x3),
    (0xc0000, 0xfffc0000, 18, 0x2),
    (0x0, 0xfff00000, 20, 0x0),
]:
    oracle.code_occupancy.add_with_set_codes_of_occupancy(occupancy=occupancy, occupancy_mask=occupancy_mask, MATCH_PRIORITY=MATCH_PRIORITY, codes=codes)

oracle.tree_0.clear()
oracle.tree_0.set_default_with_set_weight_0(weight=0x2)
for codes_of_queue_length, codes_of_queue_length_mask, codes_of_occupancy, codes_of_occupancy_mask, MATCH_PRIORITY, weight in [
    (0x1, 0x1, 0x0, 0x1, 32, 0x28),
    (0x1, 0x1, 0x1, 0x1, 32, 0xe6),
]:
    oracle.tree_0.add_with_set_weight_0(codes_of_queue_length=codes_of_queue_length, codes_of_queue_length_mask=codes_of_queue_length_mask, codes_of_occupancy=codes_of_occupancy, codes_of_occupancy_mask=codes_of_occupancy_mask, MATCH_PRIORITY=MATCH_PRIORITY, weight=weight)

oracle.tree_1.clear()
oracle.tree_1.set_default_with_add_weight_1(weight=0x5)
for codes_of_occupancy, codes_of_occupancy_mask, MATCH_PRIORITY, weight in [
    (0x1, 0x1, 32, 0x78),
]:
    oracle.tree_1.add_with_add_weight_1(codes_of_occupancy=codes_of_occupancy, codes_of_occupancy_mask=codes_of_occupancy_mask, MATCH_PRIORITY=MATCH_PRIORITY, weight=weight)

oracle.vote.clear()
oracle.vote.set_default_with_predict_accept()
for score, score_mask, MATCH_PRIORITY in [
    (0x100, 0x100, 32),
    (0xc0, 0x1c0, 32),
    (0xb0, 0x1f0, 32),
    (0xa8, 0x1f8, 32),
    (0xa4, 0x1fc, 32),
    (0xa2, 0x1fe, 32),
    (0xa1, 0x1ff, 32),
]:
    oracle.vote.add_with_predict_drop(score=score, score_mask=score_mask, MATCH_PRIORITY=MATCH_PRIORITY)

bfrt.complete_operations()
