/* Early drops in bursts over Dynamic Thresholds: C99, integers only, no allocation, no global state, valid C++ too.
 * lab/notes/spare-tails.md of dropcast says what it does, and what it is worth.
 *
 * Include the switch's constants first (dropcast_spare_tails_config.h, which dropcast export writes), then:
 *
 *     dropcast_spare_tails_init        makes an empty switch
 *     dropcast_spare_tails_arrival     decides about a packet that arrives: 1 accept, 0 drop
 *     dropcast_spare_tails_departure   hears of one that leaves its queue
 *
 * Times are nanoseconds that never fall. One thread for each state. A flow takes 32 bytes, a queue 24 and 8 for each flow of a burst. */
#ifndef DROPCAST_SPARE_TAILS_H
#define DROPCAST_SPARE_TAILS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DROPCAST_SPARE_TAILS_LEAST_BYTES = 512, /* shorter packets are neither counted nor dropped early */
    DROPCAST_SPARE_TAILS_MOST_LATER = 16,   /* a flow that sends more after a pause has more than one flight */
    DROPCAST_SPARE_TAILS_COUNTED = 32,      /* packets of a flow that are counted */
    DROPCAST_SPARE_TAILS_BEHIND = 4,        /* so many must come after the one that is dropped */
    DROPCAST_SPARE_TAILS_TELLING = 3,       /* so many after one that was dropped tell its sender */
    DROPCAST_SPARE_TAILS_MOST_LOST = 8,     /* a flow that lost so many makes no more room */
    DROPCAST_SPARE_TAILS_WEIGHT_BITS = 3,   /* the weight of a burst: an eighth */
    DROPCAST_SPARE_TAILS_MOST_WINDOWS = 8,  /* a burst that lasts so many windows counts as one */
    DROPCAST_SPARE_TAILS_LEAST_FLOWS = 8,   /* what is known of fewer is not acted upon */
    DROPCAST_SPARE_TAILS_PAUSE = 8,         /* a gap so many times the mean of those before it */
    DROPCAST_SPARE_TAILS_PAUSES_FROM = 4    /* from this packet on */
};

/* A value of which the compiler must not know where it comes from: dropcast_spare_tails.bpf.c says why. */
#ifndef DROPCAST_SPARE_TAILS_OPAQUE
#define DROPCAST_SPARE_TAILS_OPAQUE(value) ((void)(value))
#endif

/* A flow. */
typedef struct {
    uint64_t hash;
    uint64_t began_ns;
    uint64_t seen_ns;
    uint16_t packets; /* that arrived */
    uint16_t dropped; /* of its first flight, that this switch dropped */
    uint16_t later;   /* that arrived after its first pause, with which its first flight ends */
    uint8_t counted;  /* 1: it is of a burst; 2: and had more than one flight */
    uint8_t telling;  /* of its first flight, accepted after one that was dropped; not counted further than TELLING */
} dropcast_spare_tails_flow;

/* A queue. */
typedef struct {
    uint64_t began_ns[DROPCAST_SPARE_TAILS_BURST_FLOWS]; /* when the last flows began, the last one first */
    uint64_t on_since_ns;                                /* when the burst began that is on */
    uint32_t begun;                                      /* how many beginnings are known */
    uint32_t is_on;                                      /* whether a burst is on */
    uint32_t length_bytes;                               /* what it holds of the shared buffer */
    uint32_t beside_bytes;                               /* what it holds of the bytes that are reserved for it */
} dropcast_spare_tails_queue;

/* A switch. */
typedef struct {
    dropcast_spare_tails_flow flows[DROPCAST_SPARE_TAILS_FLOWS];
    dropcast_spare_tails_queue queues[DROPCAST_SPARE_TAILS_QUEUES];
    uint32_t reached[DROPCAST_SPARE_TAILS_COUNTED]; /* flows whose first flight had so many packets, and one more */
    uint32_t may_give;                              /* a bit for each packet that flows may give, as of the last burst's end */
    uint32_t went_on;                               /* flows that had more than one flight */
    uint32_t known;                                 /* flows in reached at the last burst's end */
    uint32_t occupancy_bytes;
} dropcast_spare_tails;

