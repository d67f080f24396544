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
#define dropcast_catch_up DROPCAST_NAME(catch_up)
#define dropcast_scan DROPCAST_NAME(scan)
#endif

#ifdef DROPCAST_SCANS
/* Queue number at is scanned for the features of a packet. */
DROPCAST_FUNCTION void dropcast_scanned(const struct dropcast_decision *state, uint32_t at, struct dropcast_sums *sums)
{
    const uint32_t *own = &state->bytes[DROPCAST_QUEUE(sums->queue)];
    const uint32_t *bytes = &state->bytes[DROPCAST_QUEUE(at)];

#ifdef DROPCAST_ARRIVALS
    dropcast_sum_up(sums, own, bytes, &state->recent[DROPCAST_QUEUE(at)], dropcast_port_drain_bytes(at / DROPCAST_LQD_PER_PORT));
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
DROPCAST_FUNCTION void dropcast_observe_all(const struct dropcast_decision *state, uint32_t queue, DROPCAST_ROW x)
{
    struct dropcast_seen seen = {DROPCAST_ZEROS};
#if defined(DROPCAST_SCANS) && defined(DROPCAST_BOUNDED)
    struct dropcast_scan scan = {state, {DROPCAST_ZEROS}};
    const struct dropcast_sums *sums = &scan.sums;

    scan.sums.queue = queue;
    dropcast_loop(DROPCAST_LQD_QUEUES, dropcast_scan_step, &scan, 0);
#elif defined(DROPCAST_SCANS)
    struct dropcast_sums sums[1] = {{DROPCAST_ZEROS}};
    uint64_t left;
    uint32_t word;

    sums->queue = queue;
    for (word = 0; word < DROPCAST_LQD_WORDS; word++) {
        for (left = state->busy[word]; left != 0; left &= left - 1u) {
            dropcast_scanned(state, 64u * word + dropcast_lowest(left), sums);
        }
    }
#else
    const struct dropcast_sums sums[1] = {{DROPCAST_ZEROS}};
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
 * added; the threshold is the length of LQD's queue after that. One that fits into the bytes that are reserved for its queue is
 * accepted. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
DROPCAST_FUNCTION enum dropcast_verdict dropcast_arrival(
    struct dropcast_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * DROPCAST_LQD_PER_PORT + queue;
    uint32_t part_bytes, after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= DROPCAST_LQD_PORTS || queue >= DROPCAST_LQD_PER_PORT || size_bytes == 0
        || (size_bytes & DROPCAST_PREDICTED) != 0) {
        return DROPCAST_NO_ROOM;
    }
    dropcast_advance(state, now_ns);
    part_bytes = dropcast_shared_part(at, DROPCAST_REAL_BESIDE(state), size_bytes);
    fits = (uint64_t)state->occupancy_bytes + part_bytes <= DROPCAST_LQD_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && part_bytes > 0 && !safeguarded
        && state->real_bytes[DROPCAST_QUEUE(at)] <= state->bytes[DROPCAST_QUEUE(at)] + DROPCAST_LQD_SLACK_BYTES
        && !dropcast_is_harmless(state, at)) {
        DROPCAST_NEW_ROW(x);

        dropcast_observe_all(state, at, x);
        predicted = DROPCAST_PREDICTS(x);
    }
    added = dropcast_admit(state, at, size_bytes);
#ifdef DROPCAST_LQD_RESERVED
    if (part_bytes == 0) {
        state->real_beside_bytes[DROPCAST_QUEUE(at)] += size_bytes;
        return DROPCAST_ACCEPTED;
    }
#endif
    if (!fits) {
        return DROPCAST_NO_ROOM;
    }
    after_bytes = state->real_bytes[DROPCAST_QUEUE(at)] + part_bytes;
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
    state->occupancy_bytes += part_bytes;
#ifdef DROPCAST_LQD_RESERVED
    state->real_beside_bytes[DROPCAST_QUEUE(at)] += size_bytes - part_bytes;
#endif
    return safeguarded ? DROPCAST_SAFEGUARDED : DROPCAST_ACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. A queue never has less than 0 bytes: what else leaves is counted in unmatched. */
DROPCAST_FUNCTION void dropcast_departure(
    struct dropcast_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    const uint32_t at = port * DROPCAST_LQD_PER_PORT + queue;
    uint32_t before_bytes, left_bytes, beside_bytes = 0;

    if (port >= DROPCAST_LQD_PORTS || queue >= DROPCAST_LQD_PER_PORT) {
        state->unmatched++;
        return;
    }
    dropcast_advance(state, now_ns);
    before_bytes = state->real_bytes[DROPCAST_QUEUE(at)];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[DROPCAST_QUEUE(at)] = before_bytes - left_bytes;
#ifdef DROPCAST_LQD_RESERVED
    beside_bytes = state->real_beside_bytes[DROPCAST_QUEUE(at)];
    beside_bytes = size_bytes - left_bytes < beside_bytes ? size_bytes - left_bytes : beside_bytes;
    state->real_beside_bytes[DROPCAST_QUEUE(at)] -= beside_bytes;
#endif
    state->unmatched += size_bytes > left_bytes + beside_bytes ? 1u : 0u;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= DROPCAST_LQD_LONG_BYTES && state->real_bytes[DROPCAST_QUEUE(at)] < DROPCAST_LQD_LONG_BYTES ? 1u : 0u;
}

/* Serves at most so many packets of virtual LQD's ports that are due by now_ns; 1 if more may be. The next call has the rest to do:
 * after a long silence that is up to the whole buffer. So call this while no packets arrive. */
DROPCAST_FUNCTION int dropcast_catch_up(struct dropcast_decision *state, uint64_t now_ns, uint32_t most)
{
#ifdef DROPCAST_BOUNDED
    struct dropcast_steps steps = {state, now_ns, 0};

    dropcast_loop(most, dropcast_serve_step, &steps, 0);
#else
    for (; most > 0 && dropcast_serve(state, now_ns); most--) {
    }
#endif
    return state->due_ns[1] <= now_ns && state->due_ns[1] != DROPCAST_NEVER;
}

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
#undef DROPCAST_BESIDE
#undef DROPCAST_REAL_BESIDE
#undef DROPCAST_NEVER
#undef DROPCAST_PREDICTED
#undef DROPCAST_NOWHERE
#undef DROPCAST_HAS_PORTS
#undef DROPCAST_IS_PUSHABLE
