//! Descriptions are read as they are written, and mistakes are named.

use super::*;
use crate::SwitchSpecs;
use std::collections::BTreeMap;

const LEAF: &str = "
    ports = 20
    line_rate_bps = 10_000_000_000
    buffer_bytes = 1_052_672
    base_rtt_ns = 32_000
    queues_per_port = 2
    wire_overhead_bytes = 33
    pushable = [false, true]
";

#[test]
fn a_description_survives_being_written() {
    let specs = SwitchSpecs::from_toml(LEAF).expect("valid");
    assert_eq!(SwitchSpecs::from_toml(&specs.to_toml()).expect("own output"), specs);
    let spec = specs.get(7).expect("the same for all").clone();
    assert_eq!((spec.ports(), spec.queues(), spec.queue_index(3, 1)), (20, 40, 7));
    assert_eq!(spec.wire_time_ns(0, 1432), 1172);
    assert_eq!(spec.wire_time_ns(0, 36), 56, "55.2, rounded up");
    assert_eq!(spec.wire_time_ns(0, u32::MAX), 3_435_973_863, "(2^32 + 32) * 0.8, rounded up");
    assert_eq!(spec.slack_bytes, 0, "Algorithm 1, unless the description says more");
    let spec = SwitchSpec {
        reserved_bytes: vec![0, 3_000],
        dt_alpha: vec![64.0, 0.5],
        slack_bytes: 1_500,
        alpha_is_power: true,
        port_names: (0..20).map(|port| format!("Ethernet{}", 4 * port)).collect(),
        ..spec
    };
    assert_eq!((spec.reserved_bytes_of(6), spec.reserved_bytes_of(7)), (0, 3_000));
    let other = SwitchSpecs::Same(SwitchSpec { dt_alpha: vec![3.0; 2], ..spec.clone() });
    assert!(other.to_toml().contains("dt_alpha = 3.0"), "3 is no power of two");
    let each = SwitchSpecs::Each(BTreeMap::from([(4, spec)]));
    assert_eq!(SwitchSpecs::from_toml(&each.to_toml()).expect("own output"), each);
    assert_eq!(each.get(3), None);
}

#[test]
fn mistakes_are_named() {
    let check = |change: (&str, &str), says: &str| {
        let error = SwitchSpecs::from_toml(&LEAF.replace(change.0, change.1))
            .expect_err("has a mistake")
            .to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check(("ports = 20", "ports = 0"), "ports: is 0");
    check(("1_052_672", "5_000_000_000"), "buffer_bytes: is 5000000000");
    check(("32_000", "0"), "base_rtt_ns");
    check(("32_000", "1_000_000_000_001"), "base_rtt_ns: is 1000000000001, expected at most");
    check(("32_000", "32_000\ndt_alpha = \"x\""), "expected one value, or a list of them");
    check(("32_000", "32_000\ndt_alpha = -1.0"), "dt_alpha: is -1, expected a number above 0");
    check(("32_000", "32_000\nalpha = 1.0"), "dt_alpha");
    check(("32_000", "32_000\ndynamic_th = 17"), "dynamic_th: is 17, expected -16 to 16");
    check(("32_000", "32_000\ndt_alpha = 1\ndynamic_th = 0"), "dynamic_th: is given with");
    check(("32_000", "32_000\nport_names = [\"a\"]"), "port_names: has 1 names, expected");
    let named = |second: &str| format!("ports = 2\nport_names = [\"a\", {second:?}]");
    check(("ports = 20", &named("a")), "port_names: has \"a\" twice");
    check(("ports = 20", &named("\n")), "port_names: has \"\\n\", expected 1 to 512");
    check(("32_000", "32_000\nslack_bytes = 1_073_741_825"), "slack_bytes: is 1073741825");
    check(("10_000_000_000", "[1, 2]"), "line_rate_bps: has 2 values");
    check(("pushable", "pushible"), "pushible");
    check(("ports = 20", "ports = 20\nscheduler = \"dwrr\""), "quantum_bytes: is missing");
    check(("ports = 20", "ports = \"x\""), "ports");
    let beside = "shared = [false, true]\nreserved_bytes = 10\npushable";
    check(("pushable", beside), "reserved_bytes: is given for a queue that does not draw");
    check(("pushable", "reserved_bytes = 4_294_000_000\npushable"), "reserved_bytes: is 4294");
    check(("ports = 20", "ports = 20\npfc = true"), "pfc is not modelled: this switch pauses");
    check(("ports = 20", "ports = 20\nwred = 1"), "wred is not modelled: LQD drops for want");
    let each = format!("[[switch]]\nid = 1\ncut_through = true\n{LEAF}");
    let error = SwitchSpecs::from_toml(&each).expect_err("has a mistake").to_string();
    assert!(error.contains("cut_through is not modelled"), "{error}");
    let second = |change: (&str, &str)| {
        let second = LEAF.replace(change.0, change.1);
        let text = format!("[[switch]]\nid = 1\n{LEAF}[[switch]]\nid = 7\n{second}");
        SwitchSpecs::from_toml(&text).expect_err("has a mistake").to_string()
    };
    let error = second(("pushable", "pushible"));
    assert!(error.contains("[[switch]] number 2 (id = 7): unknown field"), "{error}");
    let error = second(("1_052_672", "0"));
    assert!(error.contains("buffer_bytes: is 0") && error.contains("(switch 7)"), "{error}");
    check(("ports = 20", "ports = 65_535"), "queues_per_port: 65535 ports of 2 queues are 131070");
}

#[test]
fn a_description_of_too_many_queues_is_refused_before_they_are_made() {
    let text: String = (0..4_000).map(|id| format!("[[switch]]\nid = {id}\n{LEAF}")).collect();
    assert!(SwitchSpecs::from_toml(&text).is_ok(), "160,000 queues");
    let text = text.replace("ports = 20", "ports = 65_535").replace("queues_per_port = 2", "");
    let text = text.replace("pushable = [false, true]", "");
    let error = SwitchSpecs::from_toml(&text).expect_err("262,140,000 queues").to_string();
    assert!(error.contains("switch: makes 262140000 queues in all, at most 262144"), "{error}");
}
