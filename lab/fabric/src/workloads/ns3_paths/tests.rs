use super::*;
use crate::transport::Transport;

#[test]
fn random_numbers_are_the_c_librarys() {
    // The first five and the 1,001st, printed by a C program with glibc 2.36.
    for (seed, first, last) in [
        (1, [1804289383, 846930886, 1681692777, 1714636915, 1957747793], 981914693),
        (8, [757547896, 1695630744, 1945246242, 94247549, 2049268311], 402466293),
        (u32::MAX, [254925627, 1205188300, 366127624, 1401405153, 76053476], 1216673817),
    ] {
        let mut random = LibraryRandom::new(seed);
        assert_eq!(first, std::array::from_fn(|_| random.draw()));
        for _ in 0..995 {
            random.draw();
        }
        assert_eq!(random.draw(), last);
    }
}

/// Flows of the artifact (commit 6ddb4a40) with 2 leaves of 2 servers, 4 spines and randomSeed 3, and
/// the two spines of each, from the hashes that its switches computed.
const FLOWS: &str = "start_ns,src_host,dst_host,size_bytes,incast,spine,ack_spine\n\
    100472,2,0,10000,1,3,0\n\
    100472,3,0,10000,1,0,3\n\
    224625,3,0,21219,0,3,3\n\
    293920,0,2,10000,1,1,0\n\
    293920,1,2,10000,1,0,2\n\
    581520,0,2,60139,0,1,1\n\
    1016591,0,2,10000,1,1,0\n\
    1016591,1,2,10000,1,2,0\n\
    1310914,3,0,1757516,0,2,0\n\
    1347077,0,2,137521,0,1,3\n\
    1947544,3,0,2032,0,2,2\n\
    2596306,3,1,16575,0,3,2\n\
    4812816,2,1,77988,0,1,2\n\
    4884447,0,3,10000,1,0,2\n\
    4884447,1,3,10000,1,0,2\n\
    5341649,2,1,1704661,0,0,1\n\
    5910573,0,3,23080,0,0,3\n\
    5919744,0,2,15264,0,1,2\n\
    5969396,2,0,10000,1,2,0\n\
    5969396,3,0,10000,1,1,1\n\
    ";

fn fabric() -> FabricConfig {
    FabricConfig { leaves: 2, servers: 2, spines: 4, ..FabricConfig::artifact() }
}

fn place(text: &str, seed: u32) -> Result<FlowList, Ns3PathsError> {
    let list =
        FlowList::read(text.as_bytes(), Transport::Dctcp, 1, |_| Ok(())).expect("valid flows");
    list.on_ns3_paths(&fabric(), seed)
}

#[test]
fn paths_are_those_that_ns3_took() {
    let list = place(FLOWS, 3).expect("flows of the artifact");
    let expected: Vec<(u16, u16)> = FLOWS
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let spine = |cell: usize| cells[cell].parse().expect("a spine");
            (spine(5), spine(6))
        })
        .collect();
    let found: Vec<_> = list.flows().iter().map(|flow| flow.spines.expect("a path")).collect();
    assert_eq!(found, expected);
}

#[test]
fn lists_that_the_artifact_does_not_make_are_refused() {
    let says = |text: &str, seed, says: &str| {
        let error = place(text, seed).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    says(FLOWS, 4, "with randomSeed 4 the artifact sends the flow that starts at server");
    let lines: Vec<&str> = FLOWS.lines().collect();
    let without =
        |left_out: usize| [&lines[..left_out], &lines[left_out + 1..]].concat().join("\n");
    says(&without(6), 3, "at 5910573 ns to server 2, the list to 3; give the seed");
    says(&without(1), 3, "request of server 0 at 100472 ns is answered by servers [3], in the");
}
