// A switch for DPDK under Credence, whose decision is exported with --switch (docs/c-header.md). Tests build and run it (export/verify/tests/it/dpdk_switch.rs).
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "example_decision.h"

#define PORTS EXAMPLE_SWITCH_PORTS
#define QUEUES EXAMPLE_QUEUES_PER_PORT
#define VERDICTS 5
#define BURST 32
#define CARD_RING 512
#define NEVER UINT64_MAX

static struct rte_ring *queues[PORTS][QUEUES];
static uint32_t turn[PORTS];   /* the queue that a port looks at first */
static uint64_t due_ns[PORTS]; /* when a port may send again; NEVER if it has nothing to send */
static uint64_t counts[VERDICTS];
static struct example_decision state; /* one for each switch, used by one lcore */

#ifdef PACKET_CLOCK
/* The time is the timestamp of the packet that was received last, taken as ns. */
static uint64_t clock_ns;

static void received(const struct rte_mbuf *packet)
{
    static int offset = -1;

    if (offset < 0 && rte_mbuf_dyn_rx_timestamp_register(&offset, NULL) != 0) {
        rte_exit(EXIT_FAILURE, "packets have no timestamps\n");
    }
    clock_ns = *RTE_MBUF_DYNFIELD(packet, offset, const rte_mbuf_timestamp_t *);
}

static uint64_t now_ns(void)
{
    return clock_ns;
}
#else
static void received(const struct rte_mbuf *packet)
{
    (void)packet;
}

static uint64_t now_ns(void)
{
    const uint64_t cycles = rte_get_tsc_cycles(), hz = rte_get_tsc_hz();

    return cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz;
}
#endif

/* A packet for a queue of an output port is queued or dropped. */
static void arrives(uint32_t port, uint32_t queue, struct rte_mbuf *packet)
{
    const uint32_t size_bytes = rte_pktmbuf_pkt_len(packet);
    const enum example_verdict verdict = example_arrival(&state, port, queue, size_bytes, now_ns());

    counts[verdict]++;
    if (!example_accepts(verdict)) {
        rte_pktmbuf_free(packet);
    } else if (rte_ring_sp_enqueue(queues[port][queue], packet) != 0) {
        /* The ring is too small for the buffer. */
        example_departure(&state, port, queue, size_bytes, now_ns());
        rte_pktmbuf_free(packet);
    } else if (due_ns[port] == NEVER) {
        due_ns[port] = now_ns();
    }
}

/* Hands the first packet of a queue to the card; returns how long it is on the wire. */
static uint64_t leaves(uint16_t port, uint32_t queue, uint64_t until_ns)
{
    void *first = NULL;
    struct rte_mbuf *packet;
    uint32_t size_bytes;

    rte_ring_sc_dequeue(queues[port][queue], &first);
    packet = first;
    size_bytes = rte_pktmbuf_pkt_len(packet);
    example_departure(&state, port, queue, size_bytes, until_ns);
    while (rte_eth_tx_burst(port, 0, &packet, 1) == 0) {
    }
    return example_wire_ns(port, size_bytes);
}

/* Every port sends what it can by then, its queues in turn. */
static void serve(uint64_t until_ns)
{
    uint32_t empty;
    uint16_t port;

    for (port = 0; port < PORTS; port++) {
        while (due_ns[port] <= until_ns && due_ns[port] != NEVER) {
            for (empty = 0; empty < QUEUES && rte_ring_empty(queues[port][turn[port]]); empty++) {
                turn[port] = (turn[port] + 1) % QUEUES;
            }
            if (empty == QUEUES) {
                due_ns[port] = NEVER;
            } else {
                due_ns[port] += leaves(port, turn[port], until_ns);
                turn[port] = (turn[port] + 1) % QUEUES;
            }
        }
    }
}

/* Where a packet goes is yours to say. Here the last two bytes of its destination are port and queue. */
static void forward(struct rte_mbuf *packet)
{
    const uint8_t *destination = rte_pktmbuf_mtod(packet, const uint8_t *);

    arrives(destination[4], destination[5], packet);
}

static void start(uint16_t port, struct rte_mempool *pool)
{
    const struct rte_eth_conf conf = {0};
    const int socket = rte_eth_dev_socket_id(port);
    char name[RTE_RING_NAMESIZE];
    uint32_t queue;

    if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 || rte_eth_rx_queue_setup(port, 0, CARD_RING, socket, NULL, pool) != 0
        || rte_eth_tx_queue_setup(port, 0, CARD_RING, socket, NULL) != 0 || rte_eth_dev_start(port) != 0
        || rte_eth_promiscuous_enable(port) != 0) {
        rte_exit(EXIT_FAILURE, "port %u does not start\n", port);
    }
    for (queue = 0; queue < QUEUES; queue++) {
        snprintf(name, sizeof name, "queue %u of %u", queue, port);
        queues[port][queue] =
            rte_ring_create(name, EXAMPLE_PACKETS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
        if (queues[port][queue] == NULL) {
            rte_exit(EXIT_FAILURE, "no memory for %s\n", name);
        }
    }
    due_ns[port] = NEVER;
}

/* DPDK's arguments, then optionally "--" and the number of packets to receive. */
int main(int argc, char **argv)
{
    static const char *const names[VERDICTS] = {"safeguarded", "accepted", "no room", "above threshold", "predicted drop"};
    const int used = rte_eal_init(argc, argv);
    uint64_t left = NEVER, line_rate_bps[PORTS];
    struct rte_mbuf *packets[BURST];
    struct rte_mempool *pool;
    struct rte_eth_link link;
    uint16_t port, count, at;
    size_t verdict;

    if (used < 0 || rte_eth_dev_count_avail() != PORTS) {
        rte_exit(EXIT_FAILURE, "expected %u Ethernet ports\n", PORTS);
    }
    if (used + 1 < argc) {
        left = strtoull(argv[used + 1], NULL, 10);
    }
    pool = rte_pktmbuf_pool_create(
        "packets", EXAMPLE_PACKETS + 2 * PORTS * CARD_RING, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (pool == NULL) {
        rte_exit(EXIT_FAILURE, "no memory for packets\n");
    }
    for (port = 0; port < PORTS; port++) {
        start(port, pool);
        if (rte_eth_link_get(port, &link) != 0) {
            rte_exit(EXIT_FAILURE, "port %u has no link\n", port);
        }
        line_rate_bps[port] = link.link_speed * UINT64_C(1000000);
    }
    if (example_init(&state, PORTS, QUEUES, EXAMPLE_SWITCH_BUFFER_BYTES, EXAMPLE_SWITCH_BASE_RTT_NS, line_rate_bps)
        != EXAMPLE_READY) {
        rte_exit(EXIT_FAILURE, "the decision was exported for other line rates\n");
    }
    while (left > 0) {
        for (port = 0; port < PORTS && left > 0; port++) {
            count = rte_eth_rx_burst(port, 0, packets, left < BURST ? (uint16_t)left : BURST);
            for (at = 0; at < count; at++) {
                received(packets[at]);
                serve(now_ns());
                forward(packets[at]);
            }
            left -= left == NEVER ? 0 : count;
        }
        serve(now_ns());
    }
    serve(NEVER - 1);
    for (verdict = 0; verdict < VERDICTS; verdict++) {
        printf("%s %" PRIu64 "%c", names[verdict], counts[verdict], verdict + 1 == VERDICTS ? '\n' : ' ');
    }
    RTE_ETH_FOREACH_DEV (port) {
        rte_eth_dev_stop(port);
    }
    return rte_eal_cleanup();
}
