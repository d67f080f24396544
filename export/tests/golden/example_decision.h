/* example_decision.h: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model:
 * example_init makes a state, example_arrival decides about a packet that arrives, example_departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One thread for each state.
 *
 * A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's
 * description.
 *
 * State, on a machine with 64-bit integers aligned to 8 bytes: 12 bytes for each of 40
 * queues, 24 for each of 20 ports, 8 for each of 15625 packets, 126248 in all.
 *
 * Steps for a packet, N queues at P ports: a departure of virtual LQD and its arrival there take log2(P)
 * each; a packet that LQD pushes out takes N. If the decision depends on a prediction: the features,
 * N if the model needs the other queues, and the forest.
 */

#ifndef DROPCAST_EXAMPLE_DECISION_H
#define DROPCAST_EXAMPLE_DECISION_H

#include "example.h"

#include <stdint.h>
#include <string.h>

/* The switch: ports, queues, shared buffer B, base RTT. LONG_BYTES is B/N, rounded up.
 * The others belong to the precision of predictions. */
#define EXAMPLE_SWITCH_PORTS 20u
#define EXAMPLE_QUEUES_PER_PORT 2u
#define EXAMPLE_SWITCH_QUEUES 40u
#define EXAMPLE_SWITCH_BUFFER_BYTES 1000000u
#define EXAMPLE_SWITCH_BASE_RTT_NS 8000u
#define EXAMPLE_LONG_BYTES 50000u
#define EXAMPLE_PREDICTED 0x80000000u
#define EXAMPLE_PRECISION_ONE 16777216u
#define EXAMPLE_DRIFT_WINDOW 64u
#define EXAMPLE_FALL_BELOW 13421772u
#define EXAMPLE_RECOVER_AT 14680064u

/* Line rate of a port, bits per second. */
static inline uint64_t example_port_rate_bps(uint32_t port)
{
    (void)port;
    return 10000000000u;
}

/* Bytes that a port sends in two base RTTs. */
static inline uint64_t example_port_drain_bytes(uint32_t port)
{
    (void)port;
    return 20000u;
}

/* Time on the wire of a packet that takes size_bytes in the buffer, rounded up, ns. */
static inline uint64_t example_wire_ns(uint32_t port, uint32_t size_bytes)
{
    (void)port;
    return (((uint64_t)size_bytes + 33u) * 4u + 4u) / 5u;
}

/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of 64 bytes and more. Define another number before this header is included. */
#ifndef EXAMPLE_PACKETS
#define EXAMPLE_PACKETS 15625u
#endif
#if EXAMPLE_PACKETS < 1 || EXAMPLE_PACKETS > 16777216
#error "EXAMPLE_PACKETS: expected 1 to 16777216"
#endif

/* How much longer than its threshold a queue may become: slack_bytes of the switch's description. Reports
 * replay that value, so give another one there, not here. Where ports transmit a packet later than virtual
 * LQD's, every packet behind it is dropped without a slack of the size of the largest packet. */
#ifndef EXAMPLE_SLACK_BYTES
#define EXAMPLE_SLACK_BYTES 0u
#endif
#if EXAMPLE_SLACK_BYTES > 1073741824
#error "EXAMPLE_SLACK_BYTES: expected 0 to 1073741824"
#endif

/* The number of a place. */
#if EXAMPLE_PACKETS <= 65535
typedef uint16_t example_slot;
#define EXAMPLE_NOWHERE 0xffffu
#else
typedef uint32_t example_slot;
#define EXAMPLE_NOWHERE 0xffffffffu
#endif

/* What init says. */
enum example_readiness {
    EXAMPLE_READY = 0,
    /* The file is for another switch: this constant differs. */
    EXAMPLE_OTHER_PORTS,
    EXAMPLE_OTHER_QUEUES,
    EXAMPLE_OTHER_BUFFER,
    EXAMPLE_OTHER_BASE_RTT,
    EXAMPLE_OTHER_LINE_RATE
};

