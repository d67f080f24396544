/* @FILE: decides about packets, to check @HEADER where it runs.
 *
 * Reads @NAME_packets.csv, which dropcast export --target vectors writes; prints 1 (accepted) or 0 for each packet that arrives. Then
 * dropcast verify MODEL --switch FILE --verdicts says whether that is what the model decides. */
@INCLUDES

#include <stdio.h>

static @STATE state;

int main(void)
{
    static const @U64 line_rate_bps[] = {
        @RATES,
    };
    unsigned long long now_ns;
    unsigned int kind, port, queue, size_bytes;
    char line[128];

    if (@init(&state, ^SWITCH_PORTS, ^QUEUES_PER_PORT, ^SWITCH_BUFFER_BYTES, ^SWITCH_BASE_RTT_NS, line_rate_bps)
        != ^READY) {
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
            puts(@accepts(@arrival(&state, port, queue, size_bytes, now_ns)) ? "1" : "0");
        } else {
            @departure(&state, port, queue, size_bytes, now_ns);
        }
    }
    return 0;
}