/* By queue: no division finds its class, whose bounds the verifier of eBPF would not know. */
static const uint32_t dropcast_spare_tails_alpha_128[DROPCAST_SPARE_TAILS_QUEUES] = DROPCAST_SPARE_TAILS_ALPHA_128;

/* A queue with UINT32_MAX does not draw on the shared buffer. */
static const uint32_t dropcast_spare_tails_reserved_bytes[DROPCAST_SPARE_TAILS_QUEUES] = DROPCAST_SPARE_TAILS_RESERVED_BYTES;

static inline void dropcast_spare_tails_init(dropcast_spare_tails *state)
{
    const dropcast_spare_tails_flow none = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t flow = 0; flow < DROPCAST_SPARE_TAILS_FLOWS; flow++) {
        state->flows[flow] = none;
    }
    for (uint32_t number = 0; number < DROPCAST_SPARE_TAILS_QUEUES; number++) {
        dropcast_spare_tails_queue *queue = &state->queues[number];
        for (uint32_t flow = 0; flow < DROPCAST_SPARE_TAILS_BURST_FLOWS; flow++) {
            queue->began_ns[flow] = 0;
        }
        queue->on_since_ns = 0;
        queue->begun = 0;
        queue->is_on = 0;
        queue->length_bytes = 0;
        queue->beside_bytes = 0;
    }
    for (uint32_t packet = 0; packet < DROPCAST_SPARE_TAILS_COUNTED; packet++) {
        state->reached[packet] = 0;
    }
    state->may_give = 0;
    state->went_on = 0;
    state->known = 0;
    state->occupancy_bytes = 0;
}

static inline uint64_t dropcast_spare_tails_since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* 1 if a number is at least another, otherwise 0; both below 2^63. No branch, of which the verifier of eBPF would follow both
 * ways for each packet of a flow, and all their combinations. */
static inline uint32_t dropcast_spare_tails_at_least(uint64_t one, uint64_t other)
{
    uint64_t difference = one - other;
    DROPCAST_SPARE_TAILS_OPAQUE(difference);
    return 1u ^ (uint32_t)(difference >> 63);
}

/* 1 if nine in ten of the flows of bursts that reached a packet reached the fourth after it, otherwise 0. */
static inline uint32_t dropcast_spare_tails_is_safe(const dropcast_spare_tails *state, uint32_t packet)
{
    const uint64_t here = state->reached[packet], behind = state->reached[packet + DROPCAST_SPARE_TAILS_BEHIND];
    return dropcast_spare_tails_at_least(here, DROPCAST_SPARE_TAILS_LEAST_FLOWS)
           & dropcast_spare_tails_at_least(here, state->reached[0] / 8) & dropcast_spare_tails_at_least(behind * 10, here * 9);
}

/* A burst ends: which packets flows may give from now on: safe ones, if none twice as far is. */
static inline void dropcast_spare_tails_end(dropcast_spare_tails *state)
{
    const uint32_t is_one_flight = dropcast_spare_tails_at_least(state->known, DROPCAST_SPARE_TAILS_LEAST_FLOWS)
                                   & dropcast_spare_tails_at_least(state->known / 2, state->went_on);
    uint32_t safe = 0, too_early = 0;
    for (uint32_t packet = 0; packet < DROPCAST_SPARE_TAILS_COUNTED - DROPCAST_SPARE_TAILS_BEHIND; packet++) {
        safe |= (is_one_flight & dropcast_spare_tails_is_safe(state, packet)) << packet;
    }
    uint32_t up_to_last = safe;
    for (uint32_t shift = 1; shift < 32; shift *= 2) {
        up_to_last |= up_to_last >> shift;
    }
    for (uint32_t packet = 0; packet < 16; packet++) {
        too_early |= (up_to_last >> (2 * packet + 1) & 1) << packet;
    }
    state->may_give = safe & ~too_early;
    for (uint32_t packet = 0; packet < DROPCAST_SPARE_TAILS_COUNTED; packet++) {
        state->reached[packet] -= state->reached[packet] >> DROPCAST_SPARE_TAILS_WEIGHT_BITS;
    }
    state->went_on -= state->went_on >> DROPCAST_SPARE_TAILS_WEIGHT_BITS;
    state->known = state->reached[0];
}

