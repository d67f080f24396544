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
 * for their integer types.
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

/* The kernel's types, without <stdint.h>, which contradicts vmlinux.h. */
#define uint16_t __u16
#define uint32_t __u32
#define uint64_t __u64
#define DROPCAST_NAME(name) example_##name
#define DROPCAST_CONSTANT(name) EXAMPLE_##name
#define DROPCAST_SEPARATE EXAMPLE_GLOBAL
#define DROPCAST_TAU_NS 8000u
#define DROPCAST_FUNCTION EXAMPLE_INLINE
#define DROPCAST_ROW struct example_row *
#define DROPCAST_VALUES(x) (x)->x
#define DROPCAST_FEATURE_QUEUE_LENGTH 0
#define DROPCAST_FEATURE_OCCUPANCY 1
#define DROPCAST_LEVELS

/* dropcast_features.h */
#undef DROPCAST_NAME
#undef DROPCAST_CONSTANT
#undef DROPCAST_SEPARATE
#undef DROPCAST_TAU_NS
#undef DROPCAST_FUNCTION
#undef DROPCAST_ROW
#undef DROPCAST_VALUES
#undef DROPCAST_FEATURE_QUEUE_LENGTH
#undef DROPCAST_FEATURE_OCCUPANCY
#undef DROPCAST_LEVELS
#undef uint16_t
#undef uint32_t
#undef uint64_t

#endif /* DROPCAST_EXAMPLE_BPF_H */