/* The decision about a packet, and its reason. */
enum example_verdict {
    /* Accepted: every queue is shorter than B/N. The forest is not asked. */
    EXAMPLE_SAFEGUARDED = 0,
    /* Accepted: below its threshold, and no drop is predicted. */
    EXAMPLE_ACCEPTED,
    /* Dropped: the buffer has no room for it. Also the answer for a queue that does not exist, and
     * for a packet of 0 bytes. */
    EXAMPLE_NO_ROOM,
    /* Dropped: its queue would exceed its threshold. */
    EXAMPLE_ABOVE_THRESHOLD,
    /* Dropped: LQD is predicted to drop it. */
    EXAMPLE_PREDICTED_DROP
};

/* A packet that virtual LQD holds, between its neighbours. */
struct example_packet {
    /* Its bytes, and PREDICTED if its drop was predicted. */
    uint32_t size_bytes;
    example_slot next;
    example_slot previous;
};

/* Both ends of a virtual queue; meaningless while it is empty. */
struct example_fifo {
    example_slot head;
    example_slot tail;
};

/* A port of virtual LQD. */
struct example_port {
    /* The first queue to consider. */
    uint32_t turn;
};

/* The state of a switch. Give each switch its own. */
struct example_decision {
    /* A tournament among the ports: when each dequeues next, ~0 if it is idle, and before these the
     * earliest below each node, the root at 1. */
    uint64_t due_ns[2 * 32];
    struct example_port ports[EXAMPLE_SWITCH_PORTS];
    uint64_t now_ns;
    /* Arrivals that found no place among the packets. */
    uint64_t unheld;
    /* The bytes in virtual LQD's queues, which are the thresholds, and in its buffer. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of 8. */
    uint32_t bytes[40];
    uint32_t buffer_bytes;
    /* The switch's own queues. */
    uint32_t real_bytes[EXAMPLE_SWITCH_QUEUES];
    uint32_t occupancy_bytes;
    /* Own queues of B/N bytes or more: the safeguard accepts while there is none. */
    uint32_t long_queues;
    /* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE, whether
     * predictions are followed by it, and whether that matters. */
    uint32_t precision;
    uint32_t is_trusted;
    uint32_t falls_back;
    /* Places that were never used begin at fresh; used ones are in a list that begins at spare. */
    uint32_t fresh;
    struct example_fifo fifos[EXAMPLE_SWITCH_QUEUES];
    example_slot spare;
    /* Which port that is, for each node; ties go to the lowest. */
    uint16_t earliest[2 * 32];
    struct example_packet packets[EXAMPLE_PACKETS];
};

/* An empty switch. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
static inline enum example_readiness example_init(
    struct example_decision *state, uint32_t ports, uint32_t queues_per_port, uint64_t buffer_bytes,
    uint64_t base_rtt_ns, const uint64_t *line_rate_bps)
{
    uint32_t at;

    if (ports != EXAMPLE_SWITCH_PORTS) {
        return EXAMPLE_OTHER_PORTS;
    }
    if (queues_per_port != EXAMPLE_QUEUES_PER_PORT) {
        return EXAMPLE_OTHER_QUEUES;
    }
    if (buffer_bytes != EXAMPLE_SWITCH_BUFFER_BYTES) {
        return EXAMPLE_OTHER_BUFFER;
    }
    if (base_rtt_ns != EXAMPLE_SWITCH_BASE_RTT_NS) {
        return EXAMPLE_OTHER_BASE_RTT;
    }
    for (at = 0; at < EXAMPLE_SWITCH_PORTS; at++) {
        if (line_rate_bps[at] != example_port_rate_bps(at)) {
            return EXAMPLE_OTHER_LINE_RATE;
        }
    }
    memset(state, 0, sizeof *state);
    state->spare = EXAMPLE_NOWHERE;
    for (at = 0; at < 32u; at++) {
        state->due_ns[at] = ~(uint64_t)0;
        state->due_ns[32u + at] = ~(uint64_t)0;
        state->earliest[32u + at] = (uint16_t)at;
    }
    for (at = 32u - 1u; at > 0; at--) {
        state->earliest[at] = state->earliest[2u * at];
    }
    return EXAMPLE_READY;
}

/* The features of a packet that arrives for queue, before it is added.  */
static inline void example_observe_all(
    const struct example_decision *state, uint32_t queue,
    uint32_t x[EXAMPLE_N_FEATURES])
{
    x[EXAMPLE_FEATURE_QUEUE_LENGTH] = state->bytes[queue];
    x[EXAMPLE_FEATURE_OCCUPANCY] = state->buffer_bytes;
}

