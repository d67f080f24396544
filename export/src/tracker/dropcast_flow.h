/* What a switch remembers of a flow, and the features of its next packet.
 *
 * Defined before: DROPCAST_FUNCTION, how definitions of functions begin, for names of a model's own, DROPCAST_NAME(name),
 * and
 *
 *     DROPCAST_FEATURE_FLOW_GAP ...   the place in a row of each feature that the model has, as docs/features.md names it
 *     DROPCAST_ROW                    the type of a parameter that is a row
 *     DROPCAST_VALUES(x)              the array of its values
 *     DROPCAST_BURST_NS               half a base RTT: after a longer gap a burst begins
 *     DROPCAST_MESSAGE_NS             eight base RTTs: after a longer gap a message begins
 */
#ifdef DROPCAST_NAME
#define dropcast_flow DROPCAST_NAME(flow)
#define dropcast_one_more DROPCAST_NAME(one_more)
#define dropcast_remember DROPCAST_NAME(remember)
#define dropcast_least DROPCAST_NAME(least)
#define dropcast_most DROPCAST_NAME(most)
#define dropcast_flow_begins DROPCAST_NAME(flow_begins)
#define dropcast_flow_counts DROPCAST_NAME(flow_counts)
#define dropcast_flow_passes DROPCAST_NAME(flow_passes)
#define dropcast_flow_arrives DROPCAST_NAME(flow_arrives)
#endif

/* A flow, as its packets have shown it; zeros if it was never seen. Counts end at 65,535. 40 bytes where 64-bit integers are
 * aligned to 8. */
struct dropcast_flow {
    uint64_t last_ns;
    /* The pause before this message. */
    uint32_t pause_ns;
    /* Packets of this message, of this burst; bursts before it; packets of the message's first burst. */
    uint16_t packets;
    uint16_t burst;
    uint16_t bursts;
    uint16_t first;
    /* Packets of the last messages' first bursts, and of all their bursts; the latest message first. */
    uint16_t firsts[4];
    uint16_t messages[4];
};

DROPCAST_FUNCTION uint16_t dropcast_one_more(uint16_t count)
{
    return (uint16_t)(count + (count < 0xffffu ? 1u : 0u));
}

/* Puts a count before the others, the last of which is forgotten. */
DROPCAST_FUNCTION void dropcast_remember(uint16_t *counts, uint16_t count)
{
    counts[3] = counts[2];
    counts[2] = counts[1];
    counts[1] = counts[0];
    counts[0] = count;
}

#if defined(DROPCAST_FEATURE_FLOW_LEAST_BURST) || defined(DROPCAST_FEATURE_FLOW_LEAST_MESSAGE)
/* The least of four counts; 0 is none. */
DROPCAST_FUNCTION uint16_t dropcast_least(const uint16_t *counts)
{
    uint16_t least = counts[0];
    uint32_t at;

    for (at = 1; at < 4u; at++) {
        least = counts[at] > 0 && counts[at] < least ? counts[at] : least;
    }
    return least;
}
#endif

#if defined(DROPCAST_FEATURE_FLOW_MOST_BURST) || defined(DROPCAST_FEATURE_FLOW_MOST_MESSAGE)
/* The most of four counts. */
DROPCAST_FUNCTION uint16_t dropcast_most(const uint16_t *counts)
{
    uint16_t most = counts[0];
    uint32_t at;

    for (at = 1; at < 4u; at++) {
        most = counts[at] > most ? counts[at] : most;
    }
    return most;
}
#endif

/* Begins a burst or a message, if the gap before now_ns ends the last; returns the gap. */
DROPCAST_FUNCTION uint32_t dropcast_flow_begins(struct dropcast_flow *flow, uint64_t now_ns)
{
    const uint64_t gap_ns = now_ns > flow->last_ns ? now_ns - flow->last_ns : 0u;
    const uint32_t gap = flow->packets > 0 && gap_ns < 0xffffffffu ? (uint32_t)gap_ns : 0xffffffffu;

    if (flow->packets > 0 && gap_ns > DROPCAST_MESSAGE_NS) {
        dropcast_remember(flow->firsts, flow->first);
        dropcast_remember(flow->messages, flow->packets);
        flow->pause_ns = gap;
        flow->packets = 0;
        flow->burst = 0;
        flow->bursts = 0;
        flow->first = 0;
    } else if (flow->packets > 0 && gap_ns > DROPCAST_BURST_NS) {
        flow->bursts = dropcast_one_more(flow->bursts);
        flow->burst = 0;
    }
    return gap;
}

/* Counts a packet. */
DROPCAST_FUNCTION void dropcast_flow_counts(struct dropcast_flow *flow, uint64_t now_ns)
{
    flow->burst = dropcast_one_more(flow->burst);
    flow->packets = dropcast_one_more(flow->packets);
    if (flow->bursts == 0) {
        flow->first = dropcast_one_more(flow->first);
    }
    flow->last_ns = now_ns;
}

/* A packet of the flow arrives at now_ns, which never goes back, and nothing asks for its features: remembers it. */
DROPCAST_FUNCTION void dropcast_flow_passes(struct dropcast_flow *flow, uint64_t now_ns)
{
    dropcast_flow_begins(flow, now_ns);
    dropcast_flow_counts(flow, now_ns);
}

/* The same, and writes its features into the row. A packet whose flow is not known has a flow of zeros. */
DROPCAST_FUNCTION void dropcast_flow_arrives(struct dropcast_flow *flow, uint64_t now_ns, DROPCAST_ROW x)
{
    const uint32_t gap = dropcast_flow_begins(flow, now_ns);

#ifdef DROPCAST_FEATURE_FLOW_BURST
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_BURST] = flow->burst;
#endif
#ifdef DROPCAST_FEATURE_FLOW_BURSTS
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_BURSTS] = flow->bursts;
#endif
#ifdef DROPCAST_FEATURE_FLOW_PACKETS
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_PACKETS] = flow->packets;
#endif
#ifdef DROPCAST_FEATURE_FLOW_GAP
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_GAP] = gap;
#endif
#ifdef DROPCAST_FEATURE_FLOW_PAUSE
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_PAUSE] = flow->pause_ns;
#endif
#ifdef DROPCAST_FEATURE_FLOW_LAST_BURST
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_LAST_BURST] = flow->firsts[0];
#endif
#ifdef DROPCAST_FEATURE_FLOW_LEAST_BURST
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_LEAST_BURST] = dropcast_least(flow->firsts);
#endif
#ifdef DROPCAST_FEATURE_FLOW_MOST_BURST
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_MOST_BURST] = dropcast_most(flow->firsts);
#endif
#ifdef DROPCAST_FEATURE_FLOW_LAST_MESSAGE
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_LAST_MESSAGE] = flow->messages[0];
#endif
#ifdef DROPCAST_FEATURE_FLOW_LEAST_MESSAGE
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_LEAST_MESSAGE] = dropcast_least(flow->messages);
#endif
#ifdef DROPCAST_FEATURE_FLOW_MOST_MESSAGE
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_FLOW_MOST_MESSAGE] = dropcast_most(flow->messages);
#endif
    dropcast_flow_counts(flow, now_ns);
#ifndef DROPCAST_FEATURE_FLOW_GAP
    (void)gap;
#endif
}
