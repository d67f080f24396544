/* example.h: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 1 tree of depth 2 on 6 features.
 * Time constant of moving averages, the base RTT: 8000 ns.
 *
 * example_drop(x) is 1 if the packet is predicted to be dropped. x holds the packet's features,
 * recorded before it is added to the buffer, in the order of enum example_feature.
 */

#ifndef DROPCAST_EXAMPLE_H
#define DROPCAST_EXAMPLE_H

#include <stdint.h>

enum example_feature {
    /* bytes in the packet's queue before it is added; unit: bytes */
    EXAMPLE_FEATURE_QUEUE_LENGTH = 0,
    /* moving average of the queue's bytes, updated when a packet leaves it, time constant base RTT; unit: bytes */
    EXAMPLE_FEATURE_AVG_QUEUE_LENGTH = 1,
    /* bytes in the shared buffer before the packet is added; unit: bytes */
    EXAMPLE_FEATURE_OCCUPANCY = 2,
    /* moving average of the occupancy, updated when a packet leaves the switch, time constant base RTT; unit: bytes */
    EXAMPLE_FEATURE_AVG_OCCUPANCY = 3,
    /* bytes in the longest queue of the shared buffer; unit: bytes */
    EXAMPLE_FEATURE_LONGEST_QUEUE = 4,
    /* queues of the shared buffer longer than the packet's queue; unit: queues */
    EXAMPLE_FEATURE_RANK = 5
};

#define EXAMPLE_N_FEATURES 6
#define EXAMPLE_N_TREES 1
#define EXAMPLE_DEPTH 2
/* A drop is predicted if and only if the score is larger. */
#define EXAMPLE_VOTE_THRESHOLD 100u
#define EXAMPLE_AVERAGE_NS 8000u
/* The switch that the model is for: do not use it on another. */
#define EXAMPLE_BUFFER_BYTES 1000000u
#define EXAMPLE_PORTS 20u
#define EXAMPLE_MODEL_SHA256 "5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef"

/* Complete trees, level by level: from split i, x[column] <= threshold leads to 2i + 1, else to
 * 2i + 2. A leaf above the last level is padded with splits that always go left. */
static const uint32_t example_thresholds[1][3] = {
    { 30000u, 4294967295u, 900000u },
};

static const uint8_t example_columns[1][3] = {
    { 0, 0, 0 },
};

/* Leaves, left to right. */
static const uint8_t example_weights[1][4] = {
    { 2, 2, 40, 230 },
};

/* The score of a row, by tables: the same number of steps for every row. */
static inline uint32_t example_score_table(const uint32_t x[EXAMPLE_N_FEATURES])
{
    uint32_t score = 0;
    unsigned int tree, level, at;

    for (tree = 0; tree < EXAMPLE_N_TREES; tree++) {
        at = 0;
        for (level = 0; level < EXAMPLE_DEPTH; level++) {
            at = 2u * at + (x[example_columns[tree][at]] <= example_thresholds[tree][at] ? 1u : 2u);
        }
        score += example_weights[tree][at - 3u];
    }
    return score;
}

static inline uint32_t example_tree_0(const uint32_t x[EXAMPLE_N_FEATURES])
{
    if (x[EXAMPLE_FEATURE_QUEUE_LENGTH] <= 30000u) {
        return 2u;
    } else {
        if (x[EXAMPLE_FEATURE_QUEUE_LENGTH] <= 900000u) {
            return 40u;
        } else {
            return 230u;
        }
    }
}

/* The score of a row, by nested ifs. */
static inline uint32_t example_score_branches(const uint32_t x[EXAMPLE_N_FEATURES])
{
    uint32_t score = 0;

    score += example_tree_0(x);
    return score;
}

/* The score of a row: by tables if EXAMPLE_TABLES is defined, else by nested ifs. */
static inline uint32_t example_score(const uint32_t x[EXAMPLE_N_FEATURES])
{
#ifdef EXAMPLE_TABLES
    return example_score_table(x);
#else
    return example_score_branches(x);
#endif
}

/* 1 if the packet is predicted to be dropped, else 0. A tie accepts. */
static inline int example_drop(const uint32_t x[EXAMPLE_N_FEATURES])
{
    return example_score(x) > EXAMPLE_VOTE_THRESHOLD;
}

#define DROPCAST_NAME(name) example_##name
#define DROPCAST_CONSTANT(name) EXAMPLE_##name
#define DROPCAST_SEPARATE static inline
#define DROPCAST_TAU_NS 8000u
#define DROPCAST_FUNCTION static inline
#define DROPCAST_ROW uint32_t *
#define DROPCAST_VALUES(x) (x)
#define DROPCAST_FEATURE_QUEUE_LENGTH 0
#define DROPCAST_FEATURE_AVG_QUEUE_LENGTH 1
#define DROPCAST_FEATURE_OCCUPANCY 2
#define DROPCAST_FEATURE_AVG_OCCUPANCY 3
#define DROPCAST_FEATURE_LONGEST_QUEUE 4
#define DROPCAST_FEATURE_RANK 5
#define DROPCAST_AVERAGES
#define DROPCAST_SCANS
#define DROPCAST_LEVELS

/* dropcast_average.h */
/* dropcast_features.h */
#undef DROPCAST_NAME
#undef DROPCAST_CONSTANT
#undef DROPCAST_SEPARATE
#undef DROPCAST_TAU_NS
#undef DROPCAST_FUNCTION
#undef DROPCAST_ROW
#undef DROPCAST_VALUES
#undef DROPCAST_FEATURE_QUEUE_LENGTH
#undef DROPCAST_FEATURE_AVG_QUEUE_LENGTH
#undef DROPCAST_FEATURE_OCCUPANCY
#undef DROPCAST_FEATURE_AVG_OCCUPANCY
#undef DROPCAST_FEATURE_LONGEST_QUEUE
#undef DROPCAST_FEATURE_RANK
#undef DROPCAST_AVERAGES
#undef DROPCAST_SCANS
#undef DROPCAST_LEVELS

#endif /* DROPCAST_EXAMPLE_H */