/* A virtual queue changes at time_ns: bytes are added, or removed; arrived_bytes is the size of a packet
 * that has arrived for it and was added or rejected, otherwise 0. */
static inline void example_change(struct example_decision *state, uint32_t queue, uint32_t added_bytes,
    uint32_t removed_bytes, uint32_t arrived_bytes, uint64_t time_ns)
{
    state->bytes[queue] = state->bytes[queue] + added_bytes - removed_bytes;
    state->buffer_bytes = state->buffer_bytes + added_bytes - removed_bytes;
    (void)arrived_bytes;
    (void)time_ns;
}

/* A port of virtual LQD dequeues next at due_ns. */
static inline void example_set_due(struct example_decision *state, uint32_t port, uint64_t due_ns)
{
    uint32_t at;

    state->due_ns[32u + port] = due_ns;
    for (at = 32u + port; at > 1u; at /= 2u) {
        const uint64_t left_ns = state->due_ns[at & ~1u], right_ns = state->due_ns[at | 1u];
        const uint16_t left = state->earliest[at & ~1u], right = state->earliest[at | 1u];

        state->due_ns[at / 2u] = right_ns < left_ns ? right_ns : left_ns;
        state->earliest[at / 2u] = right_ns < left_ns ? right : left;
    }
}

static inline uint32_t example_packet_bytes(const struct example_packet *packet)
{
    return packet->size_bytes & ~EXAMPLE_PREDICTED;
}

/* Removes the packet at either end of a virtual queue. */
static inline void example_take(
    struct example_decision *state, uint32_t queue, example_slot place, uint64_t time_ns)
{
    struct example_fifo *fifo = &state->fifos[queue];
    struct example_packet *packet = &state->packets[place];
    const uint32_t size_bytes = example_packet_bytes(packet);

    if (place == fifo->tail) {
        fifo->tail = packet->previous;
    }
    if (place == fifo->head) {
        fifo->head = packet->next;
    }
    packet->next = state->spare;
    state->spare = place;
    example_change(state, queue, 0u, size_bytes, 0u, time_ns);
}

/* Adds a packet to the tail of a virtual queue; false if there is no place for it. */
static inline int example_put(struct example_decision *state, uint32_t queue, uint32_t size_bytes)
{
    struct example_fifo *fifo = &state->fifos[queue];
    example_slot place = state->spare;

    if (place != EXAMPLE_NOWHERE) {
        state->spare = state->packets[place].next;
    } else if (state->fresh < EXAMPLE_PACKETS) {
        place = (example_slot)state->fresh++;
    } else {
        state->unheld++;
        return 0;
    }
    state->packets[place].size_bytes = size_bytes;
    if (state->bytes[queue] == 0) {
        fifo->head = place;
    } else {
        state->packets[fifo->tail].next = place;
        state->packets[place].previous = fifo->tail;
    }
    fifo->tail = place;
    return 1;
}

/* The queue that a port serves next, round robin: one packet from each backlogged queue in turn; the
 * number of queues if all are empty. */
