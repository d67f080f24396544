//! Lists in each format, and what is wrong with them.

use super::{FlowList, FlowListError};
use crate::fabric::{Flow, FlowClass};
use crate::transport::Transport;
use proptest::prelude::*;
use std::fmt::Write as _;

fn read(text: &str) -> Result<FlowList, FlowListError> {
    FlowList::read(text.as_bytes(), Transport::Dctcp, 1, |_| Ok(()))
}

fn check(text: &str, says: &str) {
    let error = read(text).expect_err(says).to_string();
    assert!(error.contains(says), "{error:?} should say {says:?}");
}

fn flow(start_ns: u64, from: u16, to: u16, size_bytes: u64) -> Flow {
    Flow {
        start_ns,
        from,
        to,
        size_bytes,
        class: FlowClass::Single,
        connection: FlowClass::Single.connection(),
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    }
}

#[test]
fn flows_are_read_in_any_order_of_columns_and_sorted_by_start() {
    let list = read(
        "flow_id,dst_host,start_ns,src_host,size_bytes,incast,transport\n\
         0,3,50,16,700,1,\n1,3,50,17,700,1,cubic\n2,4,9,18,9000,0,\n3,4,50,18,700,1,\n",
    );
    let list = list.expect("valid");
    let flow = |start_ns, from, to, size_bytes, class, transport| Flow {
        start_ns,
        from,
        to,
        size_bytes,
        class,
        connection: class.connection(),
        transport,
        queue: 1,
        spines: None,
    };
    let expected = [
        flow(9, 18, 4, 9000, FlowClass::Single, Transport::Dctcp),
        flow(50, 16, 3, 700, FlowClass::Incast(0), Transport::Dctcp),
        flow(50, 17, 3, 700, FlowClass::Incast(0), Transport::Cubic),
        flow(50, 18, 4, 700, FlowClass::Incast(1), Transport::Dctcp),
    ];
    assert_eq!(list.flows(), expected);
}

#[test]
fn mistakes_of_tables_are_named_with_line_and_column() {
    check("", "no column \"start_ns\"");
    check("version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS, not the file");
    check("start_ns,src_host,dst_host\n", "no column \"size_bytes\"");
    let required = "start_ns,src_host,dst_host,size_bytes";
    check(&format!("{required},Transport\n"), "\"Transport\" is not read as transport; rename");
    check(&format!("{required},size_bytes\n"), "\"size_bytes\" is in the header twice");
    let header = "start_ns,src_host,dst_host,size_bytes,incast,transport\n";
    check(&format!("{header}1,2,3,4,0,\n1,2,3,4,0\n"), "line 3: has 5 cells, the header has 6");
    check(&format!("{header}1,2,3,4,0,,\n"), "line 2: has 7 cells, the header has 6");
    check(&format!("{header}1,2,3,4,2,\n"), "line 2: incast: is 2");
    check(&format!("{header}1,2,3,4,0,\n\n1,2,x,4,0,\n"), "line 4: dst_host: is \"x\"");
    check(&format!("{header}1,2,70000,4,0,\n"), "dst_host: is \"70000\"");
    check(&format!("{header}1,2,3,,0,\n"), "size_bytes: is \"\"");
    check(&format!("{header}1,2,3,4,0,tahoe\n"), "transport: is \"tahoe\", expected one of dctcp");
}

#[test]
fn flows_are_read_as_hpcc_writes_them() {
    // The generator overwrites its guess of the number, which leaves a blank.
    let list = read("2 \n\n7 300 3 100 1500 2.000000123\n0\t1 3 100 1 2\n").expect("valid");
    let expected = [flow(2_000_000_000, 0, 1, 1), flow(2_000_000_123, 7, 300, 1500)];
    assert_eq!((list.flows(), list.note()), (&expected[..], None));
    // ConWeave's has no port.
    let list = read("2\n7 300 3 1500 2.0000001234\n0\t1 3 1 2\n").expect("valid");
    let rounded = [flow(2_000_000_000, 0, 1, 1), flow(2_000_000_123, 7, 300, 1500)];
    let note = Some("flow list: starts rounded to whole nanoseconds: 1");
    assert_eq!((list.flows(), list.note()), (&rounded[..], note));
    assert!(read("0\n").expect("valid").flows().is_empty());
}

#[test]
fn what_ns3_does_not_read_is_told() {
    let list = read("1\n2 1 3 100 9 2\n3 1 3 100 9 2\n\nFirst line: # of flows\n");
    let list = list.expect("valid");
    assert_eq!(list.flows().len(), 1);
    let note = list.note().expect("more lines");
    assert!(note.contains("from line 3 is not read: line 1 says 1 flows"), "{note}");
}

#[test]
fn mistakes_of_hpccs_lists_are_named_with_line_and_field() {
    check("2\n0 1 3 100 9 2\n", "line 1: says 2 flows, there are 1");
    check("99999999999999999999999\n", "line 1: is 99999999999999999999999 flows, expected at");
    check("4000000000\n", "line 1: is 4000000000 flows, expected at most");
    check("1\n0 1 3 9\n", "line 2: has 4 fields, expected 6: src dst pg dport size_bytes");
    check("1\n\n0 1 3 100 9 2 x\n", "line 3: has 7 fields");
    check("1\n0 70000 3 100 9 2\n", "line 2: dst: is \"70000\", expected a whole number of 2");
    check("1\n0 1 x 100 9 2\n", "line 2: pg: is \"x\"");
    check("1\n0 1 3 100 1.5 2\n", "line 2: size_bytes: is \"1.5\"");
    for start in ["-1", "nan", "inf", "1e9", "two"] {
        let says = format!("line 2: start_seconds: is {start:?}, expected seconds");
        check(&format!("1\n0 1 3 100 9 {start}\n"), &says);
    }
    let long = "1".repeat(1 << 16);
    check(&format!("1\n0 1 3 100 9 {long}\n"), "line 2: is longer than 65536 bytes");
}

