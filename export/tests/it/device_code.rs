//! The headers that exports are made of, as they stand: compiled with switches of their own, bounded or not.

use crate::c_header::WARNINGS;
use crate::forests::example_of;
use crate::tools::{run, tool};
use dropcast_data::SwitchSpec;
use dropcast_export::{Origin, export};
use dropcast_features::{Feature, FeatureMemory};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Four ports with two queues each.
const SWITCH: &str = "
#define DROPCAST_FUNCTION static inline
#define DROPCAST_SEPARATE static inline
#define DROPCAST_TAU_NS 8000u
#define DROPCAST_ROW uint32_t *
#define DROPCAST_VALUES(x) (x)
#define DROPCAST_NEW_ROW(x) uint32_t x[16] = {0}
#define DROPCAST_PREDICTS(x) predicts(x)
#define DROPCAST_LEVELS
#define DROPCAST_LQD_PORTS 4u
#define DROPCAST_LQD_PER_PORT 2u
#define DROPCAST_LQD_QUEUES 8u
#define DROPCAST_LQD_BUFFER_BYTES 40000u
#define DROPCAST_LQD_BASE_RTT_NS 8000u
#define DROPCAST_LQD_LONG_BYTES 10000u
#define DROPCAST_LQD_OVERHEAD_BYTES 24u
#define DROPCAST_LQD_PRECISION_ONE 16777216u
#define DROPCAST_LQD_WINDOW 64u
#define DROPCAST_LQD_FALL_BELOW 13421772u
#define DROPCAST_LQD_RECOVER_AT 14680064u
#define DROPCAST_LQD_PACKETS 1024u
#define DROPCAST_LQD_SLACK_BYTES 0u
#define DROPCAST_LQD_LEAVES 4u
#define DROPCAST_LQD_SCANNED 8u
#define DROPCAST_LQD_WORDS 1u
#define DROPCAST_LQD_PORT_PLACES 4u
#define DROPCAST_LQD_QUEUE_PLACES 8u
#define DROPCAST_LQD_OWN_PLACES 2u
";

const UNIFORM: &str = "
#define DROPCAST_LQD_UNIFORM
#define DROPCAST_LQD_RATE_BPS 10000000000u
#define DROPCAST_LQD_DRAIN_BYTES 20000u
#define DROPCAST_LQD_NS_NUMERATOR 4u
#define DROPCAST_LQD_NS_DENOMINATOR 5u
";

/// The same rates, in tables.
const BY_PORT: &str = "
#define DROPCAST_LQD_RATE_BPS {10000000000u, 10000000000u, 10000000000u, 10000000000u}
#define DROPCAST_LQD_DRAIN_BYTES {20000u, 20000u, 20000u, 20000u}
#define DROPCAST_LQD_NS_PER_BYTE {{4u, 5u}, {4u, 5u}, {4u, 5u}, {4u, 5u}}
";

const STRICT: &str = "#define DROPCAST_LQD_STRICT\n#define DROPCAST_LQD_RING 0u\n";
const ROUND_ROBIN_WITH_RING: &str = "
#define DROPCAST_LQD_ROUND_ROBIN
#define DROPCAST_LQD_RING 2u
#define DROPCAST_LQD_RING_PLACES 2u
";
const DWRR: &str = "
#define DROPCAST_LQD_DWRR
#define DROPCAST_LQD_QUANTA {300u, 700u}
#define DROPCAST_LQD_RING 0u
";

/// How the longest queue is found, if the code is not bounded: two ways of one answer.
const KEYS: &str = "#define DROPCAST_LQD_KEY_BITS 3u\n";
const ONE_IS_PUSHABLE: &str = "#define DROPCAST_LQD_PUSHABLE 2u\n";
const ONE_IS_PUSHABLE_BY_KEYS: &str = "
#define DROPCAST_LQD_PUSHABLE 2u
#define DROPCAST_LQD_KEY_BITS 3u
#define DROPCAST_LQD_KEY_MASKS {0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu, 0u, 0xffffffffu}
";

