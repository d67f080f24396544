/* An XDP program that decides by the untrained rule about packets which frames tell it of. docs/rule.md of dropcast describes
 * the frames. For little-endian processors; needs no header of the system's.
 *
 *     clang -O2 -ffreestanding -target bpf -mcpu=v3 -c dropcast_rule.bpf.c -o dropcast_rule.bpf.o */
#include "dropcast_frame.h"
#include "dropcast_rule_config.h"
#include "dropcast_rule.h"

/* One switch; no lock, so let one CPU handle it. */
static dropcast_rule state;

/* XDP_DROP if the packet is to be dropped, XDP_PASS if it is to be added to its queue or the frame tells nothing, XDP_ABORTED
 * if there is no such queue or kind. */
__attribute__((section("xdp"), used)) int dropcast_rule_xdp(struct xdp_md *context)
{
    const struct dropcast_frame *frame = dropcast_frame_of(context);
    if (!frame) {
        return XDP_PASS;
    }
    const uint32_t port = __builtin_bswap16(frame->port), class = __builtin_bswap16(frame->queue);
    const uint32_t number = port * DROPCAST_RULE_QUEUES_PER_PORT + class, kind = __builtin_bswap32(frame->kind);
    if (class >= DROPCAST_RULE_QUEUES_PER_PORT || number >= DROPCAST_RULE_QUEUES || kind > 1) {
        return XDP_ABORTED;
    }
    const uint32_t size_bytes = __builtin_bswap32(frame->size_bytes);
    const uint64_t now_ns = dropcast_frame_time(frame);
    if (kind == 1) {
        dropcast_rule_departure(&state, number, size_bytes, now_ns);
        return XDP_PASS;
    }
    return dropcast_rule_arrival(&state, number, size_bytes, now_ns) ? XDP_PASS : XDP_DROP;
}

char dropcast_rule_license[] __attribute__((section("license"), used)) = "MIT";
