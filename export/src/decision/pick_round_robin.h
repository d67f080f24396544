/* The queue that a port serves next, round robin: one packet from each backlogged queue in turn; the
 * number of queues if all are empty. */
@inline @u32 @prefixpick(struct @prefixdecision *state, @u32 port)
{
    const @u32 first = port * @CQUEUES_PER_PORT;
    @u32 step, at = state->ports[port].turn;

    for (step = 0; step < @CQUEUES_PER_PORT; step++) {
        const @u32 queue = first + at;

        at = at + 1u == @CQUEUES_PER_PORT ? 0u : at + 1u;
        if (state->bytes[queue] > 0) {
            state->ports[port].turn = at;
            return queue;
        }
    }
    return @CSWITCH_QUEUES;
}
