/* The queue that a port serves next, its only one; the number of queues if it is empty. */
@inline @u32 @prefixpick(const struct @prefixdecision *state, @u32 port)
{
    return state->bytes[port] > 0 ? port : @CSWITCH_QUEUES;
}
