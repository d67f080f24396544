/* example_decision.bpf.h: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model:
 * example_init makes a state, example_arrival decides about a packet that arrives, example_departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One CPU for each state, which is a
 * value of a map. Linux 5.17. Include vmlinux.h or linux/types.h before, for __u32 and __u64.
 *
 * A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's
 * description.
 *
 * State, on a machine with 64-bit integers aligned to 8 bytes: 12 bytes for each of 4
 * queues, 20 for each of 4 ports, 8 for each of 16384 packets, 131296 in all.
 *
 * Steps for a packet, N queues at P ports: a departure of virtual LQD and its arrival there take log2(P)
 * each; a packet that LQD pushes out takes N. If the decision depends on a prediction: the features,
 * N if the model needs the other queues, and the forest.
 */

#ifndef DROPCAST_EXAMPLE_DECISION_BPF_H
#define DROPCAST_EXAMPLE_DECISION_BPF_H

#include "example.bpf.h"

#ifdef __bpf__
/* Calls step up to times, until it returns 1. Linux 5.17. */
static long (*example_loop)(__u32 times, long (*step)(__u32 at, void *context), void *context,
    __u64 flags) = (void *)181;
/* Small tables would otherwise be in sections that libbpf does not open. */
#define EXAMPLE_TABLE __attribute__((section(".rodata")))
#else
#define EXAMPLE_TABLE
/* The same, to try this file elsewhere. */
static long example_loop(__u32 times, long (*step)(__u32 at, void *context), void *context,
    __u64 flags)
{
    __u32 at;

    (void)flags;
    for (at = 0; at < times; at++) {
        if (step(at, context) != 0) {
            break;
        }
    }
    return (long)at;
}
#endif

/* The switch: ports, queues, shared buffer B, base RTT. LONG_BYTES is B/N, rounded up.
 * The others belong to the precision of predictions. */
#define EXAMPLE_SWITCH_PORTS 4u
#define EXAMPLE_QUEUES_PER_PORT 1u
#define EXAMPLE_SWITCH_QUEUES 4u
#define EXAMPLE_SWITCH_BUFFER_BYTES 1000000u
#define EXAMPLE_SWITCH_BASE_RTT_NS 8000u
#define EXAMPLE_LONG_BYTES 250000u
#define EXAMPLE_PREDICTED 0x80000000u
#define EXAMPLE_PRECISION_ONE 16777216u
#define EXAMPLE_DRIFT_WINDOW 64u
#define EXAMPLE_FALL_BELOW 13421772u
#define EXAMPLE_RECOVER_AT 14680064u

/* Line rate of a port, bits per second. */
EXAMPLE_INLINE __u64 example_port_rate_bps(__u32 port)
{
    (void)port;
    return 10000000000u;
}

/* Bytes that a port sends in two base RTTs. */
EXAMPLE_INLINE __u64 example_port_drain_bytes(__u32 port)
{
    (void)port;
    return 20000u;
}

/* Time on the wire of a packet that takes size_bytes in the buffer, rounded up, ns. */
EXAMPLE_INLINE __u64 example_wire_ns(__u32 port, __u32 size_bytes)
{
    (void)port;
    return (((__u64)size_bytes + 0u) * 4u + 4u) / 5u;
}

/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of 64 bytes and more. Define another number before this header is included. */
#ifndef EXAMPLE_PACKETS
#define EXAMPLE_PACKETS 16384u
#endif
#if EXAMPLE_PACKETS < 1 || EXAMPLE_PACKETS > 16777216
#error "EXAMPLE_PACKETS: expected 1 to 16777216"
#endif
#if (EXAMPLE_PACKETS & (EXAMPLE_PACKETS - 1u)) != 0
#error "EXAMPLE_PACKETS: expected a power of 2, so that the verifier sees the bound of a place"
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
typedef __u16 example_slot;
#define EXAMPLE_NOWHERE 0xffffu
#else
typedef __u32 example_slot;
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
    __u32 size_bytes;
    example_slot next;
    example_slot previous;
};

/* Both ends of a virtual queue; meaningless while it is empty. */
struct example_fifo {
    example_slot head;
    example_slot tail;
};

/* The state of a switch. Give each switch its own. */
struct example_decision {
    /* A tournament among the ports: when each dequeues next, ~0 if it is idle, and before these the
     * earliest below each node, the root at 1. */
    __u64 due_ns[2 * 4];
    __u64 now_ns;
    /* Arrivals that found no place among the packets. */
    __u64 unheld;
    /* The bytes in virtual LQD's queues, which are the thresholds, and in its buffer. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of 8. */
    __u32 bytes[8u];
    __u32 buffer_bytes;
    /* The switch's own queues. */
    __u32 real_bytes[8u];
    __u32 occupancy_bytes;
    /* Own queues of B/N bytes or more: the safeguard accepts while there is none. */
    __u32 long_queues;
    /* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE, whether
     * predictions are followed by it, and whether that matters. */
    __u32 precision;
    __u32 is_trusted;
    __u32 falls_back;
    /* Places that were never used begin at fresh; used ones are in a list that begins at spare. */
    __u32 fresh;
    struct example_fifo fifos[8u];
    example_slot spare;
    /* Which port that is, for each node; ties go to the lowest. */
    __u16 earliest[2 * 4];
    struct example_packet packets[EXAMPLE_PACKETS];
};

