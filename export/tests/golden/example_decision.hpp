/* example_decision.hpp: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model, in
 * namespace example_oracle: init makes a state, arrival decides about a packet that arrives, departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One thread for each state.
 *
 * A queue may exceed its threshold by 0 bytes, as reports replay it: slack_bytes of the switch's
 * description.
 *
 * State, on a machine with 64-bit integers aligned to 8 bytes: 12 bytes for each of 40
 * queues, 24 for each of 20 ports, 8 for each of 15625 packets, 126264 in all.
 *
 * Steps for a packet, N queues at P ports: a departure of virtual LQD and its arrival there take log2(P)
 * each; a packet that LQD pushes out takes N. If the decision depends on a prediction: the features,
 * N if the model needs the other queues, and the forest.
 */

#ifndef DROPCAST_EXAMPLE_DECISION_HPP
#define DROPCAST_EXAMPLE_DECISION_HPP

#include "example.hpp"

#include <stdint.h>
#include <string.h>

namespace example_oracle {

/* The switch: ports, queues, shared buffer B, base RTT. The unit of the precision of predictions. And what headers that can take over
 * each other's state share. */
constexpr std::uint32_t SWITCH_PORTS = 20u;
constexpr std::uint32_t QUEUES_PER_PORT = 2u;
constexpr std::uint32_t SWITCH_QUEUES = 40u;
constexpr std::uint32_t SWITCH_BUFFER_BYTES = 1000000u;
constexpr std::uint32_t SWITCH_BASE_RTT_NS = 8000u;
constexpr std::uint32_t PRECISION_ONE = 16777216u;
constexpr std::uint32_t STATE_LAYOUT = 0xcdd4ceb3u;

/* Packets that virtual LQD can hold at once. Where more arrive, one that finds no place is not
 * admitted, and counted in unheld: thresholds are then lower than LQD's queues. The default is enough
 * for packets of 64 bytes and more. Define another number before this header is included. */
#ifndef EXAMPLE_PACKETS
#define EXAMPLE_PACKETS 15625u
#endif

/* How much longer than its threshold a queue may become: slack_bytes of the switch's description. Reports
 * replay that value, so give another one there, not here. Where ports transmit a packet later than virtual
 * LQD's, every packet behind it is dropped without a slack of the size of the largest packet. */
#ifndef EXAMPLE_SLACK_BYTES
#define EXAMPLE_SLACK_BYTES 0u
#endif

/* What the code below is configured by. */
#define DROPCAST_NAME(name) name
#define DROPCAST_CONSTANT(name) name
#define DROPCAST_FUNCTION inline
#define DROPCAST_ROW Row &
#define DROPCAST_VALUES(x) (x)
#define DROPCAST_FEATURE_QUEUE_LENGTH 0
#define DROPCAST_FEATURE_OCCUPANCY 1
#define DROPCAST_NEW_ROW(x) Row x{}
#define DROPCAST_PREDICTS(x) predicts_drop(x)
#define DROPCAST_LQD_PORTS 20u
#define DROPCAST_LQD_PER_PORT 2u
#define DROPCAST_LQD_QUEUES 40u
#define DROPCAST_LQD_BUFFER_BYTES 1000000u
#define DROPCAST_LQD_BASE_RTT_NS 8000u
#define DROPCAST_LQD_LONG_BYTES 50000u
#define DROPCAST_LQD_RING 0u
#define DROPCAST_LQD_ROUND_ROBIN
#define DROPCAST_LQD_PUSHABLE 2u
#define DROPCAST_LQD_KEY_BITS 6u
#define DROPCAST_LQD_KEY_MASKS {0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, \
    0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu}
#define DROPCAST_LQD_PRECISION_ONE 16777216u
#define DROPCAST_LQD_WINDOW 64u
#define DROPCAST_LQD_FALL_BELOW 13421772u
#define DROPCAST_LQD_RECOVER_AT 14680064u
#define DROPCAST_LQD_OVERHEAD_BYTES 33u
#define DROPCAST_LQD_UNIFORM
#define DROPCAST_LQD_RATE_BPS 10000000000u
#define DROPCAST_LQD_DRAIN_BYTES 20000u
#define DROPCAST_LQD_NS_NUMERATOR 4u
#define DROPCAST_LQD_NS_DENOMINATOR 5u
#define DROPCAST_LQD_PACKETS EXAMPLE_PACKETS
#define DROPCAST_LQD_SLACK_BYTES EXAMPLE_SLACK_BYTES
#define DROPCAST_LQD_LEAVES 32u
#define DROPCAST_LQD_SCANNED 40u
#define DROPCAST_LQD_WORDS 1u
#define DROPCAST_LQD_PORT_PLACES 20u
#define DROPCAST_LQD_QUEUE_PLACES 40u
#define DROPCAST_LQD_OWN_PLACES 2u

/* dropcast_switch.h */

/* dropcast_virtual_lqd.h */

/* dropcast_decision.h */
#undef DROPCAST_NAME
#undef DROPCAST_CONSTANT
#undef DROPCAST_FUNCTION
#undef DROPCAST_ROW
#undef DROPCAST_VALUES
#undef DROPCAST_FEATURE_QUEUE_LENGTH
#undef DROPCAST_FEATURE_OCCUPANCY
#undef DROPCAST_NEW_ROW
#undef DROPCAST_PREDICTS
#undef DROPCAST_LQD_PORTS
#undef DROPCAST_LQD_PER_PORT
#undef DROPCAST_LQD_QUEUES
#undef DROPCAST_LQD_BUFFER_BYTES
#undef DROPCAST_LQD_BASE_RTT_NS
#undef DROPCAST_LQD_LONG_BYTES
#undef DROPCAST_LQD_RING
#undef DROPCAST_LQD_ROUND_ROBIN
#undef DROPCAST_LQD_PUSHABLE
#undef DROPCAST_LQD_KEY_BITS
#undef DROPCAST_LQD_KEY_MASKS
#undef DROPCAST_LQD_PRECISION_ONE
#undef DROPCAST_LQD_WINDOW
#undef DROPCAST_LQD_FALL_BELOW
#undef DROPCAST_LQD_RECOVER_AT
#undef DROPCAST_LQD_OVERHEAD_BYTES
#undef DROPCAST_LQD_UNIFORM
#undef DROPCAST_LQD_RATE_BPS
#undef DROPCAST_LQD_DRAIN_BYTES
#undef DROPCAST_LQD_NS_NUMERATOR
#undef DROPCAST_LQD_NS_DENOMINATOR
#undef DROPCAST_LQD_PACKETS
#undef DROPCAST_LQD_SLACK_BYTES
#undef DROPCAST_LQD_LEAVES
#undef DROPCAST_LQD_SCANNED
#undef DROPCAST_LQD_WORDS
#undef DROPCAST_LQD_PORT_PLACES
#undef DROPCAST_LQD_QUEUE_PLACES
#undef DROPCAST_LQD_OWN_PLACES

} // namespace example_oracle

#endif // DROPCAST_EXAMPLE_DECISION_HPP
