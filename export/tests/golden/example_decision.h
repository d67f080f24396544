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

/* The switch: ports, queues, shared buffer B, base RTT. And the unit of the precision of predictions. */
#define EXAMPLE_SWITCH_PORTS 20u
#define EXAMPLE_QUEUES_PER_PORT 2u
#define EXAMPLE_SWITCH_QUEUES 40u
#define EXAMPLE_SWITCH_BUFFER_BYTES 1000000u
#define EXAMPLE_SWITCH_BASE_RTT_NS 8000u
#define EXAMPLE_PRECISION_ONE 16777216u

/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of 64 bytes and more. Define another number before this header is included. */
#ifndef EXAMPLE_PACKETS
#define EXAMPLE_PACKETS 15625u
#endif

/* How much longer than its threshold a queue may become: slack_bytes of the switch's description. Reports
 * replay that value, so give another one there, not here. Where ports transmit a packet later than virtual
 * LQD's, every packet behind it is dropped without a slack of the size of the largest packet. */
#ifndef EXAMPLE_SLACK_BYTES
#define EXAMPLE_SLACK_BYTES 0u
#endif

/* What the code below is configured by. */
#define DROPCAST_NAME(name) example_##name
#define DROPCAST_CONSTANT(name) EXAMPLE_##name
#define DROPCAST_FUNCTION static inline
#define DROPCAST_ROW uint32_t *
#define DROPCAST_VALUES(x) (x)
#define DROPCAST_FEATURE_QUEUE_LENGTH 0
#define DROPCAST_FEATURE_OCCUPANCY 1
#define DROPCAST_NEW_ROW(x) uint32_t x[EXAMPLE_N_FEATURES]
#define DROPCAST_PREDICTS(x) example_drop(x)
#define DROPCAST_LQD_PORTS 20u
#define DROPCAST_LQD_PER_PORT 2u
#define DROPCAST_LQD_QUEUES 40u
#define DROPCAST_LQD_BUFFER_BYTES 1000000u
#define DROPCAST_LQD_BASE_RTT_NS 8000u
#define DROPCAST_LQD_LONG_BYTES 50000u
#define DROPCAST_LQD_RING 0u
#define DROPCAST_LQD_ROUND_ROBIN
#define DROPCAST_LQD_PUSHABLE 2u
#define DROPCAST_LQD_KEY_BITS 6u
#define DROPCAST_LQD_KEY_MASKS {0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu}
#define DROPCAST_LQD_PRECISION_ONE 16777216u
#define DROPCAST_LQD_WINDOW 64u
#define DROPCAST_LQD_FALL_BELOW 13421772u
#define DROPCAST_LQD_RECOVER_AT 14680064u
#define DROPCAST_LQD_OVERHEAD_BYTES 33u
#define DROPCAST_LQD_UNIFORM
#define DROPCAST_LQD_RATE_BPS 10000000000u
#define DROPCAST_LQD_DRAIN_BYTES 20000u
#define DROPCAST_LQD_NS_NUMERATOR 4u
#define DROPCAST_LQD_NS_DENOMINATOR 5u
#define DROPCAST_LQD_PACKETS EXAMPLE_PACKETS
#define DROPCAST_LQD_SLACK_BYTES EXAMPLE_SLACK_BYTES
#define DROPCAST_LQD_LEAVES 32u
#define DROPCAST_LQD_SCANNED 40u
#define DROPCAST_LQD_WORDS 1u
#define DROPCAST_LQD_PORT_PLACES 20u
#define DROPCAST_LQD_QUEUE_PLACES 40u
#define DROPCAST_LQD_OWN_PLACES 2u

/* A switch: its constants, the state of virtual LQD and of the decision, and an empty one.
 *
 * Defined before: what dropcast_features.h needs, and that file, without the row and DROPCAST_LEVELS;
 *
 *     DROPCAST_CONSTANT(name)        the name of a constant, for names of a model's own
 *     DROPCAST_BOUNDED               for the verifier of eBPF: every loop is a call of steps, every index masked
 *     DROPCAST_LQD_PORTS, _PER_PORT, _QUEUES         ports, queues of each, and their product
 *     DROPCAST_LQD_BUFFER_BYTES, _BASE_RTT_NS        the shared buffer B, and the base RTT
 *     DROPCAST_LQD_LONG_BYTES                        B / N, rounded up
 *     DROPCAST_LQD_RATE_BPS, _DRAIN_BYTES            a port's line rate, and what it sends in two base RTTs
 *     DROPCAST_LQD_NS_NUMERATOR, _NS_DENOMINATOR     what a byte takes there, ns
 *     DROPCAST_LQD_UNIFORM                           if these are those of every port; if not, they are in braces, by port,
 *                                                    and the fractions are DROPCAST_LQD_NS_PER_BYTE
 *     DROPCAST_LQD_OVERHEAD_BYTES                    bytes of a packet on the wire and not in the buffer
 *     DROPCAST_LQD_RING                              packets of a port's transmit ring
 *     DROPCAST_LQD_ROUND_ROBIN, _STRICT, _DWRR       one of them, if ports have several queues
 *     DROPCAST_LQD_QUANTA                            of DWRR, in braces, by queue of a port
 *     DROPCAST_LQD_PUSHABLE                          a bit for each queue of a port, if some are not pushed out of
 *     DROPCAST_LQD_KEY_BITS, _KEY_MASKS              if lengths fit 31 bits beside the number of a queue: bits of that number,
 *                                                    and, if some are not pushed out of, all bits or none, by queue
 *     DROPCAST_LQD_HARMLESS                          up to this product of queues and bytes no drop is predicted, if known
 *     DROPCAST_LQD_PACKETS, _SLACK_BYTES             places for packets; what a queue may exceed its threshold by
 *     DROPCAST_LQD_PRECISION_ONE, _WINDOW, _FALL_BELOW, _RECOVER_AT    of the precision of predictions
 *     DROPCAST_LQD_CLASSES                           length classes, if a feature needs them
 *     DROPCAST_LQD_LEAVES                            ports of the tournament, a power of 2 of at least 2
 *     DROPCAST_LQD_SCANNED, _WORDS                   lengths of arrays: of scans, and of bits of queues
 *     DROPCAST_LQD_PORT_PLACES, _QUEUE_PLACES, _CLASS_PLACES, _OWN_PLACES, _RING_PLACES
 *                                                    of ports, queues, classes, a port's queues, its ring; if bounded, powers
 *                                                    of 2
 */
