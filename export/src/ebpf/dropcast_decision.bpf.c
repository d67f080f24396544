/* An XDP program that decides about packets which frames describe. Comes after dropcast_decision.h for eBPF, and
 * DROPCAST_NAME and DROPCAST_CONSTANT again. */
#ifdef DROPCAST_NAME
#define dropcast_event DROPCAST_NAME(event)
#define dropcast_constants DROPCAST_NAME(constants)
#define dropcast_switch DROPCAST_NAME(switch)
#define dropcast_state DROPCAST_NAME(state)
#define dropcast_xdp DROPCAST_NAME(xdp)
#define dropcast_license DROPCAST_NAME(license)
#define DROPCAST_SWITCH_PORTS DROPCAST_CONSTANT(SWITCH_PORTS)
#endif

/* What a frame holds, after its Ethernet header of type 0x88b5 (for local experiments), big-endian. */
struct dropcast_event {
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
struct dropcast_constants {
    __u64 buffer_bytes;
    __u64 base_rtt_ns;
    __u64 line_rate_bps[DROPCAST_SWITCH_PORTS];
    __u32 ports;
    __u32 queues_per_port;
    __u32 falls_back;
    /* Written by the program: 1 + what dropcast_init said; 0 if no frame was seen. */
    __u32 readiness;
};

struct {
    int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
    __u32 *key;
    struct dropcast_constants *value;
    int (*max_entries)[1];
} dropcast_switch __attribute__((section(".maps"), used));

struct {
    int (*type)[2];
    __u32 *key;
    struct dropcast_decision *value;
    int (*max_entries)[1];
} dropcast_state __attribute__((section(".maps"), used));

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
__attribute__((section("xdp"), used)) int dropcast_xdp(struct xdp_md *context)
{
    struct dropcast_event *event = (void *)(__u64)context->data;
    const __u32 first = 0;
    struct dropcast_constants *own;
    struct dropcast_decision *state;
    enum dropcast_verdict verdict;
    __u32 port, queue, size_bytes;
    __u64 now_ns;

    if ((void *)(event + 1) > (void *)(__u64)context->data_end || event->ethertype != __builtin_bswap16(0x88b5)) {
        return XDP_PASS;
    }
    own = bpf_map_lookup_elem(&dropcast_switch, &first);
    state = bpf_map_lookup_elem(&dropcast_state, &first);
    if (!own || !state) {
        return XDP_ABORTED;
    }
    if (own->readiness == 0) {
        const enum dropcast_readiness said =
            dropcast_init(state, own->ports, own->queues_per_port, own->buffer_bytes, own->base_rtt_ns, own->line_rate_bps);

        own->readiness = 1u + (__u32)said;
        dropcast_fall_back(state, (int)own->falls_back);
    }
    if (own->readiness != 1u + DROPCAST_READY) {
        return XDP_ABORTED;
    }
    port = __builtin_bswap16(event->port);
    queue = __builtin_bswap16(event->queue);
    size_bytes = __builtin_bswap32(event->size_bytes);
    now_ns = (__u64)__builtin_bswap32(event->time_high) << 32 | __builtin_bswap32(event->time_low);
    if (event->kind != 0) {
        dropcast_departure(state, port, queue, size_bytes, now_ns);
        return XDP_PASS;
    }
    verdict = dropcast_arrival(state, port, queue, size_bytes, now_ns);
    event->kind = __builtin_bswap32((__u32)verdict);
    return dropcast_accepts(verdict) ? XDP_PASS : XDP_DROP;
}

char dropcast_license[] __attribute__((section("license"), used)) = "MIT";
