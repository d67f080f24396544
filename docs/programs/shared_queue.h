// htsim's queue without a buffer of its own (docs/htsim.md).
#ifndef SHARED_QUEUE_H
#define SHARED_QUEUE_H

#include "credence_buffer.h"
#include "loggers.h"
#include "queue.h"
#include "switch.h"

#include <limits>

class SharedQueue : public Queue
{
public:
    using Queue::Queue;

    void share(CredenceBuffer *buffer, uint32_t port)
    {
        m_buffer = buffer;
        m_port = port;
        _maxsize = std::numeric_limits<mem_b>::max() / 2;
    }

    void receivePacket(Packet &pkt) override
    {
        if (m_buffer == nullptr || m_buffer->admits(m_port, pkt.size(), eventlist().now())) {
            Queue::receivePacket(pkt);
            return;
        }
        if (_logger)
            _logger->logQueue(*this, QueueLogger::PKT_DROP, pkt);
        pkt.flow().logTraffic(pkt, *this, TrafficLogger::PKT_DROP);
        pkt.free();
        _num_drops++;
    }

protected:
    // The packet at the back of _enqueued is the next one sent.
    void beginService() override
    {
        if (m_buffer != nullptr)
            m_buffer->sends(m_port, _enqueued.back()->size(), eventlist().now());
        Queue::beginService();
    }

private:
    CredenceBuffer *m_buffer = nullptr;
    uint32_t m_port = 0;
};

// One buffer for the queues of each of these switches.
inline std::vector<CredenceBuffer *> share(
    const std::vector<Switch *> &switches, linkspeed_bps rate, mem_b buffer_bytes, uint64_t base_rtt_ns)
{
    std::vector<CredenceBuffer *> buffers;

    for (Switch *each : switches) {
        const std::vector<std::uint64_t> rates(each->portCount(), rate);
        buffers.push_back(new CredenceBuffer(rates, buffer_bytes, base_rtt_ns));
        for (uint32_t port = 0; port < each->portCount(); port++)
            dynamic_cast<SharedQueue &>(*each->getPort(port)).share(buffers.back(), port);
    }
    return buffers;
}

#endif