#[test]
fn connections_are_read_as_htsim_writes_them() {
    let list = read(
        "# two flows\nNodes 16\nConnections 2\nTriggers 0\n\n\
         15->0 id 1 start 0 size 2000000\n#\n3->4 size 9 prio 2 start 1500\n",
    );
    let list = list.expect("valid");
    assert_eq!(list.flows(), [flow(0, 15, 0, 2_000_000), flow(2, 3, 4, 9)]);
    assert_eq!(list.note(), Some("flow list: starts rounded to whole nanoseconds: 1"));
}

#[test]
fn mistakes_of_htsims_lists_are_named_with_their_line() {
    let header = "Nodes 4\nConnections 1\n";
    let flow = "0->1 start 0 size 9\n";
    check(flow, "line 1: is a flow, and no line before says how many \"Nodes\"");
    check(&format!("Nodes 4\n{flow}"), "line 2: is a flow, and no line before says how many");
    check("Nodes 4\n", "line 1: no line says how many \"Connections\"");
    check(header, "line 2: says 1 connections, there are 0");
    check(&format!("{header}{flow}{flow}"), "line 2: says 1 connections, there are 2");
    check(&format!("{header}Nodes 4\n"), "line 3: says how many \"Nodes\" there are, as line 1");
    check("Nodes -1\n", "line 1: Nodes: is \"-1\"");
    check("Nodes 1\nConnections 4000000000\n", "line 2: Connections: is 4000000000, expected");
    check(&format!("{header}0->4 start 0 size 9\n"), "line 3: to: is 4, there are 4 nodes");
    check(&format!("{header}0->x start 0 size 9\n"), "line 3: to: is \"x\"");
    check(&format!("{header}0->1 size 9\n"), "line 3: has no start");
    check(&format!("{header}0->1 start 0\n"), "line 3: has no size");
    check(&format!("{header}0->1 start\n"), "line 3: start: is \"\", expected picoseconds");
    let says = "line 3: start: is 100.500000, and picoseconds have no fraction: starts look like microseconds";
    check(&format!("{header}0->1 start 100.500000 size 9\n"), says);
    check(&format!("{header}0->1 start -1 size 9\n"), "line 3: start: is \"-1\"");
    check(&format!("{header}0->1 start 0 size 9 rate 5\n"), "line 3: \"rate\" is not read");
    check(&format!("{header}0->1 id 1 trigger 2 size 9\n"), "line 3: has flows that wait");
    check(&format!("{header}Triggers 2\n"), "line 3: has flows that wait");
    check(&format!("{header}trigger id 1 oneshot\n"), "line 3: has flows that wait");
    check(&format!("{header}Failures 1\n"), "line 3: has failing links");
    check(&format!("{header}failure switch_type TOR\n"), "line 3: has failing links");
    check(&format!("{header}Grp 0 1\n"), "line 3: \"Grp\" is not read");
}

fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let one = (0..1_u64 << 50, 0..100_u16, 0..100_u16, any::<u64>());
    let one = one.prop_map(|(start_ns, from, to, size_bytes)| flow(start_ns, from, to, size_bytes));
    prop::collection::vec(one, 0..20)
}

/// What begins and ends lines of any format, and what does not belong.
fn words() -> impl Strategy<Value = String> {
    let words = [
        "start_ns,src_host,dst_host,size_bytes",
        "0,1,2,3",
        "2",
        "0 1 3 100 9 0.5",
        "0 1 3",
        "Nodes",
        "4",
        "Connections",
        "0->1",
        "->",
        "start",
        "size",
        "id",
        "prio",
        "trigger",
        "-1",
        "1e9",
        "nan",
        "#",
        "\u{fffd}",
        " ",
        "\n",
        "\n",
        "\n",
        "\r\n",
        ",",
        "18446744073709551616",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..30)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn the_formats_hold_the_same_flows(flows in flows()) {
        let mut csv = "size_bytes,start_ns,dst_host,src_host\n".to_owned();
        let mut hpcc = format!("{}\n", flows.len());
        let mut htsim = format!("Nodes 100\nConnections {}\n", flows.len());
        for (id, &Flow { start_ns, from, to, size_bytes, .. }) in (1..).zip(&flows) {
            let (seconds, rest) = (start_ns / 1_000_000_000, start_ns % 1_000_000_000);
            let _ = writeln!(csv, "{size_bytes},{start_ns},{to},{from}");
            let _ = writeln!(hpcc, "{from} {to} 3 {id} {size_bytes} {seconds}.{rest:09}");
            let _ = writeln!(htsim, "{from}->{to} id {id} start {start_ns}000 size {size_bytes}");
        }
        let expected = FlowList::new(flows);
        for text in [csv, hpcc, htsim] {
            let list = read(&text).expect("valid");
            prop_assert_eq!(list.flows(), expected.flows());
            prop_assert_eq!(list.note(), None);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in words()) {
        if let Ok(list) = read(&text) {
            prop_assert!(list.flows().is_sorted_by_key(|flow| flow.start_ns));
        }
    }
}
