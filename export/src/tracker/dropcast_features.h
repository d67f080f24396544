/* What a model's features need kept, and the features of a packet.
 *
 * Defined before: what dropcast_average.h needs, and that file if there are averages;
 *
 *     DROPCAST_FEATURE_RANK ...   the place in a row of each feature that the model has, as docs/features.md names it
 *     DROPCAST_ROW                the type of a parameter that is a row
 *     DROPCAST_VALUES(x)          the array of its values
 *     DROPCAST_AVERAGES           if a feature is a moving average
 *     DROPCAST_ARRIVALS           if a feature needs recent arrivals
 *     DROPCAST_SCANS              if a feature needs the other queues' lengths
 *     DROPCAST_LEVELS             if the caller may keep the features
 */
#ifdef DROPCAST_NAME
#define dropcast_expected DROPCAST_NAME(expected)
#define dropcast_recent DROPCAST_NAME(recent)
#define dropcast_saturated DROPCAST_NAME(saturated)
#define dropcast_up_to DROPCAST_NAME(up_to)
#define dropcast_sums DROPCAST_NAME(sums)
#define dropcast_sum_up DROPCAST_NAME(sum_up)
#define dropcast_seen DROPCAST_NAME(seen)
#define dropcast_fill DROPCAST_NAME(fill)
#define dropcast_level DROPCAST_NAME(level)
#define dropcast_add DROPCAST_NAME(add)
#define dropcast_remove DROPCAST_NAME(remove)
#define dropcast_project DROPCAST_NAME(project)
#define dropcast_scan_level DROPCAST_NAME(scan_level)
#define dropcast_observe DROPCAST_NAME(observe)
#endif

/* In braces: all members begin as zeros. */
#ifdef __cplusplus
#define DROPCAST_ZEROS
#else
#define DROPCAST_ZEROS 0
#endif

DROPCAST_FUNCTION uint32_t dropcast_saturated(uint64_t bytes)
{
    return bytes < 0xffffffffu ? (uint32_t)bytes : 0xffffffffu;
}

#ifdef DROPCAST_ARRIVALS
/* The expected bytes in a queue that now has bytes, after this many eighths of a base RTT (1, 2, 4, 8 or
 * 16), if arrivals keep the rate of the last one, in which recent bytes came. */
DROPCAST_FUNCTION uint64_t dropcast_expected(uint32_t bytes, uint32_t recent, uint64_t drain_bytes, uint32_t eighths)
{
    const uint64_t coming = bytes + eighths * (uint64_t)recent;
    const uint64_t drained = drain_bytes / (16u / eighths);

    return bytes > 0 && coming > drained ? coming - drained : 0u;
}

/* The recent arrivals of a queue, elapsed_ns after its last event: older ones are forgotten, and
 * arrived_bytes are added. */
DROPCAST_FUNCTION uint32_t dropcast_recent(uint32_t recent, uint32_t arrived_bytes, uint64_t elapsed_ns)
{
    const uint64_t window_ns = (DROPCAST_TAU_NS / 8u > 0 ? DROPCAST_TAU_NS / 8u : 1u);

    elapsed_ns = elapsed_ns < window_ns ? elapsed_ns : window_ns;
    recent -= (uint32_t)(recent * elapsed_ns / window_ns);
    return arrived_bytes < 0xffffffffu - recent ? recent + arrived_bytes : 0xffffffffu;
}
#endif

DROPCAST_FUNCTION uint64_t dropcast_up_to(const uint32_t *own, uint64_t bytes)
{
    return bytes < *own ? bytes : *own;
}

/* What a scan of the queues for a packet adds up, as far as a feature needs it; the packet's queue, where queues
 * have numbers. rank is beside it: the verifier of eBPF follows each value of 64 bits that begin as 0. */
struct dropcast_sums {
    uint32_t queue;
    uint32_t rank;
    uint64_t level;
    uint64_t level_in_quarter_rtt;
    uint64_t level_in_one_rtt;
    uint64_t level_in_two_rtts;
    uint32_t longest;
};

#ifdef DROPCAST_SCANS
/* A queue is scanned for a packet whose own queue has own bytes. Values are pointed to, so that each comparison reads
 * them anew: the verifier of eBPF would follow what it knows of a value that was compared. */
