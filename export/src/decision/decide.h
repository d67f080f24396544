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
    int fits, safeguarded, predicted = 0;

    if (port >= @CSWITCH_PORTS || queue >= @CQUEUES_PER_PORT || size_bytes == 0) {
        return @CNO_ROOM;
    }
    @prefixadvance(state, now_ns);
    fits = (@u64)state->occupancy_bytes + size_bytes <= @CSWITCH_BUFFER_BYTES;
    safeguarded = state->long_queues == 0;
    if (fits && !safeguarded && state->real_bytes[at] <= state->queues[at].bytes) {
        @row

        @prefixobserve_listed(
            &state->queues[at], &state->buffer, state->queues, state->busy, state->n_busy, x);
        predicted = @predicts(x);
    }
    @prefixadmit(state, at, size_bytes);
    if (!fits) {
        return @CNO_ROOM;
    }
    after_bytes = state->real_bytes[at] + size_bytes;
    if (!safeguarded) {
        if (after_bytes > state->queues[at].bytes) {
            return @CABOVE_THRESHOLD;
        }
        if (predicted) {
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
