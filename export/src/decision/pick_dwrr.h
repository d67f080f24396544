/* Bytes that a queue may send per round. */
@inline @u32 @prefixround_bytes(@u32 queue)
{
    static const @u32 quantum_bytes[@CQUEUES_PER_PORT] = {@quanta};

    return quantum_bytes[queue];
}

/* Bytes of the packet at the head of a virtual queue. */
@inline @u64 @prefixfirst_bytes(const struct @prefixdecision *state, @u32 queue)
{
    return @prefixpacket_bytes(&state->packets[state->fifos[queue].head]);
}

/* Credits all rounds in which no queue of a port could send at once: with quanta far below the packet
 * sizes there are many. */
@inline void @prefixskip_rounds(struct @prefixdecision *state, @u32 port)
{
    const @u32 first = port * @CQUEUES_PER_PORT;
    @u64 *deficit_bytes = state->ports[port].deficit_bytes;
    @u64 fewest = ~(@u64)0;
    @u32 at;

    for (at = 0; at < @CQUEUES_PER_PORT; at++) {
        if (state->bytes[first + at] > 0) {
            const @u64 missing = @prefixfirst_bytes(state, first + at) - deficit_bytes[at];
            const @u64 quantum_bytes = @prefixround_bytes(at);
            const @u64 rounds = (missing + quantum_bytes - 1u) / quantum_bytes;

            fewest = rounds < fewest ? rounds : fewest;
        }
    }
    for (at = 0; at < @CQUEUES_PER_PORT; at++) {
        if (state->bytes[first + at] > 0) {
            deficit_bytes[at] += (fewest - 1u) * @prefixround_bytes(at);
        }
    }
}

/* The queue that a port serves next, deficit round robin (Shreedhar and Varghese): a visited queue gets
 * its quantum once, sends while its deficit covers its head, and loses the deficit when it runs
 * empty. The number of queues if all are empty. */
@inline @u32 @prefixpick(struct @prefixdecision *state, @u32 port)
{
    const @u32 first = port * @CQUEUES_PER_PORT;
    struct @prefixport *turn = &state->ports[port];
    @u32 at, visit, backlog = 0;

    for (at = 0; at < @CQUEUES_PER_PORT; at++) {
        backlog |= state->bytes[first + at];
    }
    if (backlog == 0) {
        memset(turn->deficit_bytes, 0, sizeof turn->deficit_bytes);
        turn->turn = 0;
        turn->was_credited = 0;
        return @CSWITCH_QUEUES;
    }
    for (visit = 1; visit <= 2u * @CQUEUES_PER_PORT; visit++) {
        at = turn->turn;
        if (state->bytes[first + at] > 0) {
            const @u64 head_bytes = @prefixfirst_bytes(state, first + at);

            if (!turn->was_credited) {
                turn->deficit_bytes[at] += @prefixround_bytes(at);
                turn->was_credited = 1;
            }
            if (turn->deficit_bytes[at] >= head_bytes) {
                turn->deficit_bytes[at] -= head_bytes;
                return first + at;
            }
        } else {
            turn->deficit_bytes[at] = 0;
        }
        turn->turn = at + 1u == @CQUEUES_PER_PORT ? 0u : at + 1u;
        turn->was_credited = 0;
        if (visit == @CQUEUES_PER_PORT) {
            @prefixskip_rounds(state, port);
        }
    }
    return @CSWITCH_QUEUES; /* Never: after the skipped rounds a queue can send in the next one. */
}