#ifdef DROPCAST_NAME
#define dropcast_loop DROPCAST_NAME(loop)
#define dropcast_port_rate_bps DROPCAST_NAME(port_rate_bps)
#define dropcast_port_drain_bytes DROPCAST_NAME(port_drain_bytes)
#define dropcast_wire_ns DROPCAST_NAME(wire_ns)
#define dropcast_slot DROPCAST_NAME(slot)
#define dropcast_readiness DROPCAST_NAME(readiness)
#define dropcast_verdict DROPCAST_NAME(verdict)
#define dropcast_packet DROPCAST_NAME(packet)
#define dropcast_fifo DROPCAST_NAME(fifo)
#define dropcast_port DROPCAST_NAME(port)
#define dropcast_decision DROPCAST_NAME(decision)
#define dropcast_steps DROPCAST_NAME(steps)
#define dropcast_init DROPCAST_NAME(init)
#define DROPCAST_READY DROPCAST_CONSTANT(READY)
#define DROPCAST_OTHER_PORTS DROPCAST_CONSTANT(OTHER_PORTS)
#define DROPCAST_OTHER_QUEUES DROPCAST_CONSTANT(OTHER_QUEUES)
#define DROPCAST_OTHER_BUFFER DROPCAST_CONSTANT(OTHER_BUFFER)
#define DROPCAST_OTHER_BASE_RTT DROPCAST_CONSTANT(OTHER_BASE_RTT)
#define DROPCAST_OTHER_LINE_RATE DROPCAST_CONSTANT(OTHER_LINE_RATE)
#define DROPCAST_SAFEGUARDED DROPCAST_CONSTANT(SAFEGUARDED)
#define DROPCAST_ACCEPTED DROPCAST_CONSTANT(ACCEPTED)
#define DROPCAST_NO_ROOM DROPCAST_CONSTANT(NO_ROOM)
#define DROPCAST_ABOVE_THRESHOLD DROPCAST_CONSTANT(ABOVE_THRESHOLD)
#define DROPCAST_PREDICTED_DROP DROPCAST_CONSTANT(PREDICTED_DROP)
#endif

#if DROPCAST_LQD_PACKETS < 1 || DROPCAST_LQD_PACKETS > 16777216
#error "packets of virtual LQD: expected 1 to 16777216"
#endif
#if DROPCAST_LQD_SLACK_BYTES > 1073741824
#error "slack, bytes: expected 0 to 1073741824"
#endif

#ifdef DROPCAST_BOUNDED
#if (DROPCAST_LQD_PACKETS & (DROPCAST_LQD_PACKETS - 1u)) != 0
#error "packets of virtual LQD: expected a power of 2, so that the verifier sees the bound of a place"
#endif
/* An index of an array with so many places, a power of 2. */
#define DROPCAST_WITHIN(index, places) ((index) & ((places)-1u))
#define DROPCAST_CLEAR(memory) __builtin_memset(memory, 0, sizeof(memory))
#ifdef __bpf__
/* Calls step up to times, until it returns 1. Linux 5.17. */
static long (*dropcast_loop)(uint32_t times, long (*step)(uint32_t at, void *context), void *context,
    uint64_t flags) = (void *)181;
/* Small tables would otherwise be in sections that libbpf does not open. */
#define DROPCAST_TABLE static const __attribute__((section(".rodata")))
#else
/* The same, to try this code elsewhere. */
static long dropcast_loop(uint32_t times, long (*step)(uint32_t at, void *context), void *context,
    uint64_t flags)
{
    uint32_t at;

    (void)flags;
    for (at = 0; at < times; at++) {
        if (step(at, context) != 0) {
            break;
        }
    }
    return (long)at;
}
#define DROPCAST_TABLE static const
#endif
#else
#define DROPCAST_WITHIN(index, places) (index)
#define DROPCAST_CLEAR(memory) memset(memory, 0, sizeof(memory))
#define DROPCAST_TABLE static const
#endif

/* Places in the arrays of the state. */
#define DROPCAST_PORT(port) DROPCAST_WITHIN(port, DROPCAST_LQD_PORT_PLACES)
#define DROPCAST_QUEUE(queue) DROPCAST_WITHIN(queue, DROPCAST_LQD_QUEUE_PLACES)
#define DROPCAST_OWN(queue) DROPCAST_WITHIN(queue, DROPCAST_LQD_OWN_PLACES)
#define DROPCAST_CLASS(number) DROPCAST_WITHIN(number, DROPCAST_LQD_CLASS_PLACES)
#define DROPCAST_NODE(node) DROPCAST_WITHIN(node, 2u * DROPCAST_LQD_LEAVES)
#define DROPCAST_RING(place) DROPCAST_WITHIN(place, DROPCAST_LQD_RING_PLACES)
#define DROPCAST_PLACE(place) DROPCAST_WITHIN(place, DROPCAST_LQD_PACKETS)

#if defined(DROPCAST_SCANS) && !defined(DROPCAST_BOUNDED)
/* Queues that are not empty are in a list of bits, so that scans for features skip the others. */
#define DROPCAST_LISTED
#endif

/* A port that is idle is due then. */
#define DROPCAST_NEVER (~(uint64_t)0)

/* In a packet's bytes: its drop was predicted. */
#define DROPCAST_PREDICTED 0x80000000u

/* Line rate of a port, bits per second. */
DROPCAST_FUNCTION uint64_t dropcast_port_rate_bps(uint32_t port)
{
#ifdef DROPCAST_LQD_UNIFORM
    (void)port;
    return DROPCAST_LQD_RATE_BPS;
#else
    DROPCAST_TABLE uint64_t by_port[DROPCAST_LQD_PORT_PLACES] = DROPCAST_LQD_RATE_BPS;

    return by_port[DROPCAST_PORT(port)];
#endif
}

/* Bytes that a port sends in two base RTTs. */
DROPCAST_FUNCTION uint64_t dropcast_port_drain_bytes(uint32_t port)
{
#ifdef DROPCAST_LQD_UNIFORM
    (void)port;
    return DROPCAST_LQD_DRAIN_BYTES;
#else
    DROPCAST_TABLE uint64_t by_port[DROPCAST_LQD_PORT_PLACES] = DROPCAST_LQD_DRAIN_BYTES;

    return by_port[DROPCAST_PORT(port)];
#endif
}

/* Time on the wire of a packet that takes size_bytes in the buffer, rounded up, ns. */
DROPCAST_FUNCTION uint64_t dropcast_wire_ns(uint32_t port, uint32_t size_bytes)
{
    const uint64_t wire_bytes = (uint64_t)size_bytes + DROPCAST_LQD_OVERHEAD_BYTES;
#ifdef DROPCAST_LQD_UNIFORM
    /* Constants, by which compilers divide with a multiplication. */
    (void)port;
    return (wire_bytes * DROPCAST_LQD_NS_NUMERATOR + (DROPCAST_LQD_NS_DENOMINATOR - 1u))
           / DROPCAST_LQD_NS_DENOMINATOR;
#else
    DROPCAST_TABLE uint64_t ns_per_byte[DROPCAST_LQD_PORT_PLACES][2] = DROPCAST_LQD_NS_PER_BYTE;
    const uint64_t numerator = ns_per_byte[DROPCAST_PORT(port)][0];
    const uint64_t denominator = ns_per_byte[DROPCAST_PORT(port)][1];

    return (wire_bytes * numerator + denominator - 1u) / denominator;
#endif
}

/* The number of a place for a packet. */
#if DROPCAST_LQD_PACKETS <= 65535
typedef uint16_t dropcast_slot;
#define DROPCAST_NOWHERE 0xffffu
#else
typedef uint32_t dropcast_slot;
#define DROPCAST_NOWHERE 0xffffffffu
#endif

/* What init says. */
enum dropcast_readiness {
    DROPCAST_READY = 0,
    /* The file is for another switch: this constant differs. */
    DROPCAST_OTHER_PORTS,
    DROPCAST_OTHER_QUEUES,
    DROPCAST_OTHER_BUFFER,
    DROPCAST_OTHER_BASE_RTT,
    DROPCAST_OTHER_LINE_RATE
};

