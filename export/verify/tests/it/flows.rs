//! Exported code of flows gives the features of [`FlowMemory`], value for value.

use crate::agreement::missing;
use crate::forests::{Shape, random_forest};
use crate::replay::{GCC, GXX, compile, files_of, found, read_values, write_files};
use dropcast_data::SwitchSpec;
use dropcast_export::{Origin, export};
use dropcast_features::{BufferView, FeatureSet};
use dropcast_forest::Forest;
use dropcast_runtime::{FLOW_FEATURES, FlowMemory};
use dropcast_switch::policies::reserve::Reserve;
use dropcast_switch::{
    Buffer, CompleteSharing, Decision, Fit, LineRate, Live, Packet, Policy, Switch,
};
use dropcast_verify::{Built, VerifyError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

const FLOWS: usize = 4;

/// Words of a flow's state.
const WORDS: usize = 10;

/// Base RTTs: the smallest, odd, of a data centre, the largest.
const BASE_RTTS_NS: [u64; 4] = [1, 7, 32_000, u32::MAX as u64];

/// Packets of a few flows: the flow, and when.
type Arrivals = Vec<(usize, u64)>;

/// Packets at random, with gaps near half a base RTT, eight and 4.29 s.
fn random_arrivals(base_rtt_ns: u64, packets: usize) -> Arrivals {
    let mut random = ChaCha8Rng::seed_from_u64(base_rtt_ns);
    let mut now_ns = [1_000_000_u64; FLOWS];
    let limits = [0, base_rtt_ns / 2, 8 * base_rtt_ns, u64::from(u32::MAX)];
    let arrival = |_| {
        let flow = random.random_range(0..FLOWS);
        let gap_ns = match random.random_range(0..20) {
            0..6 => {
                (limits[random.random_range(0..4)] + random.random_range(0..3)).saturating_sub(1)
            }
            6..15 => random.random_range(0..=base_rtt_ns / 2 + 1),
            15..19 => random.random_range(0..=8 * base_rtt_ns),
            _ => random.random_range(0..=80 * base_rtt_ns),
        };
        now_ns[flow] += gap_ns;
        (flow, now_ns[flow])
    };
    (0..packets).map(arrival).collect()
}

/// More packets in a burst, bursts in a message and packets in messages than are counted; then others at random.
fn long_messages(base_rtt_ns: u64) -> Arrivals {
    let mut now_ns = 0;
    let mut arrivals = Vec::new();
    for gap_ns in [0, base_rtt_ns / 2 + 1, 8 * base_rtt_ns + 1, base_rtt_ns / 2, 8 * base_rtt_ns] {
        for _ in 0..66_000 {
            now_ns += gap_ns;
            arrivals.push((0, now_ns));
        }
        // The message ends.
        now_ns += 9 * base_rtt_ns;
    }
    let after = random_arrivals(base_rtt_ns, 20_000);
    arrivals.extend(after.into_iter().map(|(flow, after_ns)| (flow, now_ns + after_ns)));
    arrivals
}

/// What a flow is found and left as, and the features.
struct Step<'a> {
    before: &'a [u32],
    row: &'a [u32],
    after: &'a [u32],
}

/// Takes records of a flow and a time from standard input; prints the flow as it is found, the features, and the flow as it is left. Ends
/// early if a packet leaves another flow when nothing asks for its features.
const PROGRAM: &str = r#"
#include "m.h"
#include <stdio.h>
#include <string.h>

static struct m_flow flows[4];

typedef char takes_forty_bytes[sizeof(struct m_flow) == 40 ? 1 : -1];

int main(void)
{
    uint32_t record[3], x[M_N_FEATURES];

    while (fread(record, sizeof record, 1, stdin) == 1) {
        struct m_flow *flow = &flows[record[0]], passed = *flow;

        fwrite(flow, sizeof *flow, 1, stdout);
        m_flow_passes(&passed, record[1] | (uint64_t)record[2] << 32);
        m_flow_arrives(flow, record[1] | (uint64_t)record[2] << 32, x);
        if (memcmp(&passed, flow, sizeof passed) != 0) {
            return 1;
        }
        fwrite(x, sizeof x, 1, stdout);
        fwrite(flow, sizeof *flow, 1, stdout);
    }
    return 0;
}
"#;