/* What a step of a loop gets. */
struct example_steps {
    struct example_decision *state;
    __u64 until;
};

/* An empty switch in memory of zeros. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
EXAMPLE_INLINE enum example_readiness example_init(
    struct example_decision *state, __u32 ports, __u32 queues_per_port, __u64 buffer_bytes,
    __u64 base_rtt_ns, const __u64 *line_rate_bps)
{
    __u32 at;

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
    state->spare = EXAMPLE_NOWHERE;
    for (at = 0; at < 4u; at++) {
/* Without this clang makes a call of memset of the loop, which eBPF does not have. */
        __asm__ volatile("" : : : "memory");
        state->due_ns[(at) & 7u] = ~(__u64)0;
        state->due_ns[(4u + at) & 7u] = ~(__u64)0;
        state->earliest[(4u + at) & 7u] = (__u16)at;
    }
    for (at = 4u - 1u; at > 0; at--) {
        state->earliest[(at) & 7u] = state->earliest[(2u * at) & 7u];
    }
    return EXAMPLE_READY;
}

/* The features of a packet that arrives for queue, before it is added.  */
EXAMPLE_INLINE void example_observe_all(
    const struct example_decision *state, __u32 queue,
    struct example_row *row)
{
    row->x[EXAMPLE_FEATURE_QUEUE_LENGTH] = state->bytes[(queue) & 7u];
    row->x[EXAMPLE_FEATURE_OCCUPANCY] = state->buffer_bytes;
}

/* A virtual queue changes at time_ns: bytes are added, or removed; arrived_bytes is the size of a packet
 * that has arrived for it and was added or rejected, otherwise 0. */
EXAMPLE_INLINE void example_change(struct example_decision *state, __u32 queue, __u32 added_bytes,
    __u32 removed_bytes, __u32 arrived_bytes, __u64 time_ns)
{
    state->bytes[(queue) & 7u] = state->bytes[(queue) & 7u] + added_bytes - removed_bytes;
    state->buffer_bytes = state->buffer_bytes + added_bytes - removed_bytes;
    (void)arrived_bytes;
    (void)time_ns;
}

/* A port of virtual LQD dequeues next at due_ns. */
EXAMPLE_INLINE void example_set_due(struct example_decision *state, __u32 port, __u64 due_ns)
{
    __u32 at;

    state->due_ns[(4u + port) & 7u] = due_ns;
    for (at = 4u + port; at > 1u; at /= 2u) {
        const __u64 left_ns = state->due_ns[(at & ~1u) & 7u], right_ns = state->due_ns[(at | 1u) & 7u];
        const __u16 left = state->earliest[(at & ~1u) & 7u], right = state->earliest[(at | 1u) & 7u];

        state->due_ns[(at / 2u) & 7u] = right_ns < left_ns ? right_ns : left_ns;
        state->earliest[(at / 2u) & 7u] = right_ns < left_ns ? right : left;
    }
}

EXAMPLE_INLINE __u32 example_packet_bytes(const struct example_packet *packet)
{
    return packet->size_bytes & ~EXAMPLE_PREDICTED;
}