/* The decision about a packet, and its reason. */
enum dropcast_verdict {
    /* Accepted: every queue is shorter than B/N. The forest is not asked. */
    DROPCAST_SAFEGUARDED = 0,
    /* Accepted: below its threshold, and no drop is predicted. */
    DROPCAST_ACCEPTED,
    /* Dropped: the buffer has no room for it. Also the answer for a queue that does not exist, and
     * for a packet of 0 bytes. */
    DROPCAST_NO_ROOM,
    /* Dropped: its queue would exceed its threshold. */
    DROPCAST_ABOVE_THRESHOLD,
    /* Dropped: LQD is predicted to drop it. */
    DROPCAST_PREDICTED_DROP
};

/* A packet that virtual LQD holds, between its neighbours. */
struct dropcast_packet {
    /* Its bytes, and PREDICTED if its drop was predicted. */
    uint32_t size_bytes;
    dropcast_slot next;
    dropcast_slot previous;
};

/* Both ends of a virtual queue; meaningless while it is empty. */
struct dropcast_fifo {
    dropcast_slot head;
    dropcast_slot tail;
};

#if DROPCAST_LQD_RING > 0 || defined(DROPCAST_LQD_ROUND_ROBIN) || defined(DROPCAST_LQD_DWRR)
#define DROPCAST_HAS_PORTS
/* A port of virtual LQD. */
struct dropcast_port {
#if DROPCAST_LQD_RING > 0
    /* End of transmission of the last dequeued packet. */
    uint64_t sent_ns;
    /* Transmission starts of the last dequeued packets; next is the oldest. */
    uint64_t begun_ns[DROPCAST_LQD_RING_PLACES];
#endif
#ifdef DROPCAST_LQD_DWRR
    /* Bytes that each queue may still send. */
    uint64_t deficit_bytes[DROPCAST_LQD_OWN_PLACES];
    /* Whether this turn's queue got its quantum. */
    uint32_t was_credited;
#endif
#if defined(DROPCAST_LQD_ROUND_ROBIN) || defined(DROPCAST_LQD_DWRR)
    /* The first queue to consider. */
    uint32_t turn;
#endif
#if DROPCAST_LQD_RING > 0
    uint32_t next;
    uint32_t begun;
#endif
};
#endif

/* The state of a switch. Give each switch its own. */
struct dropcast_decision {
    /* A tournament among the ports: when each dequeues next, ~0 if it is idle, and before these the
     * earliest below each node, the root at 1. */
    uint64_t due_ns[2 * DROPCAST_LQD_LEAVES];
#ifdef DROPCAST_LISTED
    /* A bit for each virtual queue: 1 if it is not empty. */
    uint64_t busy[DROPCAST_LQD_WORDS];
#endif
#ifdef DROPCAST_ARRIVALS
    /* The last event of each virtual queue. */
    uint64_t heard_ns[DROPCAST_LQD_QUEUE_PLACES];
#endif
#ifdef DROPCAST_AVERAGES
    /* The last removal from each virtual queue, and from the buffer. */
    uint64_t updated_ns[DROPCAST_LQD_QUEUE_PLACES];
    uint64_t buffer_updated_ns;
#endif
#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    /* Expected bytes of all virtual queues. */
    uint64_t projected;
#endif
#ifdef DROPCAST_LQD_CLASSES
    /* Expected bytes of the queues in each length class, and below the cut. */
    uint64_t class_bytes[DROPCAST_LQD_CLASS_PLACES];
    uint64_t below_bytes;
#endif
#ifdef DROPCAST_HAS_PORTS
    struct dropcast_port ports[DROPCAST_LQD_PORT_PLACES];
#endif
    uint64_t now_ns;
    /* Arrivals that found no place among the packets. */
    uint64_t unheld;
#ifdef DROPCAST_LQD_HARMLESS
    /* Virtual queues that are not empty. */
    uint32_t busy_queues;
#endif
#ifdef DROPCAST_ARRIVALS
    /* Recent arrivals of each virtual queue, bytes. */
    uint32_t recent[DROPCAST_LQD_QUEUE_PLACES];
#endif
#ifdef DROPCAST_AVERAGES
    /* Moving averages of virtual LQD's queues and buffer, bytes. */
    uint32_t average[DROPCAST_LQD_QUEUE_PLACES];
    uint32_t buffer_average;
#endif
#ifdef DROPCAST_LQD_CLASSES
    /* Queues in each length class, and from the cut on; the class of the cut. */
    uint32_t class_queues[DROPCAST_LQD_CLASS_PLACES];
    uint32_t above;
    uint32_t cut;
#endif
    /* The bytes in virtual LQD's queues, which are the thresholds, and in its buffer. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of 8. */
    uint32_t bytes[DROPCAST_LQD_SCANNED];
    uint32_t buffer_bytes;
    /* The switch's own queues. */
    uint32_t real_bytes[DROPCAST_LQD_QUEUE_PLACES];
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
    struct dropcast_fifo fifos[DROPCAST_LQD_QUEUE_PLACES];
    dropcast_slot spare;
    /* Which port that is, for each node; ties go to the lowest. */
    uint16_t earliest[2 * DROPCAST_LQD_LEAVES];
    struct dropcast_packet packets[DROPCAST_LQD_PACKETS];
};

#ifdef DROPCAST_BOUNDED
/* What a step of a loop gets. */
struct dropcast_steps {
    struct dropcast_decision *state;
    uint64_t until;
};
#endif

/* An empty switch; if bounded, in memory of zeros. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
DROPCAST_FUNCTION enum dropcast_readiness dropcast_init(
    struct dropcast_decision *state, uint32_t ports, uint32_t queues_per_port, uint64_t buffer_bytes,
    uint64_t base_rtt_ns, const uint64_t *line_rate_bps)
{
    uint32_t at;

    if (ports != DROPCAST_LQD_PORTS) {
        return DROPCAST_OTHER_PORTS;
    }
    if (queues_per_port != DROPCAST_LQD_PER_PORT) {
        return DROPCAST_OTHER_QUEUES;
    }
    if (buffer_bytes != DROPCAST_LQD_BUFFER_BYTES) {
        return DROPCAST_OTHER_BUFFER;
    }
    if (base_rtt_ns != DROPCAST_LQD_BASE_RTT_NS) {
        return DROPCAST_OTHER_BASE_RTT;
    }
    for (at = 0; at < DROPCAST_LQD_PORTS; at++) {
        if (line_rate_bps[at] != dropcast_port_rate_bps(at)) {
            return DROPCAST_OTHER_LINE_RATE;
        }
    }
#ifndef DROPCAST_BOUNDED
    memset(state, 0, sizeof *state);
#endif
#ifdef DROPCAST_LQD_CLASSES
    /* Nothing is cut. */
    state->cut = DROPCAST_LQD_CLASSES;
#endif
    state->spare = DROPCAST_NOWHERE;
    for (at = 0; at < DROPCAST_LQD_LEAVES; at++) {
#ifdef DROPCAST_BOUNDED
        /* Without this clang makes a call of memset of the loop, which eBPF does not have. */
        __asm__ volatile("" : : : "memory");
#endif
        state->due_ns[DROPCAST_NODE(at)] = DROPCAST_NEVER;
        state->due_ns[DROPCAST_NODE(DROPCAST_LQD_LEAVES + at)] = DROPCAST_NEVER;
        state->earliest[DROPCAST_NODE(DROPCAST_LQD_LEAVES + at)] = (uint16_t)at;
    }
    for (at = DROPCAST_LQD_LEAVES - 1u; at > 0; at--) {
        state->earliest[DROPCAST_NODE(at)] = state->earliest[DROPCAST_NODE(2u * at)];
    }
    return DROPCAST_READY;
}

