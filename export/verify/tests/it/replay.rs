//! The trained features are the executed ones: exported code that keeps the features, fed with the
//! events of virtual LQD's queues, gives the tracer's features for every arrival.

use crate::agreement::missing;
use crate::ebpf::{kernel_did, loader};
use crate::event_log::{EventLog, RecordKind, generated, sample};
use crate::forests::{Shape, origin_of, random_forest};
use dropcast_export::{EmittedFile, Origin, Target, export};
use dropcast_features::{Feature, FeatureSet, MovingAverage};
use dropcast_forest::Forest;
use dropcast_verify::{Built, FoundTool, Tool, VerifyError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) const GCC: Tool =
    Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };
pub(crate) const GXX: Tool =
    Tool { command: "g++", version_arguments: &["--version"], package: "g++" };
const CLANG: Tool = Tool { command: "clang", version_arguments: &["--version"], package: "clang" };

/// Feeds records from standard input to the code and prints the features of each arrival;
/// `QUEUES`, `SHARED` and `PROJECTION` are replaced.
const REPLAY: &str = r#"
#include "m.h"
#include <stdio.h>

static struct m_level queues[QUEUES], buffer;

int main(void)
{
    uint32_t record[5], x[M_N_FEATURES];

    while (fread(record, sizeof record, 1, stdin) == 1) {
        struct m_level *queue = &queues[record[1]];
        const uint32_t in_buffer = record[1] < SHARED ? record[2] : 0;
        const uint64_t now_ns = record[3] | (uint64_t)record[4] << 32;

        switch (record[0]) {
        case 0:
            m_observe(queue, &buffer, queues, SHARED, x);
            fwrite(x, sizeof x, 1, stdout);
            break;
        case 1:
            m_add(queue, record[2]);
            m_add(&buffer, in_buffer);
            break;
        case 2:
            m_remove(queue, record[2], now_ns);
            m_remove(&buffer, in_buffer, now_ns);
        }
        PROJECTION(queue, &buffer)
    }
    return 0;
}
"#;

#[test]
fn the_c_header_keeps_the_features_of_the_sample() {
    let log = EventLog::new(&sample());
    assert_eq!(log.expected.len(), 53_820);
    let removals = log.records.iter().filter(|record| record.kind == RecordKind::Remove);
    assert!(removals.count() > 50_000);
    for features in [
        "paper4,longest,rank,longest_gap",
        "carry4",
        "level4",
        "level_occupancy",
        "level_in_one_rtt,rank",
        "paper4",
        "rank,avg_occupancy",
        "occupancy",
    ] {
        c_replays(&log, &features.parse().expect("known"));
    }
}

#[test]
fn the_c_header_keeps_the_features_of_generated_traffic() {
    for seed in 0..12 {
        c_replays(&EventLog::new(&generated(seed)), &kept());
    }
}

#[test]
fn the_cpp_header_keeps_the_features() {
    let text = REPLAY
        .replace("#include \"m.h\"", "#include \"m.hpp\"\nusing namespace m_oracle;")
        .replace("uint32_t record[5], x[M_N_FEATURES];", "std::uint32_t record[5];\n    Row x;")
        .replace("fwrite(x,", "fwrite(x.data(),")
        .replace("m_", "")
        .replace("using namespace oracle", "using namespace m_oracle");
    replays(&EventLog::new(&sample()), &kept(), "cpp", GXX, &text);
    replays(&EventLog::new(&generated(1)), &FeatureSet::paper4(), "cpp", GXX, &text);
}

/// The features of queues that emitted code keeps.
fn kept() -> FeatureSet {
    let is_kept = |feature: &&Feature| {
        let files = files_of("m", "c", &[**feature].into_iter().collect(), 25_200);
        let text = String::from_utf8_lossy(&files[0].bytes).into_owned();
        !text.contains("No code to keep the features")
    };
    FeatureSet::all().features().iter().filter(is_kept).copied().collect()
}

