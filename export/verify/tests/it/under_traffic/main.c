/* Threads that score rows while another opens, replaces and closes libraries of two models again and again; C and C++.
 *
 * main ROWS REPLACEMENTS: rows come from standard input, FEATURES numbers and then the score and the drop of each
 * model. Prints how many answers are of the first model alone, of the second alone, and of neither. */

#define VERSION_THREADS 2
#include "next_model.h"

#include "model.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = FEATURES + 4 };

struct deciding {
    pthread_t thread;
    unsigned int number;
    unsigned long of_first, of_second, of_neither;
};

/* A library that is open. */
struct opened {
    void *handle;
    const struct model *model;
};

static struct versions versions;
static int is_over;
static uint32_t *rows;
static unsigned long n_rows;

static struct opened opened(const char *path)
{
    struct opened opened;

    opened.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    opened.model = opened.handle ? (const struct model *)dlsym(opened.handle, "model") : NULL;
    if (!opened.model) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return opened;
}

static void *decides(void *argument)
{
    struct deciding *deciding = (struct deciding *)argument;
    unsigned long at;

    for (at = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); at = (at + 1) % n_rows) {
        const uint32_t *row = rows + at * WORDS, *of_first = row + FEATURES, *of_second = of_first + 2;
        const struct model *model = (const struct model *)uses(&versions, deciding->number);
        const uint32_t score = model->score(row), drop = (uint32_t)model->drop(row);
        const int is_first = score == of_first[0] && drop == of_first[1];
        const int is_second = score == of_second[0] && drop == of_second[1];

        deciding->of_first += is_first && !is_second;
        deciding->of_second += is_second && !is_first;
        deciding->of_neither += !is_first && !is_second;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct deciding deciding[VERSION_THREADS];
    struct opened before = opened("./first/library.so");
    unsigned long of_first = 0, of_second = 0, of_neither = 0;
    unsigned int number;
    long turn;

    n_rows = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    rows = (uint32_t *)calloc(n_rows * WORDS + 1, sizeof *rows);
    if (!rows || n_rows == 0 || fread(rows, sizeof *rows * WORDS, n_rows, stdin) != n_rows)
        return 3;
    versions.current = before.model;
    for (number = 0; number < VERSION_THREADS; number++) {
        versions.in_use[number] = before.model;
        memset(&deciding[number], 0, sizeof deciding[number]);
        deciding[number].number = number;
        if (pthread_create(&deciding[number].thread, NULL, decides, &deciding[number]) != 0)
            return 4;
    }
    for (turn = atol(argv[2]); turn > 0; turn--) {
        const struct opened next = opened(turn % 2 == 0 ? "./second/library.so" : "./first/library.so");

        if (replaces(&versions, next.model) != before.model || dlclose(before.handle) != 0)
            return 5;
        before = next;
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (number = 0; number < VERSION_THREADS; number++) {
        pthread_join(deciding[number].thread, NULL);
        of_first += deciding[number].of_first;
        of_second += deciding[number].of_second;
        of_neither += deciding[number].of_neither;
    }
    printf("%lu %lu %lu\n", of_first, of_second, of_neither);
    free(rows);
    return 0;
}