static inline uint32_t example_pick(struct example_decision *state, uint32_t port)
{
    const uint32_t first = port * EXAMPLE_QUEUES_PER_PORT;
    uint32_t step, at = state->ports[port].turn;

    for (step = 0; step < EXAMPLE_QUEUES_PER_PORT; step++) {
        const uint32_t queue = first + at;

        at = at + 1u == EXAMPLE_QUEUES_PER_PORT ? 0u : at + 1u;
        if (state->bytes[queue] > 0) {
            state->ports[port].turn = at;
            return queue;
        }
    }
    return EXAMPLE_SWITCH_QUEUES;
}

/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when the packet has been
 * transmitted. */
static inline uint64_t example_send(
    struct example_decision *state, uint32_t port, uint64_t time_ns, uint32_t size_bytes)
{
    (void)state;
    return time_ns + example_wire_ns(port, size_bytes);
}

/* Serves the port of virtual LQD that is due first, if it is by now_ns; whether another may be. Ports due
 * at the same time go in port order. */
static inline int example_serve(struct example_decision *state, uint64_t now_ns)
{
    const uint32_t port = state->earliest[1];
    const uint64_t time_ns = state->due_ns[1];
    uint32_t queue;

    if (time_ns > now_ns || time_ns == ~(uint64_t)0) {
        return 0;
    }
    queue = example_pick(state, port);
    if (queue == EXAMPLE_SWITCH_QUEUES) {
        example_set_due(state, port, ~(uint64_t)0);
    } else {
        const example_slot head = state->fifos[queue].head;

        example_set_due(state, port,
            example_send(state, port, time_ns, example_packet_bytes(&state->packets[head])));
        example_take(state, queue, head, time_ns);
    }
    return 1;
}

/* Serves virtual LQD's ports up to and including now_ns. */
static inline void example_advance(struct example_decision *state, uint64_t now_ns)
{
    while (example_serve(state, now_ns)) {
    }
    state->now_ns = now_ns > state->now_ns ? now_ns : state->now_ns;
}

/* LQD dropped a packet whose drop was predicted. */
static inline void example_confirmed(struct example_decision *state)
{
    state->precision += EXAMPLE_PRECISION_ONE / EXAMPLE_DRIFT_WINDOW;
    state->precision = state->precision < EXAMPLE_PRECISION_ONE ? state->precision : EXAMPLE_PRECISION_ONE;
    state->is_trusted |= state->precision >= EXAMPLE_RECOVER_AT ? 1u : 0u;
}

/* The longest pushable queue of virtual LQD, the lowest of equally long ones; the number of queues if
 * all of these are empty. */
static inline uint32_t example_longest(const struct example_decision *state)
{
    static const uint32_t pushable[40] = {
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
    };
    int32_t longest = 0;
    uint32_t at;

    for (at = 0; at < 40; at++) {
        /* Compared as length, then as lower number. */
        const int32_t key = (int32_t)(pushable[at] & (state->bytes[at] << 6 | (63u - at)));

        longest = key > longest ? key : longest;
    }
    return longest > 63 ? 63u - ((uint32_t)longest & 63u) : EXAMPLE_SWITCH_QUEUES;
}

/* Pushes the tail of the longest pushable queue out, unless size_bytes fit; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
static inline int example_push_out(struct example_decision *state, uint64_t size_bytes)
{
    example_slot tail;
    uint32_t victim;

    if (state->buffer_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES) {
        return 0;
    }
    victim = example_longest(state);
    if (victim == EXAMPLE_SWITCH_QUEUES) {
        return 0;
    }
    tail = state->fifos[victim].tail;
    if ((state->packets[tail].size_bytes & EXAMPLE_PREDICTED) != 0) {
        example_confirmed(state);
    }
    example_take(state, victim, tail, state->now_ns);
    return 1;
}

/* Longest Queue Drop (Aiello et al.): pushes packets out until the packet fits, and adds it, if it then
 * does. Whether it is added. */
