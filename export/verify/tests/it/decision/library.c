/* The decision as a library. */

#include "m_decision.h"

uint32_t layout(void);
size_t size(void);
int start(struct m_decision *state);
int arrival(struct m_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns);
void departure(struct m_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns);

uint32_t layout(void)
{
    return M_STATE_LAYOUT;
}

size_t size(void)
{
    return sizeof(struct m_decision);
}

int start(struct m_decision *state)
{
    static const uint64_t line_rate_bps[] = {LINE_RATES};

    return m_init(state, M_SWITCH_PORTS, M_QUEUES_PER_PORT, M_SWITCH_BUFFER_BYTES, M_SWITCH_BASE_RTT_NS, line_rate_bps);
}

int arrival(struct m_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    return (int)m_arrival(state, port, queue, size_bytes, now_ns);
}

void departure(struct m_decision *state, uint32_t port, uint32_t queue, uint32_t size_bytes, uint64_t now_ns)
{
    m_departure(state, port, queue, size_bytes, now_ns);
}