/* Longest Queue Drop, run virtually beside the switch: its ports, its push-outs, and what it keeps for features.
 *
 * Comes after dropcast_switch.h, and after dropcast_length_classes.h if a feature needs length classes. */
#ifdef DROPCAST_NAME
#define dropcast_expects DROPCAST_NAME(expects)
#define dropcast_change DROPCAST_NAME(change)
#define dropcast_set_due DROPCAST_NAME(set_due)
#define dropcast_packet_bytes DROPCAST_NAME(packet_bytes)
#define dropcast_take DROPCAST_NAME(take)
#define dropcast_put DROPCAST_NAME(put)
#define dropcast_pick DROPCAST_NAME(pick)
#define dropcast_round_bytes DROPCAST_NAME(round_bytes)
#define dropcast_first_bytes DROPCAST_NAME(first_bytes)
#define dropcast_skip_rounds DROPCAST_NAME(skip_rounds)
#define dropcast_send DROPCAST_NAME(send)
#define dropcast_serve DROPCAST_NAME(serve)
#define dropcast_serve_step DROPCAST_NAME(serve_step)
#define dropcast_advance DROPCAST_NAME(advance)
#define dropcast_confirmed DROPCAST_NAME(confirmed)
#define dropcast_search_step DROPCAST_NAME(search_step)
#define dropcast_longest DROPCAST_NAME(longest)
#define dropcast_push_out DROPCAST_NAME(push_out)
#define dropcast_push_out_step DROPCAST_NAME(push_out_step)
#define dropcast_admit DROPCAST_NAME(admit)
#define dropcast_search DROPCAST_NAME(search)
#endif

#ifdef DROPCAST_ARRIVALS
/* What is expected in a virtual queue after so many eighths of a base RTT. */
DROPCAST_FUNCTION uint64_t dropcast_expects(const struct dropcast_decision *state, uint32_t queue, uint32_t eighths)
{
    return dropcast_expected(state->bytes[DROPCAST_QUEUE(queue)], state->recent[DROPCAST_QUEUE(queue)],
        dropcast_port_drain_bytes(queue / DROPCAST_LQD_PER_PORT), eighths);
}
#endif

/* A virtual queue changes at time_ns: bytes are added, or removed; arrived_bytes is the size of a packet
 * that has arrived for it and was added or rejected, otherwise 0. */
DROPCAST_FUNCTION void dropcast_change(struct dropcast_decision *state, uint32_t queue, uint32_t added_bytes,
    uint32_t removed_bytes, uint32_t arrived_bytes, uint64_t time_ns)
{
#ifdef DROPCAST_LQD_HARMLESS
    const uint32_t before_bytes = state->bytes[DROPCAST_QUEUE(queue)];
#endif
#ifdef DROPCAST_ARRIVALS
    const uint64_t heard_ns = state->heard_ns[DROPCAST_QUEUE(queue)];
#endif
#ifdef DROPCAST_LQD_CLASSES
    const uint64_t before = dropcast_expects(state, queue, 2u);
#endif

#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    state->projected -= dropcast_expects(state, queue, 16u);
#endif
    state->bytes[DROPCAST_QUEUE(queue)] = state->bytes[DROPCAST_QUEUE(queue)] + added_bytes - removed_bytes;
    state->buffer_bytes = state->buffer_bytes + added_bytes - removed_bytes;
#ifdef DROPCAST_LISTED
    state->busy[queue / 64u] = (state->busy[queue / 64u] & ~((uint64_t)1 << queue % 64u))
                               | (uint64_t)(state->bytes[queue] > 0 ? 1u : 0u) << queue % 64u;
#endif
#ifdef DROPCAST_LQD_HARMLESS
    state->busy_queues += (state->bytes[DROPCAST_QUEUE(queue)] > 0 ? 1u : 0u) - (before_bytes > 0 ? 1u : 0u);
#endif
#ifdef DROPCAST_ARRIVALS
    state->recent[DROPCAST_QUEUE(queue)] = dropcast_recent(
        state->recent[DROPCAST_QUEUE(queue)], arrived_bytes, time_ns > heard_ns ? time_ns - heard_ns : 0u);
    state->heard_ns[DROPCAST_QUEUE(queue)] = time_ns;
#endif
#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    state->projected += dropcast_expects(state, queue, 16u);
#endif
#ifdef DROPCAST_LQD_CLASSES
    dropcast_reclass(state, before, dropcast_expects(state, queue, 2u));
#endif
#ifdef DROPCAST_AVERAGES
    if (removed_bytes > 0) {
        const uint64_t updated_ns = state->updated_ns[DROPCAST_QUEUE(queue)];
        const uint64_t buffer_updated_ns = state->buffer_updated_ns;

        state->average[DROPCAST_QUEUE(queue)] = dropcast_average(state->average[DROPCAST_QUEUE(queue)],
            state->bytes[DROPCAST_QUEUE(queue)], time_ns > updated_ns ? time_ns - updated_ns : 0u);
        state->buffer_average = dropcast_average(state->buffer_average, state->buffer_bytes,
            time_ns > buffer_updated_ns ? time_ns - buffer_updated_ns : 0u);
        state->updated_ns[DROPCAST_QUEUE(queue)] = time_ns;
        state->buffer_updated_ns = time_ns;
    }
#endif
    (void)arrived_bytes;
    (void)time_ns;
}

/* A port of virtual LQD dequeues next at due_ns. */
DROPCAST_FUNCTION void dropcast_set_due(struct dropcast_decision *state, uint32_t port, uint64_t due_ns)
{
    uint32_t at;

    state->due_ns[DROPCAST_NODE(DROPCAST_LQD_LEAVES + port)] = due_ns;
    for (at = DROPCAST_LQD_LEAVES + port; at > 1u; at /= 2u) {
        const uint64_t left_ns = state->due_ns[DROPCAST_NODE(at & ~1u)], right_ns = state->due_ns[DROPCAST_NODE(at | 1u)];
        const uint16_t left = state->earliest[DROPCAST_NODE(at & ~1u)], right = state->earliest[DROPCAST_NODE(at | 1u)];

        state->due_ns[DROPCAST_NODE(at / 2u)] = right_ns < left_ns ? right_ns : left_ns;
        state->earliest[DROPCAST_NODE(at / 2u)] = right_ns < left_ns ? right : left;
    }
}

DROPCAST_FUNCTION uint32_t dropcast_packet_bytes(const struct dropcast_packet *packet)
{
    return packet->size_bytes & ~DROPCAST_PREDICTED;
}

/* Removes the packet at either end of a virtual queue. */
DROPCAST_FUNCTION void dropcast_take(
    struct dropcast_decision *state, uint32_t queue, dropcast_slot place, uint64_t time_ns)
{
    struct dropcast_fifo *fifo = &state->fifos[DROPCAST_QUEUE(queue)];
    struct dropcast_packet *packet = &state->packets[DROPCAST_PLACE(place)];
    const uint32_t size_bytes = dropcast_packet_bytes(packet);

    if (place == fifo->tail) {
        fifo->tail = packet->previous;
    }
    if (place == fifo->head) {
        fifo->head = packet->next;
    }
    packet->next = state->spare;
    state->spare = place;
    dropcast_change(state, queue, 0u, size_bytes, 0u, time_ns);
}

