use super::*;

#[test]
fn parameters_are_read_from_toml_and_every_one_has_a_default() {
    let parse = |text: &str| toml::from_str::<FabricConfig>(text);
    assert_eq!(parse("").expect("all defaults"), FabricConfig::default());
    let config = parse("spines = 3\naqm = 'none'").expect("valid");
    assert_eq!((config.spines, config.aqm.name()), (3, "none"));
    let written = toml::to_string(&config).expect("TOML's types");
    assert_eq!(parse(&written).expect("own output"), config);
    assert!(parse("uplinks = 4").is_err(), "unknown");
}

#[test]
fn the_default_is_the_artifacts_fabric() {
    let fabric = Fabric::try_from(FabricConfig::default()).expect("valid");
    assert_eq!(fabric.base_rtt_ns(), 32_000);
    assert_eq!(fabric.oversubscription(), 4.0);
    assert_eq!(fabric.bandwidth_delay_bytes(), 40_000);
    assert_eq!(fabric.switch_spec(0).ports(), 20);
    assert_eq!(fabric.switch_spec(5).role.as_deref(), Some("spine"));
    let specs = fabric.switch_specs();
    assert_eq!(SwitchSpecs::from_toml(&specs.to_toml()).expect("valid switches"), specs);
}

/// Packets between servers of one leaf cross no uplink, whatever uplinks there are.
#[test]
fn a_single_leaf_has_a_round_trip_of_four_links() {
    for spines in [0, 4] {
        let config = FabricConfig { leaves: 1, spines, ..FabricConfig::default() };
        let fabric = Fabric::try_from(config).expect("valid");
        assert_eq!(fabric.base_rtt_ns(), 16_000);
        assert_eq!(fabric.bandwidth_delay_bytes(), 20_000);
        assert_eq!(fabric.switch_spec(0).base_rtt_ns, 16_000);
    }
}

#[test]
fn sizes_of_the_default_rates_are_noted_beside_others() {
    fn raised(config: &mut FabricConfig) {
        (config.server_rate_bps, config.uplink_rate_bps) = (100_000_000_000, 100_000_000_000);
    }
    let says = |change: fn(&mut FabricConfig)| {
        let mut config = FabricConfig::default();
        change(&mut config);
        config.sizes_of_other_rates()
    };
    assert_eq!(says(|_| ()), None);
    let note = says(raised).expect("all three");
    for part in [
        "server_rate_bps is 100000000000, uplink_rate_bps 100000000000",
        "leaf_buffer_bytes 1052672 (in proportion 10526720)",
        "spine_buffer_bytes 1052672 (in proportion 10526720)",
        "threshold_bytes of aqm 14000 (in proportion 140000)",
    ] {
        assert!(note.contains(part), "{note}");
    }
    // A tenth of the delays at ten times the rate: the same bytes are on their way.
    let note = says(|config| {
        raised(config);
        (config.server_delay_ns, config.uplink_delay_ns) = (400, 400);
        config.spine_buffer_bytes = 8_000_000;
    });
    let note = note.expect("the leaf's buffer");
    assert!(note.contains("leaf_buffer") && !note.contains("spine_b"), "{note}");
    assert!(!note.contains("threshold"), "{note}");
    let note = says(|config| config.uplink_rate_bps = 40_000_000_000).expect("buffers");
    assert!(note.contains("leaf_buffer_bytes 1052672 (in proportion 1684275)"), "{note}");
    assert!(note.contains("in proportion 4210688") && !note.contains("threshold"), "{note}");
    let given = says(|config| {
        raised(config);
        config.aqm = AqmSpec::None(Default::default());
        (config.leaf_buffer_bytes, config.spine_buffer_bytes) = (10_000_000, 10_000_000);
    });
    assert_eq!(given, None);
}

#[test]
fn mistakes_are_named() {
    let check = |change: fn(&mut FabricConfig), says: &str| {
        let mut config = FabricConfig::default();
        change(&mut config);
        let error = Fabric::try_from(config).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check(|c| c.leaves = 0, "leaves: is 0");
    check(|c| c.spines = 0, "spines: is 0");
    check(|c| c.servers = 40_000, "servers: makes 80000 servers");
    check(|c| c.spines = u16::MAX, "makes 65537 switches");
    check(|c| c.segment_bytes = 70_000, "segment_bytes: makes packets of 70065 bytes");
    check(|c| c.unresponsive_rate = 0.0, "unresponsive_rate: is 0");
    check(|c| c.unresponsive_rate = f64::NAN, "unresponsive_rate: is NaN");
    check(|c| c.end_ns = u64::MAX, "end_ns: is 18446744073709551615");
    check(|c| c.scheduler = Scheduler::Dwrr, "quantum_bytes: has 0 values, expected 2");
    check(|c| c.quantum_bytes = vec![1], "quantum_bytes: has 1 values, expected 0");
    let aqm = "red:min_bytes=9,max_bytes=3".parse().expect("a known name");
    let config = FabricConfig { aqm, ..FabricConfig::default() };
    let error = Fabric::try_from(config).expect_err("max below min").to_string();
    assert!(error.starts_with("fabric: aqm: "), "{error}");
}
