/* Reads rows from standard input, writes the score and the decision for each to standard output.
 * Every value is a little-endian uint32_t. */
#include "PREFIX.h"

#include <stdio.h>

static uint32_t get(const unsigned char *byte)
{
    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static void put(unsigned char *byte, uint32_t value)
{
    byte[0] = (unsigned char)value;
    byte[1] = (unsigned char)(value >> 8);
    byte[2] = (unsigned char)(value >> 16);
    byte[3] = (unsigned char)(value >> 24);
}

int main(void)
{
    unsigned char in[4 * UPPER_N_FEATURES], out[8];
    uint32_t row[UPPER_N_FEATURES];
    int at;

    while (fread(in, sizeof in, 1, stdin) == 1) {
        for (at = 0; at < UPPER_N_FEATURES; at++)
            row[at] = get(in + 4 * at);
        put(out, PREFIX_score(row));
        put(out + 4, (uint32_t)PREFIX_drop(row));
        if (fwrite(out, sizeof out, 1, stdout) != 1)
            return 1;
    }
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
