//! C++ headers, on their own and called by ns-3.

use crate::agreement::{SHAPES, agrees, forest_of, missing};
use crate::forests::{Shape, example, exported, random_forest};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_verify::{Tool, VerifyError};
use std::fs;
use std::process::Command;

#[test]
fn headers_agree() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        agrees(&forest_of(shape, seed as u64), "cpp", 5000);
    }
}

#[test]
fn ns3_is_answered_as_the_artifact_asks() {
    for (seed, (trees, depth)) in [(1, 1), (4, 4), (32, 8)].into_iter().enumerate() {
        // In another order than the arguments.
        let features: FeatureSet =
            "occupancy,avg_occupancy,queue_length,avg_queue_length".parse().expect("known");
        let shape = Shape { trees, depth, features: 4, largest: 2_000_000, stops: 10 };
        let forest = random_forest(shape, seed as u64);
        let forest = Forest { features: features.names(), ..forest };
        let programs = agrees(&forest, "cpp", 5000);
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(programs == 4 || !ci, "both compilers, with ns-3; but {programs} programs");
    }
}

/// The page's two blocks, in a simulation that asks twice: before and after the start time.
#[test]
fn the_documented_callback_answers_ns3() {
    let page = include_str!("../../../docs/ns3.md");
    let blocks: Vec<&str> = page
        .split("```cpp\n")
        .skip(1)
        .map(|rest| rest.split_once("```").expect("the block ends").0)
        .collect();
    let [callback, binding] = blocks[..] else { panic!("two blocks") };
    let source = format!(
        r#"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/traced-callback.h"
#include <cstdio>
using namespace ns3;
static const double START_TIME = 10;
{callback}
struct Disc {{
    TracedCallback<uint32_t, uint32_t, uint32_t, uint32_t, int &> asked;
    void TraceConnectWithoutContext(const char *, const CallbackBase &callback)
    {{
        asked.ConnectWithoutContext(callback);
    }}
}};
static Disc disc;
static void ask()
{{
    int drop = -1;
    disc.asked(50000, 0, 950000, 0, drop);
    std::printf("%d", drop);
    disc.asked(50000, 0, 800000, 0, drop);
    std::printf("%d ", drop);
}}
int main()
{{
    Disc *genDisc = &disc;
{binding}
    Simulator::Schedule(Seconds(9), &ask);
    Simulator::Schedule(Seconds(11), &ask);
    Simulator::Run();
    Simulator::Destroy();
}}
"#
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gxx = Tool { command: "g++", version_arguments: &["--version"], package: "g++" };
    let Ok(gxx) = gxx.find().map_err(|error| missing(&error)) else { return };
    let (forest, origin) = example();
    let header = exported(&forest, &origin, "cpp");
    fs::write(folder.path().join("example.hpp"), header).expect("written");
    fs::write(folder.path().join("ask.cc"), source).expect("written");
    let mut has_ns3 = gxx.in_folder(folder.path());
    has_ns3.args(["-E", "-include", "ns3/simulator.h", "-x", "c++", "/dev/null"]);
    if !has_ns3.output().expect("it starts").status.success() {
        let (tool, package) = ("ns-3".to_owned(), "libns3-dev".to_owned());
        missing(&VerifyError::MissingTool { tool, package });
        return;
    }
    let mut compile = gxx.in_folder(folder.path());
    compile.args([
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "ask.cc",
        "-o",
        "ask",
        "-lns3-core",
    ]);
    let output = compile.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(folder.path().join("ask")).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "00 10 ");
}
