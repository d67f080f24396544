/* A port dequeues a packet at time_ns; returns when it may dequeue the next one: when the packet has been
 * transmitted. */
@inline @u64 @prefixsend(
    struct @prefixdecision *state, @u32 port, @u64 time_ns, @u32 size_bytes)
{
    (void)state;
    return time_ns + @prefixwire_ns(port, size_bytes);
}
