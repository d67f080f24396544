//! Oracles that are trained on LQD in the fabric.

use dropcast_fabric::{FabricConfig, Incast, TrafficConfig};
use dropcast_lab::fabric_oracle::{
    default_oracles, train_oracles, training_experiment, training_experiment_for,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use std::num::NonZeroUsize;

#[test]
fn oracles_are_the_same_on_any_number_of_threads() {
    let mut experiment = training_experiment();
    experiment.traffic.duration_ns = 6_000_000;
    let incast = &mut experiment.traffic.incasts[0];
    (incast.per_server_hz, incast.burst) = (500.0, 1.5);
    let named = default_oracles();
    let with_threads = |threads| {
        let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
        let settings = named.iter().map(|(_, settings)| settings);
        train_oracles(&experiment, settings, &resources, &Silent).expect("drops to learn from")
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(3));
    assert_eq!(one.len(), 2);
    assert_ne!(one[0].features, one[1].features);
    for model in &one {
        let provenance = model.provenance.as_ref().expect("trained here");
        assert_eq!(provenance.data[0].name, "LQD in the fabric");
        assert_eq!(model.switch.buffer_bytes, Some(1_052_672));
        let validation = model.metrics.as_ref().and_then(|metrics| metrics.validation.clone());
        assert!(validation.expect("rows to choose the vote on").drops > 0);
    }
}

#[test]
fn a_map_trains_in_its_own_network_on_other_seeds() {
    let fabric = FabricConfig { leaf_buffer_bytes: 260_000, seed: 5, ..FabricConfig::default() };
    let incasts = vec![Incast { spread_ns: 7, ..Incast::default() }];
    let traffic = TrafficConfig { seed: 5, incasts, ..TrafficConfig::default() };
    let trained = training_experiment_for(&fabric, &traffic);
    let seed = training_experiment().fabric.seed;
    assert_eq!(trained.fabric, FabricConfig { seed, ..fabric });
    assert_eq!(trained.traffic, TrafficConfig { seed, ..traffic });
}