/* A packet arrives at a queue, of a new flow or not. Returns whether a burst is on there. */
static inline int dropcast_spare_tails_is_on(dropcast_spare_tails *state, uint32_t number, int is_new, uint64_t now_ns)
{
    dropcast_spare_tails_queue *queue = &state->queues[number];
    if (is_new) {
        for (uint32_t flow = DROPCAST_SPARE_TAILS_BURST_FLOWS - 1; flow > 0; flow--) {
            queue->began_ns[flow] = queue->began_ns[flow - 1];
        }
        queue->began_ns[0] = now_ns;
        queue->begun += queue->begun < DROPCAST_SPARE_TAILS_BURST_FLOWS;
    }
    const uint64_t window_ns = DROPCAST_SPARE_TAILS_WINDOW_NS;
    const uint64_t since_ns = dropcast_spare_tails_since(now_ns, queue->began_ns[DROPCAST_SPARE_TAILS_BURST_FLOWS - 1]);
    const int is_on = queue->begun == DROPCAST_SPARE_TAILS_BURST_FLOWS && since_ns < window_ns;
    const uint64_t lasted_ns = dropcast_spare_tails_since(now_ns, queue->on_since_ns);
    if (queue->is_on && (!is_on || lasted_ns >= DROPCAST_SPARE_TAILS_MOST_WINDOWS * window_ns)) {
        queue->is_on = 0;
        dropcast_spare_tails_end(state);
    }
    if (is_on && !queue->is_on) {
        queue->is_on = 1;
        queue->on_since_ns = now_ns;
    }
    return is_on;
}

/* Whether a packet comes after a gap much longer than those between the packets before it. Flows are new after
 * DROPCAST_SPARE_TAILS_SILENCE_NS, below 2^32, so the first product is below 2^48. */
static inline int dropcast_spare_tails_pauses(const dropcast_spare_tails_flow *flow, uint64_t now_ns)
{
    const uint64_t gap_ns = dropcast_spare_tails_since(now_ns, flow->seen_ns);
    const uint64_t so_far_ns = dropcast_spare_tails_since(flow->seen_ns, flow->began_ns);
    return flow->packets >= DROPCAST_SPARE_TAILS_PAUSES_FROM && so_far_ns <= UINT64_MAX / DROPCAST_SPARE_TAILS_PAUSE
           && gap_ns * (flow->packets - 1u) > so_far_ns * DROPCAST_SPARE_TAILS_PAUSE;
}

/* A packet of a flow's first flight: it is counted if the flow is of a burst. */
static inline void dropcast_spare_tails_count(
    dropcast_spare_tails *state, dropcast_spare_tails_flow *flow, uint32_t number, int is_of_burst)
{
    if (!flow->counted && !is_of_burst) {
        return;
    }
    const uint32_t from = flow->counted ? number : 0;
    for (uint32_t packet = 0; packet < DROPCAST_SPARE_TAILS_COUNTED; packet++) {
        if (packet >= from && packet <= number && state->reached[packet] < UINT32_MAX) {
            state->reached[packet] += 1;
        }
    }
    flow->counted = 1;
}

/* A packet after a flow's first pause. */
static inline void dropcast_spare_tails_goes_on(dropcast_spare_tails *state, dropcast_spare_tails_flow *flow)
{
    if (flow->later < UINT16_MAX) {
        flow->later++;
    }
    const uint32_t most = flow->dropped + (uint32_t)DROPCAST_SPARE_TAILS_MOST_LATER;
    if (flow->later > most && flow->counted == 1) {
        flow->counted = 2;
        state->went_on += state->went_on < UINT32_MAX;
    }
}

/* Whether Dynamic Thresholds accept the packet, before it is counted. */
static inline int dropcast_spare_tails_base(const dropcast_spare_tails *state, uint32_t number, uint32_t size_bytes)
{
    const uint64_t free_bytes = DROPCAST_SPARE_TAILS_BUFFER_BYTES - state->occupancy_bytes;
    const uint64_t alpha_128 = dropcast_spare_tails_alpha_128[number];
    return 128 * (uint64_t)state->queues[number].length_bytes < alpha_128 * free_bytes && size_bytes <= free_bytes;
}

