/* Decides about records from standard input with one library, and from the record in the middle on with another over the same
 * state. Prints one byte for each arrival, its verdict. Exit status 3: their layouts differ. */

#include <dlfcn.h>
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

int main(int argc, char **argv)
{
    const long half = argc == 4 ? atol(argv[3]) : 0;
    struct library library = opened(argv[1]);
    const struct library next = opened(argv[2]);
    void *state = malloc(library.size());
    uint32_t record[6];
    long records;

    if (library.layout() != next.layout())
        return 3;
    if (!state || library.size() != next.size() || library.start(state) != 0)
        return 4;
    for (records = 0; fread(record, sizeof record, 1, stdin) == 1; records++) {
        const uint64_t now_ns = record[4] | (uint64_t)record[5] << 32;

        if (records == half)
            library = next;
        if (record[0] == 0)
            putchar(library.arrival(state, record[1], record[2], record[3], now_ns));
        else
            library.departure(state, record[1], record[2], record[3], now_ns);
    }
    return 0;
}
