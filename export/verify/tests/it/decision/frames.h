/* What kernel.c and interface.c share: the constants of the exported XDP program, and the frame that describes a packet to it. It stands
 * before them in one file. */

#define _GNU_SOURCE
#include <stdint.h>

enum { PORTS = SWITCH_PORTS };

struct constants {
    uint64_t buffer_bytes;
    uint64_t base_rtt_ns;
    uint64_t line_rate_bps[PORTS];
    uint32_t ports;
    uint32_t queues_per_port;
    uint32_t falls_back;
    uint32_t readiness;
};

struct event {
    uint8_t addresses[12];
    uint16_t ethertype;
    uint16_t port;
    uint16_t queue;
    uint32_t kind;
    uint32_t size_bytes;
    uint32_t time_high;
    uint32_t time_low;
} __attribute__((packed));
