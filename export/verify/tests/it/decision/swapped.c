/* Decides about records from standard input with one library, and from the record in the middle on with another over the same
 * state. Prints one byte for each arrival, its verdict. Exit status 3: their layouts differ.
 *
 * With -1 as the record: another thread lets one and the other decide by turns, at least once in PACKETS_A_TURN records. */

#define VERSION_THREADS 1
#include "next_model.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct library {
    uint32_t (*layout)(void);
    size_t (*size)(void);
    int (*start)(void *state);
    int (*arrival)(void *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns);
    void (*departure)(void *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns);
};

static struct library opened(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct library library;

    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    *(void **)&library.layout = dlsym(handle, "layout");
    *(void **)&library.size = dlsym(handle, "size");
    *(void **)&library.start = dlsym(handle, "start");
    *(void **)&library.arrival = dlsym(handle, "arrival");
    *(void **)&library.departure = dlsym(handle, "departure");
    return library;
}

enum { PACKETS_A_TURN = 1000 };

static struct library libraries[2];
static struct versions versions;
static long turns;
static int is_over;

static void *takes_turns(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        replaces(&versions, &libraries[(turns + 1) % 2]);
        __atomic_add_fetch(&turns, 1, __ATOMIC_RELEASE);
    }
    /* That this thread has ended. */
    __atomic_store_n(&turns, -1, __ATOMIC_RELEASE);
    return unused;
}

/* Until the other thread has replaced the library once more, or has ended. */
static void wait_for_turn(long after)
{
    long now;

    do {
        uses(&versions, 0);
        now = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
    } while (now != -1 && now <= after);
}

int main(int argc, char **argv)
{
    const long half = argc == 4 ? atol(argv[3]) : 0;
    pthread_t thread;
    uint32_t record[6];
    long records, seen = 0;
    void *state;

    libraries[0] = opened(argv[1]);
    libraries[1] = opened(argv[2]);
    versions.current = versions.in_use[0] = &libraries[0];
    state = malloc(libraries[0].size());
    if (libraries[0].layout() != libraries[1].layout())
        return 3;
    if (!state || libraries[0].size() != libraries[1].size() || libraries[0].start(state) != 0)
        return 4;
    if (half < 0 && pthread_create(&thread, NULL, takes_turns, NULL) != 0)
        return 5;
    for (records = 0; fread(record, sizeof record, 1, stdin) == 1; records++) {
        const uint64_t now_ns = record[4] | (uint64_t)record[5] << 32;
        const struct library *library = half < 0 ? uses(&versions, 0) : &libraries[records >= half];

        if (record[0] == 0)
            putchar(library->arrival(state, record[1], record[2], record[3], now_ns));
        else
            library->departure(state, record[1], record[2], record[3], now_ns);
        if (half < 0 && records % PACKETS_A_TURN == 0)
            wait_for_turn(seen++);
    }
    if (half < 0) {
        __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
        wait_for_turn(LONG_MAX - 1);
        pthread_join(thread, NULL);
    }
    free(state);
    return 0;
}
