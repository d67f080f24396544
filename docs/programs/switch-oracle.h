// Virtual LQD's features beside the Credence artifact's thresholds (docs/ns3.md). Tests hold it to the tracer (export/verify/tests/it/ns3_page.rs).
#include "example.hpp"

#include <vector>

// One for each switch: the queues of virtual LQD, which are Credence's thresholds, and the features
// made from them.
class SwitchOracle
{
public:
    // For each queue, what its port sends in two base RTTs, bytes:
    // bits per second * 2 * base RTT in ns / 8e9.
    explicit SwitchOracle(std::vector<std::uint64_t> drainBytes)
        : m_drainBytes(std::move(drainBytes)), m_queues(m_drainBytes.size())
    {
    }

    // The features of a packet that arrives for a queue: before anything is updated.
    example_oracle::Row observe(std::size_t queue) const
    {
        example_oracle::Row x{};
        const auto shared = static_cast<std::uint32_t>(m_queues.size());
        example_oracle::observe(&m_queues[queue], &m_buffer, m_queues.data(), shared, x);
        return x;
    }

    // Virtual LQD accepted a packet, after the push-outs that this took.
    void add(std::size_t queue, std::uint32_t bytes)
    {
        example_oracle::add(&m_queues[queue], bytes);
        example_oracle::add(&m_buffer, bytes);
    }

    // The packet was accepted or rejected.
    void arrived(std::size_t queue, std::uint32_t bytes, std::uint64_t nowNs)
    {
        example_oracle::project(&m_queues[queue], &m_buffer, bytes, m_drainBytes[queue], nowNs);
    }

    // A packet departed or was pushed out.
    void remove(std::size_t queue, std::uint32_t bytes, std::uint64_t nowNs)
    {
        example_oracle::remove(&m_queues[queue], bytes, nowNs);
        example_oracle::remove(&m_buffer, bytes, nowNs);
        example_oracle::project(&m_queues[queue], &m_buffer, 0, m_drainBytes[queue], nowNs);
    }

private:
    std::vector<std::uint64_t> m_drainBytes;
    std::vector<example_oracle::level> m_queues;
    example_oracle::level m_buffer{};
};