/// Compiles the C header of a model of `features`, replays `log`, and compares every value.
fn c_replays(log: &EventLog, features: &FeatureSet) {
    replays(log, features, "c", GCC, REPLAY);
}

fn replays(log: &EventLog, features: &FeatureSet, target: &str, compiler: Tool, program: &str) {
    let Some(compiler) = found(compiler) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), "m", target, features, log.base_rtt_ns);
    let text = program
        .replace(
            "PROJECTION(queue, &buffer)",
            &projection(
                log,
                [
                    if target == "cpp" { "project" } else { "m_project" },
                    "queue",
                    "&buffer",
                    "record[1]",
                    "record[0]",
                    "record[2]",
                ],
            ),
        )
        .replace("QUEUES", &log.queues.to_string())
        .replace("SHARED", &format!("{}u", log.shared));
    let extension = if target == "cpp" { "cc" } else { "c" };
    fs::write(folder.path().join(format!("replay.{extension}")), text).expect("written");
    compile(&compiler, folder.path(), "replay", extension);
    fs::write(folder.path().join("log"), log.bytes()).expect("written");
    let printed = read_values(folder.path(), "replay", "log");
    compare(log, features, &printed);
}

/// The lines that keep the projection: function, queue, buffer, queue index, event and bytes.
fn projection(log: &EventLog, words: [&str; 6]) -> String {
    let [project, queue, buffer, place, kind, bytes] = words;
    let drains: Vec<String> = log.drain_bytes.iter().map(|drain| format!("{drain}u")).collect();
    format!(
        "if ({place} < SHARED && {kind} >= 2) {{
            static const unsigned long long drain_bytes[QUEUES] = {{{drains}}};
            {project}({queue}, {buffer}, {kind} == 3 ? {bytes} : 0, drain_bytes[{place}], now_ns);
        }}",
        drains = drains.join(", ")
    )
}

/// Compares the features that a program printed for each arrival with the tracer's.
pub(crate) fn compare(log: &EventLog, features: &FeatureSet, printed: &[u32]) {
    let column = |feature| FeatureSet::all().features().iter().position(|f| f == feature);
    let columns: Vec<usize> =
        features.features().iter().map(|f| column(f).expect("one of all")).collect();
    let rows: Vec<Vec<u32>> = printed.chunks(features.len()).map(<[u32]>::to_vec).collect();
    assert_eq!(rows.len(), log.expected.len());
    for (at, (row, expected)) in rows.iter().zip(&log.expected).enumerate() {
        let expected: Vec<u32> = columns.iter().map(|&column| expected[column]).collect();
        assert_eq!(row, &expected, "arrival {at}, {features}");
    }
}

/// Time constants: the smallest, the largest, data-centre values, both sides of 2^18.
pub(crate) const TAUS_NS: [u64; 14] = [
    1,
    2,
    3,
    7,
    1000,
    8000,
    25_200,
    32_000,
    80_000,
    262_143,
    262_144,
    1_000_003,
    2_147_483_659,
    4_294_967_295,
];