const LEVELS: &str = "
#define DROPCAST_FEATURE_LEVEL_OCCUPANCY 0
#define DROPCAST_FEATURE_LEVEL_IN_QUARTER_RTT 1
#define DROPCAST_FEATURE_LEVEL_IN_ONE_RTT 2
#define DROPCAST_FEATURE_LEVEL_IN_TWO_RTTS 3
#define DROPCAST_ARRIVALS
#define DROPCAST_SCANS
#define DROPCAST_LQD_HARMLESS 10000u
";
const AVERAGES: &str = "
#define DROPCAST_FEATURE_OCCUPANCY 0
#define DROPCAST_FEATURE_AVG_QUEUE_LENGTH 1
#define DROPCAST_FEATURE_AVG_OCCUPANCY 2
#define DROPCAST_FEATURE_QUEUE_LENGTH 3
#define DROPCAST_FEATURE_RANK 4
#define DROPCAST_FEATURE_LONGEST_QUEUE 5
#define DROPCAST_FEATURE_LONGEST_GAP 6
#define DROPCAST_AVERAGES
#define DROPCAST_SCANS
";
const CLASSES: &str = "
#define DROPCAST_FEATURE_CUT_IN_QUARTER_RTT 0
#define DROPCAST_FEATURE_CLASSED_IN_QUARTER_RTT 1
#define DROPCAST_FEATURE_PROJECTED_OCCUPANCY 2
#define DROPCAST_ARRIVALS
#define DROPCAST_LQD_CLASSES 22u
#define DROPCAST_LQD_CLASS_PLACES 32u
";

/// Prints how often each verdict occurs for packets at random, and a digest of all verdicts and rows. A drop is predicted
/// by the first feature.
const PROGRAM: &str = r#"
static uint32_t digest = 1;

static int predicts(const uint32_t *x)
{
    int at;

    for (at = 0; at < 16; at++) {
        digest = 31u * digest + x[at];
    }
    return x[0] > 36000u;
}

#include "switch.h"
#include "dropcast_switch.h"
#include "dropcast_length_classes.h"
#include "dropcast_virtual_lqd.h"
#include "dropcast_decision.h"

static struct dropcast_decision state;

int main(void)
{
    static const uint64_t rates[4] = {10000000000u, 10000000000u, 10000000000u, 10000000000u};
    uint32_t counts[5] = {0, 0, 0, 0, 0}, held[8] = {0, 0, 0, 0, 0, 0, 0, 0}, random = 1, packet;
    uint64_t now_ns = 0;

    if (dropcast_init(&state, 4, 2, 40000, 8000, rates) != DROPCAST_READY) {
        return 1;
    }
    for (packet = 0; packet < 20000; packet++) {
        uint32_t at, size_bytes, leaves, verdict;

        random = 1664525u * random + 1013904223u;
        at = random >> 29;
        at = random & (1u << 20) ? at & 3u : at;
        size_bytes = 64u + (random >> 12) % 1400u;
        now_ns += (random >> 8) % 300u;
        verdict = (uint32_t)dropcast_arrival(&state, at / 2u, at % 2u, size_bytes, now_ns);
        digest = 31u * digest + verdict;
        counts[verdict]++;
        held[at] += dropcast_accepts((enum dropcast_verdict)verdict) ? size_bytes : 0u;
        leaves = held[packet % 8u] < 800u ? held[packet % 8u] : 800u;
        held[packet % 8u] -= leaves;
        dropcast_departure(&state, packet % 8u / 2u, packet % 2u, leaves, now_ns);
    }
    printf("%u %u %u %u %u, %u %u\n", (unsigned)counts[0], (unsigned)counts[1], (unsigned)counts[2],
           (unsigned)counts[3], (unsigned)counts[4], (unsigned)digest, (unsigned)state.precision);
    return state.unheld != 0;
}
"#;

/// A program of the headers as they stand.
pub(crate) struct Configured {
    /// Programs of one name decide alike.
    name: &'static str,
    definitions: String,
}

impl Configured {
    /// Writes it and its macros.
    pub(crate) fn write(&self, folder: &Path, extension: &str) {
        let includes = "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#include \"switch.h\"\n\
            #include \"dropcast_average.h\"\n#include \"dropcast_features.h\"\n";
        fs::write(folder.join("switch.h"), &self.definitions).expect("written");
        let program = [includes, PROGRAM].concat();
        fs::write(folder.join(format!("program.{extension}")), program).expect("written");
    }
}