DROPCAST_FUNCTION void dropcast_sum_up(
    struct dropcast_sums *sums, const uint32_t *own, const uint32_t *bytes, const uint32_t *recent, uint64_t drain_bytes)
{
    (void)own;
    (void)recent;
    (void)drain_bytes;
#if defined(DROPCAST_FEATURE_LONGEST_QUEUE) || defined(DROPCAST_FEATURE_LONGEST_GAP)
    sums->longest = *bytes > sums->longest ? *bytes : sums->longest;
#endif
#ifdef DROPCAST_FEATURE_RANK
    sums->rank += *bytes > *own ? 1u : 0u;
#endif
#ifdef DROPCAST_FEATURE_LEVEL_OCCUPANCY
    sums->level += *bytes < *own ? *bytes : *own;
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_QUARTER_RTT
    sums->level_in_quarter_rtt += dropcast_up_to(own, dropcast_expected(*bytes, *recent, drain_bytes, 2u));
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_ONE_RTT
    sums->level_in_one_rtt += dropcast_up_to(own, dropcast_expected(*bytes, *recent, drain_bytes, 8u));
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_TWO_RTTS
    sums->level_in_two_rtts += dropcast_up_to(own, dropcast_expected(*bytes, *recent, drain_bytes, 16u));
#endif
}
#endif

/* What a packet finds: bytes of its queue and of the buffer, their averages, and what all queues are expected to
 * hold. */
struct dropcast_seen {
    uint32_t bytes;
    uint32_t average;
    uint32_t buffer_bytes;
    uint32_t buffer_average;
    uint64_t projected;
};

/* Writes the features into a row; those of length classes are not among them. */
DROPCAST_FUNCTION void dropcast_fill(const struct dropcast_seen *seen, const struct dropcast_sums *sums, DROPCAST_ROW x)
{
    (void)seen;
    (void)sums;
    (void)x;
#ifdef DROPCAST_FEATURE_QUEUE_LENGTH
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_QUEUE_LENGTH] = seen->bytes;
#endif
#ifdef DROPCAST_FEATURE_AVG_QUEUE_LENGTH
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_AVG_QUEUE_LENGTH] = seen->average;
#endif
#ifdef DROPCAST_FEATURE_OCCUPANCY
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_OCCUPANCY] = seen->buffer_bytes;
#endif
#ifdef DROPCAST_FEATURE_AVG_OCCUPANCY
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_AVG_OCCUPANCY] = seen->buffer_average;
#endif
#ifdef DROPCAST_FEATURE_LONGEST_QUEUE
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LONGEST_QUEUE] = sums->longest;
#endif
#ifdef DROPCAST_FEATURE_LONGEST_GAP
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LONGEST_GAP] = sums->longest > seen->bytes ? sums->longest - seen->bytes : 0u;
#endif
#ifdef DROPCAST_FEATURE_PROJECTED_OCCUPANCY
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_PROJECTED_OCCUPANCY] = dropcast_saturated(seen->projected);
#endif
#ifdef DROPCAST_FEATURE_LEVEL_OCCUPANCY
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LEVEL_OCCUPANCY] = dropcast_saturated(sums->level);
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_QUARTER_RTT
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LEVEL_IN_QUARTER_RTT] = dropcast_saturated(sums->level_in_quarter_rtt);
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_ONE_RTT
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LEVEL_IN_ONE_RTT] = dropcast_saturated(sums->level_in_one_rtt);
#endif
#ifdef DROPCAST_FEATURE_LEVEL_IN_TWO_RTTS
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_LEVEL_IN_TWO_RTTS] = dropcast_saturated(sums->level_in_two_rtts);
#endif
#ifdef DROPCAST_FEATURE_RANK
    DROPCAST_VALUES(x)[DROPCAST_FEATURE_RANK] = sums->rank;
#endif
}

#ifdef DROPCAST_LEVELS
/* The bytes in a queue, or in the whole shared buffer, and what the features need beside them. Begins as zeros.
 *
 * These are the queues of push-out Longest Queue Drop, run virtually beside the switch: they follow
 * its arrivals, departures and push-outs, not the switch's own. For a packet that arrives, first
 * observe its features; if it is accepted, add it to its queue and to the buffer. When a packet departs or is
 * pushed out, remove it from both. A queue that does not draw on the shared buffer adds 0 bytes to the
 * buffer, and removes 0 bytes from it. */