/* Adds a packet to the tail of a virtual queue; false if there is no place for it. */
DROPCAST_FUNCTION int dropcast_put(struct dropcast_decision *state, uint32_t queue, uint32_t size_bytes)
{
    struct dropcast_fifo *fifo = &state->fifos[DROPCAST_QUEUE(queue)];
    dropcast_slot place = state->spare;

    if (place != DROPCAST_NOWHERE) {
        state->spare = state->packets[DROPCAST_PLACE(place)].next;
    } else if (state->fresh < DROPCAST_LQD_PACKETS) {
        place = (dropcast_slot)state->fresh++;
    } else {
        state->unheld++;
        return 0;
    }
    state->packets[DROPCAST_PLACE(place)].size_bytes = size_bytes;
    if (state->bytes[DROPCAST_QUEUE(queue)] == 0) {
        fifo->head = place;
    } else {
        state->packets[DROPCAST_PLACE(fifo->tail)].next = place;
        state->packets[DROPCAST_PLACE(place)].previous = fifo->tail;
    }
    fifo->tail = place;
    return 1;
}

#if DROPCAST_LQD_PER_PORT == 1
/* The queue that a port serves next, its only one; the number of queues if it is empty. */
DROPCAST_FUNCTION uint32_t dropcast_pick(const struct dropcast_decision *state, uint32_t port)
{
    return state->bytes[DROPCAST_QUEUE(port)] > 0 ? port : DROPCAST_LQD_QUEUES;
}
#elif defined(DROPCAST_LQD_STRICT)
/* The queue that a port serves next, strict priority: the backlogged one with the lowest number; the
 * number of queues if all are empty. */
DROPCAST_FUNCTION uint32_t dropcast_pick(const struct dropcast_decision *state, uint32_t port)
{
    const uint32_t first = port * DROPCAST_LQD_PER_PORT;
    uint32_t at;

    for (at = first; at < first + DROPCAST_LQD_PER_PORT; at++) {
        if (state->bytes[DROPCAST_QUEUE(at)] > 0) {
            return at;
        }
    }
    return DROPCAST_LQD_QUEUES;
}
#elif defined(DROPCAST_LQD_ROUND_ROBIN)
/* The queue that a port serves next, round robin: one packet from each backlogged queue in turn; the
 * number of queues if all are empty. */
DROPCAST_FUNCTION uint32_t dropcast_pick(struct dropcast_decision *state, uint32_t port)
{
    const uint32_t first = port * DROPCAST_LQD_PER_PORT;
    uint32_t step, at = state->ports[DROPCAST_PORT(port)].turn;

    for (step = 0; step < DROPCAST_LQD_PER_PORT; step++) {
        const uint32_t queue = first + at;

        at = at + 1u == DROPCAST_LQD_PER_PORT ? 0u : at + 1u;
        if (state->bytes[DROPCAST_QUEUE(queue)] > 0) {
            state->ports[DROPCAST_PORT(port)].turn = at;
            return queue;
        }
    }
    return DROPCAST_LQD_QUEUES;
}
#else
/* Bytes that a queue may send per round. */
DROPCAST_FUNCTION uint32_t dropcast_round_bytes(uint32_t queue)
{
    DROPCAST_TABLE uint32_t quantum_bytes[DROPCAST_LQD_OWN_PLACES] = DROPCAST_LQD_QUANTA;

    return quantum_bytes[DROPCAST_OWN(queue)];
}

/* Bytes of the packet at the head of a virtual queue. */
DROPCAST_FUNCTION uint64_t dropcast_first_bytes(const struct dropcast_decision *state, uint32_t queue)
{
    return dropcast_packet_bytes(&state->packets[DROPCAST_PLACE(state->fifos[DROPCAST_QUEUE(queue)].head)]);
}

/* Credits all rounds in which no queue of a port could send at once: with quanta far below the packet
 * sizes there are many. */
DROPCAST_FUNCTION void dropcast_skip_rounds(struct dropcast_decision *state, uint32_t port)
{
    const uint32_t first = port * DROPCAST_LQD_PER_PORT;
    uint64_t *deficit_bytes = state->ports[DROPCAST_PORT(port)].deficit_bytes;
    uint64_t fewest = DROPCAST_NEVER;
    uint32_t at;

    for (at = 0; at < DROPCAST_LQD_PER_PORT; at++) {
        if (state->bytes[DROPCAST_QUEUE(first + at)] > 0) {
            const uint64_t missing = dropcast_first_bytes(state, first + at) - deficit_bytes[DROPCAST_OWN(at)];
            const uint64_t quantum_bytes = dropcast_round_bytes(at);
            const uint64_t rounds = (missing + quantum_bytes - 1u) / quantum_bytes;

            fewest = rounds < fewest ? rounds : fewest;
        }
    }
    for (at = 0; at < DROPCAST_LQD_PER_PORT; at++) {
        if (state->bytes[DROPCAST_QUEUE(first + at)] > 0) {
            deficit_bytes[DROPCAST_OWN(at)] += (fewest - 1u) * dropcast_round_bytes(at);
        }
    }
}

/* The queue that a port serves next, deficit round robin (Shreedhar and Varghese): a visited queue gets
 * its quantum once, sends while its deficit covers its head, and loses the deficit when it runs
 * empty. The number of queues if all are empty. */
DROPCAST_FUNCTION uint32_t dropcast_pick(struct dropcast_decision *state, uint32_t port)
{
    const uint32_t first = port * DROPCAST_LQD_PER_PORT;
    struct dropcast_port *turn = &state->ports[DROPCAST_PORT(port)];
    uint32_t at, visit, backlog = 0;

    for (at = 0; at < DROPCAST_LQD_PER_PORT; at++) {
        backlog |= state->bytes[DROPCAST_QUEUE(first + at)];
    }
    if (backlog == 0) {
        DROPCAST_CLEAR(turn->deficit_bytes);
        turn->turn = 0;
        turn->was_credited = 0;
        return DROPCAST_LQD_QUEUES;
    }
    for (visit = 1; visit <= 2u * DROPCAST_LQD_PER_PORT; visit++) {
        at = turn->turn;
        if (state->bytes[DROPCAST_QUEUE(first + at)] > 0) {
            const uint64_t head_bytes = dropcast_first_bytes(state, first + at);

            if (!turn->was_credited) {
                turn->deficit_bytes[DROPCAST_OWN(at)] += dropcast_round_bytes(at);
                turn->was_credited = 1;
            }
            if (turn->deficit_bytes[DROPCAST_OWN(at)] >= head_bytes) {
                turn->deficit_bytes[DROPCAST_OWN(at)] -= head_bytes;
                return first + at;
            }
        } else {
            turn->deficit_bytes[DROPCAST_OWN(at)] = 0;
        }
        turn->turn = at + 1u == DROPCAST_LQD_PER_PORT ? 0u : at + 1u;
        turn->was_credited = 0;
        if (visit == DROPCAST_LQD_PER_PORT) {
            dropcast_skip_rounds(state, port);
        }
    }
    return DROPCAST_LQD_QUEUES; /* Never: after the skipped rounds a queue can send in the next one. */
}
#endif

/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when the packet has been
 * transmitted, or when the port's ring has a free place. */
DROPCAST_FUNCTION uint64_t dropcast_send(
    struct dropcast_decision *state, uint32_t port, uint64_t time_ns, uint32_t size_bytes)
{
#if DROPCAST_LQD_RING == 0
    (void)state;
    return time_ns + dropcast_wire_ns(port, size_bytes);
#else
    struct dropcast_port *line = &state->ports[DROPCAST_PORT(port)];
    const uint64_t begins_ns = line->sent_ns > time_ns ? line->sent_ns : time_ns;