/* Whether the packet of a flow, which adds so many bytes to the shared buffer, is accepted, before it is counted in its queue. */
static inline int dropcast_spare_tails_decide(
    dropcast_spare_tails *state, uint32_t number, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns)
{
    int is_accepted = dropcast_spare_tails_base(state, number, size_bytes);
    if (flow_hash == 0 || size_bytes < DROPCAST_SPARE_TAILS_LEAST_BYTES) {
        return is_accepted;
    }
    dropcast_spare_tails_flow *flow = &state->flows[flow_hash & (DROPCAST_SPARE_TAILS_FLOWS - 1u)];
    const int is_new =
        flow->hash != flow_hash || dropcast_spare_tails_since(now_ns, flow->seen_ns) > DROPCAST_SPARE_TAILS_SILENCE_NS;
    if (is_new) {
        const dropcast_spare_tails_flow begins = {flow_hash, now_ns, now_ns, 0, 0, 0, 0, 0};
        *flow = begins;
    }
    const int is_on = dropcast_spare_tails_is_on(state, number, is_new, now_ns);
    const int has_paused = flow->later > 0 || dropcast_spare_tails_pauses(flow, now_ns);
    const uint32_t packet = flow->packets;
    flow->seen_ns = now_ns;
    if (flow->packets < UINT16_MAX) {
        flow->packets++;
    }
    const int is_of_burst =
        is_on && !has_paused && dropcast_spare_tails_since(now_ns, flow->began_ns) < DROPCAST_SPARE_TAILS_WINDOW_NS;
    if (has_paused) {
        dropcast_spare_tails_goes_on(state, flow);
    } else {
        dropcast_spare_tails_count(state, flow, packet, is_of_burst);
    }
    const uint64_t two_lengths = 2 * (uint64_t)state->queues[number].length_bytes;
    const int is_long = two_lengths * DROPCAST_SPARE_TAILS_PORTS >= DROPCAST_SPARE_TAILS_BUFFER_BYTES;
    const int gives = is_on && is_long && state->occupancy_bytes >= DROPCAST_SPARE_TAILS_LEAST_HELD_BYTES && flow->dropped == 0
                      && packet < DROPCAST_SPARE_TAILS_COUNTED && (state->may_give >> packet & 1);
    const int makes_room = is_of_burst && flow->telling == DROPCAST_SPARE_TAILS_TELLING && state->may_give != 0
                           && flow->dropped < DROPCAST_SPARE_TAILS_MOST_LOST
                           && state->queues[number].length_bytes > DROPCAST_SPARE_TAILS_BUFFER_BYTES - state->occupancy_bytes;
    is_accepted = is_accepted && !gives && !makes_room;
    if (!has_paused && !is_accepted && flow->dropped < UINT16_MAX) {
        flow->dropped++;
    }
    if (!has_paused && is_accepted && flow->dropped > 0 && flow->telling < DROPCAST_SPARE_TAILS_TELLING) {
        flow->telling++;
    }
    return is_accepted;
}

/* A packet arrives. Hash 0: of an unknown flow. One that fits into the bytes that are reserved for its queue is accepted. */
static inline int dropcast_spare_tails_arrival(
    dropcast_spare_tails *state, uint32_t queue, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns)
{
    const uint32_t room_bytes = dropcast_spare_tails_reserved_bytes[queue] - state->queues[queue].beside_bytes;
    const uint32_t shared_bytes = size_bytes > room_bytes ? size_bytes - room_bytes : 0;
    const int is_accepted = shared_bytes == 0 || dropcast_spare_tails_decide(state, queue, shared_bytes, flow_hash, now_ns);
    if (is_accepted) {
        state->queues[queue].length_bytes += shared_bytes;
        state->queues[queue].beside_bytes += size_bytes - shared_bytes;
        state->occupancy_bytes += shared_bytes;
    }
    return is_accepted;
}

/* A packet left its queue. */
static inline void dropcast_spare_tails_departure(dropcast_spare_tails *state, uint32_t queue, uint32_t size_bytes)
{
    const uint32_t length_bytes = state->queues[queue].length_bytes;
    const uint32_t shared_bytes = size_bytes < length_bytes ? size_bytes : length_bytes;
    state->queues[queue].length_bytes = length_bytes - shared_bytes;
    state->queues[queue].beside_bytes -= size_bytes - shared_bytes;
    state->occupancy_bytes -= shared_bytes;
}

#ifdef __cplusplus
}
#endif

#endif
