/* Reads records of eight words (0 arrival or 1 departure, port, queue, bytes, low and high half of the time, and of the flow's
 * hash) and prints a byte for each arrival: 1 accepted, 0 dropped. With an argument it prints nothing, and the time of a record
 * instead. subject.h includes the code, and says how it is called. */
#include "subject.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static SUBJECT_STATE state;

static int decide(const uint32_t *record)
{
    const uint64_t now_ns = record[4] | (uint64_t)record[5] << 32;
    const uint64_t flow_hash = record[6] | (uint64_t)record[7] << 32;
    const uint32_t queue = record[1] * SUBJECT_QUEUES_PER_PORT + record[2];
    if (record[0] == 1) {
        SUBJECT_DEPARTURE(&state, queue, record[3]);
        return -1;
    }
    (void)flow_hash;
    return SUBJECT_ARRIVAL(&state, queue, record[3], flow_hash, now_ns);
}

int main(int arguments, char **argument)
{
    (void)argument;
    SUBJECT_INIT(&state);
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
    for (size_t at = 0; at + 8 <= words; at += 8) {
        const int verdict = decide(records + at);
        accepted += verdict == 1;
        if (arguments == 1 && verdict >= 0) {
            putchar(verdict);
        }
    }
    if (arguments > 1) {
        const double ns = (double)(clock() - begin) * (1e9 / CLOCKS_PER_SEC);
        printf("%.1f ns a record of %lu, %lu accepted, %lu bytes\n", ns / ((double)words / 8), (unsigned long)(words / 8), accepted,
               (unsigned long)sizeof state);
    }
    free(records);
    return 0;
}