/// Averages many triples of average, value and time; `COUNT` headers.
const AVERAGES: &str = r#"
#define CHECK(NAME)                                                              \
    static void NAME(void)                                                       \
    {                                                                            \
        uint32_t in[3], out;                                                     \
        FILE *file = fopen(#NAME ".in", "rb");                                   \
        while (fread(in, sizeof in, 1, file) == 1) {                             \
            out = NAME##_average(in[0], in[1], in[2]);                           \
            fwrite(&out, sizeof out, 1, stdout);                                 \
        }                                                                        \
        fclose(file);                                                            \
    }
"#;

#[test]
fn integer_averages_are_those_of_double_precision() {
    let Some(gcc) = found(GCC) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut source = "#include <stdio.h>\n".to_owned();
    let mut expected = Vec::new();
    for (at, &tau_ns) in TAUS_NS.iter().enumerate() {
        let cases = averages(tau_ns, at as u64);
        write_files(folder.path(), &format!("m{at}"), "c", &FeatureSet::paper4(), tau_ns);
        let bytes: Vec<u8> =
            cases.iter().flat_map(|case| case[..3].iter().flat_map(|v| v.to_le_bytes())).collect();
        fs::write(folder.path().join(format!("m{at}.in")), bytes).expect("written");
        expected.extend(cases.iter().map(|case| case[3]));
        source += &format!("#include \"m{at}.h\"\n");
    }
    source += AVERAGES;
    let all = || 0..TAUS_NS.len();
    source += &all().map(|at| format!("CHECK(m{at})\n")).collect::<String>();
    let calls: String = all().map(|at| format!("m{at}();")).collect();
    fs::write(folder.path().join("averages.c"), source + &format!("int main(void) {{{calls}}}\n"))
        .expect("written");
    compile(&gcc, folder.path(), "averages", "c");
    assert_eq!(read_values(folder.path(), "averages", "averages.c"), expected);
}

/// Averages its context (average, value and time) instead of the emitted check.
const EBPF_AVERAGE: &str = r#"
typedef unsigned int __u32;
typedef unsigned long long __u64;
#include "m.bpf.h"

__attribute__((section("syscall"), used)) int m_check(const volatile __u32 *context)
{
    return (int)m_average(context[0], context[1], context[2]);
}

char m_license[] __attribute__((section("license"), used)) = "MIT";
"#;

#[test]
fn ebpf_averages_are_those_of_double_precision() {
    let target: Target = "ebpf".parse().expect("a target");
    for (at, tau_ns) in TAUS_NS.into_iter().enumerate() {
        let mut files = files_of("m", "ebpf", &FeatureSet::paper4(), tau_ns);
        for file in files.iter_mut().filter(|file| file.name == "m.bpf.c") {
            file.bytes = EBPF_AVERAGE.as_bytes().to_vec();
        }
        let mut built = match Built::from_files(&files, 3, target) {
            Err(error @ VerifyError::MissingTool { .. }) => {
                missing(&error);
                return;
            }
            built => built.expect("it builds"),
        };
        let cases: Vec<[u32; 4]> = averages(tau_ns, at as u64).into_iter().step_by(7).collect();
        let rows: Vec<Vec<u32>> = cases.iter().map(|case| case[..3].to_vec()).collect();
        let expected: Vec<u32> = cases.iter().map(|case| case[3]).collect();
        for program in built.programs() {
            let answers = program.answer(&rows).expect("it runs");
            let low = answers.scores.expect("31 bits");
            let high = answers.drops.expect("and the highest");
            let averages = low.iter().zip(high).map(|(low, high)| low | u32::from(high) << 31);
            assert_eq!(averages.collect::<Vec<u32>>(), expected, "{tau_ns} ns, {}", program.name());
        }
    }
}

/// Keeps the features in a map, one record per call; after an arrival, returns the feature whose
/// number is in the context. `QUEUES`, `SHARED` and `PROJECTION` are replaced.
const EBPF_REPLAY: &str = r#"
typedef unsigned int __u32;
typedef unsigned long long __u64;
#include "m.bpf.h"

struct state {
    struct m_level buffer;
    struct m_level queues[QUEUES];
};

struct {
    int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
    __u32 *key;
    struct state *value;
    int (*max_entries)[1];
} states __attribute__((section(".maps"), used));

static void *(*lookup)(void *map, const void *key) = (void *)1; /* bpf_map_lookup_elem */

__attribute__((section("syscall"), used)) int m_check(const volatile __u32 *context)
{
    const __u32 zero = 0, place = context[1], size = context[2], feature = context[5];
    const __u64 now_ns = context[3] | (__u64)context[4] << 32;
    const __u32 in_buffer = place < SHARED ? size : 0;
    struct state *state = lookup(&states, &zero);
    struct m_row row;

    if (!state || place >= QUEUES) {
        return 0;
    }
    switch (context[0]) {
    case 0:
        m_observe(&state->queues[place], &state->buffer, state->queues, SHARED, &row);
        return feature < M_N_FEATURES ? (int)row.x[feature] : 0;
    case 1:
        m_add(&state->queues[place], size);
        m_add(&state->buffer, in_buffer);
        return 0;
    case 2:
        m_remove(&state->queues[place], size, now_ns);
        m_remove(&state->buffer, in_buffer, now_ns);
    }
    PROJECTION(&state->queues[place], &state->buffer)
    return 0;
}

char m_license[] __attribute__((section("license"), used)) = "MIT";
"#;

#[test]
fn ebpf_keeps_the_features_in_the_kernel() {
    kernel_replays(&EventLog::new(&sample()), &FeatureSet::paper4());
    kernel_replays(&EventLog::new(&generated(0)), &kept());
    kernel_replays(&EventLog::new(&generated(5)), &kept());
}

fn kernel_replays(log: &EventLog, features: &FeatureSet) {
    let Some(clang) = found(CLANG) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), "m", "ebpf", features, log.base_rtt_ns);
    let text = EBPF_REPLAY
        .replace(
            "PROJECTION(&state->queues[place], &state->buffer)",
            &projection(
                log,
                [
                    "m_project",
                    "&state->queues[place]",
                    "&state->buffer",
                    "place",
                    "context[0]",
                    "size",
                ],
            ),
        )
        .replace("QUEUES", &log.queues.to_string())
        .replace("SHARED", &format!("{}u", log.shared));
    fs::write(folder.path().join("m.bpf.c"), text).expect("written");
    let mut object = clang.in_folder(folder.path());
    object.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror", "-c"]);
    let output = object.args(["m.bpf.c", "-o", "m.bpf.o"]).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Some(mut loader) = loader(folder.path()) else { return };
    fs::write(folder.path().join("log"), log.bytes_asking_for_each(features.len() as u32))
        .expect("written");
    let log_file = fs::File::open(folder.path().join("log")).expect("just written");
    let output = loader.args(["m.bpf.o", "6"]).stdin(log_file).output().expect("it starts");
    if !kernel_did(&output) {
        return;
    }
    let (answers, rest) = output.stdout.as_chunks::<8>();
    assert!(rest.is_empty());
    let value =
        |&[a, b, c, d, e, ..]: &[u8; 8]| u32::from_le_bytes([a, b, c, d]) | u32::from(e) << 31;
    let observed = log.records_asking_for_each(features.len() as u32);
    let observed = observed.iter().map(|(record, _)| record.kind == RecordKind::Observe);
    let printed: Vec<u32> = answers
        .iter()
        .zip(observed)
        .filter(|(_, observed)| *observed)
        .map(|(a, _)| value(a))
        .collect();
    compare(log, features, &printed);
}

