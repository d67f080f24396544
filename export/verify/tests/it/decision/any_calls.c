#include "m_decision.h"

#include <stdio.h>

static struct m_decision state;

/* Calls in any order, with any arguments: a byte for each arrival, then what was counted. */
int main(void)
{
    static const uint64_t line_rate_bps[M_SWITCH_PORTS] = {LINE_RATES};
    uint32_t call[6];

    while (fread(call, sizeof call, 1, stdin) == 1) {
        const uint64_t now_ns = call[4] | (uint64_t)call[5] << 32;
        uint32_t port, queue;
        uint64_t real_bytes = 0;

        if (call[0] == 0)
            putchar((int)m_arrival(&state, call[1], call[2], call[3], now_ns));
        else if (call[0] == 1)
            m_departure(&state, call[1], call[2], call[3], now_ns);
        else if (call[0] == 2)
            m_catch_up(&state, now_ns, call[3] & 0xffffu);
        else if (call[0] == 3)
            m_fall_back(&state, (int)(call[3] & 1u));
        else if (m_init(&state, M_SWITCH_PORTS, M_QUEUES_PER_PORT, M_SWITCH_BUFFER_BYTES, M_SWITCH_BASE_RTT_NS, line_rate_bps)
                 != M_READY)
            return 1;
        for (port = 0; port < M_SWITCH_PORTS; port++)
            for (queue = 0; queue < M_QUEUES_PER_PORT; queue++)
                real_bytes += state.real_bytes[port * M_QUEUES_PER_PORT + queue];
        if (state.occupancy_bytes != real_bytes || real_bytes > M_SWITCH_BUFFER_BYTES || state.buffer_bytes > M_SWITCH_BUFFER_BYTES)
            return 2;
    }
    fwrite(&state.unmatched, sizeof state.unmatched, 1, stdout);
    fwrite(&state.stepped_back, sizeof state.stepped_back, 1, stdout);
    return 0;
}
