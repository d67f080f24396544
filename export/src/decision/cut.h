/* The same near the cut, without a sum over classes; elsewhere more. */
@inline @u32 @prefixnear_cut(const struct @prefixdecision *state, @u32 level)
{
    const @u32 of = @prefixlength_class(level);
    @u64 bytes = state->below_bytes, longer = state->above;

    if (of == state->cut) {
        bytes += @prefixclass_up_to(state, of, level);
        longer -= state->class_queues[of];
    } else if (of + 1u == state->cut) {
        bytes = bytes - state->class_bytes[of] + @prefixclass_up_to(state, of, level);
    }
    return @prefixsaturated(bytes + longer * level);
}

