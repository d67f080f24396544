/* Longest Queue Drop, run virtually beside the switch: its ports, its push-outs, and what it keeps for features.
 *
 * Comes after dropcast_switch.h, and after dropcast_length_classes.h if a feature needs length classes. */
#ifdef DROPCAST_NAME
#define dropcast_reserved_bytes DROPCAST_NAME(reserved_bytes)
#define dropcast_holds DROPCAST_NAME(holds)
#define dropcast_shared_part DROPCAST_NAME(shared_part)
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
#define dropcast_has_room DROPCAST_NAME(has_room)
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

#ifdef DROPCAST_LQD_RESERVED
/* Bytes beside the shared buffer that only this queue may use; it uses them first. */
DROPCAST_FUNCTION uint32_t dropcast_reserved_bytes(uint32_t queue)
{
    DROPCAST_TABLE uint32_t by_queue[DROPCAST_LQD_QUEUE_PLACES] = DROPCAST_LQD_RESERVED;

    return by_queue[DROPCAST_QUEUE(queue)];
}
#endif

/* Whether a virtual queue holds packets. */
DROPCAST_FUNCTION int dropcast_holds(const struct dropcast_decision *state, uint32_t queue)
{
#ifdef DROPCAST_LQD_RESERVED
    return (state->bytes[DROPCAST_QUEUE(queue)] | state->beside_bytes[DROPCAST_QUEUE(queue)]) != 0;
#else
    return state->bytes[DROPCAST_QUEUE(queue)] != 0;
#endif
}

/* What a packet for a queue that holds beside_bytes of its reserved bytes adds to the shared buffer. */
DROPCAST_FUNCTION uint32_t dropcast_shared_part(uint32_t queue, const uint32_t *beside_bytes, uint32_t size_bytes)
{
#ifdef DROPCAST_LQD_RESERVED
    const uint32_t room_bytes = dropcast_reserved_bytes(queue) - beside_bytes[DROPCAST_QUEUE(queue)];

    return size_bytes > room_bytes ? size_bytes - room_bytes : 0u;
#else
    (void)queue;
    (void)beside_bytes;
    return size_bytes;
#endif
}

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
    const uint32_t in_bytes = dropcast_shared_part(queue, DROPCAST_BESIDE(state), added_bytes);
    const uint32_t held_bytes = state->bytes[DROPCAST_QUEUE(queue)];
#ifdef DROPCAST_LQD_RESERVED
    const uint32_t out_bytes = removed_bytes < held_bytes ? removed_bytes : held_bytes;

    state->beside_bytes[DROPCAST_QUEUE(queue)] += (added_bytes - in_bytes) - (removed_bytes - out_bytes);
#else
    const uint32_t out_bytes = removed_bytes;
#endif

#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    state->projected -= dropcast_expects(state, queue, 16u);
#endif
    state->bytes[DROPCAST_QUEUE(queue)] = held_bytes + in_bytes - out_bytes;
    state->buffer_bytes = state->buffer_bytes + in_bytes - out_bytes;
#ifdef DROPCAST_LISTED
    state->busy[queue / 64u] =
        (state->busy[queue / 64u] & ~((uint64_t)1 << queue % 64u)) | (uint64_t)(state->bytes[queue] > 0 ? 1u : 0u) << queue % 64u;
#endif
#ifdef DROPCAST_LQD_HARMLESS
    state->busy_queues += (state->bytes[DROPCAST_QUEUE(queue)] > 0 ? 1u : 0u) - (before_bytes > 0 ? 1u : 0u);
#endif
#ifdef DROPCAST_ARRIVALS
    state->recent[DROPCAST_QUEUE(queue)] =
        dropcast_recent(state->recent[DROPCAST_QUEUE(queue)], arrived_bytes, time_ns > heard_ns ? time_ns - heard_ns : 0u);
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
        state->buffer_average = dropcast_average(
            state->buffer_average, state->buffer_bytes, time_ns > buffer_updated_ns ? time_ns - buffer_updated_ns : 0u);
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
DROPCAST_FUNCTION void dropcast_take(struct dropcast_decision *state, uint32_t queue, dropcast_slot place, uint64_t time_ns)
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
    if (!dropcast_holds(state, queue)) {
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
    return dropcast_holds(state, port) ? port : DROPCAST_LQD_QUEUES;
}
#elif defined(DROPCAST_LQD_STRICT)
/* The queue that a port serves next, strict priority: the backlogged one with the lowest number; the
 * number of queues if all are empty. */
