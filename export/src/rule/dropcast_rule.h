/* The untrained rule over Dynamic Thresholds, on a switch's own queues: C99, integers only, no allocation, no global state,
 * valid C++ too. docs/rule.md of dropcast says what it does, and what it is worth.
 *
 * Include the switch's constants first (dropcast_rule_config.h, which dropcast export writes), and have dropcast_filtered.h beside
 * this file. Then:
 *
 *     dropcast_rule_init        makes an empty switch
 *     dropcast_rule_arrival     decides about a packet that arrives: 1 accept, 0 drop
 *     dropcast_rule_departure   hears of one that leaves its queue
 *
 * Times are nanoseconds that never fall. One thread for each state. A queue takes 32 bytes, the switch 32 beside them. */
#ifndef DROPCAST_RULE_H
#define DROPCAST_RULE_H

#include "dropcast_filtered.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a queue is heading. */
typedef struct {
    uint64_t updated_ns;     /* its last event */
    uint32_t recent_bytes;   /* what arrived lately */
    uint32_t expected_bytes; /* what it is expected to hold at the horizon */
} dropcast_rule_trend;

/* A switch. */
typedef struct {
    dropcast_filtered_queue queues[DROPCAST_RULE_QUEUES];
    dropcast_rule_trend trends[DROPCAST_RULE_QUEUES];
    uint64_t expected_bytes; /* sum over the queues */
    dropcast_filtered_buffer buffer;
} dropcast_rule;

/* By queue: no division finds its port, whose bounds the verifier of eBPF would not know. */
static const uint32_t dropcast_rule_alpha_128[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_ALPHA_128;
static const uint32_t dropcast_rule_drain_bytes[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_DRAIN_BYTES;

/* A queue with UINT32_MAX does not draw on the shared buffer. */
static const uint32_t dropcast_rule_reserved_bytes[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_RESERVED_BYTES;

static const uint32_t dropcast_rule_gate = DROPCAST_RULE_GATE;

static inline void dropcast_rule_init(dropcast_rule *state)
{
    const dropcast_rule_trend none = {0, 0, 0};
    for (uint32_t queue = 0; queue < DROPCAST_RULE_QUEUES; queue++) {
        state->trends[queue] = none;
    }
    state->expected_bytes = 0;
    dropcast_filtered_init(&state->buffer, state->queues, DROPCAST_RULE_QUEUES);
}

/* An event of a queue, after it: what the queue is expected to hold. */
static inline void dropcast_rule_changed(dropcast_rule *state, uint32_t number, uint32_t arrived_bytes, uint64_t now_ns)
{
    const uint32_t length_bytes = state->queues[number].length_bytes;
    dropcast_rule_trend *trend = &state->trends[number];
    const uint64_t since_ns = now_ns > trend->updated_ns ? now_ns - trend->updated_ns : 0;
    if (since_ns >= DROPCAST_RULE_WINDOW_NS) {
        trend->recent_bytes = 0;
    } else {
        trend->recent_bytes -= (uint32_t)(trend->recent_bytes * since_ns / DROPCAST_RULE_WINDOW_NS);
    }
    trend->recent_bytes = trend->recent_bytes > UINT32_MAX - arrived_bytes ? UINT32_MAX : trend->recent_bytes + arrived_bytes;
    trend->updated_ns = now_ns;

    uint64_t expected = 0;
    if (length_bytes > 0) {
        const uint64_t drain = dropcast_rule_drain_bytes[number];
        const uint64_t coming = length_bytes + 2 * (uint64_t)trend->recent_bytes;
        expected = coming > drain ? coming - drain : 0;
        expected = expected > UINT32_MAX ? UINT32_MAX : expected;
    }
    state->expected_bytes = state->expected_bytes - trend->expected_bytes + expected;
    trend->expected_bytes = (uint32_t)expected;
}

/* Whether the level, projected to the horizon, reaches the buffer: what all queues would hold then, if each were cut down to
 * what this one holds now. */
static inline int dropcast_rule_reaches(const dropcast_rule *state, uint32_t number)
{
    if (state->expected_bytes < DROPCAST_RULE_BUFFER_BYTES) {
        return 0;
    }
    const uint32_t cut = state->queues[number].length_bytes;
    uint64_t level = 0;
    for (uint32_t queue = 0; queue < DROPCAST_RULE_QUEUES; queue++) {
        const uint32_t expected = state->trends[queue].expected_bytes;
        level += expected < cut ? expected : cut;
    }
    return level >= DROPCAST_RULE_BUFFER_BYTES;
}

/* Whether a packet that adds so many bytes to the shared buffer is accepted, before it is counted. */
static inline int dropcast_rule_decide(dropcast_rule *state, uint32_t number, uint32_t part_bytes)
{
    if (!dropcast_filtered_fits(&state->buffer, state->queues, DROPCAST_RULE_QUEUES, number, dropcast_rule_alpha_128[number],
            part_bytes, DROPCAST_RULE_BUFFER_BYTES)) {
        return 0;
    }
    if (state->buffer.long_queues == 0 || !dropcast_rule_reaches(state, number)) {
        return 1;
    }
    return !dropcast_filtered_follows(&state->buffer, &state->queues[number], part_bytes, dropcast_rule_gate);
}

/* A packet arrives. */
static inline int dropcast_rule_arrival(dropcast_rule *state, uint32_t number, uint32_t size_bytes, uint64_t now_ns)
{
    dropcast_filtered_queue *queue = &state->queues[number];
    const uint32_t part_bytes = dropcast_filtered_part(queue, dropcast_rule_reserved_bytes[number], size_bytes);
    const int is_accepted = part_bytes == 0 || dropcast_rule_decide(state, number, part_bytes);
    if (is_accepted) {
        dropcast_filtered_add(&state->buffer, queue, size_bytes, part_bytes, DROPCAST_RULE_LONG_BYTES);
    }
    dropcast_rule_changed(state, number, size_bytes, now_ns);
    return is_accepted;
}

/* A packet left its queue. */
static inline void dropcast_rule_departure(dropcast_rule *state, uint32_t number, uint32_t size_bytes, uint64_t now_ns)
{
    dropcast_filtered_remove(&state->buffer, &state->queues[number], size_bytes, DROPCAST_RULE_LONG_BYTES);
    dropcast_rule_changed(state, number, 0, now_ns);
}

#ifdef __cplusplus
}
#endif

#endif
