/* example_decision.hpp: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model, in
 * namespace example_oracle: init makes a state, arrival decides about a packet that arrives, departure
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

#ifndef DROPCAST_EXAMPLE_DECISION_HPP
#define DROPCAST_EXAMPLE_DECISION_HPP

#include "example.hpp"

#include <cstdint>
#include <cstring>

namespace example_oracle {

/* The switch: ports, queues, shared buffer B, base RTT. LONG_BYTES is B/N, rounded up.
 * The others belong to the precision of predictions. */
constexpr std::uint32_t SWITCH_PORTS = 20u;
constexpr std::uint32_t QUEUES_PER_PORT = 2u;
constexpr std::uint32_t SWITCH_QUEUES = 40u;
constexpr std::uint32_t SWITCH_BUFFER_BYTES = 1000000u;
constexpr std::uint32_t SWITCH_BASE_RTT_NS = 8000u;
constexpr std::uint32_t LONG_BYTES = 50000u;
constexpr std::uint32_t PREDICTED = 0x80000000u;
constexpr std::uint32_t PRECISION_ONE = 16777216u;
constexpr std::uint32_t DRIFT_WINDOW = 64u;
constexpr std::uint32_t FALL_BELOW = 13421772u;
constexpr std::uint32_t RECOVER_AT = 14680064u;

/* Line rate of a port, bits per second. */
inline std::uint64_t port_rate_bps(std::uint32_t port)
{
    (void)port;
    return 10000000000u;
}

/* Bytes that a port sends in two base RTTs. */
inline std::uint64_t port_drain_bytes(std::uint32_t port)
{
    (void)port;
    return 20000u;
}

