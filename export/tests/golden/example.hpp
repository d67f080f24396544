/* example.hpp: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * example_oracle::predicts_drop answers whether the packet would be dropped, given its features,
 * recorded before it is added to the buffer.
 */

#ifndef DROPCAST_EXAMPLE_HPP
#define DROPCAST_EXAMPLE_HPP

#include <array>
#include <cstdint>

#include <stdint.h>

namespace example_oracle {

enum Feature {
    FEATURE_QUEUE_LENGTH = 0, // bytes in the packet's queue before it is added; unit: bytes
    FEATURE_OCCUPANCY = 1, // bytes in the shared buffer before the packet is added; unit: bytes
};

constexpr int N_FEATURES = 2;
// A drop is predicted if and only if the score is larger.
constexpr std::uint32_t VOTE_THRESHOLD = 160;
constexpr std::uint32_t AVERAGE_NS = 8000;
// The switch that the model is for: do not use it on another.
constexpr std::uint32_t BUFFER_BYTES = 1000000;
constexpr std::uint32_t PORTS = 20;
constexpr const char *MODEL_SHA256 = "5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef";

// The features of a packet, in the order of Feature.
using Row = std::array<std::uint32_t, N_FEATURES>;

constexpr std::uint32_t tree_0(const Row &x)
{
    if (x[FEATURE_QUEUE_LENGTH] <= 30000u) {
        return 2u;
    } else {
        if (x[FEATURE_OCCUPANCY] <= 900000u) {
            return 40u;
        } else {
            return 230u;
        }
    }
}

constexpr std::uint32_t tree_1(const Row &x)
{
    if (x[FEATURE_OCCUPANCY] <= 700000u) {
        return 5u;
    } else {
        return 120u;
    }
}

constexpr std::uint32_t score(const Row &x)
{
    std::uint32_t sum = 0;

    sum += tree_0(x);
    sum += tree_1(x);
    return sum;
}

// A tie accepts.
constexpr bool predicts_drop(const Row &x)
{
    return score(x) > VOTE_THRESHOLD;
}

// The four arguments that the Credence artifact calls getPrediction with, in bytes.
constexpr bool predicts_drop(
    std::uint32_t queueLength,
    [[maybe_unused]] std::uint32_t averageQueueLength,
    std::uint32_t sharedOccupancy,
    [[maybe_unused]] std::uint32_t averageOccupancy
)
{
    Row x{};
    x[FEATURE_QUEUE_LENGTH] = queueLength;
    x[FEATURE_OCCUPANCY] = sharedOccupancy;
    return predicts_drop(x);
}

#define DROPCAST_NAME(name) name
#define DROPCAST_CONSTANT(name) name
#define DROPCAST_SEPARATE inline
#define DROPCAST_TAU_NS 8000u
#define DROPCAST_FUNCTION inline
#define DROPCAST_ROW Row &
#define DROPCAST_VALUES(x) (x)
#define DROPCAST_FEATURE_QUEUE_LENGTH 0
#define DROPCAST_FEATURE_OCCUPANCY 1
#define DROPCAST_LEVELS

/* dropcast_features.h */
#undef DROPCAST_NAME
#undef DROPCAST_CONSTANT
#undef DROPCAST_SEPARATE
#undef DROPCAST_TAU_NS
#undef DROPCAST_FUNCTION
#undef DROPCAST_ROW
#undef DROPCAST_VALUES
#undef DROPCAST_FEATURE_QUEUE_LENGTH
#undef DROPCAST_FEATURE_OCCUPANCY
#undef DROPCAST_LEVELS

} // namespace example_oracle

#endif // DROPCAST_EXAMPLE_HPP