/// Average, value, time since the last update, and the resulting average: all small ones, and
/// random ones, many of which are exact integers before truncation.
pub(crate) fn averages(tau_ns: u64, seed: u64) -> Vec<[u32; 4]> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let tau = u32::try_from(tau_ns).expect("32 bits");
    let mut cases = Vec::new();
    for elapsed in 0..=tau.min(12) {
        cases.extend((0..900).map(|case| [case / 30, case % 30, elapsed, 0]));
    }
    for case in 0..60_000 {
        let mut magnitude = || random.random::<u32>() >> random.random_range(0..32);
        let [average, x] = [magnitude(), magnitude()];
        let elapsed = magnitude() % tau;
        cases.push(match case % 4 {
            0 => [x, x, elapsed, 0],
            1 => [x.saturating_add((average % 1000).saturating_mul(tau)), x, elapsed, 0],
            _ => [average, x, elapsed, 0],
        });
    }
    for [average, x, elapsed, expected] in &mut cases {
        let mut moving = MovingAverage::default();
        moving.update(*average, tau_ns, tau_ns);
        moving.update(*x, tau_ns + u64::from(*elapsed), tau_ns);
        *expected = moving.value();
    }
    cases
}

/// The files of a small model of `features`.
pub(crate) fn files_of(
    name: &str,
    target: &str,
    features: &FeatureSet,
    average_ns: u64,
) -> Vec<EmittedFile> {
    let shape = Shape { trees: 1, depth: 1, features: features.len(), largest: 9, stops: 0 };
    let forest = Forest { features: features.names(), ..random_forest(shape, 1) };
    let mut origin = Origin::new(name, &"0123456789abcdef".repeat(4), features);
    origin.average_ns = Some(average_ns);
    export(&forest, &origin, target.parse().expect("a target")).expect("exportable")
}