struct dropcast_level {
#ifdef DROPCAST_AVERAGES
    uint64_t updated_ns;
    uint32_t average;
#endif
#ifdef DROPCAST_ARRIVALS
    uint64_t heard_ns;
    uint64_t drain_bytes;
    uint64_t projected;
    uint32_t recent;
#endif
    uint32_t bytes;
};

DROPCAST_FUNCTION void dropcast_add(struct dropcast_level *level, uint32_t size_bytes)
{
    level->bytes += size_bytes;
}

DROPCAST_FUNCTION void dropcast_remove(struct dropcast_level *level, uint32_t size_bytes, uint64_t now_ns)
{
#ifdef DROPCAST_AVERAGES
    const uint64_t elapsed_ns = now_ns > level->updated_ns ? now_ns - level->updated_ns : 0u;
#endif

    (void)now_ns;
    level->bytes -= size_bytes < level->bytes ? size_bytes : level->bytes;
#ifdef DROPCAST_AVERAGES
    level->average = dropcast_average(level->average, level->bytes, elapsed_ns);
    level->updated_ns = now_ns;
#endif
}

/* Where the queues are heading. For a queue that draws on the shared buffer, tell every arrival once
 * it has been accepted or rejected, with its size, and every departure and push-out once it has been
 * removed, with 0 bytes. drain_bytes is what the queue's port sends in two base RTTs:
 * bits per second * 2 * base RTT in ns / 8000000000. Models without recent arrivals need no such calls; they then
 * do nothing, so that surrounding code fits every model. */
DROPCAST_FUNCTION void dropcast_project(
    struct dropcast_level *queue, struct dropcast_level *buffer, uint32_t arrived_bytes, uint64_t drain_bytes, uint64_t now_ns)
{
#ifdef DROPCAST_ARRIVALS
    const uint64_t elapsed_ns = now_ns > queue->heard_ns ? now_ns - queue->heard_ns : 0u;
    uint64_t projected;

    queue->heard_ns = now_ns;
    queue->drain_bytes = drain_bytes;
    queue->recent = dropcast_recent(queue->recent, arrived_bytes, elapsed_ns);
    projected = dropcast_expected(queue->bytes, queue->recent, drain_bytes, 16u);
    buffer->projected += projected - queue->projected;
    queue->projected = projected;
#else
    (void)queue;
    (void)buffer;
    (void)arrived_bytes;
    (void)drain_bytes;
    (void)now_ns;
#endif
}

#ifdef DROPCAST_SCANS
/* A queue is scanned; an empty one adds nothing. By itself: the verifier of eBPF then looks at it once, and asks for checks.
 * Returns 0. */
DROPCAST_SEPARATE int dropcast_scan_level(struct dropcast_sums *sums, const uint32_t *own, const struct dropcast_level *level)
{
    if (sums && own && level && level->bytes > 0) {
#ifdef DROPCAST_ARRIVALS
        dropcast_sum_up(sums, own, &level->bytes, &level->recent, level->drain_bytes);
#else
        dropcast_sum_up(sums, own, &level->bytes, &level->bytes, 0);
#endif
    }
    return 0;
}
#endif

/* The features of a packet that arrives for queue, before it is added. shared are all n_shared queues
 * that draw on the shared buffer. */
DROPCAST_FUNCTION void dropcast_observe(const struct dropcast_level *queue, const struct dropcast_level *buffer,
    const struct dropcast_level *shared, uint32_t n_shared, DROPCAST_ROW x)
{
    struct dropcast_seen seen = {DROPCAST_ZEROS};
    struct dropcast_sums sums = {DROPCAST_ZEROS};
#ifdef DROPCAST_SCANS
    uint32_t at;

    for (at = 0; at < n_shared; at++) {
        (void)dropcast_scan_level(&sums, &queue->bytes, &shared[at]);
    }
#endif
    (void)shared;
    (void)n_shared;
    seen.bytes = queue->bytes;
    seen.buffer_bytes = buffer->bytes;
#ifdef DROPCAST_AVERAGES
    seen.average = queue->average;
    seen.buffer_average = buffer->average;
#endif
#ifdef DROPCAST_ARRIVALS
    seen.projected = buffer->projected;
#endif
    dropcast_fill(&seen, &sums, x);
}
#endif
