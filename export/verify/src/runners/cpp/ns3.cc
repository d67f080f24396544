// Reads rows from standard input and asks for a prediction of each like the Credence artifact: four
// arguments through an ns-3 traced callback, while a simulation runs. Writes the score and the
// decision of each row to standard output.
#include "PREFIX.hpp"

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/traced-callback.h"

#include <cstdio>

using Oracle = bool (*)(uint32_t, uint32_t, uint32_t, uint32_t);

static const double START_TIME = 1;

static void getPrediction(Oracle oracle, uint32_t queueLength, uint32_t averageQueueLength,
                          uint32_t sharedOccupancy, uint32_t averageOccupancy, int &drop)
{
    drop = ns3::Simulator::Now().GetSeconds() >= START_TIME
           && oracle(queueLength, averageQueueLength, sharedOccupancy, averageOccupancy);
}

static ns3::TracedCallback<uint32_t, uint32_t, uint32_t, uint32_t, int &> asked;

static int before_start = 1;

// No predictions before START_TIME.
static void early()
{
    const uint32_t most = 0xffffffff;

    asked(most, most, most, most, before_start);
}

static void row_arrives()
{
    PREFIX_oracle::Row row;
    int drop = -1;

    if (std::fread(row.data(), sizeof row, 1, stdin) != 1) {
        return;
    }
    asked(row[PREFIX_oracle::FEATURE_QUEUE_LENGTH], row[PREFIX_oracle::FEATURE_AVG_QUEUE_LENGTH],
          row[PREFIX_oracle::FEATURE_OCCUPANCY], row[PREFIX_oracle::FEATURE_AVG_OCCUPANCY], drop);
    const uint32_t answer[2] = {PREFIX_oracle::score(row), static_cast<uint32_t>(drop)};
    std::fwrite(answer, sizeof answer, 1, stdout);
    ns3::Simulator::Schedule(ns3::NanoSeconds(1), &row_arrives);
}

int main()
{
    const Oracle oracle = PREFIX_oracle::predicts_drop;

    asked.ConnectWithoutContext(ns3::MakeBoundCallback(&getPrediction, oracle));
    ns3::Simulator::Schedule(ns3::Seconds(0.5), &early);
    ns3::Simulator::Schedule(ns3::Seconds(1), &row_arrives);
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    return before_start;
}
