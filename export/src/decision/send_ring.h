/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when its ring has a
 * free place. */
@inline @u64 @prefixsend(
    struct @prefixdecision *state, @u32 port, @u64 time_ns, @u32 size_bytes)
{
    struct @prefixport *line = &state->ports[port];
    const @u64 begins_ns = line->sent_ns > time_ns ? line->sent_ns : time_ns;

    line->sent_ns = begins_ns + @prefixwire_ns(port, size_bytes);
    line->begun_ns[line->next] = begins_ns;
    line->next = line->next + 1u == @RINGu ? 0u : line->next + 1u;
    line->begun += line->begun < @RINGu ? 1u : 0u;
    if (line->begun < @RINGu) {
        return time_ns;
    }
    return line->begun_ns[line->next] > time_ns ? line->begun_ns[line->next] : time_ns;
}