/* Time on the wire of a packet that takes size_bytes in the buffer, rounded up, ns. */
inline std::uint64_t wire_ns(std::uint32_t port, std::uint32_t size_bytes)
{
    (void)port;
    return (((std::uint64_t)size_bytes + 33u) * 4u + 4u) / 5u;
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
typedef std::uint16_t slot;
#define EXAMPLE_NOWHERE 0xffffu
#else
typedef std::uint32_t slot;
#define EXAMPLE_NOWHERE 0xffffffffu
#endif

/* What init says. */
enum readiness {
    READY = 0,
    /* The file is for another switch: this constant differs. */
    OTHER_PORTS,
    OTHER_QUEUES,
    OTHER_BUFFER,
    OTHER_BASE_RTT,
    OTHER_LINE_RATE
};

/* The decision about a packet, and its reason. */
enum verdict {
    /* Accepted: every queue is shorter than B/N. The forest is not asked. */
    SAFEGUARDED = 0,
    /* Accepted: below its threshold, and no drop is predicted. */
    ACCEPTED,
    /* Dropped: the buffer has no room for it. Also the answer for a queue that does not exist, and
     * for a packet of 0 bytes. */
    NO_ROOM,
    /* Dropped: its queue would exceed its threshold. */
    ABOVE_THRESHOLD,
    /* Dropped: LQD is predicted to drop it. */
    PREDICTED_DROP
};

/* A packet that virtual LQD holds, between its neighbours. */
struct packet {
    /* Its bytes, and PREDICTED if its drop was predicted. */
    std::uint32_t size_bytes;
    slot next;
    slot previous;
};

/* Both ends of a virtual queue; meaningless while it is empty. */
struct fifo {
    slot head;
    slot tail;
};

/* A port of virtual LQD. */
struct port {
    /* The first queue to consider. */
    std::uint32_t turn;
};

/* The state of a switch. Give each switch its own. */
struct decision {
    /* A tournament among the ports: when each dequeues next, ~0 if it is idle, and before these the
     * earliest below each node, the root at 1. */
    std::uint64_t due_ns[2 * 32];
    struct port ports[SWITCH_PORTS];
    std::uint64_t now_ns;
    /* Arrivals that found no place among the packets. */
    std::uint64_t unheld;
    /* The bytes in virtual LQD's queues, which are the thresholds, and in its buffer. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of 8. */
    std::uint32_t bytes[40];
    std::uint32_t buffer_bytes;
    /* The switch's own queues. */
    std::uint32_t real_bytes[SWITCH_QUEUES];
    std::uint32_t occupancy_bytes;
    /* Own queues of B/N bytes or more: the safeguard accepts while there is none. */
    std::uint32_t long_queues;
    /* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE, whether
     * predictions are followed by it, and whether that matters. */
    std::uint32_t precision;
    std::uint32_t is_trusted;
    std::uint32_t falls_back;
    /* Places that were never used begin at fresh; used ones are in a list that begins at spare. */
    std::uint32_t fresh;
    struct fifo fifos[SWITCH_QUEUES];
    slot spare;
    /* Which port that is, for each node; ties go to the lowest. */
    std::uint16_t earliest[2 * 32];
    struct packet packets[EXAMPLE_PACKETS];
};

/* An empty switch. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
inline enum readiness init(
    struct decision *state, std::uint32_t ports, std::uint32_t queues_per_port, std::uint64_t buffer_bytes,
    std::uint64_t base_rtt_ns, const std::uint64_t *line_rate_bps)
{
    std::uint32_t at;

    if (ports != SWITCH_PORTS) {
        return OTHER_PORTS;
    }
    if (queues_per_port != QUEUES_PER_PORT) {
        return OTHER_QUEUES;
    }
    if (buffer_bytes != SWITCH_BUFFER_BYTES) {
        return OTHER_BUFFER;
    }
    if (base_rtt_ns != SWITCH_BASE_RTT_NS) {
        return OTHER_BASE_RTT;
    }
    for (at = 0; at < SWITCH_PORTS; at++) {
        if (line_rate_bps[at] != port_rate_bps(at)) {
            return OTHER_LINE_RATE;
        }
    }
    std::memset(state, 0, sizeof *state);
    state->spare = EXAMPLE_NOWHERE;
    for (at = 0; at < 32u; at++) {
        state->due_ns[at] = ~(std::uint64_t)0;
        state->due_ns[32u + at] = ~(std::uint64_t)0;
        state->earliest[32u + at] = (std::uint16_t)at;
    }
    for (at = 32u - 1u; at > 0; at--) {
        state->earliest[at] = state->earliest[2u * at];
    }
    return READY;
}

/* The features of a packet that arrives for queue, before it is added.  */
inline void observe_all(
    const struct decision *state, std::uint32_t queue,
    Row &x)
{
    x[FEATURE_QUEUE_LENGTH] = state->bytes[queue];
    x[FEATURE_OCCUPANCY] = state->buffer_bytes;
}

/* A virtual queue changes at time_ns: bytes are added, or removed; arrived_bytes is the size of a packet
 * that has arrived for it and was added or rejected, otherwise 0. */
inline void change(struct decision *state, std::uint32_t queue, std::uint32_t added_bytes,
    std::uint32_t removed_bytes, std::uint32_t arrived_bytes, std::uint64_t time_ns)
{
    state->bytes[queue] = state->bytes[queue] + added_bytes - removed_bytes;
    state->buffer_bytes = state->buffer_bytes + added_bytes - removed_bytes;
    (void)arrived_bytes;
    (void)time_ns;
}

/* A port of virtual LQD dequeues next at due_ns. */
inline void set_due(struct decision *state, std::uint32_t port, std::uint64_t due_ns)
{
    std::uint32_t at;

    state->due_ns[32u + port] = due_ns;
    for (at = 32u + port; at > 1u; at /= 2u) {
        const std::uint64_t left_ns = state->due_ns[at & ~1u], right_ns = state->due_ns[at | 1u];
        const std::uint16_t left = state->earliest[at & ~1u], right = state->earliest[at | 1u];

        state->due_ns[at / 2u] = right_ns < left_ns ? right_ns : left_ns;
        state->earliest[at / 2u] = right_ns < left_ns ? right : left;
    }
}

inline std::uint32_t packet_bytes(const struct packet *packet)
{
    return packet->size_bytes & ~PREDICTED;
}

/* Removes the packet at either end of a virtual queue. */
inline void take(
    struct decision *state, std::uint32_t queue, slot place, std::uint64_t time_ns)
{
    struct fifo *fifo = &state->fifos[queue];
    struct packet *packet = &state->packets[place];
    const std::uint32_t size_bytes = packet_bytes(packet);

    if (place == fifo->tail) {
        fifo->tail = packet->previous;
    }
    if (place == fifo->head) {
        fifo->head = packet->next;
    }
    packet->next = state->spare;
    state->spare = place;
    change(state, queue, 0u, size_bytes, 0u, time_ns);
}

/* Adds a packet to the tail of a virtual queue; false if there is no place for it. */
inline int put(struct decision *state, std::uint32_t queue, std::uint32_t size_bytes)
{
    struct fifo *fifo = &state->fifos[queue];
    slot place = state->spare;

    if (place != EXAMPLE_NOWHERE) {
        state->spare = state->packets[place].next;
    } else if (state->fresh < EXAMPLE_PACKETS) {
        place = (slot)state->fresh++;
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
inline std::uint32_t pick(struct decision *state, std::uint32_t port)
{
    const std::uint32_t first = port * QUEUES_PER_PORT;
    std::uint32_t step, at = state->ports[port].turn;

    for (step = 0; step < QUEUES_PER_PORT; step++) {
        const std::uint32_t queue = first + at;

        at = at + 1u == QUEUES_PER_PORT ? 0u : at + 1u;
        if (state->bytes[queue] > 0) {
            state->ports[port].turn = at;
            return queue;
        }
    }
    return SWITCH_QUEUES;
}

/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when the packet has been
 * transmitted. */
inline std::uint64_t send(
    struct decision *state, std::uint32_t port, std::uint64_t time_ns, std::uint32_t size_bytes)
{
    (void)state;
    return time_ns + wire_ns(port, size_bytes);
}

/* Serves the port of virtual LQD that is due first, if it is by now_ns; whether another may be. Ports due
 * at the same time go in port order. */
inline int serve(struct decision *state, std::uint64_t now_ns)
{
    const std::uint32_t port = state->earliest[1];
    const std::uint64_t time_ns = state->due_ns[1];
    std::uint32_t queue;

    if (time_ns > now_ns || time_ns == ~(std::uint64_t)0) {
        return 0;
    }
    queue = pick(state, port);
    if (queue == SWITCH_QUEUES) {
        set_due(state, port, ~(std::uint64_t)0);
    } else {
        const slot head = state->fifos[queue].head;

        set_due(state, port,
            send(state, port, time_ns, packet_bytes(&state->packets[head])));
        take(state, queue, head, time_ns);
    }
    return 1;
}

/* Serves virtual LQD's ports up to and including now_ns. */
inline void advance(struct decision *state, std::uint64_t now_ns)
{
    while (serve(state, now_ns)) {
    }
    state->now_ns = now_ns > state->now_ns ? now_ns : state->now_ns;
}

/* LQD dropped a packet whose drop was predicted. */
inline void confirmed(struct decision *state)
{
    state->precision += PRECISION_ONE / DRIFT_WINDOW;
    state->precision = state->precision < PRECISION_ONE ? state->precision : PRECISION_ONE;
    state->is_trusted |= state->precision >= RECOVER_AT ? 1u : 0u;
}

/* The longest pushable queue of virtual LQD, the lowest of equally long ones; the number of queues if
 * all of these are empty. */
inline std::uint32_t longest(const struct decision *state)
{
    static const std::uint32_t pushable[40] = {
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
        0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu,
    };
    std::int32_t longest = 0;
    std::uint32_t at;

    for (at = 0; at < 40; at++) {
        /* Compared as length, then as lower number. */
        const std::int32_t key = (std::int32_t)(pushable[at] & (state->bytes[at] << 6 | (63u - at)));

        longest = key > longest ? key : longest;
    }
    return longest > 63 ? 63u - ((std::uint32_t)longest & 63u) : SWITCH_QUEUES;
}

/* Pushes the tail of the longest pushable queue out, unless size_bytes fit; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
inline int push_out(struct decision *state, std::uint64_t size_bytes)
{
    slot tail;
    std::uint32_t victim;

    if (state->buffer_bytes + size_bytes <= SWITCH_BUFFER_BYTES) {
        return 0;
    }
    victim = longest(state);
    if (victim == SWITCH_QUEUES) {
        return 0;
    }
    tail = state->fifos[victim].tail;
    if ((state->packets[tail].size_bytes & PREDICTED) != 0) {
        confirmed(state);
    }
    take(state, victim, tail, state->now_ns);
    return 1;
}

/* Longest Queue Drop (Aiello et al.): pushes packets out until the packet fits, and adds it, if it then
 * does. Whether it is added. */
inline int admit(struct decision *state, std::uint32_t queue, std::uint32_t size_bytes)
{
    const std::uint32_t port = queue / QUEUES_PER_PORT;
    int added = 0;

    while (push_out(state, size_bytes)) {
    }
    if ((std::uint64_t)state->buffer_bytes + size_bytes <= SWITCH_BUFFER_BYTES) {
        added = put(state, queue, size_bytes);
    }
    if (added && state->due_ns[32u + port] == ~(std::uint64_t)0) {
        set_due(state, port, state->now_ns);
    }
    change(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}

/* A drop is predicted for the packet that arrived last for a queue; returns whether to follow the
 * prediction. Until LQD confirms it, it counts as wrong. added: virtual LQD holds the packet. */
inline int follows(struct decision *state, std::uint32_t queue, int added)
{
    std::uint32_t is_trusted;

    state->precision -= state->precision / DRIFT_WINDOW;
    state->is_trusted &= state->precision < FALL_BELOW ? 0u : 1u;
    is_trusted = state->is_trusted;
    if (added) {
        state->packets[state->fifos[queue].tail].size_bytes |= PREDICTED;
    } else {
        confirmed(state);
    }
    return is_trusted != 0 || !state->falls_back;
}

/* Whether to accept every packet below its threshold while the precision of predicted drops is too low;
 * after init it does not. */
inline void fall_back(struct decision *state, int falls_back)
{
    state->falls_back = falls_back ? 1u : 0u;
}

/* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE; measured
 * whether or not it decides. */
inline std::uint32_t precision(const struct decision *state)
{
    return state->precision;
}

/* Whether a verdict adds the packet to its queue. */
inline int accepts(enum verdict verdict)
{
    return verdict <= ACCEPTED;
}

/* A packet arrives: Credence (Algorithm 1). Features are those of virtual LQD before the packet is
 * added; the threshold is the length of LQD's queue after that. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
inline enum verdict arrival(
    struct decision *state, std::uint32_t port, std::uint32_t queue, std::uint32_t size_bytes, std::uint64_t now_ns)
{
    const std::uint32_t at = port * QUEUES_PER_PORT + queue;
    std::uint32_t after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= SWITCH_PORTS || queue >= QUEUES_PER_PORT || size_bytes == 0) {
        return NO_ROOM;
    }
    advance(state, now_ns);
    fits = (std::uint64_t)state->occupancy_bytes + size_bytes <= SWITCH_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[at] <= state->bytes[at] + EXAMPLE_SLACK_BYTES) {
        Row x{};

        observe_all(state, at, x);
        predicted = predicts_drop(x);
    }
    added = admit(state, at, size_bytes);
    if (!fits) {
        return NO_ROOM;
    }
    after_bytes = state->real_bytes[at] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->bytes[at] + EXAMPLE_SLACK_BYTES) {
            return ABOVE_THRESHOLD;
        }
        if (predicted && follows(state, at, added)) {
            return PREDICTED_DROP;
        }
    }
    state->long_queues +=
        state->real_bytes[at] < LONG_BYTES && after_bytes >= LONG_BYTES ? 1u : 0u;
    state->real_bytes[at] = after_bytes;
    state->occupancy_bytes += size_bytes;
    return safeguarded ? SAFEGUARDED : ACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. */
inline void departure(
    struct decision *state, std::uint32_t port, std::uint32_t queue, std::uint32_t size_bytes, std::uint64_t now_ns)
{
    const std::uint32_t at = port * QUEUES_PER_PORT + queue;
    std::uint32_t before_bytes, left_bytes;

    if (port >= SWITCH_PORTS || queue >= QUEUES_PER_PORT) {
        return;
    }
    advance(state, now_ns);
    before_bytes = state->real_bytes[at];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[at] = before_bytes - left_bytes;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= LONG_BYTES && state->real_bytes[at] < LONG_BYTES ? 1u : 0u;
}

} // namespace example_oracle

#endif // DROPCAST_EXAMPLE_DECISION_HPP