DROPCAST_FUNCTION uint32_t dropcast_pick(const struct dropcast_decision *state, uint32_t port)
{
    const uint32_t first = port * DROPCAST_LQD_PER_PORT;
    uint32_t at;

    for (at = first; at < first + DROPCAST_LQD_PER_PORT; at++) {
        if (dropcast_holds(state, at)) {
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
        if (dropcast_holds(state, queue)) {
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
        if (dropcast_holds(state, first + at)) {
            const uint64_t missing = dropcast_first_bytes(state, first + at) - deficit_bytes[DROPCAST_OWN(at)];
            const uint64_t quantum_bytes = dropcast_round_bytes(at);
            const uint64_t rounds = (missing + quantum_bytes - 1u) / quantum_bytes;

            fewest = rounds < fewest ? rounds : fewest;
        }
    }
    for (at = 0; at < DROPCAST_LQD_PER_PORT; at++) {
        if (dropcast_holds(state, first + at)) {
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
        backlog |= dropcast_holds(state, first + at) ? 1u : 0u;
    }
    if (backlog == 0) {
        DROPCAST_CLEAR(turn->deficit_bytes);
        turn->turn = 0;
        turn->was_credited = 0;
        return DROPCAST_LQD_QUEUES;
    }
    for (visit = 1; visit <= 2u * DROPCAST_LQD_PER_PORT; visit++) {
        at = turn->turn;
        if (dropcast_holds(state, first + at)) {
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
DROPCAST_FUNCTION uint64_t dropcast_send(struct dropcast_decision *state, uint32_t port, uint64_t time_ns, uint32_t size_bytes)
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

        dropcast_set_due(
            state, port, dropcast_send(state, port, time_ns, dropcast_packet_bytes(&state->packets[DROPCAST_PLACE(head)])));
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
    struct dropcast_steps steps = {state, now_ns, 0};

    dropcast_loop(DROPCAST_LQD_PACKETS + DROPCAST_LQD_PORTS, dropcast_serve_step, &steps, 0);
#else
    while (dropcast_serve(state, now_ns)) {
    }
#endif
    state->stepped_back += now_ns < state->now_ns ? 1u : 0u;
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

/* Whether virtual LQD has room for a packet. */
DROPCAST_FUNCTION int dropcast_has_room(const struct dropcast_decision *state, uint32_t queue, uint32_t size_bytes)
{
    const uint64_t part_bytes = dropcast_shared_part(queue, DROPCAST_BESIDE(state), size_bytes);

    return part_bytes == 0 || state->buffer_bytes + part_bytes <= DROPCAST_LQD_BUFFER_BYTES;
}

/* Pushes the tail of the longest pushable queue out, unless there is room for a packet; ties go to the lowest port, then
 * queue. Whether a packet was pushed out. */
DROPCAST_FUNCTION int dropcast_push_out(struct dropcast_decision *state, uint32_t queue, uint32_t size_bytes)
{
    dropcast_slot tail;
    uint32_t victim;

    if (dropcast_has_room(state, queue, size_bytes)) {
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
    return dropcast_push_out(steps->state, steps->queue, (uint32_t)steps->until) ? 0 : 1;
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
    struct dropcast_steps steps = {state, size_bytes, queue};

    dropcast_loop(DROPCAST_LQD_PACKETS + DROPCAST_LQD_PORTS, dropcast_push_out_step, &steps, 0);
#else
    while (dropcast_push_out(state, queue, size_bytes)) {
    }
#endif
    if (dropcast_has_room(state, queue, size_bytes)) {
        added = dropcast_put(state, queue, size_bytes);
    }
    if (added && state->due_ns[DROPCAST_NODE(DROPCAST_LQD_LEAVES + port)] == DROPCAST_NEVER) {
        dropcast_set_due(state, port, state->now_ns);
    }
    dropcast_change(state, queue, added ? size_bytes : 0u, 0u, size_bytes, state->now_ns);
    return added;
}
