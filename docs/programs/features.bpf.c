#include <linux/types.h>

#include "example.bpf.h"

#define QUEUES 20
#define DRAIN_BYTES 63000 /* what a port sends in two base RTTs: 10 Gbit/s, 25.2 us */

struct event {
    __u32 kind; /* 0: arrives, 1: accepted by LQD, 2: departed or pushed out, 3: accepted or rejected */
    __u32 queue;
    __u32 size_bytes;
    __u32 unused;
    __u64 time_ns;
};

struct state {
    struct example_level buffer;
    struct example_level queues[QUEUES];
};

struct {
    int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
    __u32 *key;
    struct state *value;
    int (*max_entries)[1];
} states __attribute__((section(".maps"), used));

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;

__attribute__((section("syscall"), used)) int event(const volatile struct event *event)
{
    const __u32 first = 0, queue = event->queue, size_bytes = event->size_bytes;
    struct state *state = bpf_map_lookup_elem(&states, &first);
    struct example_row row;

    if (!state || queue >= QUEUES) {
        return 0;
    }
    switch (event->kind) {
    case 0:
        example_observe(&state->queues[queue], &state->buffer, state->queues, QUEUES, &row);
        return example_drop(&row);
    case 1:
        example_add(&state->queues[queue], size_bytes);
        example_add(&state->buffer, size_bytes);
        return 0;
    case 2:
        example_remove(&state->queues[queue], size_bytes, event->time_ns);
        example_remove(&state->buffer, size_bytes, event->time_ns);
        example_project(&state->queues[queue], &state->buffer, 0, DRAIN_BYTES, event->time_ns);
        return 0;
    default:
        example_project(&state->queues[queue], &state->buffer, size_bytes, DRAIN_BYTES, event->time_ns);
        return 0;
    }
}

char _license[] __attribute__((section("license"), used)) = "MIT";
