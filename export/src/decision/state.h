/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of @least bytes and more. Define another number before this header is included. */
#ifndef @UPPER_PACKETS
#define @UPPER_PACKETS @packetsu
#endif
#if @UPPER_PACKETS < 1 || @UPPER_PACKETS > 16777216
#error "@UPPER_PACKETS: expected 1 to 16777216"
#endif
@bounds

/* How much longer than its threshold a queue may become: slack_bytes of the switch's description. Reports
 * replay that value, so give another one there, not here. Where ports transmit a packet later than virtual
 * LQD's, every packet behind it is dropped without a slack of the size of the largest packet. */
#ifndef @UPPER_SLACK_BYTES
#define @UPPER_SLACK_BYTES @slacku
#endif
#if @UPPER_SLACK_BYTES > 1073741824
#error "@UPPER_SLACK_BYTES: expected 0 to 1073741824"
#endif

/* The number of a place. */
#if @UPPER_PACKETS <= 65535
typedef @u16 @prefixslot;
#define @UPPER_NOWHERE 0xffffu
#else
typedef @u32 @prefixslot;
#define @UPPER_NOWHERE 0xffffffffu
#endif

/* What init says. */
enum @prefixreadiness {
    @CREADY = 0,
    /* The file is for another switch: this constant differs. */
    @COTHER_PORTS,
    @COTHER_QUEUES,
    @COTHER_BUFFER,
    @COTHER_BASE_RTT,
    @COTHER_LINE_RATE
};

/* The decision about a packet, and its reason. */
enum @prefixverdict {
    /* Accepted: every queue is shorter than B/N. The forest is not asked. */
    @CSAFEGUARDED = 0,
    /* Accepted: below its threshold, and no drop is predicted. */
    @CACCEPTED,
    /* Dropped: the buffer has no room for it. Also the answer for a queue that does not exist, and
     * for a packet of 0 bytes. */
    @CNO_ROOM,
    /* Dropped: its queue would exceed its threshold. */
    @CABOVE_THRESHOLD,
    /* Dropped: LQD is predicted to drop it. */
    @CPREDICTED_DROP
};

/* A packet that virtual LQD holds, between its neighbours. */
struct @prefixpacket {
    /* Its bytes, and PREDICTED if its drop was predicted. */
    @u32 size_bytes;
    @prefixslot next;
    @prefixslot previous;
};

/* Both ends of a virtual queue; meaningless while it is empty. */
struct @prefixfifo {
    @prefixslot head;
    @prefixslot tail;
};
@port_struct
/* The state of a switch. Give each switch its own. */
struct @prefixdecision {
    /* A tournament among the ports: when each dequeues next, ~0 if it is idle, and before these the
     * earliest below each node, the root at 1. */
    @u64 due_ns[2 * @LEAVES];
@wide_members@port_member    @u64 now_ns;
    /* Arrivals that found no place among the packets. */
    @u64 unheld;
@narrow_members    /* The bytes in virtual LQD's queues, which are the thresholds, and in its buffer. Queues beyond the
     * switch's are empty: they make scans of all queues a multiple of @LANES. */
    @u32 bytes[@SCANNED];
    @u32 buffer_bytes;
    /* The switch's own queues. */
    @u32 real_bytes[@CSWITCH_QUEUES];
    @u32 occupancy_bytes;
    /* Own queues of B/N bytes or more: the safeguard accepts while there is none. */
    @u32 long_queues;
    /* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE, whether
     * predictions are followed by it, and whether that matters. */
    @u32 precision;
    @u32 is_trusted;
    @u32 falls_back;
    /* Places that were never used begin at fresh; used ones are in a list that begins at spare. */
    @u32 fresh;
    struct @prefixfifo fifos[@CSWITCH_QUEUES];
    @prefixslot spare;
    /* Which port that is, for each node; ties go to the lowest. */
    @u16 earliest[2 * @LEAVES];
    struct @prefixpacket packets[@UPPER_PACKETS];
};
@steps

/* An empty switch. The arguments are the switch's constants: anything but READY says which of them
 * this file was not made for; then the state must not be used. line_rate_bps has a value for each
 * port. */
@inline enum @prefixreadiness @prefixinit(
    struct @prefixdecision *state, @u32 ports, @u32 queues_per_port, @u64 buffer_bytes,
    @u64 base_rtt_ns, const @u64 *line_rate_bps)
{
    @u32 at;

    if (ports != @CSWITCH_PORTS) {
        return @COTHER_PORTS;
    }
    if (queues_per_port != @CQUEUES_PER_PORT) {
        return @COTHER_QUEUES;
    }
    if (buffer_bytes != @CSWITCH_BUFFER_BYTES) {
        return @COTHER_BUFFER;
    }
    if (base_rtt_ns != @CSWITCH_BASE_RTT_NS) {
        return @COTHER_BASE_RTT;
    }
    for (at = 0; at < @CSWITCH_PORTS; at++) {
        if (line_rate_bps[at] != @prefixport_rate_bps(at)) {
            return @COTHER_LINE_RATE;
        }
    }
    memset(state, 0, sizeof *state);
@empty_classes    state->spare = @UPPER_NOWHERE;
    for (at = 0; at < @LEAVESu; at++) {
        state->due_ns[at] = ~(@u64)0;
        state->due_ns[@LEAVESu + at] = ~(@u64)0;
        state->earliest[@LEAVESu + at] = (@u16)at;
    }
    for (at = @LEAVESu - 1u; at > 0; at--) {
        state->earliest[at] = state->earliest[2u * at];
    }
    return @CREADY;
}
