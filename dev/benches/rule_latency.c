/* Times an exported policy: policy EVENTS NUMBER, of rule_latency.py, which writes policy.h: it includes the code, and says how it
 * is called. */
#include "policy.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PASSES 11

typedef struct {
    uint64_t time_ns;
    uint32_t kind, port, queue, size_bytes;
} event;

typedef struct {
    uint64_t time_ns;
    uint32_t queue, size_bytes;
    int departs;
} call;

static POLICY_STATE state;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The calls that the events make, with the departures of packets that it accepts. */
static size_t calls_of(const event *events, size_t count, call *calls)
{
    /* By queue, the places of accepted packets among the events: the next of each, the first and the last. */
    size_t *next = calloc(count, sizeof *next);
    size_t first[POLICY_QUEUES], last[POLICY_QUEUES], made = 0;
    if (!next) {
        exit(2);
    }
    for (size_t queue = 0; queue < POLICY_QUEUES; queue++) {
        first[queue] = last[queue] = count;
    }
    POLICY_INIT(&state);
    for (size_t at = 0; at < count; at++) {
        const event *of = events + at;
        const uint32_t queue = of->port * POLICY_QUEUES_PER_PORT + of->queue;
        if (of->kind == 0) {
            calls[made++] = (call){of->time_ns, queue, of->size_bytes, 0};
            if (POLICY_ARRIVAL(&state, queue, of->size_bytes, of->time_ns)) {
                next[at] = count;
                if (first[queue] == count) {
                    first[queue] = at;
                } else {
                    next[last[queue]] = at;
                }
                last[queue] = at;
            }
        } else if (first[queue] != count) {
            const uint32_t size_bytes = events[first[queue]].size_bytes;
            first[queue] = next[first[queue]];
            calls[made++] = (call){of->time_ns, queue, size_bytes, 1};
            POLICY_DEPARTURE(&state, queue, size_bytes, of->time_ns);
        }
    }
    free(next);
    return made;
}

int main(int arguments, char **argument)
{
    if (arguments != 3) {
        return 2;
    }
    const size_t count = strtoull(argument[2], NULL, 10);
    event *events = malloc(count * sizeof *events);
    call *calls = malloc(count * sizeof *calls);
    FILE *file = fopen(argument[1], "rb");
    if (!events || !calls || !file || fread(events, sizeof *events, count, file) != count) {
        return 2;
    }
    const size_t made = calls_of(events, count, calls);
    double ns[PASSES];
    size_t arrived = 0, accepted = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        POLICY_INIT(&state);
        arrived = accepted = 0;
        const clock_t begin = clock();
        for (const call *of = calls; of < calls + made; of++) {
            if (of->departs) {
                POLICY_DEPARTURE(&state, of->queue, of->size_bytes, of->time_ns);
            } else {
                arrived++;
                accepted += (size_t)POLICY_ARRIVAL(&state, of->queue, of->size_bytes, of->time_ns);
            }
        }
        ns[pass] = (double)(clock() - begin) * (1e9 / CLOCKS_PER_SEC);
    }
    qsort(ns, PASSES, sizeof *ns, compare);
    const double median = ns[PASSES / 2];
    printf("%.1f ns a call, %.1f an arrival with its departure; %zu arrivals, %zu accepted; %zu bytes for %d queues\n",
        median / (double)made, median / (double)arrived, arrived, accepted, sizeof state, POLICY_QUEUES);
    return 0;
}