    line->sent_ns = begins_ns + dropcast_wire_ns(port, size_bytes);
    line->begun_ns[DROPCAST_RING(line->next)] = begins_ns;
    line->next = line->next + 1u == DROPCAST_LQD_RING ? 0u : line->next + 1u;
    line->begun += line->begun < DROPCAST_LQD_RING ? 1u : 0u;
    if (line->begun < DROPCAST_LQD_RING) {
        return time_ns;
    }
    return line->begun_ns[DROPCAST_RING(line->next)] > time_ns ? line->begun_ns[DROPCAST_RING(line->next)] : time_ns;
#endif
}

/* Serves the port of virtual LQD that is due first, if it is by now_ns; whether another may be. Ports due
 * at the same time go in port order. */
DROPCAST_FUNCTION int dropcast_serve(struct dropcast_decision *state, uint64_t now_ns)
{
    const uint32_t port = state->earliest[1];
    const uint64_t time_ns = state->due_ns[1];
    uint32_t queue;

    if (time_ns > now_ns || time_ns == DROPCAST_NEVER) {
        return 0;
    }
    queue = dropcast_pick(state, port);
    if (queue == DROPCAST_LQD_QUEUES) {
        dropcast_set_due(state, port, DROPCAST_NEVER);
    } else {
        const dropcast_slot head = state->fifos[DROPCAST_QUEUE(queue)].head;

        dropcast_set_due(state, port,
            dropcast_send(state, port, time_ns, dropcast_packet_bytes(&state->packets[DROPCAST_PLACE(head)])));
        dropcast_take(state, queue, head, time_ns);
    }
    return 1;
}

#ifdef DROPCAST_BOUNDED
static long dropcast_serve_step(uint32_t at, void *context)
{
    struct dropcast_steps *steps = (struct dropcast_steps *)context;

    (void)at;
    return dropcast_serve(steps->state, steps->until) ? 0 : 1;
}
#endif

/* Serves virtual LQD's ports up to and including now_ns. */
DROPCAST_FUNCTION void dropcast_advance(struct dropcast_decision *state, uint64_t now_ns)
{
#ifdef DROPCAST_BOUNDED
    /* A step removes a packet or lets a port idle. */
    struct dropcast_steps steps = {state, now_ns};

    dropcast_loop(DROPCAST_LQD_PACKETS + DROPCAST_LQD_PORTS, dropcast_serve_step, &steps, 0);
#else
    while (dropcast_serve(state, now_ns)) {
    }
#endif
    state->now_ns = now_ns > state->now_ns ? now_ns : state->now_ns;
}

/* LQD dropped a packet whose drop was predicted. */
DROPCAST_FUNCTION void dropcast_confirmed(struct dropcast_decision *state)
{
    state->precision += DROPCAST_LQD_PRECISION_ONE / DROPCAST_LQD_WINDOW;
    state->precision = state->precision < DROPCAST_LQD_PRECISION_ONE ? state->precision : DROPCAST_LQD_PRECISION_ONE;
    state->is_trusted |= state->precision >= DROPCAST_LQD_RECOVER_AT ? 1u : 0u;
}

#ifdef DROPCAST_LQD_PUSHABLE
#define DROPCAST_IS_PUSHABLE(queue) (((DROPCAST_LQD_PUSHABLE >> (queue) % DROPCAST_LQD_PER_PORT) & 1u) != 0)
#else
#define DROPCAST_IS_PUSHABLE(queue) 1
#endif

#ifdef DROPCAST_BOUNDED
/* A scan of all queues for the longest. */
struct dropcast_search {
    const struct dropcast_decision *state;
    uint32_t longest;
    uint32_t longest_bytes;
};

static long dropcast_search_step(uint32_t at, void *context)
{
    struct dropcast_search *search = (struct dropcast_search *)context;
    const uint32_t bytes = search->state->bytes[DROPCAST_QUEUE(at)];

    if (DROPCAST_IS_PUSHABLE(at) && bytes > search->longest_bytes) {
        search->longest = at;
        search->longest_bytes = bytes;
    }
    return 0;
}
#endif

/* The longest pushable queue of virtual LQD, the lowest of equally long ones; the number of queues if
 * all of these are empty. */
DROPCAST_FUNCTION uint32_t dropcast_longest(const struct dropcast_decision *state)
{
#if defined(DROPCAST_BOUNDED)
    struct dropcast_search search = {state, DROPCAST_LQD_QUEUES, 0};

    dropcast_loop(DROPCAST_LQD_QUEUES, dropcast_search_step, &search, 0);
    return search.longest;
#elif defined(DROPCAST_LQD_KEY_BITS)
    /* Without a branch: several queues at a time. */
    const uint32_t last = (1u << DROPCAST_LQD_KEY_BITS) - 1u;
#ifdef DROPCAST_LQD_KEY_MASKS
    DROPCAST_TABLE uint32_t masks[DROPCAST_LQD_SCANNED] = DROPCAST_LQD_KEY_MASKS;
#endif
    int32_t longest = 0;
    uint32_t at;

    for (at = 0; at < DROPCAST_LQD_SCANNED; at++) {
        /* Compared as length, then as lower number. */
        const uint32_t number = state->bytes[at] << DROPCAST_LQD_KEY_BITS | (last - at);
#ifdef DROPCAST_LQD_KEY_MASKS
        const int32_t key = (int32_t)(masks[at] & number);
#else
        const int32_t key = (int32_t)number;
#endif

        longest = key > longest ? key : longest;
    }
    return (uint32_t)longest > last ? last - ((uint32_t)longest & last) : DROPCAST_LQD_QUEUES;
#else
    uint32_t at, longest = DROPCAST_LQD_QUEUES, longest_bytes = 0;

    for (at = 0; at < DROPCAST_LQD_QUEUES; at++) {
        if (DROPCAST_IS_PUSHABLE(at) && state->bytes[at] > longest_bytes) {
            longest = at;
            longest_bytes = state->bytes[at];
        }
    }
    return longest;
#endif
}

/* Pushes the tail of the longest pushable queue out, unless size_bytes fit; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
DROPCAST_FUNCTION int dropcast_push_out(struct dropcast_decision *state, uint64_t size_bytes)
{
    dropcast_slot tail;
    uint32_t victim;

    if (state->buffer_bytes + size_bytes <= DROPCAST_LQD_BUFFER_BYTES) {
        return 0;
    }
    victim = dropcast_longest(state);
    if (victim == DROPCAST_LQD_QUEUES) {
        return 0;
    }
    tail = state->fifos[DROPCAST_QUEUE(victim)].tail;
    if ((state->packets[DROPCAST_PLACE(tail)].size_bytes & DROPCAST_PREDICTED) != 0) {
        dropcast_confirmed(state);
    }
    dropcast_take(state, victim, tail, state->now_ns);
    return 1;
}

#ifdef DROPCAST_BOUNDED
static long dropcast_push_out_step(uint32_t at, void *context)
{
    struct dropcast_steps *steps = (struct dropcast_steps *)context;

    (void)at;
    return dropcast_push_out(steps->state, steps->until) ? 0 : 1;
}
#endif

/* Longest Queue Drop (Aiello et al.): pushes packets out until the packet fits, and adds it, if it then
 * does. Whether it is added. */
