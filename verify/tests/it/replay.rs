//! What was trained is what runs: exported code that keeps the features, fed with what happens to
//! virtual LQD's queues, says of every arrival what the tracer says.

use crate::agreement::missing;
use crate::event_log::{EventLog, Happening, generated, sample};
use crate::forests::{Shape, origin_of, random_forest};
use dropcast_export::{Origin, Target, export};
use dropcast_features::{FeatureSet, MovingAverage};
use dropcast_train::Forest;
use dropcast_verify::{FoundTool, Tool};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;
use std::process::Command;

const GCC: Tool = Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };

/// Feeds records from standard input to the code and prints the features of each arrival;
/// `ARGUMENTS`, `QUEUES` and `SHARED` are replaced.
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
            m_observe(queue, &buffer, ARGUMENTS x);
            fwrite(x, sizeof x, 1, stdout);
            break;
        case 1:
            m_add(queue, record[2]);
            m_add(&buffer, in_buffer);
            break;
        default:
            m_remove(queue, record[2], now_ns);
            m_remove(&buffer, in_buffer, now_ns);
        }
    }
    return 0;
}
"#;

#[test]
fn the_c_header_keeps_the_features_of_the_sample() {
    let log = EventLog::new(&sample());
    assert_eq!(log.expected.len(), 53_820);
    let removals = log.records.iter().filter(|record| record.happening == Happening::Remove);
    assert!(removals.count() > 50_000);
    for features in ["paper4,longest,rank", "paper4", "rank,avg_occupancy", "occupancy"] {
        c_replays(&log, &features.parse().expect("known"));
    }
}

#[test]
fn the_c_header_keeps_the_features_of_generated_traffic() {
    for seed in 0..12 {
        c_replays(&EventLog::new(&generated(seed)), &FeatureSet::all());
    }
}

/// Compiles the header of a model of `features`, replays `log`, and compares every value.
fn c_replays(log: &EventLog, features: &FeatureSet) {
    let Some(gcc) = found(GCC) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_header(folder.path(), "m", features, log.base_rtt_ns);
    let names = features.names();
    let scans = names.iter().any(|name| name == "rank" || name == "longest_queue");
    let text = REPLAY
        .replace("ARGUMENTS", if scans { "queues, SHARED," } else { "" })
        .replace("QUEUES", &log.queues.to_string())
        .replace("SHARED", &format!("{}u", log.shared));
    fs::write(folder.path().join("replay.c"), text).expect("written");
    compile(&gcc, folder.path(), "replay");
    fs::write(folder.path().join("log"), log.bytes()).expect("written");
    let printed = read_values(folder.path(), "replay", "log");
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

/// Time constants: the least, the largest, some of data centres, both sides of 2^18.
const TAUS_NS: [u64; 14] = [
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
        write_header(folder.path(), &format!("m{at}"), &FeatureSet::paper4(), tau_ns);
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
    compile(&gcc, folder.path(), "averages");
    assert_eq!(read_values(folder.path(), "averages", "averages.c"), expected);
}

/// Average, value, time since the last update, and the average that comes of them: all small ones,
/// and random ones, many of which meet an integer exactly.
fn averages(tau_ns: u64, seed: u64) -> Vec<[u32; 4]> {
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

/// Writes the header of a small model of `features`.
fn write_header(folder: &Path, name: &str, features: &FeatureSet, average_ns: u64) {
    let shape = Shape { trees: 1, depth: 1, features: features.len(), largest: 9, stops: 0 };
    let forest = Forest { features: features.names(), ..random_forest(shape, 1) };
    let mut origin = Origin::new(name, &"0123456789abcdef".repeat(4), features);
    origin.average_ns = Some(average_ns);
    let files = export(&forest, &origin, "c".parse().expect("a target")).expect("exportable");
    for file in files {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}

fn found(tool: Tool) -> Option<FoundTool> {
    tool.find().map_err(|error| missing(&error)).ok()
}

/// Compiles `NAME.c`, with nothing that anybody would have to switch off.
fn compile(compiler: &FoundTool, folder: &Path, name: &str) {
    let mut command = compiler.in_folder(folder);
    command.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]);
    let output = command.args([&format!("{name}.c"), "-o", name]).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The `u32` that a program prints, given a file as standard input.
fn read_values(folder: &Path, program: &str, input: &str) -> Vec<u32> {
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
}
