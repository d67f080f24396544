typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;

#include "@prefixdecision.bpf.h"

/* What a frame tells, after its Ethernet header of type 0x88b5 (for local experiments), big-endian. */
struct @prefixevent {
    __u8 destination[6];
    __u8 source[6];
    __u16 ethertype;
    __u16 port;
    __u16 queue;
    __u32 kind; /* 0: a packet arrives, 1: an accepted one leaves; the answer is written here */
    __u32 size_bytes;
    __u32 time_high;
    __u32 time_low;
} __attribute__((packed));

/* The constants of the switch that runs this program, filled in before it is attached. */
struct @prefixconstants {
    __u64 buffer_bytes;
    __u64 base_rtt_ns;
    __u64 line_rate_bps[@CSWITCH_PORTS];
    __u32 ports;
    __u32 queues_per_port;
    __u32 falls_back;
    /* Written by the program: 1 + what @prefixinit said; 0 if no frame was seen. */
    __u32 readiness;
};

struct {
    int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
    __u32 *key;
    struct @prefixconstants *value;
    int (*max_entries)[1];
} @prefixswitch __attribute__((section(".maps"), used));

struct {
    int (*type)[2];
    __u32 *key;
    struct @prefixdecision *value;
    int (*max_entries)[1];
} @prefixstate __attribute__((section(".maps"), used));

/* The context of XDP. */
struct xdp_md {
    __u32 data;
    __u32 data_end;
    __u32 data_meta;
    __u32 ingress_ifindex;
    __u32 rx_queue_index;
    __u32 egress_ifindex;
};

enum { XDP_ABORTED = 0, XDP_DROP = 1, XDP_PASS = 2 };

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;

/* XDP_DROP if the packet is to be dropped, XDP_PASS if it is to be added to its queue or the frame tells
 * nothing, XDP_ABORTED if this program is for another switch. The verdict is in the frame too. */
__attribute__((section("xdp"), used)) int @prefixxdp(struct xdp_md *context)
{
    struct @prefixevent *event = (void *)(__u64)context->data;
    const __u32 first = 0;
    struct @prefixconstants *own;
    struct @prefixdecision *state;
    enum @prefixverdict verdict;
    __u32 port, queue, size_bytes;
    __u64 now_ns;

    if ((void *)(event + 1) > (void *)(__u64)context->data_end
        || event->ethertype != __builtin_bswap16(0x88b5)) {
        return XDP_PASS;
    }
    own = bpf_map_lookup_elem(&@prefixswitch, &first);
    state = bpf_map_lookup_elem(&@prefixstate, &first);
    if (!own || !state) {
        return XDP_ABORTED;
    }
    if (own->readiness == 0) {
        own->readiness = 1u + (__u32)@prefixinit(state, own->ports, own->queues_per_port,
            own->buffer_bytes, own->base_rtt_ns, own->line_rate_bps);
        @prefixfall_back(state, (int)own->falls_back);
    }
    if (own->readiness != 1u + @CREADY) {
        return XDP_ABORTED;
    }
    port = __builtin_bswap16(event->port);
    queue = __builtin_bswap16(event->queue);
    size_bytes = __builtin_bswap32(event->size_bytes);
    now_ns = (__u64)__builtin_bswap32(event->time_high) << 32 | __builtin_bswap32(event->time_low);
    if (event->kind != 0) {
        @prefixdeparture(state, port, queue, size_bytes, now_ns);
        return XDP_PASS;
    }
    verdict = @prefixarrival(state, port, queue, size_bytes, now_ns);
    event->kind = __builtin_bswap32((__u32)verdict);
    return @prefixaccepts(verdict) ? XDP_PASS : XDP_DROP;
}

char @prefixlicense[] __attribute__((section("license"), used)) = "MIT";