DROPCAST_FUNCTION int dropcast_admit(struct dropcast_decision *state, uint32_t queue, uint32_t size_bytes)
{
    const uint32_t port = queue / DROPCAST_LQD_PER_PORT;
    int added = 0;

#ifdef DROPCAST_BOUNDED
    /* A step removes a packet or lets a port idle. */
    struct dropcast_steps steps = {state, size_bytes};

    dropcast_loop(DROPCAST_LQD_PACKETS + DROPCAST_LQD_PORTS, dropcast_push_out_step, &steps, 0);
#else
    while (dropcast_push_out(state, size_bytes)) {
    }
#endif
    if ((uint64_t)state->buffer_bytes + size_bytes <= DROPCAST_LQD_BUFFER_BYTES) {
        added = dropcast_put(state, queue, size_bytes);
    }
    if (added && state->due_ns[DROPCAST_NODE(DROPCAST_LQD_LEAVES + port)] == DROPCAST_NEVER) {
        dropcast_set_due(state, port, state->now_ns);
    }
    dropcast_change(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}

/* Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1).
 *
 * Comes after dropcast_virtual_lqd.h. Defined before:
 *
 *     DROPCAST_ROW, DROPCAST_VALUES(x)    as for dropcast_features.h
 *     DROPCAST_NEW_ROW(x)                 the definition of a row
 *     DROPCAST_PREDICTS(x)                whether a drop is predicted for a row
 */
#ifdef DROPCAST_NAME
#define dropcast_scanned DROPCAST_NAME(scanned)
#define dropcast_lowest DROPCAST_NAME(lowest)
#define dropcast_scan_step DROPCAST_NAME(scan_step)
#define dropcast_observe_all DROPCAST_NAME(observe_all)
#define dropcast_is_harmless DROPCAST_NAME(is_harmless)
#define dropcast_follows DROPCAST_NAME(follows)
#define dropcast_fall_back DROPCAST_NAME(fall_back)
#define dropcast_precision DROPCAST_NAME(precision)
#define dropcast_accepts DROPCAST_NAME(accepts)
#define dropcast_arrival DROPCAST_NAME(arrival)
#define dropcast_departure DROPCAST_NAME(departure)
#define dropcast_scan DROPCAST_NAME(scan)
#endif

#ifdef DROPCAST_SCANS
/* Queue number at is scanned for the features of a packet. */
DROPCAST_FUNCTION void dropcast_scanned(
    const struct dropcast_decision *state, uint32_t at, struct dropcast_sums *sums)
{
    const uint32_t *own = &state->bytes[DROPCAST_QUEUE(sums->queue)];
    const uint32_t *bytes = &state->bytes[DROPCAST_QUEUE(at)];

#ifdef DROPCAST_ARRIVALS
    dropcast_sum_up(sums, own, bytes, &state->recent[DROPCAST_QUEUE(at)],
        dropcast_port_drain_bytes(at / DROPCAST_LQD_PER_PORT));
#else
    dropcast_sum_up(sums, own, bytes, bytes, 0);
#endif
}
#endif

#ifdef DROPCAST_LISTED
/* The lowest bit that is 1; word is not 0. */
DROPCAST_FUNCTION uint32_t dropcast_lowest(uint64_t word)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#else
    uint32_t at = 0;

    while ((word & 1u) == 0) {
        word >>= 1;
        at++;
    }
    return at;
#endif
}
#endif

#if defined(DROPCAST_SCANS) && defined(DROPCAST_BOUNDED)
/* A scan of all queues for the features of a packet that arrives for queue. */
struct dropcast_scan {
    const struct dropcast_decision *state;
    struct dropcast_sums sums;
};

static long dropcast_scan_step(uint32_t at, void *context)
{
    struct dropcast_scan *scan = (struct dropcast_scan *)context;

    dropcast_scanned(scan->state, at, &scan->sums);
    return 0;
}
#endif

/* The features of a packet that arrives for queue, before it is added. */
DROPCAST_FUNCTION void dropcast_observe_all(
    const struct dropcast_decision *state, uint32_t queue, DROPCAST_ROW x)
{
    struct dropcast_seen seen = {0, 0, 0, 0, 0};
#if defined(DROPCAST_SCANS) && defined(DROPCAST_BOUNDED)
    struct dropcast_scan scan = {state, {queue, 0, 0, 0, 0, 0, 0}};
    const struct dropcast_sums *sums = &scan.sums;

    dropcast_loop(DROPCAST_LQD_QUEUES, dropcast_scan_step, &scan, 0);
#elif defined(DROPCAST_SCANS)
    struct dropcast_sums sums[1] = {{queue, 0, 0, 0, 0, 0, 0}};
    uint64_t left;
    uint32_t word;

    for (word = 0; word < DROPCAST_LQD_WORDS; word++) {
        for (left = state->busy[word]; left != 0; left &= left - 1u) {
            dropcast_scanned(state, 64u * word + dropcast_lowest(left), sums);
        }
    }
#else
    const struct dropcast_sums sums[1] = {{queue, 0, 0, 0, 0, 0, 0}};
#endif

    seen.bytes = state->bytes[DROPCAST_QUEUE(queue)];
    seen.buffer_bytes = state->buffer_bytes;
#ifdef DROPCAST_AVERAGES
    seen.average = state->average[DROPCAST_QUEUE(queue)];
    seen.buffer_average = state->buffer_average;
#endif
#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    seen.projected = state->projected;
#endif
    dropcast_fill(&seen, sums, x);
#ifdef DROPCAST_FEATURE_CUT_IN_QUARTER_RTT
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_CUT_IN_QUARTER_RTT] = dropcast_near_cut(state, seen.bytes);
#endif
#ifdef DROPCAST_FEATURE_CLASSED_IN_QUARTER_RTT
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_CLASSED_IN_QUARTER_RTT] = dropcast_classed(state, seen.bytes);
#endif
}

/* Whether the forest predicts no drop for a packet that arrives for queue, whatever the other queues are: levels are
 * at most the product of the queues that are not empty and the length of the packet's. */
DROPCAST_FUNCTION int dropcast_is_harmless(const struct dropcast_decision *state, uint32_t queue)
{
#ifdef DROPCAST_LQD_HARMLESS
    return (uint64_t)state->busy_queues * state->bytes[DROPCAST_QUEUE(queue)] <= DROPCAST_LQD_HARMLESS;
#else
    (void)state;
    (void)queue;
    return 0;
#endif
}

/* A drop is predicted for the packet that arrived last for a queue; returns whether to follow the
 * prediction. Until LQD confirms it, it counts as wrong. added: virtual LQD holds the packet. */
DROPCAST_FUNCTION int dropcast_follows(struct dropcast_decision *state, uint32_t queue, int added)
{
    uint32_t is_trusted;

    state->precision -= state->precision / DROPCAST_LQD_WINDOW;
    state->is_trusted &= state->precision < DROPCAST_LQD_FALL_BELOW ? 0u : 1u;
    is_trusted = state->is_trusted;
    if (added) {
        state->packets[DROPCAST_PLACE(state->fifos[DROPCAST_QUEUE(queue)].tail)].size_bytes |= DROPCAST_PREDICTED;
    } else {
        dropcast_confirmed(state);
    }
    return is_trusted != 0 || !state->falls_back;
}

/* Whether to accept every packet below its threshold while the precision of predicted drops is too low;
 * after init it does not. */
