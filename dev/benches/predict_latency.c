/* How long predict() takes on the rows of a file, in their order: prints two medians over passes,
 * nanoseconds per prediction, of CPU time, with the call of predict() and the loop around it.
 *
 * First the latency: where the next row is found depends, as far as compiler and processor know, on
 * the prediction before, so that predictions do not overlap. Then the time when they may. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "predict.h" /* typedef ... value_t; enum { FEATURES = ... }; */

enum { PASSES = 101 };

int predict(const value_t *row);

static volatile unsigned sink;

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;

    return (difference > 0) - (difference < 0);
}

static double pass(const value_t *rows, size_t count, int dependent, unsigned *drops)
{
    clock_t start = clock();
    size_t at;

    *drops = 0;
    for (at = 0; at < count; at++) {
        unsigned drop = (unsigned)predict(rows + FEATURES * at);

        *drops += drop;
        if (dependent)
            at += drop >> 31; /* never set; only predict() knows */
    }
    return 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)count;
}

int main(int argc, char **argv)
{
    size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    value_t *rows = malloc(count * FEATURES * sizeof *rows);
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    double ns[PASSES];
    unsigned drops = 0;
    int dependent, at;

    if (!rows || !file || fread(rows, FEATURES * sizeof *rows, count, file) != count) {
        fprintf(stderr, "usage: %s ROWS COUNT\n", argv[0]);
        return 1;
    }
    for (dependent = 1; dependent >= 0; dependent--) {
        for (at = 0; at < PASSES; at++) {
            ns[at] = pass(rows, count, dependent, &drops);
            sink = drops;
        }
        qsort(ns, PASSES, sizeof *ns, by_size);
        printf("%.2f ", ns[PASSES / 2]);
    }
    printf("%u\n", drops);
    return 0;
}
