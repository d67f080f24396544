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
    /* queues of the shared buffer that are longer than the packet's queue; unit: queues */
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

/* The bit length of v; 0 for 0. */
static inline uint32_t example_bits(uint64_t v)
{
    uint32_t bits;

    for (bits = 0; bits < 64u && v != 0; bits++) {
        v >>= 1;
    }
    return bits;
}

/* A number as its whole part and a fraction in units of 2^-54, truncated. */
struct example_fixed {
    uint64_t whole;
    uint64_t fraction;
};

/* (m * 2^-point) * v as double precision rounds it, for m of up to 54 bits and point >= 53. */
static inline struct example_fixed example_product(uint64_t m, uint32_t point, uint32_t v)
{
    const uint64_t fraction_mask = (1ull << 54) - 1u;
    const uint64_t below = (m & 0xffffffffu) * v;
    const uint64_t high = (m >> 32) * v + (below >> 32);
    const uint64_t low = below & 0xffffffffu;
    const uint32_t high_bits = example_bits(high);
    /* A double keeps 53 bits; ties go to the even one. */
    const uint32_t excess = high_bits > 21u ? high_bits - 21u : 0u;
    const uint64_t cut = low & ((1ull << excess) - 1u);
    uint64_t kept = (high << (32u - excess)) | (low >> excess);
    struct example_fixed product;

    kept += 2u * cut + (kept & 1u) > (1ull << excess) ? 1u : 0u;
    point -= excess;
    if (point < 54u) {
        product.whole = kept >> point;
        product.fraction = (kept << (54u - point)) & fraction_mask;
    } else {
        product.whole = 0;
        product.fraction = kept >> (point - 54u);
    }
    return product;
}

/* trunc(g * x + (1 - g) * average) with g = elapsed_ns / tau, each step rounded as double precision
 * does; 0 < elapsed_ns < tau. */
static inline uint32_t example_average_rounded(uint32_t average, uint32_t x, uint32_t elapsed_ns)
{
    const uint64_t tau_ns = EXAMPLE_AVERAGE_NS;
    uint64_t scaled = elapsed_ns, gain, keep, cut, whole, fraction;
    uint32_t shift;
    struct example_fixed of_x, of_average;

    /* g = gain * 2^-(52 + shift), gain of 53 bits: long division. */
    for (shift = 0; shift < 32u && scaled < tau_ns; shift++) {
        scaled <<= 1;
    }
    scaled = (scaled - tau_ns) << 32;
    gain = (1ull << 52) + ((scaled / tau_ns) << 20);
    scaled = (scaled % tau_ns) << 20;
    gain += scaled / tau_ns;
    gain += 2u * (scaled % tau_ns) + (gain & 1u) > tau_ns ? 1u : 0u;

    /* 1 - g = keep * 2^-53. */
    cut = gain & ((1ull << (shift - 1u)) - 1u);
    keep = gain >> (shift - 1u);
    keep += 2u * cut + (keep & 1u) > (1ull << (shift - 1u)) ? 1u : 0u;
    keep = (1ull << 53) - keep;

    of_x = example_product(gain, 52u + shift, x);
    of_average = example_product(keep, 53u, average);
    fraction = of_x.fraction + of_average.fraction;
    whole = of_x.whole + of_average.whole + (fraction >> 54);
    fraction &= (1ull << 54) - 1u;
    /* The sum is rounded too: up to the next integer from half a unit in the last place below it. */
    return (uint32_t)(whole + ((fraction + (1ull << example_bits(whole))) >> 54));
}

/* The moving average ns3-trunc: trunc(g * x + (1 - g) * average) in double precision, with
 * g = min(elapsed_ns, tau) / tau. Computed in integers, bit for bit the same: the exact quotient
 * decides, unless it is as close to an integer as rounding errors reach, 2^-18. */
static inline uint32_t example_average(uint32_t average, uint32_t x, uint64_t elapsed_ns)
{
    const uint64_t tau_ns = EXAMPLE_AVERAGE_NS;
    const uint64_t reach = tau_ns >> 18;
    uint64_t sum, rest;

    if (elapsed_ns >= tau_ns) {
        return x;
    }
    sum = elapsed_ns * x + (tau_ns - elapsed_ns) * average;
    rest = sum % tau_ns;
    if ((rest > reach && tau_ns - rest > reach) || elapsed_ns == 0 || sum == 0) {
        return (uint32_t)(sum / tau_ns);
    }
    return example_average_rounded(average, x, (uint32_t)elapsed_ns);
}

/* The bytes in a queue, or in the whole shared buffer, with their moving average. Begins as zeros.
 *
 * These are the queues of push-out Longest Queue Drop, run virtually beside the switch: they follow
 * its arrivals, departures and push-outs, not the switch's own. For a packet that arrives, first
 * example_observe its features; if it is accepted, example_add it to its queue and to the
 * buffer. When a packet departs or is pushed out, example_remove it from both. A queue that
 * does not draw on the shared buffer adds 0 bytes to the buffer, and removes 0 bytes from it. */
struct example_level {
    uint64_t updated_ns;
    uint32_t average;
    uint32_t bytes;
};

static inline void example_add(struct example_level *level, uint32_t size_bytes)
{
    level->bytes += size_bytes;
}

static inline void example_remove(struct example_level *level, uint32_t size_bytes, uint64_t now_ns)
{
    const uint64_t elapsed_ns = now_ns > level->updated_ns ? now_ns - level->updated_ns : 0u;

    level->bytes -= size_bytes < level->bytes ? size_bytes : level->bytes;
    level->average = example_average(level->average, level->bytes, elapsed_ns);
    level->updated_ns = now_ns;
}

/* Does nothing: this model needs no projection. The call exists so that surrounding code fits
 * every model. */
static inline void example_project(struct example_level *queue, struct example_level *buffer,
    uint32_t arrived_bytes, uint64_t drain_bytes, uint64_t now_ns)
{
    (void)queue;
    (void)buffer;
    (void)arrived_bytes;
    (void)drain_bytes;
    (void)now_ns;
}

/* The features of a packet that arrives for queue, before it is added. shared are all n_shared queues
 * that draw on the shared buffer. */
static inline void example_observe(
    const struct example_level *queue, const struct example_level *buffer,
    const struct example_level *shared, uint32_t n_shared,
    uint32_t x[EXAMPLE_N_FEATURES])
{
    uint32_t at;
    uint32_t longest = 0;
    uint32_t rank = 0;

    for (at = 0; at < n_shared; at++) {
        longest = shared[at].bytes > longest ? shared[at].bytes : longest;
        rank += shared[at].bytes > queue->bytes ? 1u : 0u;
    }
    x[EXAMPLE_FEATURE_QUEUE_LENGTH] = queue->bytes;
    x[EXAMPLE_FEATURE_AVG_QUEUE_LENGTH] = queue->average;
    x[EXAMPLE_FEATURE_OCCUPANCY] = buffer->bytes;
    x[EXAMPLE_FEATURE_AVG_OCCUPANCY] = buffer->average;
    x[EXAMPLE_FEATURE_LONGEST_QUEUE] = longest;
    x[EXAMPLE_FEATURE_RANK] = rank;
}

#endif /* DROPCAST_EXAMPLE_H */
