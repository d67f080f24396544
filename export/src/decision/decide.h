/* A drop is predicted for the packet that arrived last for a queue; returns whether to follow the
 * prediction. Until LQD confirms it, it counts as wrong. added: virtual LQD holds the packet. */
@inline int @prefixfollows(struct @prefixdecision *state, @u32 queue, int added)
{
    @u32 is_trusted;

    state->precision -= state->precision / @CDRIFT_WINDOW;
    state->is_trusted &= state->precision < @CFALL_BELOW ? 0u : 1u;
    is_trusted = state->is_trusted;
    if (added) {
        state->packets[state->fifos[queue].tail].size_bytes |= @CPREDICTED;
    } else {
        @prefixconfirmed(state);
    }
    return is_trusted != 0 || !state->falls_back;
}

/* Whether to accept every packet below its threshold while the precision of predicted drops is too low;
 * after init it does not. */
@inline void @prefixfall_back(struct @prefixdecision *state, int falls_back)
{
    state->falls_back = falls_back ? 1u : 0u;
}

/* The share of the last predicted drops that LQD confirmed, in units of 1 / PRECISION_ONE; measured
 * whether or not it decides. */
@inline @u32 @prefixprecision(const struct @prefixdecision *state)
{
    return state->precision;
}

/* Whether a verdict adds the packet to its queue. */
@inline int @prefixaccepts(enum @prefixverdict verdict)
{
    return verdict <= @CACCEPTED;
}

/* A packet arrives: Credence (Algorithm 1). Features are those of virtual LQD before the packet is
 * added; the threshold is the length of LQD's queue after that. If the verdict accepts, the packet is
 * counted in its queue: add it to the switch's. Time must not go back.
 *
 * The features are computed, and the forest asked, only if the decision may depend on them. */
@inline enum @prefixverdict @prefixarrival(
    struct @prefixdecision *state, @u32 port, @u32 queue, @u32 size_bytes, @u64 now_ns)
{
    const @u32 at = port * @CQUEUES_PER_PORT + queue;
    @u32 after_bytes;
    int fits, safeguarded, added, predicted = 0;

    if (port >= @CSWITCH_PORTS || queue >= @CQUEUES_PER_PORT || size_bytes == 0) {
        return @CNO_ROOM;
    }
    @prefixadvance(state, now_ns);
    fits = (@u64)state->occupancy_bytes + size_bytes <= @CSWITCH_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[at] <= state->bytes[at] + @UPPER_SLACK_BYTES@worth_asking) {
        @row

        @prefixobserve_all(state, at, x);
        predicted = @predicts(x);
    }
    added = @prefixadmit(state, at, size_bytes);
    if (!fits) {
        return @CNO_ROOM;
    }
    after_bytes = state->real_bytes[at] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->bytes[at] + @UPPER_SLACK_BYTES) {
            return @CABOVE_THRESHOLD;
        }
        if (predicted && @prefixfollows(state, at, added)) {
            return @CPREDICTED_DROP;
        }
    }
    state->long_queues +=
        state->real_bytes[at] < @CLONG_BYTES && after_bytes >= @CLONG_BYTES ? 1u : 0u;
    state->real_bytes[at] = after_bytes;
    state->occupancy_bytes += size_bytes;
    return safeguarded ? @CSAFEGUARDED : @CACCEPTED;
}

/* A packet that was accepted leaves the switch's queue: its transmission begins, or a port's ring takes
 * it. */
@inline void @prefixdeparture(
    struct @prefixdecision *state, @u32 port, @u32 queue, @u32 size_bytes, @u64 now_ns)
{
    const @u32 at = port * @CQUEUES_PER_PORT + queue;
    @u32 before_bytes, left_bytes;

    if (port >= @CSWITCH_PORTS || queue >= @CQUEUES_PER_PORT) {
        return;
    }
    @prefixadvance(state, now_ns);
    before_bytes = state->real_bytes[at];
    left_bytes = size_bytes < before_bytes ? size_bytes : before_bytes;
    state->real_bytes[at] = before_bytes - left_bytes;
    state->occupancy_bytes -= left_bytes;
    state->long_queues -=
        before_bytes >= @CLONG_BYTES && state->real_bytes[at] < @CLONG_BYTES ? 1u : 0u;
}
