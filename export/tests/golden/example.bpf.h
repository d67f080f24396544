/* example.bpf.h: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * example_drop(row) is 1 if the packet is predicted to be dropped. row holds the packet's features,
 * recorded before it is added to the buffer, in the order of enum example_feature.
 *
 * For eBPF programs: clang -O2 -g -target bpf -mcpu=v3. Include vmlinux.h or linux/types.h before,
 * for __u32 and __u64.
 */

#ifndef DROPCAST_EXAMPLE_BPF_H
#define DROPCAST_EXAMPLE_BPF_H

/* Global functions are verified once and on their own; the paths of others would multiply. They
 * need the type information of -g, and Linux 5.12. */
#define EXAMPLE_GLOBAL __attribute__((noinline))
#define EXAMPLE_INLINE static inline __attribute__((always_inline))

enum example_feature {
    /* bytes in the packet's queue before it is added; unit: bytes */
    EXAMPLE_FEATURE_QUEUE_LENGTH = 0,
    /* bytes in the shared buffer before the packet is added; unit: bytes */
    EXAMPLE_FEATURE_OCCUPANCY = 1
};

#define EXAMPLE_N_FEATURES 2
#define EXAMPLE_N_TREES 2
#define EXAMPLE_DEPTH 2
/* A drop is predicted if and only if the score is larger. */
#define EXAMPLE_VOTE_THRESHOLD 160u
#define EXAMPLE_AVERAGE_NS 8000u
/* The switch that the model is for: do not use it on another. */
#define EXAMPLE_BUFFER_BYTES 1000000u
#define EXAMPLE_PORTS 20u
#define EXAMPLE_MODEL_SHA256 "5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef"

struct example_row {
    __u32 x[EXAMPLE_N_FEATURES];
};

/* The verifier assumes nothing about a global function's argument, so each checks for null. */
EXAMPLE_GLOBAL __u32 example_tree_0(const struct example_row *row)
{
    const __u32 *x;

    if (!row) {
        return 0;
    }
    x = row->x;
    if (x[EXAMPLE_FEATURE_QUEUE_LENGTH] <= 30000u) {
        return 2u;
    } else {
        if (x[EXAMPLE_FEATURE_OCCUPANCY] <= 900000u) {
            return 40u;
        } else {
            return 230u;
        }
    }
}

EXAMPLE_GLOBAL __u32 example_tree_1(const struct example_row *row)
{
    const __u32 *x;

    if (!row) {
        return 0;
    }
    x = row->x;
    if (x[EXAMPLE_FEATURE_OCCUPANCY] <= 700000u) {
        return 5u;
    } else {
        return 120u;
    }
}

/* The score of a row. */
EXAMPLE_GLOBAL __u32 example_score(const struct example_row *row)
{
    __u32 score = 0;

    if (!row) {
        return 0;
    }
    score += example_tree_0(row);
    score += example_tree_1(row);
    return score;
}

/* 1 if the packet is predicted to be dropped, else 0. A tie accepts. */
EXAMPLE_INLINE int example_drop(const struct example_row *row)
{
    return example_score(row) > EXAMPLE_VOTE_THRESHOLD;
}

/* The bytes in a queue, or in the whole shared buffer. Begins as zeros.
 *
 * These are the queues of push-out Longest Queue Drop, run virtually beside the switch: they follow
 * its arrivals, departures and push-outs, not the switch's own. For a packet that arrives, first
 * example_observe its features; if it is accepted, example_add it to its queue and to the
 * buffer. When a packet departs or is pushed out, example_remove it from both. A queue that
 * does not draw on the shared buffer adds 0 bytes to the buffer, and removes 0 bytes from it. */
struct example_level {
    __u32 bytes;
};

EXAMPLE_INLINE void example_add(struct example_level *level, __u32 size_bytes)
{
    level->bytes += size_bytes;
}

EXAMPLE_INLINE void example_remove(struct example_level *level, __u32 size_bytes, __u64 now_ns)
{
    level->bytes -= size_bytes < level->bytes ? size_bytes : level->bytes;
    (void)now_ns;
}

/* Does nothing: this model needs no projection. The call exists so that surrounding code fits
 * every model. */
EXAMPLE_INLINE void example_project(struct example_level *queue, struct example_level *buffer,
    __u32 arrived_bytes, __u64 drain_bytes, __u64 now_ns)
{
    (void)queue;
    (void)buffer;
    (void)arrived_bytes;
    (void)drain_bytes;
    (void)now_ns;
}

/* The features of a packet that arrives for queue, before it is added. shared are all n_shared queues
 * that draw on the shared buffer. */
EXAMPLE_INLINE void example_observe(
    const struct example_level *queue, const struct example_level *buffer,
    const struct example_level *shared, __u32 n_shared,
    struct example_row *row)
{
    (void)shared;
    (void)n_shared;
    row->x[EXAMPLE_FEATURE_QUEUE_LENGTH] = queue->bytes;
    row->x[EXAMPLE_FEATURE_OCCUPANCY] = buffer->bytes;
}

#endif /* DROPCAST_EXAMPLE_BPF_H */
