/* Sums of virtual LQD's queues by length class. Comes after dropcast_switch.h.
 *
 * Lengths expected in a quarter of a base RTT, at most the buffer, are in classes, four for each octave from
 * 4 KiB on. The cut is the class at whose shortest length the buffer would be full but for a 32nd part if
 * LQD cut every queue down to it; each event of a queue moves it by at most one class. */
#ifdef DROPCAST_LQD_CLASSES
#ifdef DROPCAST_NAME
#define dropcast_length_class DROPCAST_NAME(length_class)
#define dropcast_shortest_of DROPCAST_NAME(shortest_of)
#define dropcast_reclass DROPCAST_NAME(reclass)
#define dropcast_class_up_to DROPCAST_NAME(class_up_to)
#define dropcast_classed DROPCAST_NAME(classed)
#define dropcast_near_cut DROPCAST_NAME(near_cut)
#endif

/* The class of a length. */
DROPCAST_FUNCTION uint32_t dropcast_length_class(uint32_t bytes)
{
    const uint32_t units = bytes >> 10;
    uint32_t octave = 0, rest = units;

    if (units < 4u) {
        return units;
    }
#if defined(__GNUC__) && !defined(__bpf__)
    octave = 31u - (uint32_t)__builtin_clz(rest);
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
DROPCAST_FUNCTION uint64_t dropcast_shortest_of(uint32_t class_at)
{
    const uint64_t units = class_at < 4u ? class_at : (uint64_t)(4u + class_at % 4u) << (class_at / 4u - 1u);

    return units << 10;
}

/* What was expected in a queue changes. */
DROPCAST_FUNCTION void dropcast_reclass(struct dropcast_decision *state, uint64_t before, uint64_t after)
{
    const uint64_t buffer = DROPCAST_LQD_BUFFER_BYTES;
    const uint64_t full = buffer - buffer / 32u;
    const uint32_t before_bytes = (uint32_t)(before < buffer ? before : buffer);
    const uint32_t after_bytes = (uint32_t)(after < buffer ? after : buffer);
    uint32_t cut = state->cut;

    if (before_bytes > 0) {
        const uint32_t from = dropcast_length_class(before_bytes);

        state->class_queues[DROPCAST_CLASS(from)] -= 1u;
        state->class_bytes[DROPCAST_CLASS(from)] -= before_bytes;
        state->below_bytes -= from < cut ? before_bytes : 0u;
        state->above -= from < cut ? 0u : 1u;
    }
    if (after_bytes > 0) {
        const uint32_t to = dropcast_length_class(after_bytes);

        state->class_queues[DROPCAST_CLASS(to)] += 1u;
        state->class_bytes[DROPCAST_CLASS(to)] += after_bytes;
        state->below_bytes += to < cut ? after_bytes : 0u;
        state->above += to < cut ? 0u : 1u;
    }
    if (cut > 0 && state->below_bytes + state->above * dropcast_shortest_of(cut) > full) {
        cut -= 1u;
        state->below_bytes -= state->class_bytes[DROPCAST_CLASS(cut)];
        state->above += state->class_queues[DROPCAST_CLASS(cut)];
        state->cut = cut;
    } else if (cut < DROPCAST_LQD_CLASSES) {
        const uint64_t below_bytes = state->below_bytes + state->class_bytes[DROPCAST_CLASS(cut)];
        const uint32_t above = state->above - state->class_queues[DROPCAST_CLASS(cut)];

        if (below_bytes + above * dropcast_shortest_of(cut + 1u) <= full) {
            state->below_bytes = below_bytes;
            state->above = above;
            state->cut = cut + 1u;
        }
    }
}

/* The bytes of a class if its queues were cut down to level. */
DROPCAST_FUNCTION uint64_t dropcast_class_up_to(const struct dropcast_decision *state, uint32_t of, uint32_t level)
{
    const uint64_t bytes = state->class_bytes[DROPCAST_CLASS(of)],
                   most = state->class_queues[DROPCAST_CLASS(of)] * (uint64_t)level;

    return bytes < most ? bytes : most;
}

#ifdef DROPCAST_FEATURE_CLASSED_IN_QUARTER_RTT
/* Bytes if every queue were cut down to level, by classes. */
DROPCAST_FUNCTION uint32_t dropcast_classed(const struct dropcast_decision *state, uint32_t level)
{
    const uint32_t of = dropcast_length_class(level);
    uint64_t bytes = dropcast_class_up_to(state, of, level), longer = 0;
    uint32_t at;

    for (at = 0; at < DROPCAST_LQD_CLASSES; at++) {
        bytes += at < of ? state->class_bytes[DROPCAST_CLASS(at)] : 0u;
        longer += at > of ? state->class_queues[DROPCAST_CLASS(at)] : 0u;
    }
    return dropcast_saturated(bytes + longer * level);
}
#endif

#ifdef DROPCAST_FEATURE_CUT_IN_QUARTER_RTT
/* The same near the cut, without a sum over classes; elsewhere more. */
DROPCAST_FUNCTION uint32_t dropcast_near_cut(const struct dropcast_decision *state, uint32_t level)
{
    const uint32_t of = dropcast_length_class(level);
    uint64_t bytes = state->below_bytes, longer = state->above;

    if (of == state->cut) {
        bytes += dropcast_class_up_to(state, of, level);
        longer -= state->class_queues[DROPCAST_CLASS(of)];
    } else if (of + 1u == state->cut) {
        bytes = bytes - state->class_bytes[DROPCAST_CLASS(of)] + dropcast_class_up_to(state, of, level);
    }
    return dropcast_saturated(bytes + longer * level);
}
#endif
#endif
