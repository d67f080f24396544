// The shared buffer of a switch in htsim (docs/htsim.md). A test compiles it (export/verify/tests/it/decision.rs).
#ifndef CREDENCE_BUFFER_H
#define CREDENCE_BUFFER_H

#include "example_decision.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

// The shared buffer of a switch.
class CredenceBuffer
{
public:
    explicit CredenceBuffer(const std::vector<std::uint64_t> &rates, std::uint64_t buffer_bytes, std::uint64_t base_rtt_ns)
    {
        const auto ready = example_oracle::init(&m_state, static_cast<std::uint32_t>(rates.size()),
            example_oracle::QUEUES_PER_PORT, buffer_bytes, base_rtt_ns, rates.data());
        if (ready != example_oracle::READY)
            throw std::invalid_argument("the header is for another switch");
    }

    // A packet arrives for a port; whether it is to be added to the port's queue.
    bool admits(std::uint32_t port, std::uint32_t bytes, std::uint64_t now_ps)
    {
        const auto verdict = example_oracle::arrival(&m_state, port, 0, bytes, now_ps / 1000);
        m_verdicts[verdict]++;
        return example_oracle::accepts(verdict);
    }

    // The port begins to send a packet.
    void sends(std::uint32_t port, std::uint32_t bytes, std::uint64_t now_ps)
    {
        example_oracle::departure(&m_state, port, 0, bytes, now_ps / 1000);
    }

    // Packets by verdict, from SAFEGUARDED to PREDICTED_DROP.
    const std::array<std::uint64_t, 5> &verdicts() const
    {
        return m_verdicts;
    }

private:
    example_oracle::decision m_state{};
    std::array<std::uint64_t, 5> m_verdicts{};
};

#endif