/// Compares every value that the header of a model of these features gives; all that its program prints, if there is a compiler.
fn replays(target: &str, set: &str, base_rtt_ns: u64, arrivals: &Arrivals) -> Option<Vec<u32>> {
    let features: FeatureSet = set.parse().expect("known features");
    let (compiler, extension, program) = match target {
        // Beside another model's header.
        "c" => (GCC, "c", ["#include \"other.h\"\n", PROGRAM].concat()),
        _ => {
            let program = PROGRAM
                .replace("#include \"m.h\"", "#include \"m.hpp\"\nusing namespace m_oracle;")
                .replace(
                    "uint32_t record[3], x[M_N_FEATURES];",
                    "std::uint32_t record[3];\n    Row x;",
                )
                .replace("struct m_flow *flow =", "struct m_oracle::flow *flow =")
                .replace("m_flow", "flow")
                .replace("fwrite(x, sizeof x,", "fwrite(x.data(), sizeof x,");
            (GXX, "cc", program)
        }
    };
    let compiler = found(compiler)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), "m", target, &features, base_rtt_ns);
    write_files(
        folder.path(),
        "other",
        "c",
        &"flow_burst,flow_most_message".parse().expect("known"),
        9,
    );
    fs::write(folder.path().join(format!("program.{extension}")), program).expect("written");
    compile(&compiler, folder.path(), "program", extension);
    let record = |&(flow, now_ns): &(usize, u64)| {
        [
            (flow as u32).to_le_bytes(),
            (now_ns as u32).to_le_bytes(),
            ((now_ns >> 32) as u32).to_le_bytes(),
        ]
        .concat()
    };
    let records: Vec<u8> = arrivals.iter().flat_map(record).collect();
    fs::write(folder.path().join("arrivals"), records).expect("written");
    let printed = read_values(folder.path(), "program", "arrivals");
    let steps = steps(&printed, features.len());
    assert_eq!(steps.len(), arrivals.len());
    let expected = expected(arrivals, &features, base_rtt_ns);
    for (at, (step, expected)) in steps.iter().zip(&expected).enumerate() {
        assert_eq!(step.row, expected, "arrival {at}, {set}, {base_rtt_ns} ns");
    }
    Some(printed)
}

fn steps(printed: &[u32], features: usize) -> Vec<Step<'_>> {
    let step = |printed| {
        let (before, rest) = <[u32]>::split_at(printed, WORDS);
        let (row, after) = rest.split_at(features);
        Step { before, row, after }
    };
    printed.chunks(2 * WORDS + features).map(step).collect()
}

/// The features that the model has, of each arrival.
fn expected(arrivals: &Arrivals, features: &FeatureSet, base_rtt_ns: u64) -> Vec<Vec<u32>> {
    let all: FeatureSet = "flow11".parse().expect("a set");
    assert_eq!(all.len(), FLOW_FEATURES);
    let place = |feature| all.features().iter().position(|of| of == feature).expect("of flows");
    let places: Vec<usize> = features.features().iter().map(place).collect();
    let mut flows = [FlowMemory::default(); FLOWS];
    let row = |&(flow, now_ns): &(usize, u64)| {
        let row = flows[flow].arrives(now_ns, base_rtt_ns);
        places.iter().map(|&place| row[place]).collect()
    };
    arrivals.iter().map(row).collect()
}

#[test]
fn headers_keep_the_features_of_flows() {
    for base_rtt_ns in BASE_RTTS_NS {
        replays("c", "flow11", base_rtt_ns, &long_messages(base_rtt_ns));
    }
    replays("cpp", "flow11", 32_000, &long_messages(32_000));
}

/// A header of any features of flows, in any order.
#[test]
fn headers_have_the_features_of_their_model_alone() {
    let arrivals = random_arrivals(32_000, 5_000);
    let all: FeatureSet = "flow11".parse().expect("a set");
    let alone = all.names();
    let some =
        ["flow_most_message,flow_gap,flow_burst", "flow_least_burst,flow_pause,flow_least_message"];
    for set in alone.into_iter().chain(some.map(str::to_owned)) {
        replays("c", &set, 32_000, &arrivals);
    }
    replays("cpp", some[0], 32_000, &arrivals);
}

/// The program of docs/reserve.md: records of a flow, a time, and the bytes of the packet's queue and of all.
const RESERVE_MAIN: &str = r#"
#include <stdio.h>

static struct flows_flow flows[4];

int main(void)
{
    uint32_t record[5], answer;

    while (fread(record, sizeof record, 1, stdin) == 1) {
        const uint64_t now_ns = record[1] | (uint64_t)record[2] << 32;

        answer = (uint32_t)is_dropped(&flows[record[0]], now_ns, record[3], record[4]);
        fwrite(&answer, sizeof answer, 1, stdout);
    }
    return 0;
}
"#;

/// Complete Sharing that notes what each packet finds.
#[derive(Default)]
struct Notes(Rc<RefCell<Vec<[u32; 2]>>>);

impl Policy for Notes {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let found = [buffer.shared_lengths()[packet.queue], buffer.occupancy_bytes()];
        self.0.borrow_mut().push(found);
        CompleteSharing.decide(buffer, packet, now)
    }
}

