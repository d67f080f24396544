/* The queue that a port serves next, strict priority: the backlogged one with the lowest number; the
 * number of queues if all are empty. */
@inline @u32 @prefixpick(const struct @prefixdecision *state, @u32 port)
{
    const @u32 first = port * @CQUEUES_PER_PORT;
    @u32 at;

    for (at = first; at < first + @CQUEUES_PER_PORT; at++) {
        if (state->bytes[at] > 0) {
            return at;
        }
    }
    return @CSWITCH_QUEUES;
}
