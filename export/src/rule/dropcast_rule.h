/* The untrained rule over Dynamic Thresholds, on a switch's own queues: C99, integers only, no allocation, no global state,
 * valid C++ too. docs/rule.md of dropcast says what it does, and what it is worth.
 *
 * Include the switch's constants first (dropcast_rule_config.h, which dropcast export writes), then:
 *
 *     dropcast_rule_init        makes an empty switch
 *     dropcast_rule_arrival     decides about a packet that arrives: 1 accept, 0 drop
 *     dropcast_rule_departure   hears of one that leaves its queue
 *
 * Times are nanoseconds that never fall. One thread for each state. A queue takes 32 bytes, the switch 32 beside them. */
#ifndef DROPCAST_RULE_H
#define DROPCAST_RULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A queue. */
typedef struct {
    uint64_t updated_ns;     /* its last event */
    uint32_t length_bytes;   /* what it holds of the shared buffer */
    uint32_t recent_bytes;   /* what arrived lately */
    uint32_t expected_bytes; /* what it is expected to hold at the horizon */
    uint32_t predictions;    /* drops predicted of which is not known whether they come true */
    uint32_t phantom_bytes;  /* the packets among them that were dropped */
    uint32_t beside_bytes;   /* what it holds of the bytes that are reserved for it */
} dropcast_rule_queue;

/* A switch. */
typedef struct {
    dropcast_rule_queue queues[DROPCAST_RULE_QUEUES];
    uint64_t expected_bytes; /* sums over the queues */
    uint32_t occupancy_bytes;
    uint32_t long_queues;
    uint32_t predictions;
    uint32_t phantom_bytes;
    uint32_t confirmed; /* share of predictions that came true, in 65,536ths */
} dropcast_rule;

