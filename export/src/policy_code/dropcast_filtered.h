/* Dynamic Thresholds with a filter, on a switch's own queues: what the untrained rule (dropcast_rule.h) and a forest
 * (dropcast_filter.h) have in common. Queues and their reserved bytes, the threshold, and the gate: predicted drops are followed only
 * while enough of them come true. C99, integers only, valid C++ too. */
#ifndef DROPCAST_FILTERED_H
#define DROPCAST_FILTERED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A queue. */
typedef struct {
    uint32_t length_bytes;  /* what it holds of the shared buffer */
    uint32_t beside_bytes;  /* what it holds of the bytes that are reserved for it */
    uint32_t predictions;   /* drops predicted of which is not known whether they come true */
    uint32_t phantom_bytes; /* the packets among them that were dropped */
} dropcast_filtered_queue;

/* The buffer: sums over the queues. */
typedef struct {
    uint32_t occupancy_bytes;
    uint32_t long_queues; /* that hold B/N or more: without one no drop is predicted */
    uint32_t predictions;
    uint32_t phantom_bytes;
    uint32_t confirmed; /* share of predictions that came true, in 65,536ths */
} dropcast_filtered_buffer;

static inline void dropcast_filtered_init(dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queues, uint32_t count)
{
    const dropcast_filtered_queue empty = {0, 0, 0, 0};
    for (uint32_t queue = 0; queue < count; queue++) {
        queues[queue] = empty;
    }
    buffer->occupancy_bytes = 0;
    buffer->long_queues = 0;
    buffer->predictions = 0;
    buffer->phantom_bytes = 0;
    buffer->confirmed = 0;
}

/* What a packet adds to the shared buffer: nothing while the bytes that are reserved for its queue have room. */
static inline uint32_t dropcast_filtered_part(const dropcast_filtered_queue *queue, uint32_t reserved_bytes, uint32_t size_bytes)
{
    const uint32_t room_bytes = reserved_bytes - queue->beside_bytes;
    return size_bytes > room_bytes ? size_bytes - room_bytes : 0;
}

/* Whether Dynamic Thresholds accept a packet that adds part_bytes to the shared buffer. If it overflows the buffer with the packets
 * that were dropped on predictions, all of these come true. */
static inline int dropcast_filtered_fits(dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queues, uint32_t count,
    uint32_t number, uint32_t alpha_128, uint32_t part_bytes, uint32_t buffer_bytes)
{
    const uint64_t with_packet = (uint64_t)buffer->occupancy_bytes + part_bytes;
    if (buffer->predictions > 0 && with_packet + buffer->phantom_bytes > buffer_bytes) {
        buffer->confirmed += (65536 - buffer->confirmed) >> 4;
        buffer->predictions = 0;
        buffer->phantom_bytes = 0;
        for (uint32_t queue = 0; queue < count; queue++) {
            queues[queue].predictions = 0;
            queues[queue].phantom_bytes = 0;
        }
    }
    const uint64_t free_bytes = buffer_bytes - buffer->occupancy_bytes;
    return 128 * (uint64_t)queues[number].length_bytes < alpha_128 * free_bytes && with_packet <= buffer_bytes;
}

/* The packet is predicted to be dropped. Returns whether enough predictions came true to drop it. */
static inline int dropcast_filtered_follows(
    dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queue, uint32_t part_bytes, uint32_t gate)
{
    const int is_followed = buffer->confirmed >= gate;
    const uint32_t phantom_bytes = is_followed ? part_bytes : 0;
    queue->predictions += 1;
    queue->phantom_bytes += phantom_bytes;
    buffer->predictions += 1;
    buffer->phantom_bytes += phantom_bytes;
    return is_followed;
}

/* A queue now holds so many bytes of the shared buffer. */
static inline void dropcast_filtered_resize(
    dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queue, uint32_t length_bytes, uint32_t long_bytes)
{
    buffer->occupancy_bytes = buffer->occupancy_bytes - queue->length_bytes + length_bytes;
    buffer->long_queues -= queue->length_bytes >= long_bytes;
    buffer->long_queues += length_bytes >= long_bytes;
    queue->length_bytes = length_bytes;
}

/* A packet that was accepted is added to its queue. */
static inline void dropcast_filtered_add(dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queue, uint32_t size_bytes,
    uint32_t part_bytes, uint32_t long_bytes)
{
    dropcast_filtered_resize(buffer, queue, queue->length_bytes + part_bytes, long_bytes);
    queue->beside_bytes += size_bytes - part_bytes;
}

/* A packet left its queue. Returns what it held of the shared buffer. */
static inline uint32_t dropcast_filtered_remove(
    dropcast_filtered_buffer *buffer, dropcast_filtered_queue *queue, uint32_t size_bytes, uint32_t long_bytes)
{
    const uint32_t part_bytes = size_bytes < queue->length_bytes ? size_bytes : queue->length_bytes;
    queue->beside_bytes -= size_bytes - part_bytes;
    dropcast_filtered_resize(buffer, queue, queue->length_bytes - part_bytes, long_bytes);
    if (queue->length_bytes == 0 && queue->beside_bytes == 0 && queue->predictions > 0) {
        buffer->confirmed -= buffer->confirmed >> 4;
        buffer->predictions -= queue->predictions;
        buffer->phantom_bytes -= queue->phantom_bytes;
        queue->predictions = 0;
        queue->phantom_bytes = 0;
    }
    return part_bytes;
}

#ifdef __cplusplus
}
#endif

#endif
