/* An XDP program that decides by the untrained rule about packets which frames tell it of. docs/rule.md of dropcast describes
 * the frames. For little-endian processors; needs no header of the system's.
 *
 *     clang -O2 -ffreestanding -target bpf -mcpu=v3 -c dropcast_rule.bpf.c -o dropcast_rule.bpf.o */
#include "dropcast_rule_config.h"
#include "dropcast_rule.h"

/* One switch; no lock, so let one CPU handle it. */
static dropcast_rule state;

/* A frame: an Ethernet header of the type for local experiments, then the packet, big-endian. */
struct dropcast_rule_event {
    uint8_t addresses[12];
    uint16_t ethertype;
    uint16_t port;
    uint16_t queue;
    uint32_t kind; /* 0: it arrives; 1: one that was accepted leaves its queue */
    uint32_t size_bytes;
    uint32_t time_high;
    uint32_t time_low;
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

/* XDP_DROP if the packet is to be dropped, XDP_PASS if it is to be added to its queue or the frame tells nothing, XDP_ABORTED
 * if there is no such queue or kind. */
__attribute__((section("xdp"), used)) int dropcast_rule_xdp(struct xdp_md *context)
{
    const struct dropcast_rule_event *event = (const void *)(uint64_t)context->data;
    if ((const void *)(event + 1) > (const void *)(uint64_t)context->data_end
        || event->ethertype != __builtin_bswap16(0x88b5)) {
        return XDP_PASS;
    }
    const uint32_t port = __builtin_bswap16(event->port), class = __builtin_bswap16(event->queue);
    const uint32_t number = port * DROPCAST_RULE_QUEUES_PER_PORT + class, kind = __builtin_bswap32(event->kind);
    if (class >= DROPCAST_RULE_QUEUES_PER_PORT || number >= DROPCAST_RULE_QUEUES || kind > 1) {
        return XDP_ABORTED;
    }
    const uint32_t size_bytes = __builtin_bswap32(event->size_bytes);
    const uint64_t now_ns = (uint64_t)__builtin_bswap32(event->time_high) << 32 | __builtin_bswap32(event->time_low);
    if (kind == 1) {
        dropcast_rule_departure(&state, number, size_bytes, now_ns);
        return XDP_PASS;
    }
    return dropcast_rule_arrival(&state, number, size_bytes, now_ns) ? XDP_PASS : XDP_DROP;
}

char dropcast_rule_license[] __attribute__((section("license"), used)) = "MIT";