pub(crate) fn write_files(
    folder: &Path,
    name: &str,
    target: &str,
    features: &FeatureSet,
    average_ns: u64,
) {
    for file in files_of(name, target, features, average_ns) {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}

pub(crate) fn found(tool: Tool) -> Option<FoundTool> {
    tool.find().map_err(|error| missing(&error)).ok()
}

/// Compiles `NAME.EXTENSION` with all usual warnings as errors.
pub(crate) fn compile(compiler: &FoundTool, folder: &Path, name: &str, extension: &str) {
    let standard = if extension == "c" { "-std=c99" } else { "-std=c++17" };
    let mut command = compiler.in_folder(folder);
    command.args([standard, "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]);
    let output = command.args([&format!("{name}.{extension}"), "-o", name]).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The `u32` values that a program prints, given a file as standard input.
pub(crate) fn read_values(folder: &Path, program: &str, input: &str) -> Vec<u32> {
    let input = fs::File::open(folder.join(input)).expect("written");
    let output = Command::new(folder.join(program)).current_dir(folder).stdin(input).output();
    let output = output.expect("it starts");
    assert!(output.status.success());
    let (words, rest) = output.stdout.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().copied().map(u32::from_le_bytes).collect()
}

#[test]
fn headers_say_why_they_keep_no_features() {
    let shape = Shape { trees: 1, depth: 1, features: 3, largest: 9, stops: 0 };
    let forest = random_forest(shape, 1);
    let header = |forest: &Forest, origin: &Origin| {
        let files = export(forest, origin, "c".parse::<Target>().expect("a target"));
        String::from_utf8(files.expect("exportable").remove(0).bytes).expect("ASCII")
    };
    let text = header(&forest, &origin_of(&forest, "m"));
    assert!(text.contains("keep the features: dropcast does not know how feature_0 is kept. */"));
    let features = FeatureSet::paper4();
    let forest = Forest { features: features.names(), ..forest };
    let text = header(&forest, &Origin::new("m", &"0".repeat(64), &features));
    assert!(text.contains("keep the features: the model states no time constant"), "{text}");
    for (set, average_ns, reason) in [
        ("flow_gap", None, "the model states no base RTT, by which bursts and messages end"),
        ("flow_gap,rank", Some(1), "features of flows and of queues are not kept together"),
        ("occupancy,flow_gap", None, "features of flows and of queues are not kept together"),
        ("flow_gap,own:tos", Some(1), "tos is not dropcast's: the caller supplies it"),
    ] {
        let features: FeatureSet = set.parse().expect("features");
        let shape = Shape { features: features.len(), ..shape };
        let forest = Forest { features: features.names(), ..random_forest(shape, 1) };
        let origin = Origin { average_ns, ..Origin::new("m", &"0".repeat(64), &features) };
        let text = header(&forest, &origin);
        assert!(text.contains(&format!("/* No code to keep the features: {reason}. */")), "{text}");
    }
}
