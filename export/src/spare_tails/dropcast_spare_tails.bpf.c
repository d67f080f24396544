/* An XDP program that decides by early drops in bursts about packets which frames tell it of. lab/notes/spare-tails.md of dropcast
 * describes the frames. For little-endian processors; needs no header of the system's.
 *
 *     clang -O2 -ffreestanding -target bpf -mcpu=v3 -c dropcast_spare_tails.bpf.c -o dropcast_spare_tails.bpf.o */

/* Or clang makes branches of arithmetic, and the kernel's verifier follows too many ways. */
#define DROPCAST_SPARE_TAILS_OPAQUE(value) __asm__ volatile("" : "+r"(value))

#include "dropcast_frame.h"
#include "dropcast_spare_tails_config.h"
#include "dropcast_spare_tails.h"

/* One switch; no lock, so let one CPU handle it. */
static dropcast_spare_tails state;

/* XDP_DROP if the packet is to be dropped, XDP_PASS if it is to be added to its queue or the frame tells nothing, XDP_ABORTED
 * if there is no such queue or kind, or an arrival without its flow. */
__attribute__((section("xdp"), used)) int dropcast_spare_tails_xdp(struct xdp_md *context)
{
    const struct dropcast_frame *frame = dropcast_frame_of(context);
    if (!frame) {
        return XDP_PASS;
    }
    const uint32_t port = __builtin_bswap16(frame->port), class = __builtin_bswap16(frame->queue);
    const uint32_t number = port * DROPCAST_SPARE_TAILS_QUEUES_PER_PORT + class, kind = __builtin_bswap32(frame->kind);
    if (class >= DROPCAST_SPARE_TAILS_QUEUES_PER_PORT || number >= DROPCAST_SPARE_TAILS_QUEUES || kind > 1) {
        return XDP_ABORTED;
    }
    const uint32_t size_bytes = __builtin_bswap32(frame->size_bytes);
    if (kind == 1) {
        dropcast_spare_tails_departure(&state, number, size_bytes);
        return XDP_PASS;
    }
    const struct dropcast_flow_frame *arrival = (const void *)frame;
    if ((const void *)(arrival + 1) > (const void *)(uint64_t)context->data_end) {
        return XDP_ABORTED;
    }
    const uint64_t flow_hash = __builtin_bswap64(arrival->flow_hash), now_ns = dropcast_frame_time(frame);
    return dropcast_spare_tails_arrival(&state, number, size_bytes, flow_hash, now_ns) ? XDP_PASS : XDP_DROP;
}

char dropcast_spare_tails_license[] __attribute__((section("license"), used)) = "MIT";
