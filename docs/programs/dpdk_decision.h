// What dpdk_switch.c asks (docs/dpdk.md): the decision whose header is in a folder of -I.
#include <stdint.h>
#include <string.h>

#if __has_include("example_decision.h")
/* Credence's whole decision (docs/decision.md). */
#include "example_decision.h"

#define SWITCH_PORTS EXAMPLE_SWITCH_PORTS
#define SWITCH_QUEUES EXAMPLE_QUEUES_PER_PORT
#define SWITCH_PACKETS EXAMPLE_PACKETS

static struct example_decision state; /* one for each switch, used by one lcore */

static int decision_starts(const uint64_t *line_rate_bps)
{
    const uint32_t buffer_bytes = EXAMPLE_SWITCH_BUFFER_BYTES, base_rtt_ns = EXAMPLE_SWITCH_BASE_RTT_NS;

    return example_init(&state, SWITCH_PORTS, SWITCH_QUEUES, buffer_bytes, base_rtt_ns, line_rate_bps) == EXAMPLE_READY;
}

/* Whether a packet is accepted; why, in *reason. */
static int decision_arrival(uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns, int *reason)
{
    const enum example_verdict verdict = example_arrival(&state, port, queue, size_bytes, now_ns);

    (void)flow_hash;
    *reason = (int)verdict;
    return example_accepts(verdict);
}

static void decision_departure(uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t left_ns, uint64_t now_ns)
{
    (void)left_ns;
    example_departure(&state, port, queue, size_bytes, now_ns);
}

/* Time on the wire, rounded up, with the overhead that the switch's description has. */
static uint64_t decision_wire_ns(uint32_t port, uint32_t size_bytes)
{
    return example_wire_ns(port, size_bytes);
}

static const char *const decision_reasons[] = {"safeguarded", "accepted", "no room", "above threshold", "predicted drop"};

#else
/* A policy on the switch's own queues. */
#if __has_include("dropcast_spare_tails.h")
#include "dropcast_spare_tails_config.h"
#include "dropcast_spare_tails.h"
#define POLICY(name) dropcast_spare_tails##name
#define CONSTANT(name) DROPCAST_SPARE_TAILS_##name
#else
#include "dropcast_fab_config.h"
#include "dropcast_fab.h"
#define POLICY(name) dropcast_fab##name
#define CONSTANT(name) DROPCAST_FAB_##name
#endif

#define SWITCH_QUEUES CONSTANT(QUEUES_PER_PORT)
#define SWITCH_PORTS (CONSTANT(QUEUES) / SWITCH_QUEUES)
/* So many packets of 64 bytes fill the buffer. */
#define SWITCH_PACKETS (CONSTANT(BUFFER_BYTES) / 64u)

#ifndef WIRE_OVERHEAD_BYTES
#define WIRE_OVERHEAD_BYTES 24 /* what a frame takes on the wire beside its bytes in the buffer: Ethernet's */
#endif

static POLICY() state; /* one for each switch, used by one lcore */
static uint64_t port_bps[SWITCH_PORTS];

static int decision_starts(const uint64_t *line_rate_bps)
{
    memcpy(port_bps, line_rate_bps, sizeof port_bps);
    POLICY(_init)(&state);
    return 1;
}

/* Whether a packet is accepted; the same in *reason. */
static int decision_arrival(uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t flow_hash, uint64_t now_ns, int *reason)
{
    const uint32_t number = port * SWITCH_QUEUES + queue;
    const int accepted = POLICY(_arrival)(&state, number, size_bytes, flow_hash, now_ns);

    *reason = accepted;
    return accepted;
}

static void decision_departure(uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t left_ns, uint64_t now_ns)
{
    (void)left_ns;
    (void)now_ns;
    POLICY(_departure)(&state, port * SWITCH_QUEUES + queue, size_bytes);
}

/* Time on the wire, rounded up. */
static uint64_t decision_wire_ns(uint32_t port, uint32_t size_bytes)
{
    const uint64_t bits_ns = ((uint64_t)size_bytes + WIRE_OVERHEAD_BYTES) * UINT64_C(8000000000);

    return (bits_ns + port_bps[port] - 1) / port_bps[port];
}

static const char *const decision_reasons[] = {"dropped", "accepted"};
#endif
