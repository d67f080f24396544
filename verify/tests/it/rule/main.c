/* Reads records of six words (0 arrival or 1 departure, port, queue, bytes, low and high half of the time) and prints a byte
 * for each arrival: 1 accepted, 0 dropped. With an argument it prints nothing, and the time of a record instead. */
#include "dropcast_rule_config.h"
#include "dropcast_rule.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static dropcast_rule state;

static int decide(const uint32_t *record)
{
    const uint64_t now_ns = record[4] | (uint64_t)record[5] << 32;
    const uint32_t queue = record[1] * DROPCAST_RULE_QUEUES_PER_PORT + record[2];
    if (record[0] == 1) {
        dropcast_rule_departure(&state, queue, record[3], now_ns);
        return -1;
    }
    return dropcast_rule_arrival(&state, queue, record[3], now_ns);
}

int main(int arguments, char **argument)
{
    (void)argument;
    dropcast_rule_init(&state);
    size_t held = 1u << 16, words = 0, got;
    uint32_t *records = (uint32_t *)malloc(held * sizeof *records);
    while (records && (got = fread(records + words, sizeof *records, held - words, stdin)) > 0) {
        words += got;
        if (words == held) {
            held *= 2;
            records = (uint32_t *)realloc(records, held * sizeof *records);
        }
    }
    if (!records) {
        return 2;
    }
    const clock_t begin = clock();
    unsigned long accepted = 0;
    for (size_t at = 0; at + 6 <= words; at += 6) {
        const int verdict = decide(records + at);
        accepted += verdict == 1;
        if (arguments == 1 && verdict >= 0) {
            putchar(verdict);
        }
    }
    if (arguments > 1) {
        const double ns = (double)(clock() - begin) * (1e9 / CLOCKS_PER_SEC);
        printf("%.1f ns a record of %lu, %lu accepted, %lu bytes\n", ns / ((double)words / 6), (unsigned long)(words / 6), accepted,
               (unsigned long)sizeof state);
    }
    free(records);
    return 0;
}
