/* Reads rows from standard input and writes the score and the decision for each to standard output,
 * or, called with an argument, prints the nanoseconds that one prediction takes. All values
 * are little-endian uint32_t. */
#include "PREFIX.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PASSES = 21, ROW_BYTES = 4 * UPPER_N_FEATURES };

static int read_row(uint32_t row[UPPER_N_FEATURES])
{
    unsigned char bytes[ROW_BYTES];
    int at;

    if (fread(bytes, sizeof bytes, 1, stdin) != 1)
        return 0;
    for (at = 0; at < UPPER_N_FEATURES; at++) {
        const unsigned char *byte = bytes + 4 * at;

        row[at] = byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16
                  | (uint32_t)byte[3] << 24;
    }
    return 1;
}

static void put(unsigned char *byte, uint32_t value)
{
    byte[0] = (unsigned char)value;
    byte[1] = (unsigned char)(value >> 8);
    byte[2] = (unsigned char)(value >> 16);
    byte[3] = (unsigned char)(value >> 24);
}

static int answer(void)
{
    unsigned char answer[8];
    uint32_t row[UPPER_N_FEATURES];

    while (read_row(row)) {
        put(answer, PREFIX_score(row));
        put(answer + 4, (uint32_t)PREFIX_drop(row));
        if (fwrite(answer, sizeof answer, 1, stdout) != 1)
            return 1;
    }
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}

static int predict(const uint32_t *row)
{
    return PREFIX_drop(row);
}

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;

    return (difference > 0) - (difference < 0);
}

/* A row's address depends, as far as compiler and processor know, on the previous prediction, so
 * predictions do not overlap. The call is included in the time. */
static int measure(void)
{
    int (*volatile called)(const uint32_t *) = predict;
    int (*predicted)(const uint32_t *) = called;
    uint32_t *rows = NULL, *more;
    size_t n_rows = 0, room = 0, at;
    double ns[PASSES];
    int pass;

    do {
        if (n_rows == room) {
            room = room ? 2 * room : 1024;
            more = realloc(rows, room * UPPER_N_FEATURES * sizeof *rows);
            if (!more)
                return 1;
            rows = more;
        }
    } while (read_row(rows + UPPER_N_FEATURES * n_rows) && ++n_rows);
    if (n_rows == 0 || ferror(stdin))
        return 1;
    for (pass = 0; pass < PASSES; pass++) {
        clock_t start = clock();

        for (at = 0; at < n_rows; at++)
            at += (size_t)((unsigned)predicted(rows + UPPER_N_FEATURES * at) >> 31);
        ns[pass] = 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)n_rows;
    }
    qsort(ns, PASSES, sizeof *ns, by_size);
    printf("%.3f\n", ns[PASSES / 2]);
    free(rows);
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? measure() : answer();
}
