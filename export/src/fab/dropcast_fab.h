/* Flow-aware buffer sharing (FAB): Dynamic Thresholds with another alpha for the first bytes of a flow. C99, integers only, no
 * allocation, no global state, valid C++ too. docs/policies.md of dropcast says what it does.
 *
 * Include the switch's constants first (dropcast_fab_config.h, which dropcast export writes), then:
 *
 *     dropcast_fab_init        makes an empty switch
 *     dropcast_fab_arrival     decides about a packet that arrives: 1 accept, 0 drop
 *     dropcast_fab_departure   hears of one that leaves its queue
 *
 * Times are nanoseconds that never fall. One thread for each state. A flow takes 24 bytes, a queue 8. */
#ifndef DROPCAST_FAB_H
#define DROPCAST_FAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A flow. */
typedef struct {
    uint64_t hash;
    uint64_t seen_ns;
    uint64_t bytes; /* that arrived since it was new */
} dropcast_fab_flow;

/* A queue. */
typedef struct {
    uint32_t length_bytes; /* what it holds of the shared buffer */
    uint32_t beside_bytes; /* what it holds of the bytes that are reserved for it */
} dropcast_fab_queue;

/* A switch. */
typedef struct {
    dropcast_fab_flow flows[DROPCAST_FAB_FLOWS];
    dropcast_fab_queue queues[DROPCAST_FAB_QUEUES];
    uint32_t occupancy_bytes;
} dropcast_fab;

/* By queue. */
static const uint32_t dropcast_fab_alpha_128[DROPCAST_FAB_QUEUES] = DROPCAST_FAB_ALPHA_128;

/* A queue with UINT32_MAX does not draw on the shared buffer. */
static const uint32_t dropcast_fab_reserved_bytes[DROPCAST_FAB_QUEUES] = DROPCAST_FAB_RESERVED_BYTES;

static inline void dropcast_fab_init(dropcast_fab *state)
{
    const dropcast_fab_flow none = {0, 0, 0};
    for (uint32_t flow = 0; flow < DROPCAST_FAB_FLOWS; flow++) {
        state->flows[flow] = none;
    }
    for (uint32_t queue = 0; queue < DROPCAST_FAB_QUEUES; queue++) {
        state->queues[queue].length_bytes = 0;
        state->queues[queue].beside_bytes = 0;
    }
    state->occupancy_bytes = 0;
}

/* Counts a packet of a flow. Returns whether it is among the flow's first. */
static inline int dropcast_fab_is_first(dropcast_fab *state, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns)
{
    if (flow_hash == 0) {
        return 0;
    }
    dropcast_fab_flow *flow = &state->flows[flow_hash & (DROPCAST_FAB_FLOWS - 1u)];
    const uint64_t silent_ns = now_ns > flow->seen_ns ? now_ns - flow->seen_ns : 0;
    if (flow->hash != flow_hash || silent_ns > DROPCAST_FAB_WINDOW_NS) {
        flow->hash = flow_hash;
        flow->bytes = 0;
    }
    flow->bytes += size_bytes;
    flow->seen_ns = now_ns;
    return flow->bytes < DROPCAST_FAB_FIRST_BYTES;
}

/* A packet arrives. Hash 0: of an unknown flow, which has no first bytes. */
static inline int dropcast_fab_arrival(
    dropcast_fab *state, uint32_t queue, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns)
{
    const int is_first = dropcast_fab_is_first(state, size_bytes, flow_hash, now_ns);
    const uint64_t alpha_128 = is_first ? DROPCAST_FAB_FIRST_ALPHA_128 : dropcast_fab_alpha_128[queue];
    dropcast_fab_queue *of = &state->queues[queue];
    const uint32_t room_bytes = dropcast_fab_reserved_bytes[queue] - of->beside_bytes;
    const uint32_t shared_bytes = size_bytes > room_bytes ? size_bytes - room_bytes : 0;
    const uint64_t free_bytes = DROPCAST_FAB_BUFFER_BYTES - state->occupancy_bytes;
    const int is_below = 128 * (uint64_t)of->length_bytes < alpha_128 * free_bytes;
    if (shared_bytes > 0 && (!is_below || shared_bytes > free_bytes)) {
        return 0;
    }
    of->length_bytes += shared_bytes;
    of->beside_bytes += size_bytes - shared_bytes;
    state->occupancy_bytes += shared_bytes;
    return 1;
}

/* A packet left its queue. */
static inline void dropcast_fab_departure(dropcast_fab *state, uint32_t queue, uint32_t size_bytes)
{
    dropcast_fab_queue *of = &state->queues[queue];
    const uint32_t shared_bytes = size_bytes < of->length_bytes ? size_bytes : of->length_bytes;
    of->length_bytes -= shared_bytes;
    of->beside_bytes -= size_bytes - shared_bytes;
    state->occupancy_bytes -= shared_bytes;
}

#ifdef __cplusplus
}
#endif

#endif
