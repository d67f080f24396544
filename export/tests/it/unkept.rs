//! Features that exported code does not keep: those of the user's own.

use dropcast_data::SwitchSpec;
use dropcast_export::{GoldenPackets, Origin, Target, export};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};

/// A forest of the named set, with a split on its one feature.
pub(crate) fn forest_and_origin(set: &str) -> (Forest, Origin) {
    let features: FeatureSet = set.parse().expect("a set");
    let leaf = |weight| Node::Leaf { weight };
    let split = Node::Split { feature: 0, threshold: 1_000_000, left: 1, right: 2 };
    let forest = Forest {
        features: features.names(),
        vote_threshold: 100,
        trees: vec![Tree { nodes: vec![split, leaf(0), leaf(255)] }],
    };
    let origin =
        Origin { average_ns: Some(32_000), ..Origin::new("model", &"0".repeat(64), &features) };
    (forest, origin)
}

/// Credence's decision needs features of queues.
#[test]
fn decisions_refuse_features_of_flows() {
    let switch = SwitchSpec::uniform(20, 10_000_000_000, 1_052_672, 32_000);
    for set in ["flow11", "flow_gap", "flow_burst,queue_length", "level4,flow_pause"] {
        let (forest, origin) = forest_and_origin(set);
        let with_switch = Origin { switch: Some(switch.clone()), ..origin.clone() };
        for &target in Target::all() {
            export(&forest, &origin, target).expect("the prediction alone");
            let decided = export(&forest, &with_switch, target);
            assert_eq!(decided.is_err(), target.decides(), "{target}");
            if let Err(error) = decided {
                let says = "describes the packet's flow, while Credence decides with the queues of virtual LQD; \
                            export the predictor alone, without a switch";
                assert!(error.to_string().ends_with(says), "{error}");
            }
        }
        GoldenPackets::new(&forest, &origin, &switch).map(|_| ()).expect_err("no packets either");
    }
}

#[test]
fn decisions_refuse_by_name_what_they_do_not_keep() {
    let switch = SwitchSpec::uniform(20, 10_000_000_000, 1_052_672, 32_000);
    for name in ["tos", "ttl"] {
        let reason = format!("{name} is not dropcast's: the caller supplies it");
        let (forest, origin) = forest_and_origin(&format!("own:{name}"));
        let with_switch = Origin { switch: Some(switch.clone()), ..origin.clone() };
        let deciding = Target::all().iter().filter(|target| target.decides());
        let mut refused = Vec::new();
        for &target in deciding {
            let error = export(&forest, &with_switch, target).expect_err("it cannot be kept");
            assert!(error.to_string().contains(&reason), "{target}: {error}");
            refused.push(target.name());
            export(&forest, &origin, target).expect("the prediction alone");
        }
        for name in ["c", "cpp", "ebpf", "dct", "verilog"] {
            assert!(refused.contains(&name), "{name}");
        }
        let header = export(&forest, &origin, "c".parse().expect("a target")).expect("exportable");
        let text = String::from_utf8_lossy(&header[0].bytes).into_owned();
        assert!(text.contains(&reason), "{text}");
    }
}