DROPCAST_FUNCTION void dropcast_fall_back(struct dropcast_decision *state, int falls_back)
{
    state->falls_back = falls_back ? 1u : 0u;
}

/* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE; measured
 * whether or not it decides. */
DROPCAST_FUNCTION uint32_t dropcast_precision(const struct dropcast_decision *state)
{
    return state->precision;
}

/* Whether a verdict adds the packet to its queue. */
DROPCAST_FUNCTION int dropcast_accepts(enum dropcast_verdict verdict)
{
    return verdict <= DROPCAST_ACCEPTED;
}

/* A packet arrives: Credence (Algorithm 1). Features are those of virtual LQD before the packet is
 * added; the threshold is the length of LQD's queue after that. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
DROPCAST_FUNCTION enum dropcast_verdict dropcast_arrival(
    struct dropcast_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * DROPCAST_LQD_PER_PORT + queue;
    uint32_t after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= DROPCAST_LQD_PORTS || queue >= DROPCAST_LQD_PER_PORT || size_bytes == 0) {
        return DROPCAST_NO_ROOM;
    }
    dropcast_advance(state, now_ns);
    fits = (uint64_t)state->occupancy_bytes + size_bytes <= DROPCAST_LQD_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[DROPCAST_QUEUE(at)] <= state->bytes[DROPCAST_QUEUE(at)] + DROPCAST_LQD_SLACK_BYTES
        && !dropcast_is_harmless(state, at)) {
        DROPCAST_NEW_ROW(x);

        dropcast_observe_all(state, at, x);
        predicted = DROPCAST_PREDICTS(x);
    }
    added = dropcast_admit(state, at, size_bytes);
    if (!fits) {
        return DROPCAST_NO_ROOM;
    }
    after_bytes = state->real_bytes[DROPCAST_QUEUE(at)] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->bytes[DROPCAST_QUEUE(at)] + DROPCAST_LQD_SLACK_BYTES) {
            return DROPCAST_ABOVE_THRESHOLD;
        }
        if (predicted && dropcast_follows(state, at, added)) {
            return DROPCAST_PREDICTED_DROP;
        }
    }
    state->long_queues +=
        state->real_bytes[DROPCAST_QUEUE(at)] < DROPCAST_LQD_LONG_BYTES && after_bytes >= DROPCAST_LQD_LONG_BYTES ? 1u : 0u;
    state->real_bytes[DROPCAST_QUEUE(at)] = after_bytes;
    state->occupancy_bytes += size_bytes;
    return safeguarded ? DROPCAST_SAFEGUARDED : DROPCAST_ACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. */
DROPCAST_FUNCTION void dropcast_departure(
    struct dropcast_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * DROPCAST_LQD_PER_PORT + queue;
    uint32_t before_bytes, left_bytes;

    if (port >= DROPCAST_LQD_PORTS || queue >= DROPCAST_LQD_PER_PORT) {
        return;
    }
    dropcast_advance(state, now_ns);
    before_bytes = state->real_bytes[DROPCAST_QUEUE(at)];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[DROPCAST_QUEUE(at)] = before_bytes - left_bytes;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= DROPCAST_LQD_LONG_BYTES && state->real_bytes[DROPCAST_QUEUE(at)] < DROPCAST_LQD_LONG_BYTES ? 1u : 0u;
}

/* So that the code of another model may follow. */
#undef DROPCAST_NAME
#undef DROPCAST_CONSTANT
#undef DROPCAST_FUNCTION
#undef DROPCAST_BOUNDED
#undef DROPCAST_FEATURE_QUEUE_LENGTH
#undef DROPCAST_FEATURE_AVG_QUEUE_LENGTH
#undef DROPCAST_FEATURE_OCCUPANCY
#undef DROPCAST_FEATURE_AVG_OCCUPANCY
#undef DROPCAST_FEATURE_LONGEST_QUEUE
#undef DROPCAST_FEATURE_RANK
#undef DROPCAST_FEATURE_LONGEST_GAP
#undef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
#undef DROPCAST_FEATURE_LEVEL_OCCUPANCY
#undef DROPCAST_FEATURE_LEVEL_IN_QUARTER_RTT
#undef DROPCAST_FEATURE_LEVEL_IN_ONE_RTT
#undef DROPCAST_FEATURE_LEVEL_IN_TWO_RTTS
#undef DROPCAST_FEATURE_CLASSED_IN_QUARTER_RTT
#undef DROPCAST_FEATURE_CUT_IN_QUARTER_RTT
#undef DROPCAST_ROW
#undef DROPCAST_VALUES
#undef DROPCAST_NEW_ROW
#undef DROPCAST_PREDICTS
#undef DROPCAST_AVERAGES
#undef DROPCAST_ARRIVALS
#undef DROPCAST_SCANS
#undef DROPCAST_LQD_PORTS
#undef DROPCAST_LQD_PER_PORT
#undef DROPCAST_LQD_QUEUES
#undef DROPCAST_LQD_BUFFER_BYTES
#undef DROPCAST_LQD_BASE_RTT_NS
#undef DROPCAST_LQD_LONG_BYTES
#undef DROPCAST_LQD_RATE_BPS
#undef DROPCAST_LQD_DRAIN_BYTES
#undef DROPCAST_LQD_UNIFORM
#undef DROPCAST_LQD_NS_NUMERATOR
#undef DROPCAST_LQD_NS_DENOMINATOR
#undef DROPCAST_LQD_NS_PER_BYTE
#undef DROPCAST_LQD_OVERHEAD_BYTES
#undef DROPCAST_LQD_RING
#undef DROPCAST_LQD_ROUND_ROBIN
#undef DROPCAST_LQD_STRICT
#undef DROPCAST_LQD_DWRR
#undef DROPCAST_LQD_QUANTA
#undef DROPCAST_LQD_PUSHABLE
#undef DROPCAST_LQD_KEY_BITS
#undef DROPCAST_LQD_KEY_MASKS
#undef DROPCAST_LQD_HARMLESS
#undef DROPCAST_LQD_PACKETS
#undef DROPCAST_LQD_SLACK_BYTES
#undef DROPCAST_LQD_PRECISION_ONE
#undef DROPCAST_LQD_WINDOW
#undef DROPCAST_LQD_FALL_BELOW
#undef DROPCAST_LQD_RECOVER_AT
#undef DROPCAST_LQD_CLASSES
#undef DROPCAST_LQD_LEAVES
#undef DROPCAST_LQD_SCANNED
#undef DROPCAST_LQD_WORDS
#undef DROPCAST_LQD_PORT_PLACES
#undef DROPCAST_LQD_QUEUE_PLACES
#undef DROPCAST_LQD_CLASS_PLACES
#undef DROPCAST_LQD_OWN_PLACES
#undef DROPCAST_LQD_RING_PLACES
/* What these files define for themselves. */
#undef DROPCAST_WITHIN
#undef DROPCAST_CLEAR
#undef DROPCAST_TABLE
#undef DROPCAST_PORT
#undef DROPCAST_QUEUE
#undef DROPCAST_OWN
#undef DROPCAST_CLASS
#undef DROPCAST_NODE
#undef DROPCAST_RING
#undef DROPCAST_PLACE
#undef DROPCAST_LISTED
#undef DROPCAST_NEVER
#undef DROPCAST_PREDICTED
#undef DROPCAST_NOWHERE
#undef DROPCAST_HAS_PORTS
#undef DROPCAST_IS_PUSHABLE

#endif /* DROPCAST_EXAMPLE_DECISION_H */