/// By features and a scheduler, with every form of the rates, and of how the longest queue is found; bounded or not.
pub(crate) fn programs() -> Vec<Configured> {
    let mut programs = Vec::new();
    for (name, features, switch, forms) in [
        ("levels", LEVELS, ROUND_ROBIN_WITH_RING, ["", KEYS]),
        ("averages", AVERAGES, DWRR, [ONE_IS_PUSHABLE, ONE_IS_PUSHABLE_BY_KEYS]),
        ("classes", CLASSES, STRICT, ["", KEYS]),
    ] {
        programs.extend(
            [
                (UNIFORM, forms[0], ""),
                (UNIFORM, forms[1], ""),
                (BY_PORT, forms[1], ""),
                (BY_PORT, forms[0], "#define DROPCAST_BOUNDED\n"),
            ]
            .map(|(rates, form, bounded)| Configured {
                name,
                definitions: [SWITCH, features, switch, rates, form, bounded].concat(),
            }),
        );
    }
    programs
}

/// A folder of `src`.
pub(crate) fn source(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder)
}

/// Each feature that devices have in Rust has a value in the headers, and a row in the module.
#[test]
fn features_of_devices_are_in_all_their_code() {
    let read = |file: &str| fs::read_to_string(source(file)).expect("a file");
    let headers = read("tracker/dropcast_features.h") + &read("decision/dropcast_decision.h");
    let module = read("verilog/dropcast_decision.v");
    for feature in
        Feature::ALL.into_iter().filter(|of| dropcast_runtime::keeps(of.code()).is_some())
    {
        let (name, upper) = (feature.name(), feature.name().to_ascii_uppercase());
        let value = format!("DROPCAST_VALUES(x)[DROPCAST_FEATURE_{upper}] = ");
        assert!(headers.contains(&value), "{value}");
        assert!(module.contains(&format!("    assign row_{name} = ")), "row_{name}");
    }
}

/// The features of flows have a header of their own.
#[test]
fn features_of_flows_are_in_their_header() {
    let header = fs::read_to_string(source("tracker/dropcast_flow.h")).expect("a file");
    let is_of_flow = |feature: &Feature| feature.memory() == FeatureMemory::Flows;
    let of_flows: Vec<Feature> = Feature::ALL.into_iter().filter(is_of_flow).collect();
    assert_eq!(of_flows.len(), dropcast_runtime::FLOW_FEATURES);
    for feature in of_flows {
        let upper = feature.name().to_ascii_uppercase();
        let value = format!("DROPCAST_VALUES(x)[DROPCAST_FEATURE_{upper}] = ");
        assert!(header.contains(&value), "{value}");
    }
}

/// Every compiler, every form of a constant, and code for the verifier decide alike, without a warning.
#[test]
fn headers_are_code_as_they_stand() {
    for alike in programs().chunk_by(|one, other| one.name == other.name) {
        let name = alike[0].name;
        let printed: Vec<String> = alike.iter().flat_map(compiled).collect();
        assert!(printed.iter().all(|other| other == &printed[0]), "{name}: {printed:?}");
        let Some(line) = printed.first() else { return };
        let counts = line.split(',').next().expect("counts").split(' ');
        let counts: Vec<u32> = counts.map(|count| count.parse().expect("a count")).collect();
        assert!(counts[0] > 0 && counts[1] > 0 && counts[3] > 0 && counts[4] > 0, "{name}: {line}");
    }
}

/// What a program prints, by compiler.
fn compiled(program: &Configured) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let includes = ["tracker", "decision"].map(|of| format!("-I{}", source(of).display()));
    let mut printed = Vec::new();
    for (compiler, standard, extension) in [
        ("gcc", "-std=c99", "c"),
        ("clang", "-std=c99", "c"),
        ("g++", "-std=c++11", "cc"),
        ("clang++", "-std=c++11", "cc"),
    ] {
        let Some(mut compile) = tool(compiler, folder.path()) else { continue };
        program.write(folder.path(), extension);
        run(compile.args([standard, "-O1"]).args(WARNINGS).args(&includes).args([
            &format!("program.{extension}"),
            "-o",
            "program",
        ]));
        printed.push(run(&mut Command::new(folder.path().join("program"))));
    }
    printed
}

/// Decisions of two models, with other features at other switches, in one program.
#[test]
fn decisions_of_two_models_fit_one_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, features, ports, queues) in
        [("first", "level4,rank", 3, 1), ("other", "cut1,avg_occupancy", 20, 2)]
    {
        let (forest, origin) = example_of(features);
        let switch = SwitchSpec {
            queues_per_port: queues,
            pushable: vec![true; usize::from(queues)],
            shared: vec![true; usize::from(queues)],
            ..SwitchSpec::uniform(ports, 10_000_000_000, 1_000_000, 8_000)
        };
        let origin = Origin { model_name: name.to_owned(), switch: Some(switch), ..origin };
        for target in ["c", "cpp"] {
            let files = export(&forest, &origin, target.parse().expect("a target"));
            for file in files.expect("exportable") {
                fs::write(folder.path().join(file.name), file.bytes).expect("written");
            }
        }
    }
    let in_c = "#include \"first_decision.h\"\n#include \"other_decision.h\"
