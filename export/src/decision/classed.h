/* Bytes if every queue were cut down to level, by classes. */
@inline @u32 @prefixclassed(const struct @prefixdecision *state, @u32 level)
{
    const @u32 of = @prefixlength_class(level);
    @u64 bytes = @prefixclass_up_to(state, of, level), longer = 0;
    @u32 at;

    for (at = 0; at < @CLASSESu; at++) {
        bytes += at < of ? state->class_bytes[at] : 0u;
        longer += at > of ? state->class_queues[at] : 0u;
    }
    return @prefixsaturated(bytes + longer * level);
}