/* Removes the packet at either end of a virtual queue. */
EXAMPLE_INLINE void example_take(
    struct example_decision *state, __u32 queue, example_slot place, __u64 time_ns)
{
    struct example_fifo *fifo = &state->fifos[(queue) & 7u];
    struct example_packet *packet = &state->packets[(place) & (EXAMPLE_PACKETS - 1u)];
    const __u32 size_bytes = example_packet_bytes(packet);

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
EXAMPLE_INLINE int example_put(struct example_decision *state, __u32 queue, __u32 size_bytes)
{
    struct example_fifo *fifo = &state->fifos[(queue) & 7u];
    example_slot place = state->spare;

    if (place != EXAMPLE_NOWHERE) {
        state->spare = state->packets[(place) & (EXAMPLE_PACKETS - 1u)].next;
    } else if (state->fresh < EXAMPLE_PACKETS) {
        place = (example_slot)state->fresh++;
    } else {
        state->unheld++;
        return 0;
    }
    state->packets[(place) & (EXAMPLE_PACKETS - 1u)].size_bytes = size_bytes;
    if (state->bytes[(queue) & 7u] == 0) {
        fifo->head = place;
    } else {
        state->packets[(fifo->tail) & (EXAMPLE_PACKETS - 1u)].next = place;
        state->packets[(place) & (EXAMPLE_PACKETS - 1u)].previous = fifo->tail;
    }
    fifo->tail = place;
    return 1;
}

/* The queue that a port serves next, its only one; the number of queues if it is empty. */
EXAMPLE_INLINE __u32 example_pick(const struct example_decision *state, __u32 port)
{
    return state->bytes[(port) & 7u] > 0 ? port : EXAMPLE_SWITCH_QUEUES;
}

/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when the packet has been
 * transmitted. */
EXAMPLE_INLINE __u64 example_send(
    struct example_decision *state, __u32 port, __u64 time_ns, __u32 size_bytes)
{
    (void)state;
    return time_ns + example_wire_ns(port, size_bytes);
}

/* Serves the port of virtual LQD that is due first, if it is by now_ns; whether another may be. Ports due
 * at the same time go in port order. */
EXAMPLE_INLINE int example_serve(struct example_decision *state, __u64 now_ns)
{
    const __u32 port = state->earliest[1];
    const __u64 time_ns = state->due_ns[1];
    __u32 queue;

    if (time_ns > now_ns || time_ns == ~(__u64)0) {
        return 0;
    }
    queue = example_pick(state, port);
    if (queue == EXAMPLE_SWITCH_QUEUES) {
        example_set_due(state, port, ~(__u64)0);
    } else {
        const example_slot head = state->fifos[(queue) & 7u].head;

        example_set_due(state, port,
            example_send(state, port, time_ns, example_packet_bytes(&state->packets[(head) & (EXAMPLE_PACKETS - 1u)])));
        example_take(state, queue, head, time_ns);
    }
    return 1;
}

static long example_serve_step(__u32 at, void *context)
{
    struct example_steps *steps = context;

    (void)at;
    return example_serve(steps->state, steps->until) ? 0 : 1;
}

/* Serves virtual LQD's ports up to and including now_ns. */
EXAMPLE_INLINE void example_advance(struct example_decision *state, __u64 now_ns)
{
    struct example_steps steps = {state, now_ns};

    example_loop(EXAMPLE_PACKETS + EXAMPLE_SWITCH_PORTS, example_serve_step, &steps, 0);
    state->now_ns = now_ns > state->now_ns ? now_ns : state->now_ns;
}

/* LQD dropped a packet whose drop was predicted. */
EXAMPLE_INLINE void example_confirmed(struct example_decision *state)
{
    state->precision += EXAMPLE_PRECISION_ONE / EXAMPLE_DRIFT_WINDOW;
    state->precision = state->precision < EXAMPLE_PRECISION_ONE ? state->precision : EXAMPLE_PRECISION_ONE;
    state->is_trusted |= state->precision >= EXAMPLE_RECOVER_AT ? 1u : 0u;
}

/* A scan of all queues for the longest. */
struct example_search {
    const struct example_decision *state;
    __u32 longest;
    __u32 longest_bytes;
};

static long example_search_step(__u32 at, void *context)
{
    struct example_search *search = context;
    const __u32 bytes = search->state->bytes[(at) & 7u];

    if (bytes > search->longest_bytes) {
        search->longest = at;
        search->longest_bytes = bytes;
    }
    return 0;
}

/* The longest pushable queue of virtual LQD, the lowest of equally long ones; the number of queues if
 * all of these are empty. */
EXAMPLE_INLINE __u32 example_longest(const struct example_decision *state)
{
    struct example_search search = {state, EXAMPLE_SWITCH_QUEUES, 0};

    example_loop(EXAMPLE_SWITCH_QUEUES, example_search_step, &search, 0);
    return search.longest;
}

/* Pushes the tail of the longest pushable queue out, unless size_bytes fit; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
EXAMPLE_INLINE int example_push_out(struct example_decision *state, __u64 size_bytes)
{
    example_slot tail;
    __u32 victim;

    if (state->buffer_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES) {
        return 0;
    }
    victim = example_longest(state);
    if (victim == EXAMPLE_SWITCH_QUEUES) {
        return 0;
    }
    tail = state->fifos[(victim) & 7u].tail;
    if ((state->packets[(tail) & (EXAMPLE_PACKETS - 1u)].size_bytes & EXAMPLE_PREDICTED) != 0) {
        example_confirmed(state);
    }
    example_take(state, victim, tail, state->now_ns);
    return 1;
}

static long example_push_out_step(__u32 at, void *context)
{
    struct example_steps *steps = context;

    (void)at;
    return example_push_out(steps->state, steps->until) ? 0 : 1;
}

/* Longest Queue Drop (Aiello et al.): pushes packets out until the packet fits, and adds it, if it then
 * does. Whether it is added. */
EXAMPLE_INLINE int example_admit(struct example_decision *state, __u32 queue, __u32 size_bytes)
{
    const __u32 port = queue / EXAMPLE_QUEUES_PER_PORT;
    int added = 0;

    struct example_steps steps = {state, size_bytes};

    example_loop(EXAMPLE_PACKETS + EXAMPLE_SWITCH_PORTS, example_push_out_step, &steps, 0);
    if ((__u64)state->buffer_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES) {
        added = example_put(state, queue, size_bytes);
    }
    if (added && state->due_ns[(4u + port) & 7u] == ~(__u64)0) {
        example_set_due(state, port, state->now_ns);
    }
    example_change(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}

/* A drop is predicted for the packet that arrived last for a queue; returns whether to follow the
 * prediction. Until LQD confirms it, it counts as wrong. added: virtual LQD holds the packet. */
EXAMPLE_INLINE int example_follows(struct example_decision *state, __u32 queue, int added)
{
    __u32 is_trusted;

    state->precision -= state->precision / EXAMPLE_DRIFT_WINDOW;
    state->is_trusted &= state->precision < EXAMPLE_FALL_BELOW ? 0u : 1u;
    is_trusted = state->is_trusted;
    if (added) {
        state->packets[(state->fifos[(queue) & 7u].tail) & (EXAMPLE_PACKETS - 1u)].size_bytes |= EXAMPLE_PREDICTED;
    } else {
        example_confirmed(state);
    }
    return is_trusted != 0 || !state->falls_back;
}

/* Whether to accept every packet below its threshold while the precision of predicted drops is too low;
 * after init it does not. */
EXAMPLE_INLINE void example_fall_back(struct example_decision *state, int falls_back)
{
    state->falls_back = falls_back ? 1u : 0u;
}

/* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE; measured
 * whether or not it decides. */
EXAMPLE_INLINE __u32 example_precision(const struct example_decision *state)
{
    return state->precision;
}

/* Whether a verdict adds the packet to its queue. */
EXAMPLE_INLINE int example_accepts(enum example_verdict verdict)
{
    return verdict <= EXAMPLE_ACCEPTED;
}

/* A packet arrives: Credence (Algorithm 1). Features are those of virtual LQD before the packet is
 * added; the threshold is the length of LQD's queue after that. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
EXAMPLE_INLINE enum example_verdict example_arrival(
    struct example_decision *state, __u32 port, __u32 queue, __u32 size_bytes, __u64 now_ns)
{
    const __u32 at = port * EXAMPLE_QUEUES_PER_PORT + queue;
    __u32 after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= EXAMPLE_SWITCH_PORTS || queue >= EXAMPLE_QUEUES_PER_PORT || size_bytes == 0) {
        return EXAMPLE_NO_ROOM;
    }
    example_advance(state, now_ns);
    fits = (__u64)state->occupancy_bytes + size_bytes <= EXAMPLE_SWITCH_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[(at) & 7u] <= state->bytes[(at) & 7u] + EXAMPLE_SLACK_BYTES) {
        struct example_row x;

        example_observe_all(state, at, &x);
        predicted = example_drop(&x);
    }
    added = example_admit(state, at, size_bytes);
    if (!fits) {
        return EXAMPLE_NO_ROOM;
    }
    after_bytes = state->real_bytes[(at) & 7u] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->bytes[(at) & 7u] + EXAMPLE_SLACK_BYTES) {
            return EXAMPLE_ABOVE_THRESHOLD;
        }
        if (predicted && example_follows(state, at, added)) {
            return EXAMPLE_PREDICTED_DROP;
        }
    }
    state->long_queues +=
        state->real_bytes[(at) & 7u] < EXAMPLE_LONG_BYTES && after_bytes >= EXAMPLE_LONG_BYTES ? 1u : 0u;
    state->real_bytes[(at) & 7u] = after_bytes;
    state->occupancy_bytes += size_bytes;
    return safeguarded ? EXAMPLE_SAFEGUARDED : EXAMPLE_ACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. */
EXAMPLE_INLINE void example_departure(
    struct example_decision *state, __u32 port, __u32 queue, __u32 size_bytes, __u64 now_ns)
{
    const __u32 at = port * EXAMPLE_QUEUES_PER_PORT + queue;
    __u32 before_bytes, left_bytes;

    if (port >= EXAMPLE_SWITCH_PORTS || queue >= EXAMPLE_QUEUES_PER_PORT) {
        return;
    }
    example_advance(state, now_ns);
    before_bytes = state->real_bytes[(at) & 7u];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[(at) & 7u] = before_bytes - left_bytes;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= EXAMPLE_LONG_BYTES && state->real_bytes[(at) & 7u] < EXAMPLE_LONG_BYTES ? 1u : 0u;
}

#endif /* DROPCAST_EXAMPLE_DECISION_BPF_H */
