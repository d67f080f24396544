/* A frame that tells an XDP program of a packet, and what the program needs of the kernel's headers. Include it before the tables
 * of a policy. For little-endian processors. */
#ifndef DROPCAST_FRAME_H
#define DROPCAST_FRAME_H

#include <stdint.h>

#ifdef __clang__
/* Tables of 8, 16 and 32 bytes would otherwise be in sections that libbpf does not open. */
#pragma clang section rodata = ".rodata"
#endif

/* An Ethernet header of the type for local experiments, then the packet, big-endian. */
struct dropcast_frame {
    uint8_t addresses[12];
    uint16_t ethertype;
    uint16_t port;
    uint16_t queue;
    uint32_t kind; /* 0: it arrives; 1: one that was accepted leaves its queue */
    uint32_t size_bytes;
    uint32_t time_high;
    uint32_t time_low;
} __attribute__((packed));

/* A frame of a packet whose flow is known. */
struct dropcast_flow_frame {
    struct dropcast_frame packet;
    uint64_t flow_hash;
} __attribute__((packed));

/* The context of XDP. */
struct xdp_md {
    uint32_t data;
    uint32_t data_end;
    uint32_t data_meta;
    uint32_t ingress_ifindex;
    uint32_t rx_queue_index;
    uint32_t egress_ifindex;
};

enum { XDP_ABORTED = 0, XDP_DROP = 1, XDP_PASS = 2 };

/* The frame; null if it is none. */
static inline const struct dropcast_frame *dropcast_frame_of(const struct xdp_md *context)
{
    const struct dropcast_frame *frame = (const void *)(uint64_t)context->data;
    if ((const void *)(frame + 1) > (const void *)(uint64_t)context->data_end || frame->ethertype != __builtin_bswap16(0x88b5)) {
        return 0;
    }
    return frame;
}

static inline uint64_t dropcast_frame_time(const struct dropcast_frame *frame)
{
    return (uint64_t)__builtin_bswap32(frame->time_high) << 32 | __builtin_bswap32(frame->time_low);
}

#endif