/// Which of the packets, the reserve drops: by the policy, and by the page's program.
#[test]
fn the_decision_on_the_page_is_that_of_the_policy() {
    let page = include_str!("../../../../docs/reserve.md");
    let page = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let page = page.expect("a program");
    let Some(compiler) = found(GCC) else { return };
    let features: FeatureSet = "flow11".parse().expect("a set");
    let shape = Shape { trees: 4, depth: 4, features: FLOW_FEATURES, largest: 60, stops: 0 };
    let forest = Forest { features: features.names(), ..random_forest(shape, 3) };
    let spec = SwitchSpec::uniform(20, 10_000_000_000, 260_000, 32_000);
    let mut origin = Origin::new("flows", &"0123456789abcdef".repeat(4), &features);
    origin.average_ns = Some(spec.base_rtt_ns);
    let files = export(&forest, &origin, "c".parse().expect("a target")).expect("exportable");

    let noted = Notes::default();
    let notes = Rc::clone(&noted.0);
    let predictor = Live { features, oracle: forest };
    let policy = Reserve::new(&spec, noted, Some(predictor), 0.15);
    let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
    let (mut records, mut expected) = (Vec::new(), Vec::new());
    // Four flows to two ports, about twice as fast as these send.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut now_ns = 0_u64;
    for id in 0..60_000 {
        now_ns +=
            if random.random_range(0..200) == 0 { 400_000 } else { random.random_range(0..600) };
        let flow = random.random_range(0..FLOWS);
        let packet = Packet { flow_hash: flow as u64 + 1, ..Packet::new(id, flow % 2, 1_500) };
        let is_accepted = switch.arrive(&packet, now_ns);
        let [own, used] = notes.borrow_mut().pop().expect("a packet is decided about");
        records.extend([flow as u32, now_ns as u32, (now_ns >> 32) as u32, own, used]);
        expected.push((is_accepted, used));
    }

    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(file.name), file.bytes).expect("written");
    }
    let program = ["#include \"flows.h\"\n", page, RESERVE_MAIN].concat();
    fs::write(folder.path().join("program.c"), program).expect("written");
    compile(&compiler, folder.path(), "program", "c");
    let records: Vec<u8> = records.into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(folder.path().join("arrivals"), records).expect("written");
    let dropped = read_values(folder.path(), "program", "arrivals");
    assert_eq!(dropped.len(), expected.len());
    // A packet that does not fit is dropped in any case.
    let fitting = || expected.iter().zip(&dropped).filter(|((_, used), _)| used + 1_500 <= 260_000);
    assert!(fitting().all(|((is_accepted, _), &dropped)| *is_accepted == (dropped == 0)));
    let drops = fitting().filter(|((is_accepted, _), _)| !is_accepted).count();
    assert!((300..10_000).contains(&drops), "{drops}");
}

/// The context: a flow's state, a time, and which value is asked for: a feature, or a word of the state after that.
const EBPF_PROGRAM: &str = r#"
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
#include "m.bpf.h"

__attribute__((section("syscall"), used)) int m_check(const volatile __u32 *context)
{
    const __u32 asked = context[12];
    union {
        __u32 words[10];
        struct m_flow flow;
    } state;
    struct m_row row;

    state.words[0] = context[0];
    state.words[1] = context[1];
    state.words[2] = context[2];
    state.words[3] = context[3];
    state.words[4] = context[4];
    state.words[5] = context[5];
    state.words[6] = context[6];
    state.words[7] = context[7];
    state.words[8] = context[8];
    state.words[9] = context[9];
    m_flow_arrives(&state.flow, context[10] | (__u64)context[11] << 32, &row);
    if (asked < M_N_FEATURES) {
        return (int)row.x[asked];
    }
    return asked - M_N_FEATURES < 10 ? (int)state.words[asked - M_N_FEATURES] : 0;
}

char m_license[] __attribute__((section("license"), used)) = "MIT";
"#;

/// Every value and word of the state is that of the C header, which another test compares.
#[test]
fn ebpf_keeps_the_features_of_flows() {
    let features: FeatureSet = "flow11".parse().expect("a set");
    let asked = FLOW_FEATURES + WORDS;
    for base_rtt_ns in BASE_RTTS_NS {
        let mut files = files_of("m", "ebpf", &features, base_rtt_ns);
        for file in files.iter_mut().filter(|file| file.name == "m.bpf.c") {
            file.bytes = EBPF_PROGRAM.as_bytes().to_vec();
        }
        let target = "ebpf".parse().expect("a target");
        let mut built = match Built::from_files(&files, WORDS + 3, target) {
            Err(error @ VerifyError::MissingTool { .. }) => {
                missing(&error);
                return;
            }
            built => built.expect("it builds"),
        };
        let arrivals = long_messages(base_rtt_ns);
        let Some(printed) = replays("c", "flow11", base_rtt_ns, &arrivals) else { return };
        let steps = steps(&printed, FLOW_FEATURES);
        let mut rows = Vec::new();
        let mut expected = Vec::new();
        // Prime, so that each place in the sequence is asked for each value.
        for at in (0..steps.len()).step_by(13) {
            let (Step { before, row, after }, now_ns) = (&steps[at], arrivals[at].1);
            let asked = at % asked;
            let rest = [now_ns as u32, (now_ns >> 32) as u32, asked as u32];
            rows.push([*before, &rest].concat());
            expected.push([*row, *after].concat()[asked]);
        }
        for program in built.programs() {
            let answers = program.answer(&rows).expect("it runs");
            let low = answers.scores.expect("31 bits");
            let high = answers.drops.expect("and the highest");
            let values = low.iter().zip(high).map(|(low, high)| low | u32::from(high) << 31);
            assert_eq!(
                values.collect::<Vec<u32>>(),
                expected,
                "{base_rtt_ns} ns, {}",
                program.name()
            );
        }
    }
}
