/* A port of virtual LQD dequeues next at due_ns. */
@inline void @prefixset_due(struct @prefixdecision *state, @u32 port, @u64 due_ns)
{
    @u32 at;

    state->due_ns[@LEAVESu + port] = due_ns;
    for (at = @LEAVESu + port; at > 1u; at /= 2u) {
        const @u64 left_ns = state->due_ns[at & ~1u], right_ns = state->due_ns[at | 1u];
        const @u16 left = state->earliest[at & ~1u], right = state->earliest[at | 1u];

        state->due_ns[at / 2u] = right_ns < left_ns ? right_ns : left_ns;
        state->earliest[at / 2u] = right_ns < left_ns ? right : left;
    }
}

@inline @u32 @prefixpacket_bytes(const struct @prefixpacket *packet)
{
    return packet->size_bytes & ~@CPREDICTED;
}

/* Removes the packet at either end of a virtual queue. */
@inline void @prefixtake(
    struct @prefixdecision *state, @u32 queue, @prefixslot place, @u64 time_ns)
{
    struct @prefixfifo *fifo = &state->fifos[queue];
    struct @prefixpacket *packet = &state->packets[place];
    const @u32 size_bytes = @prefixpacket_bytes(packet);

    if (place == fifo->tail) {
        fifo->tail = packet->previous;
    }
    if (place == fifo->head) {
        fifo->head = packet->next;
    }
    packet->next = state->spare;
    state->spare = place;
    @prefixchange(state, queue, 0u, size_bytes, 0u, time_ns);
}

/* Adds a packet to the tail of a virtual queue; false if there is no place for it. */
@inline int @prefixput(struct @prefixdecision *state, @u32 queue, @u32 size_bytes)
{
    struct @prefixfifo *fifo = &state->fifos[queue];
    @prefixslot place = state->spare;

    if (place != @UPPER_NOWHERE) {
        state->spare = state->packets[place].next;
    } else if (state->fresh < @UPPER_PACKETS) {
        place = (@prefixslot)state->fresh++;
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

@pick
@send
/* Serves the port of virtual LQD that is due first, if it is by now_ns; whether another may be. Ports due
 * at the same time go in port order. */
@inline int @prefixserve(struct @prefixdecision *state, @u64 now_ns)
{
    const @u32 port = state->earliest[1];
    const @u64 time_ns = state->due_ns[1];
    @u32 queue;

    if (time_ns > now_ns || time_ns == ~(@u64)0) {
        return 0;
    }
    queue = @prefixpick(state, port);
    if (queue == @CSWITCH_QUEUES) {
        @prefixset_due(state, port, ~(@u64)0);
    } else {
        const @prefixslot head = state->fifos[queue].head;

        @prefixset_due(state, port,
            @prefixsend(state, port, time_ns, @prefixpacket_bytes(&state->packets[head])));
        @prefixtake(state, queue, head, time_ns);
    }
    return 1;
}

@step serve
/* Serves virtual LQD's ports up to and including now_ns. */
@inline void @prefixadvance(struct @prefixdecision *state, @u64 now_ns)
{
@repeat serve now_ns
    state->now_ns = now_ns > state->now_ns ? now_ns : state->now_ns;
}

/* LQD dropped a packet whose drop was predicted. */
@inline void @prefixconfirmed(struct @prefixdecision *state)
{
    state->precision += @CPRECISION_ONE / @CDRIFT_WINDOW;
    state->precision = state->precision < @CPRECISION_ONE ? state->precision : @CPRECISION_ONE;
    state->is_trusted |= state->precision >= @CRECOVER_AT ? 1u : 0u;
}

@longest
/* Pushes the tail of the longest pushable queue out, unless size_bytes fit; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
@inline int @prefixpush_out(struct @prefixdecision *state, @u64 size_bytes)
{
    @prefixslot tail;
    @u32 victim;

    if (state->buffer_bytes + size_bytes <= @CSWITCH_BUFFER_BYTES) {
        return 0;
    }
    victim = @prefixlongest(state);
    if (victim == @CSWITCH_QUEUES) {
        return 0;
    }
    tail = state->fifos[victim].tail;
    if ((state->packets[tail].size_bytes & @CPREDICTED) != 0) {
        @prefixconfirmed(state);
    }
    @prefixtake(state, victim, tail, state->now_ns);
    return 1;
}

@step push_out
/* Longest Queue Drop (Aiello et al.): pushes packets out until the packet fits, and adds it, if it then
 * does. Whether it is added. */
@inline int @prefixadmit(struct @prefixdecision *state, @u32 queue, @u32 size_bytes)
{
    const @u32 port = queue / @CQUEUES_PER_PORT;
    int added = 0;

@repeat push_out size_bytes
    if ((@u64)state->buffer_bytes + size_bytes <= @CSWITCH_BUFFER_BYTES) {
        added = @prefixput(state, queue, size_bytes);
    }
    if (added && state->due_ns[@LEAVESu + port] == ~(@u64)0) {
        @prefixset_due(state, port, state->now_ns);
    }
    @prefixchange(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}