static struct first_decision one;
static struct other_decision other;
int main(void) {
    uint64_t rates[20];
    for (int port = 0; port < 20; port++) {
        rates[port] = 10000000000u;
    }
    return first_init(&one, 3, 1, 1000000, 8000, rates) != FIRST_READY
           || other_init(&other, 20, 2, 1000000, 8000, rates) != OTHER_READY
           || first_arrival(&one, 2, 0, 1500, 1) != FIRST_SAFEGUARDED
           || other_arrival(&other, 19, 1, 1500, 1) != OTHER_SAFEGUARDED || FIRST_SWITCH_PORTS != 3
           || OTHER_SWITCH_PORTS != 20;
}
";
    let in_cpp = "#include \"first_decision.hpp\"\n#include \"other_decision.hpp\"
static first_oracle::decision one;
static other_oracle::decision other;
int main() {
    std::uint64_t rates[20];
    for (std::uint64_t &rate : rates) {
        rate = 10000000000u;
    }
    return first_oracle::init(&one, 3, 1, 1000000, 8000, rates) != first_oracle::READY
           || other_oracle::init(&other, 20, 2, 1000000, 8000, rates) != other_oracle::READY
           || first_oracle::arrival(&one, 2, 0, 1500, 1) != first_oracle::SAFEGUARDED
           || other_oracle::arrival(&other, 19, 1, 1500, 1) != other_oracle::SAFEGUARDED;
}
";
    for (compiler, standard, file, text) in [
        ("gcc", "-std=c99", "two.c", in_c),
        ("clang", "-std=c99", "two.c", in_c),
        ("g++", "-std=c++17", "two.cc", in_cpp),
        ("clang++", "-std=c++17", "two.cc", in_cpp),
    ] {
        let Some(mut compile) = tool(compiler, folder.path()) else { continue };
        fs::write(folder.path().join(file), text).expect("written");
        run(compile.args([standard, "-O1"]).args(WARNINGS).args([file, "-o", "two"]));
        run(&mut Command::new(folder.path().join("two")));
    }
}

/// Parameters of the decision: each scheduler, with and without what a feature needs kept.
const DECISIONS: [&[&str]; 6] = [
    &[],
    &["PORTS=1", "RING_PACKETS=1", "BUFFER_BYTES=1000", "USES_LEVEL_OCCUPANCY=1", "DIVIDE_BITS=64"],
    &["QUEUES_PER_PORT=2", "SCHEDULER=1", "USES_AVG_OCCUPANCY=1", "USES_RANK=1", "RING_PACKETS=3"],
    &["QUEUES_PER_PORT=3", "SCHEDULER=2", "PORTS=5", "USES_LEVEL_IN_ONE_RTT=1"],
    &["PORTS=20", "RESERVED_BYTES=3000", "USES_CUT_IN_QUARTER_RTT=1"],
    &["PORTS=8", "QUEUES_PER_PORT=32", "USES_CLASSED_IN_QUARTER_RTT=1", "USES_LONGEST_GAP=1"],
];

/// Every module that exports hold as it stands, alone and with parameters of its own: no warning of any kind.
#[test]
fn modules_are_code_as_they_stand() {
    let folder = source("verilog");
    let average = "dropcast_average.v";
    let modules =
        [("dropcast_average", &DECISIONS[..1]), ("dropcast_decision_tb", &DECISIONS[..1])];
    let modules = modules.into_iter().chain([("dropcast_level", &DECISIONS[..1])]);
    for (module, parameters) in modules.chain([("dropcast_decision", &DECISIONS[..])]) {
        for set in parameters {
            let Some(mut lint) = tool("verilator", &folder) else { return };
            lint.args(["--lint-only", "--timing", "-Wall", "--top-module", module]);
            lint.args(set.iter().map(|parameter| format!("-G{parameter}")));
            let source = format!("{module}.v");
            let needs_average = module == "dropcast_level" || set.join(" ").contains("_AVG_");
            lint.args(needs_average.then_some(average)).arg(source);
            run(&mut lint);
        }
    }
}
