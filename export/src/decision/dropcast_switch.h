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
 *     DROPCAST_LQD_RESERVED                          bytes beside the shared buffer, in braces, by queue, if any has some
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
static long (*dropcast_loop)(
    uint32_t times, long (*step)(uint32_t at, void *context), void *context, uint64_t flags) = (void *)181;
/* Small tables would otherwise be in sections that libbpf does not open. */
#define DROPCAST_TABLE static const __attribute__((section(".rodata")))
#else
/* The same, to try this code elsewhere. */
static long dropcast_loop(uint32_t times, long (*step)(uint32_t at, void *context), void *context, uint64_t flags)
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

/* Bytes of virtual queues beside the shared buffer. */
#ifdef DROPCAST_LQD_RESERVED
#define DROPCAST_BESIDE(state) ((state)->beside_bytes)
#define DROPCAST_REAL_BESIDE(state) ((state)->real_beside_bytes)
#else
#define DROPCAST_BESIDE(state) ((const uint32_t *)0)
#define DROPCAST_REAL_BESIDE(state) ((const uint32_t *)0)
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
    return (wire_bytes * DROPCAST_LQD_NS_NUMERATOR + (DROPCAST_LQD_NS_DENOMINATOR - 1u)) / DROPCAST_LQD_NS_DENOMINATOR;
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
     * for a packet of 0 bytes, or of 2 GiB. */
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
    /* Calls with a time before that of an earlier one: virtual LQD stands still until time has caught up. */
    uint64_t stepped_back;
    /* Departures of bytes that no arrival had added: after a restart with packets in queues, of a queue that does not exist. */
    uint64_t unmatched;
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
    /* The bytes of virtual LQD's queues in the shared buffer, which are the thresholds, and their sum. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of 8. */
    uint32_t bytes[DROPCAST_LQD_SCANNED];
    uint32_t buffer_bytes;
    /* The switch's own queues. */
    uint32_t real_bytes[DROPCAST_LQD_QUEUE_PLACES];
    uint32_t occupancy_bytes;
#ifdef DROPCAST_LQD_RESERVED
    /* The bytes of virtual LQD's queues and of the switch's own beside the shared buffer. */
    uint32_t beside_bytes[DROPCAST_LQD_QUEUE_PLACES];
    uint32_t real_beside_bytes[DROPCAST_LQD_QUEUE_PLACES];
#endif
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
    uint32_t queue;
};
#endif

/* An empty switch; if bounded, in memory of zeros. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
DROPCAST_FUNCTION enum dropcast_readiness dropcast_init(struct dropcast_decision *state, uint32_t ports, uint32_t queues_per_port,
    uint64_t buffer_bytes, uint64_t base_rtt_ns, const uint64_t *line_rate_bps)
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
        const uint32_t left = 2u * at;

        state->earliest[DROPCAST_NODE(at)] = state->earliest[DROPCAST_NODE(left)];
    }
    return DROPCAST_READY;
}