static inline int example_admit(struct example_decision *state, uint32_t queue, uint32_t size_bytes)
{
    const uint32_t port = queue / EXAMPLE_QUEUES_PER_PORT;
    int added = 0;

    while (example_push_out(state, size_bytes)) {
    }
    if ((uint64_t)state->buffer_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES) {
        added = example_put(state, queue, size_bytes);
    }
    if (added && state->due_ns[32u + port] == ~(uint64_t)0) {
        example_set_due(state, port, state->now_ns);
    }
    example_change(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}

/* A drop is predicted for the packet that arrived last for a queue; returns whether to follow the
 * prediction. Until LQD confirms it, it counts as wrong. added: virtual LQD holds the packet. */
static inline int example_follows(struct example_decision *state, uint32_t queue, int added)
{
    uint32_t is_trusted;

    state->precision -= state->precision / EXAMPLE_DRIFT_WINDOW;
    state->is_trusted &= state->precision < EXAMPLE_FALL_BELOW ? 0u : 1u;
    is_trusted = state->is_trusted;
    if (added) {
        state->packets[state->fifos[queue].tail].size_bytes |= EXAMPLE_PREDICTED;
    } else {
        example_confirmed(state);
    }
    return is_trusted != 0 || !state->falls_back;
}

/* Whether to accept every packet below its threshold while the precision of predicted drops is too low;
 * after init it does not. */
static inline void example_fall_back(struct example_decision *state, int falls_back)
{
    state->falls_back = falls_back ? 1u : 0u;
}

/* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE; measured
 * whether or not it decides. */
static inline uint32_t example_precision(const struct example_decision *state)
{
    return state->precision;
}

/* Whether a verdict adds the packet to its queue. */
static inline int example_accepts(enum example_verdict verdict)
{
    return verdict <= EXAMPLE_ACCEPTED;
}

/* A packet arrives: Credence (Algorithm 1). Features are those of virtual LQD before the packet is
 * added; the threshold is the length of LQD's queue after that. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
static inline enum example_verdict example_arrival(
    struct example_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * EXAMPLE_QUEUES_PER_PORT + queue;
    uint32_t after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= EXAMPLE_SWITCH_PORTS || queue >= EXAMPLE_QUEUES_PER_PORT || size_bytes == 0) {
        return EXAMPLE_NO_ROOM;
    }
    example_advance(state, now_ns);
    fits = (uint64_t)state->occupancy_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[at] <= state->bytes[at] + EXAMPLE_SLACK_BYTES) {
        uint32_t x[EXAMPLE_N_FEATURES];

        example_observe_all(state, at, x);
        predicted = example_drop(x);
    }
    added = example_admit(state, at, size_bytes);
    if (!fits) {
        return EXAMPLE_NO_ROOM;
    }
    after_bytes = state->real_bytes[at] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->bytes[at] + EXAMPLE_SLACK_BYTES) {
            return EXAMPLE_ABOVE_THRESHOLD;
        }
        if (predicted && example_follows(state, at, added)) {
            return EXAMPLE_PREDICTED_DROP;
        }
    }
    state->long_queues +=
        state->real_bytes[at] < EXAMPLE_LONG_BYTES && after_bytes >= EXAMPLE_LONG_BYTES ? 1u : 0u;
    state->real_bytes[at] = after_bytes;
    state->occupancy_bytes += size_bytes;
    return safeguarded ? EXAMPLE_SAFEGUARDED : EXAMPLE_ACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. */
static inline void example_departure(
    struct example_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * EXAMPLE_QUEUES_PER_PORT + queue;
    uint32_t before_bytes, left_bytes;

    if (port >= EXAMPLE_SWITCH_PORTS || queue >= EXAMPLE_QUEUES_PER_PORT) {
        return;
    }
    example_advance(state, now_ns);
    before_bytes = state->real_bytes[at];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[at] = before_bytes - left_bytes;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= EXAMPLE_LONG_BYTES && state->real_bytes[at] < EXAMPLE_LONG_BYTES ? 1u : 0u;
}

#endif /* DROPCAST_EXAMPLE_DECISION_H */
