/* Reads a log of arrivals and departures and prints how long the exported decision takes: the median
 * over passes of nanoseconds per arrival, its departure included. */
#include "m_decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PASSES = 21 };

struct event {
    uint64_t now_ns;
    uint32_t size_bytes;
    uint16_t port;
    uint8_t queue;
    uint8_t is_departure;
};

static struct m_decision state;

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;

    return (difference > 0) - (difference < 0);
}

int main(void)
{
    static const uint64_t line_rate_bps[M_SWITCH_PORTS] = {LINE_RATES};
    struct event *log = NULL;
    size_t room = 0, events = 0, arrivals = 0, at, asked = 0;
    uint32_t record[6];
    double ns[PASSES];
    int pass;

    while (fread(record, sizeof record, 1, stdin) == 1) {
        if (events == room) {
            room = room ? 2 * room : 4096;
            log = realloc(log, room * sizeof *log);
            if (!log)
                return 1;
        }
        log[events].now_ns = record[4] | (uint64_t)record[5] << 32;
        log[events].size_bytes = record[3];
        log[events].port = (uint16_t)record[1];
        log[events].queue = (uint8_t)record[2];
        log[events].is_departure = (uint8_t)record[0];
        arrivals += record[0] == 0;
        events++;
    }
    if (arrivals == 0)
        return 1;
    for (pass = 0; pass < PASSES; pass++) {
        clock_t start;

        if (m_init(&state, M_SWITCH_PORTS, M_QUEUES_PER_PORT, M_SWITCH_BUFFER_BYTES,
                   M_SWITCH_BASE_RTT_NS, line_rate_bps) != M_READY)
            return 1;
        asked = 0;
        start = clock();
        for (at = 0; at < events; at++) {
            const struct event *event = &log[at];

            if (event->is_departure) {
                m_departure(&state, event->port, event->queue, event->size_bytes, event->now_ns);
            } else {
                const enum m_verdict decided = m_arrival(
                    &state, event->port, event->queue, event->size_bytes, event->now_ns);

                asked += decided == M_ACCEPTED || decided == M_PREDICTED_DROP;
            }
        }
        ns[pass] = 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)arrivals;
    }
    qsort(ns, PASSES, sizeof *ns, by_size);
    printf("%.1f %.1f %zu %zu\n", ns[PASSES / 2], ns[0], asked, arrivals);
    free(log);
    return 0;
}
