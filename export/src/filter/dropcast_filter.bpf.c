/* An XDP program that decides by a forest over Dynamic Thresholds about packets which frames tell it of. docs/filter.md of dropcast
 * describes the frames. For little-endian processors; needs no header of the system's, but -g: loaders read there which functions
 * are global.
 *
 *     clang -O2 -g -ffreestanding -target bpf -mcpu=v3 -c dropcast_filter.bpf.c -o dropcast_filter.bpf.o */

/* Of linux/types.h, which the forest needs. */
typedef unsigned int __u32;
typedef unsigned long long __u64;

#include "dropcast_frame.h"
#include "dropcast_filter_config.h"
#include "dropcast_filter.h"

/* One switch; no lock, so let one CPU handle it. */
static dropcast_filter state;

/* XDP_DROP if the packet is to be dropped, XDP_PASS if it is to be added to its queue or the frame tells nothing, XDP_ABORTED
 * if there is no such queue or kind. */
__attribute__((section("xdp"), used)) int dropcast_filter_xdp(struct xdp_md *context)
{
    const struct dropcast_frame *frame = dropcast_frame_of(context);
    if (!frame) {
        return XDP_PASS;
    }
    const uint32_t port = __builtin_bswap16(frame->port), class = __builtin_bswap16(frame->queue);
    const uint32_t number = port * DROPCAST_FILTER_QUEUES_PER_PORT + class, kind = __builtin_bswap32(frame->kind);
    if (class >= DROPCAST_FILTER_QUEUES_PER_PORT || number >= DROPCAST_FILTER_QUEUES || kind > 1) {
        return XDP_ABORTED;
    }
    const uint32_t size_bytes = __builtin_bswap32(frame->size_bytes);
    const uint64_t now_ns = dropcast_frame_time(frame);
    if (kind == 1) {
        dropcast_filter_departure(&state, number, size_bytes, now_ns);
        return XDP_PASS;
    }
    return dropcast_filter_arrival(&state, number, size_bytes, now_ns) ? XDP_PASS : XDP_DROP;
}

char dropcast_filter_license[] __attribute__((section("license"), used)) = "MIT";
