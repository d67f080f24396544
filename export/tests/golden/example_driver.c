/* example_driver.c: decides about packets, to check example_decision.h where it runs.
 *
 * Reads example_packets.csv, which dropcast export --target vectors writes; prints 1 (accepted) or 0 for each packet that arrives. Then
 * dropcast verify MODEL --switch FILE --verdicts says whether that is what the model decides. */
#include "example_decision.h"

#include <stdio.h>

static struct example_decision state;

int main(void)
{
    static const uint64_t line_rate_bps[] = {
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
        10000000000u,
    };
    unsigned long long now_ns;
    unsigned int kind, port, queue, size_bytes;
    char line[128];

    if (example_init(&state, EXAMPLE_SWITCH_PORTS, EXAMPLE_QUEUES_PER_PORT, EXAMPLE_SWITCH_BUFFER_BYTES, EXAMPLE_SWITCH_BASE_RTT_NS, line_rate_bps)
        != EXAMPLE_READY) {
        return 1;
    }
    /* Names of columns come first. */
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%llu,%u,%u,%u,%u", &now_ns, &kind, &port, &queue, &size_bytes) != 5) {
            fprintf(stderr, "not a packet: %s", line);
            return 1;
        }
        if (kind == 0) {
            puts(example_accepts(example_arrival(&state, port, queue, size_bytes, now_ns)) ? "1" : "0");
        } else {
            example_departure(&state, port, queue, size_bytes, now_ns);
        }
    }
    return 0;
}
