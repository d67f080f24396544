/* A forest as a filter over Dynamic Thresholds, on a switch's own queues: C99, integers only, no allocation, no global state,
 * valid C++ too. docs/filter.md of dropcast says what it does, and what it is worth.
 *
 * Include the switch's constants first (dropcast_filter_config.h, which dropcast export writes), and have the forest
 * (dropcast_filter_forest.h, which it writes, too) and dropcast_filtered.h beside this file. Then:
 *
 *     dropcast_filter_init        makes an empty switch
 *     dropcast_filter_arrival     decides about a packet that arrives: 1 accept, 0 drop
 *     dropcast_filter_departure   hears of one that leaves its queue
 *
 * Times are nanoseconds that never fall. One thread for each state. A queue takes 16 bytes, and a level of the forest's. */
#ifndef DROPCAST_FILTER_H
#define DROPCAST_FILTER_H

#include "dropcast_filtered.h"
#ifdef __bpf__
#include "dropcast_filter_forest.bpf.h"
#else
#include "dropcast_filter_forest.h"
#endif
#include <stdint.h>

#if defined(DROPCAST_FILTER_FOREST_BUFFER_BYTES) && DROPCAST_FILTER_FOREST_BUFFER_BYTES != DROPCAST_FILTER_BUFFER_BYTES
#error "dropcast_filter_forest.h is for another buffer than dropcast_filter_config.h"
#endif
#if defined(DROPCAST_FILTER_FOREST_AVERAGE_NS) && DROPCAST_FILTER_FOREST_AVERAGE_NS != DROPCAST_FILTER_BASE_RTT_NS
#error "dropcast_filter_forest.h is for another base RTT than dropcast_filter_config.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A switch. */
typedef struct {
    dropcast_filtered_queue queues[DROPCAST_FILTER_QUEUES];
    struct dropcast_filter_forest_level levels[DROPCAST_FILTER_QUEUES]; /* what features need of each queue */
    struct dropcast_filter_forest_level level;                          /* and of the shared buffer */
    dropcast_filtered_buffer buffer;
    uint32_t busy_queues; /* that hold some of the shared buffer */
} dropcast_filter;

/* By queue: no division finds its port, whose bounds the verifier of eBPF would not know. */
static const uint32_t dropcast_filter_alpha_128[DROPCAST_FILTER_QUEUES] = DROPCAST_FILTER_ALPHA_128;
static const uint32_t dropcast_filter_drain_bytes[DROPCAST_FILTER_QUEUES] = DROPCAST_FILTER_DRAIN_BYTES;

/* A queue with UINT32_MAX does not draw on the shared buffer. */
static const uint32_t dropcast_filter_reserved_bytes[DROPCAST_FILTER_QUEUES] = DROPCAST_FILTER_RESERVED_BYTES;

/* While the busy queues times the length of a packet's queue are less than this, no drop is predicted: levels are at most that. */
static const uint64_t dropcast_filter_harmless_bytes = DROPCAST_FILTER_HARMLESS_BYTES;

static inline void dropcast_filter_init(dropcast_filter *state)
{
    unsigned char *bytes = (unsigned char *)state;
    for (uint32_t byte = 0; byte < sizeof *state; byte++) {
        bytes[byte] = 0;
    }
}

/* Whether the forest predicts that LQD would drop a packet that arrives for a queue, from the switch's own queues. */
static inline int dropcast_filter_predicts(const dropcast_filter *state, uint32_t number)
{
    if ((uint64_t)state->busy_queues * state->queues[number].length_bytes < dropcast_filter_harmless_bytes) {
        return 0;
    }
#ifdef __bpf__
    struct dropcast_filter_forest_row x[1];
#else
    uint32_t x[DROPCAST_FILTER_FOREST_N_FEATURES];
#endif
    dropcast_filter_forest_observe(&state->levels[number], &state->level, state->levels, DROPCAST_FILTER_QUEUES, x);
    return dropcast_filter_forest_drop(x);
}

/* Whether a packet that adds so many bytes to the shared buffer is accepted, before it is counted. */
static inline int dropcast_filter_decide(dropcast_filter *state, uint32_t number, uint32_t part_bytes)
{
    if (!dropcast_filtered_fits(&state->buffer, state->queues, DROPCAST_FILTER_QUEUES, number, dropcast_filter_alpha_128[number],
            part_bytes, DROPCAST_FILTER_BUFFER_BYTES)) {
        return 0;
    }
    if (state->buffer.long_queues == 0 || !dropcast_filter_predicts(state, number)) {
        return 1;
    }
    return !dropcast_filtered_follows(&state->buffer, &state->queues[number], part_bytes, DROPCAST_FILTER_GATE);
}

/* A packet arrives. */
static inline int dropcast_filter_arrival(dropcast_filter *state, uint32_t number, uint32_t size_bytes, uint64_t now_ns)
{
    dropcast_filtered_queue *queue = &state->queues[number];
    struct dropcast_filter_forest_level *level = &state->levels[number];
    const uint32_t part_bytes = dropcast_filtered_part(queue, dropcast_filter_reserved_bytes[number], size_bytes);
    const int is_accepted = part_bytes == 0 || dropcast_filter_decide(state, number, part_bytes);
    if (is_accepted) {
        state->busy_queues += queue->length_bytes == 0 && part_bytes > 0 ? 1u : 0u;
        dropcast_filtered_add(&state->buffer, queue, size_bytes, part_bytes, DROPCAST_FILTER_LONG_BYTES);
        dropcast_filter_forest_add(level, part_bytes);
        dropcast_filter_forest_add(&state->level, part_bytes);
    }
    dropcast_filter_forest_project(level, &state->level, size_bytes, dropcast_filter_drain_bytes[number], now_ns);
    return is_accepted;
}

/* A packet left its queue. */
static inline void dropcast_filter_departure(dropcast_filter *state, uint32_t number, uint32_t size_bytes, uint64_t now_ns)
{
    dropcast_filtered_queue *queue = &state->queues[number];
    struct dropcast_filter_forest_level *level = &state->levels[number];
    const uint32_t part_bytes = dropcast_filtered_remove(&state->buffer, queue, size_bytes, DROPCAST_FILTER_LONG_BYTES);
    state->busy_queues -= queue->length_bytes == 0 && part_bytes > 0 ? 1u : 0u;
    dropcast_filter_forest_remove(level, part_bytes, now_ns);
    dropcast_filter_forest_remove(&state->level, part_bytes, now_ns);
    dropcast_filter_forest_project(level, &state->level, 0, dropcast_filter_drain_bytes[number], now_ns);
}

#ifdef __cplusplus
}
#endif

#endif
