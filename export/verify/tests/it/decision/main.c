#include "m_decision.h"

#include <stdio.h>

static struct m_decision state;

/* Every constant but one is right; init must say which one is wrong. */
static int refuses_others(uint64_t *line_rate_bps)
{
    const uint32_t ports = M_SWITCH_PORTS, queues = M_QUEUES_PER_PORT;
    const uint64_t buffer = M_SWITCH_BUFFER_BYTES, rtt = M_SWITCH_BASE_RTT_NS;
    int refused;

    refused = m_init(&state, ports + 1, queues, buffer, rtt, line_rate_bps) == M_OTHER_PORTS
              && m_init(&state, ports, queues + 1, buffer, rtt, line_rate_bps) == M_OTHER_QUEUES
              && m_init(&state, ports, queues, buffer - 1, rtt, line_rate_bps) == M_OTHER_BUFFER
              && m_init(&state, ports, queues, buffer, rtt + 1, line_rate_bps) == M_OTHER_BASE_RTT;
    line_rate_bps[ports - 1]++;
    refused = refused
              && m_init(&state, ports, queues, buffer, rtt, line_rate_bps) == M_OTHER_LINE_RATE;
    line_rate_bps[ports - 1]--;
    return refused && m_init(&state, ports, queues, buffer, rtt, line_rate_bps) == M_READY;
}

int main(int argc, char **argv)
{
    uint64_t line_rate_bps[M_SWITCH_PORTS] = {LINE_RATES};
    uint32_t record[6], records = 0;

    if (!refuses_others(line_rate_bps))
        return 2;
    (void)argv;
    m_fall_back(&state, argc > 1);
    while (fread(record, sizeof record, 1, stdin) == 1) {
        const uint64_t now_ns = record[4] | (uint64_t)record[5] << 32;

        /* Some of what is due before the call: it changes no verdict. */
        if (records++ % 3 == 0 && m_catch_up(&state, now_ns, records % 5) && m_catch_up(&state, now_ns, 1u << 30))
            return 6;
        if (record[0] == 0) {
            const enum m_verdict decided =
                m_arrival(&state, record[1], record[2], record[3], now_ns);

            if (m_accepts(decided) != (decided == M_SAFEGUARDED || decided == M_ACCEPTED))
                return 3;
            putchar((int)decided);
        } else {
            m_departure(&state, record[1], record[2], record[3], now_ns);
        }
    }
    /* No queue, no packet: no decision. */
    if (m_arrival(&state, M_SWITCH_PORTS, 0, 1, 0) != M_NO_ROOM
        || m_arrival(&state, 0, M_QUEUES_PER_PORT, 1, 0) != M_NO_ROOM
        || m_arrival(&state, 0, 0, 0, 0) != M_NO_ROOM)
        return 4;
    if (state.unheld != 0 || state.stepped_back != 0 || state.unmatched != 0)
        return 5;
    /* A clock that steps back is counted. */
    m_departure(&state, 0, 0, 1, state.now_ns - 1);
    return state.stepped_back == 1 ? 0 : 7;
}