/* By queue: no division finds its port, whose bounds the verifier of eBPF would not know. */
static const uint32_t dropcast_rule_alpha_128[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_ALPHA_128;
static const uint32_t dropcast_rule_drain_bytes[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_DRAIN_BYTES;

/* A queue with UINT32_MAX does not draw on the shared buffer. */
static const uint32_t dropcast_rule_reserved_bytes[DROPCAST_RULE_QUEUES] = DROPCAST_RULE_RESERVED_BYTES;

static const uint32_t dropcast_rule_gate = DROPCAST_RULE_GATE;

static inline void dropcast_rule_init(dropcast_rule *state)
{
    const dropcast_rule_queue empty = {0, 0, 0, 0, 0, 0, 0};
    for (uint32_t queue = 0; queue < DROPCAST_RULE_QUEUES; queue++) {
        state->queues[queue] = empty;
    }
    state->expected_bytes = 0;
    state->occupancy_bytes = 0;
    state->long_queues = 0;
    state->predictions = 0;
    state->phantom_bytes = 0;
    state->confirmed = 0;
}

/* Whether a queue of so many bytes holds B/N or more. */
static inline uint32_t dropcast_rule_is_long(uint32_t length_bytes)
{
    return (uint64_t)length_bytes * DROPCAST_RULE_PORTS >= DROPCAST_RULE_BUFFER_BYTES;
}

/* An event of a queue, which then holds so many bytes of the shared buffer: what it is expected to hold. */
static inline void dropcast_rule_changed(
    dropcast_rule *state, uint32_t number, uint32_t length_bytes, uint32_t arrived_bytes, uint64_t now_ns)
{
    dropcast_rule_queue *queue = &state->queues[number];
    state->occupancy_bytes = state->occupancy_bytes - queue->length_bytes + length_bytes;
    state->long_queues = state->long_queues - dropcast_rule_is_long(queue->length_bytes) + dropcast_rule_is_long(length_bytes);
    queue->length_bytes = length_bytes;
    const uint64_t since_ns = now_ns > queue->updated_ns ? now_ns - queue->updated_ns : 0;
    if (since_ns >= DROPCAST_RULE_WINDOW_NS) {
        queue->recent_bytes = 0;
    } else {
        queue->recent_bytes -= (uint32_t)(queue->recent_bytes * since_ns / DROPCAST_RULE_WINDOW_NS);
    }
    queue->recent_bytes = queue->recent_bytes > UINT32_MAX - arrived_bytes ? UINT32_MAX : queue->recent_bytes + arrived_bytes;
    queue->updated_ns = now_ns;

    uint64_t expected = 0;
    if (queue->length_bytes > 0) {
        const uint64_t drain = dropcast_rule_drain_bytes[number];
        const uint64_t coming = queue->length_bytes + 2 * (uint64_t)queue->recent_bytes;
        expected = coming > drain ? coming - drain : 0;
        expected = expected > UINT32_MAX ? UINT32_MAX : expected;
    }
    state->expected_bytes = state->expected_bytes - queue->expected_bytes + expected;
    queue->expected_bytes = (uint32_t)expected;
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
        const uint32_t expected = state->queues[queue].expected_bytes;
        level += expected < cut ? expected : cut;
    }
    return level >= DROPCAST_RULE_BUFFER_BYTES;
}

/* The packet is predicted to be dropped. Returns whether enough predictions came true to drop it. */
static inline int dropcast_rule_predicted(dropcast_rule *state, uint32_t number, uint32_t size_bytes)
{
    const int is_followed = state->confirmed >= dropcast_rule_gate;
    const uint32_t phantom_bytes = is_followed ? size_bytes : 0;
    state->queues[number].predictions += 1;
    state->queues[number].phantom_bytes += phantom_bytes;
    state->predictions += 1;
    state->phantom_bytes += phantom_bytes;
    return is_followed;
}

/* Whether a packet that adds so many bytes to the shared buffer is accepted, before it is counted. */
static inline int dropcast_rule_decide(dropcast_rule *state, uint32_t number, uint32_t size_bytes)
{
    const uint64_t with_packet = (uint64_t)state->occupancy_bytes + size_bytes;
    if (state->predictions > 0 && with_packet + state->phantom_bytes > DROPCAST_RULE_BUFFER_BYTES) {
        state->confirmed += (65536 - state->confirmed) >> 4;
        state->predictions = 0;
        state->phantom_bytes = 0;
        for (uint32_t queue = 0; queue < DROPCAST_RULE_QUEUES; queue++) {
            state->queues[queue].predictions = 0;
            state->queues[queue].phantom_bytes = 0;
        }
    }
    const uint64_t alpha_128 = dropcast_rule_alpha_128[number];
    const uint64_t free_bytes = DROPCAST_RULE_BUFFER_BYTES - state->occupancy_bytes;
    if (128 * (uint64_t)state->queues[number].length_bytes >= alpha_128 * free_bytes) {
        return 0;
    }
    if (with_packet > DROPCAST_RULE_BUFFER_BYTES) {
        return 0;
    }
    if (state->long_queues == 0 || !dropcast_rule_reaches(state, number)) {
        return 1;
    }
    return !dropcast_rule_predicted(state, number, size_bytes);
}

/* A packet arrives. */
static inline int dropcast_rule_arrival(dropcast_rule *state, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t room_bytes = dropcast_rule_reserved_bytes[queue] - state->queues[queue].beside_bytes;
    const uint32_t shared_bytes = size_bytes > room_bytes ? size_bytes - room_bytes : 0;
    const int is_accepted = shared_bytes == 0 || dropcast_rule_decide(state, queue, shared_bytes);
    uint32_t length_bytes = state->queues[queue].length_bytes;
    if (is_accepted) {
        length_bytes += shared_bytes;
        state->queues[queue].beside_bytes += size_bytes - shared_bytes;
    }
    dropcast_rule_changed(state, queue, length_bytes, size_bytes, now_ns);
    return is_accepted;
}

/* A packet left its queue. */
static inline void dropcast_rule_departure(dropcast_rule *state, uint32_t number, uint32_t size_bytes, uint64_t now_ns)
{
    dropcast_rule_queue *queue = &state->queues[number];
    const uint32_t shared_bytes = size_bytes < queue->length_bytes ? size_bytes : queue->length_bytes;
    queue->beside_bytes -= size_bytes - shared_bytes;
    dropcast_rule_changed(state, number, queue->length_bytes - shared_bytes, 0, now_ns);
    if (queue->length_bytes == 0 && queue->beside_bytes == 0 && queue->predictions > 0) {
        state->confirmed -= state->confirmed >> 4;
        state->predictions -= queue->predictions;
        state->phantom_bytes -= queue->phantom_bytes;
        queue->predictions = 0;
        queue->phantom_bytes = 0;
    }
}

#ifdef __cplusplus
}
#endif

#endif
