//! The programs of docs/ns3.md compile with the page's models and do what the page says.

use crate::agreement::missing;
use crate::event_log::{EventLog, sample};
use crate::forests::{Shape, exported, random_forest};
use crate::replay::{GXX, compare, compile, found, read_values, write_files};
use dropcast_export::Origin;
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_verify::{FoundTool, VerifyError};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A switch's oracle.
const SWITCH_ORACLE: &str = include_str!("../../../../docs/programs/switch-oracle.h");

/// The page's C++: a switch's oracle is made, the callback, its binding.
fn blocks() -> [&'static str; 3] {
    let page = include_str!("../../../../docs/ns3.md");
    let blocks = page.split("```cpp\n").skip(1);
    let blocks = blocks.map(|rest| rest.split_once("```").expect("the block ends").0);
    blocks.collect::<Vec<_>>().try_into().expect("three blocks")
}

/// A model of these features with every optional fact about its switch.
fn write_header(folder: &Path, features: &FeatureSet) -> Forest {
    let shape = Shape { trees: 4, depth: 4, features: 4, largest: 1_000_000, stops: 10 };
    let forest = Forest { features: features.names(), ..random_forest(shape, 1) };
    let mut origin = Origin::new("example", &"0".repeat(64), features);
    origin.average_ns = Some(25_200);
    origin.buffer_bytes = Some(1_052_672);
    origin.ports = Some(20);
    fs::write(folder.join("example.hpp"), exported(&forest, &origin, "cpp")).expect("written");
    forest
}

/// Feeds events to a `SwitchOracle` and prints the features of each arrival.
const REPLAY: &str = r#"
#include "switch-oracle.h"
#include <cstdio>

int main()
{
    SwitchOracle oracle({DRAIN_BYTES});
    std::uint32_t record[5];

    while (std::fread(record, sizeof record, 1, stdin) == 1) {
        const std::uint64_t now_ns = record[3] | static_cast<std::uint64_t>(record[4]) << 32;

        if (record[0] == 0) {
            const example_oracle::Row x = oracle.observe(record[1]);
            std::fwrite(x.data(), sizeof x, 1, stdout);
        } else if (record[0] == 1) {
            oracle.add(record[1], record[2]);
        } else if (record[0] == 2) {
            oracle.remove(record[1], record[2], now_ns);
        } else {
            oracle.arrived(record[1], record[2], now_ns);
        }
    }
}
"#;

#[test]
fn the_switch_oracle_observes_what_collect_records() {
    let Some(gxx) = found(GXX) else { return };
    let log = EventLog::new(&sample());
    assert_eq!(log.shared, log.queues, "as in the artifact");
    let drains: Vec<String> = log.drain_bytes.iter().map(|drain| format!("{drain}u")).collect();
    for features in [FeatureSet::level4(), FeatureSet::paper4()] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_files(folder.path(), "example", "cpp", &features, log.base_rtt_ns);
        let program = REPLAY.replace("DRAIN_BYTES", &drains.join(", "));
        fs::write(folder.path().join("switch-oracle.h"), SWITCH_ORACLE).expect("written");
        fs::write(folder.path().join("replay.cc"), program).expect("written");
        fs::write(folder.path().join("log"), log.bytes()).expect("written");
        compile(&gxx, folder.path(), "replay", "cc");
        compare(&log, &features, &read_values(folder.path(), "replay", "log"));
    }
}

/// The rest of the page's blocks in a simulation. `ANY` is for every model, `ASKING` only for one
/// with the artifact's four arguments: it calls the oracle before and after the start time.
const SIMULATION: &str = r#"
#include "switch-oracle.h"
#include "ns3/abort.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/traced-callback.h"
#include <cstdio>
using namespace ns3;
static const double START_TIME = 10;
static const double LEAF_SERVER_CAPACITY = 1e10, baseRTTNano = 25200;
static const uint32_t SERVER_COUNT = 16, SPINE_COUNT = 4, LINK_COUNT = 1, nPrior = 2;
struct SharedMemoryBuffer {
    SwitchOracle *oracle = nullptr;
};
CALLBACK
int main()
{
    const uint32_t BufferSize = 1052672, leaf = 0;
    SharedMemoryBuffer buffer, *sharedMemoryLeaf[] = {&buffer};
GIVING
    std::printf("%d ", example_oracle::predicts_drop(buffer.oracle->observe(39)));
ASKING
    Simulator::Run();
    Simulator::Destroy();
}
"#;

/// Calls like the artifact.
const ASKING: &str = r#"
    struct Disc {
        TracedCallback<uint32_t, uint32_t, uint32_t, uint32_t, int &> asked;
        void TraceConnectWithoutContext(const char *, const CallbackBase &callback)
        {
            asked.ConnectWithoutContext(callback);
        }
    };
    static Disc disc;
    Disc *genDisc = &disc;
BINDING
    const auto ask = [] {
        int drop = -1;
        disc.asked(ROW, drop);
        std::printf("%d ", drop);
    };
    Simulator::Schedule(Seconds(9), ask);
    Simulator::Schedule(Seconds(11), ask);
"#;

#[test]
fn the_artifacts_programs_compile_and_ask() {
    let Some(gxx) = found(GXX) else { return };
    let [giving, callback, binding] = blocks();
    for features in [FeatureSet::level4(), FeatureSet::paper4()] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        if !has_ns3(&gxx, folder.path()) {
            return;
        }
        let forest = write_header(folder.path(), &features);
        fs::write(folder.path().join("switch-oracle.h"), SWITCH_ORACLE).expect("written");
        let empty = u8::from(forest.predicts_drop(&[0; 4]));
        let (asking, callback, expected) = if features == FeatureSet::paper4() {
            let row = dropped_row(&forest);
            let row: Vec<String> = row.iter().map(|value| format!("{value}u")).collect();
            let asking = ASKING.replace("BINDING", binding).replace("ROW", &row.join(", "));
            (asking, callback, format!("{empty} 0 1 "))
        } else {
            (String::new(), "", format!("{empty} "))
        };
        let program = SIMULATION
            .replace("ASKING", &asking)
            .replace("CALLBACK", callback)
            .replace("GIVING", giving);
        fs::write(folder.path().join("ask.cc"), program).expect("written");
        let mut compile = gxx.in_folder(folder.path());
        compile.args(["-std=c++17", "-Wall", "-Wextra", "-Werror"]);
        compile.args(["ask.cc", "-o", "ask", "-lns3-core"]);
        let output = compile.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = Command::new(folder.path().join("ask")).output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

/// A row that the forest predicts a drop for.
fn dropped_row(forest: &Forest) -> Vec<u32> {
    let vectors = dropcast_export::Vectors::new(forest, 1, 1000).expect("sound");
    vectors.rows().iter().find(|row| forest.predicts_drop(row)).expect("some drop").clone()
}

fn has_ns3(gxx: &FoundTool, folder: &Path) -> bool {
    let mut has_ns3 = gxx.in_folder(folder);
    has_ns3.args(["-E", "-include", "ns3/simulator.h", "-x", "c++", "/dev/null"]);
    let found = has_ns3.output().expect("it starts").status.success();
    if !found {
        missing(&VerifyError::missing("ns-3", "libns3-dev"));
    }
    found
}
