/* Lengths expected in a quarter of a base RTT, at most the buffer, are in classes, four for each octave from
 * 4 KiB on. The cut is the class at whose shortest length the buffer would be full but for a 32nd part if
 * LQD cut every queue down to it; each event of a queue moves it by at most one class. */

/* The class of a length. */
@inline @u32 @prefixlength_class(@u32 bytes)
{
    const @u32 units = bytes >> 10;
    @u32 octave = 0, rest = units;

    if (units < 4u) {
        return units;
    }
#if defined(__GNUC__) && !defined(__bpf__)
    octave = 31u - (@u32)__builtin_clz(rest);
#else
    if (rest >> 16 > 0) {
        octave = 16u;
        rest >>= 16;
    }
    if (rest >> 8 > 0) {
        octave += 8u;
        rest >>= 8;
    }
    if (rest >> 4 > 0) {
        octave += 4u;
        rest >>= 4;
    }
    if (rest >> 2 > 0) {
        octave += 2u;
        rest >>= 2;
    }
    octave += rest >> 1;
#endif
    return 4u * (octave - 2u) + (units >> (octave - 2u));
}

/* The shortest length of a class. */
@inline @u64 @prefixshortest_of(@u32 class_at)
{
    const @u64 units = class_at < 4u ? class_at : (@u64)(4u + class_at % 4u) << (class_at / 4u - 1u);

    return units << 10;
}

/* What was expected in a queue changes. */
@inline void @prefixreclass(struct @prefixdecision *state, @u64 before, @u64 after)
{
    const @u64 buffer = @CSWITCH_BUFFER_BYTES;
    const @u64 full = buffer - buffer / 32u;
    const @u32 before_bytes = (@u32)(before < buffer ? before : buffer);
    const @u32 after_bytes = (@u32)(after < buffer ? after : buffer);
    @u32 cut = state->cut;

    if (before_bytes > 0) {
        const @u32 from = @prefixlength_class(before_bytes);

        state->class_queues[from] -= 1u;
        state->class_bytes[from] -= before_bytes;
        state->below_bytes -= from < cut ? before_bytes : 0u;
        state->above -= from < cut ? 0u : 1u;
    }
    if (after_bytes > 0) {
        const @u32 to = @prefixlength_class(after_bytes);

        state->class_queues[to] += 1u;
        state->class_bytes[to] += after_bytes;
        state->below_bytes += to < cut ? after_bytes : 0u;
        state->above += to < cut ? 0u : 1u;
    }
    if (cut > 0 && state->below_bytes + state->above * @prefixshortest_of(cut) > full) {
        cut -= 1u;
        state->below_bytes -= state->class_bytes[cut];
        state->above += state->class_queues[cut];
        state->cut = cut;
    } else if (cut < @CLASSESu) {
        const @u64 below_bytes = state->below_bytes + state->class_bytes[cut];
        const @u32 above = state->above - state->class_queues[cut];

        if (below_bytes + above * @prefixshortest_of(cut + 1u) <= full) {
            state->below_bytes = below_bytes;
            state->above = above;
            state->cut = cut + 1u;
        }
    }
}

/* The bytes of a class if its queues were cut down to level. */
@inline @u64 @prefixclass_up_to(const struct @prefixdecision *state, @u32 of, @u32 level)
{
    const @u64 bytes = state->class_bytes[of], most = state->class_queues[of] * (@u64)level;

    return bytes < most ? bytes : most;
}

@inline @u32 @prefixsaturated(@u64 bytes)
{
    return bytes < 0xffffffffu ? (@u32)bytes : 0xffffffffu;
}

