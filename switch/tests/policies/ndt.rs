//! NDT (INFOCOM 2022): the network, when it decides, and what its decisions do.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{LINE_RATE_BPS, accepted, overload, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_switch::DynamicThresholds;
use dropcast_switch::policies::ndt::{
    ACTIONS, ATTRIBUTES, Activations, Ndt, NdtNetwork, NetworkError, NetworkShape, ONE, WEIGHT_ONE,
};
use proptest::prelude::*;

fn networks() -> impl Strategy<Value = NdtNetwork> {
    let shapes = (1_usize..4, 1_usize..6, 1_usize..6);
    shapes.prop_flat_map(|(history, embedding, summary)| {
        let shape = NetworkShape { history, embedding, summary };
        prop::collection::vec(-600_i16..600, shape.parameters())
            .prop_map(move |parameters| NdtNetwork::new(shape, parameters).expect("valid"))
    })
}

/// One layer, as a matrix product over exact numbers.
fn layer(parameters: &mut impl Iterator<Item = i16>, inputs: &[f64], outputs: usize) -> Vec<f64> {
    let unit = |_| {
        let products: f64 =
            inputs.iter().map(|x| f64::from(parameters.next().expect("weight")) * x).sum();
        let bias = f64::from(parameters.next().expect("bias")) * f64::from(ONE);
        ((products + bias) / f64::from(WEIGHT_ONE)).floor()
    };
    (0..outputs).map(unit).collect()
}

fn relu(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|value| value.clamp(0.0, 8.0 * f64::from(ONE))).collect()
}

/// Equation 4, port by port.
fn slow_actions(network: &NdtNetwork, observed: &[Vec<i32>]) -> Vec<u8> {
    let NetworkShape { embedding, summary, .. } = network.shape();
    let parameters = || network.parameters().iter().copied();
    let behind_phi = (network.shape().inputs() + 1) * embedding + (embedding + 1) * embedding;
    let embeddings: Vec<Vec<f64>> = observed
        .iter()
        .map(|seen| {
            let mut parameters = parameters();
            let seen: Vec<f64> = seen.iter().map(|&x| f64::from(x)).collect();
            let hidden = relu(layer(&mut parameters, &seen, embedding));
            relu(layer(&mut parameters, &hidden, embedding))
        })
        .collect();
    let mean = |unit: usize| {
        let sum: f64 = embeddings.iter().map(|embedding| embedding[unit]).sum();
        (sum / embeddings.len() as f64).floor()
    };
    let device: Vec<f64> = (0..embedding).map(mean).collect();
    embeddings
        .iter()
        .map(|own| {
            let mut parameters = parameters().skip(behind_phi);
            let both = [&own[..], &device].concat();
            let summary = relu(layer(&mut parameters, &both, summary));
            let output = layer(&mut parameters, &summary, 1)[0] / f64::from(ONE);
            ((output + 1.0) * 4.0).floor().clamp(0.0, 7.0) as u8
        })
        .collect()
}

fn act(network: &NdtNetwork, observed: &[Vec<i32>]) -> Vec<u8> {
    let mut room = Activations::new(network.shape(), observed.len());
    network.act(&observed.concat(), &mut room).to_vec()
}

fn network_and_ports() -> impl Strategy<Value = (NdtNetwork, Vec<Vec<i32>>)> {
    networks().prop_flat_map(|network| {
        let port = prop::collection::vec(0..8 * ONE, network.shape().inputs());
        (Just(network), prop::collection::vec(port, 1..6))
    })
}

proptest! {
    #[test]
    fn acts_as_equation_4_says((network, observed) in network_and_ports()) {
        prop_assert_eq!(act(&network, &observed), slow_actions(&network, &observed));
    }

    /// Equation 3: permuted ports have permuted actions.
    #[test]
    fn is_permutation_equivariant((network, observed) in network_and_ports(), by in 0_usize..6) {
        let mut actions = act(&network, &observed);
        let mut permuted = observed;
        permuted.reverse();
        actions.reverse();
        let by = by % permuted.len();
        permuted.rotate_left(by);
        actions.rotate_left(by);
        prop_assert_eq!(act(&network, &permuted), actions);
    }

    #[test]
    fn is_written_and_read_back(network in networks()) {
        let text = serde_json::to_string(&network).expect("plain numbers");
        prop_assert_eq!(serde_json::from_str::<NdtNetwork>(&text).expect("own output"), network);
    }

    /// The network that training starts from is Dynamic Thresholds with alpha 1.
    #[test]
    fn the_neutral_network_is_dynamic_thresholds((spec, arrivals) in switch_and_arrivals()) {
        let neutral = NdtNetwork::neutral(NetworkShape::default()).expect("valid");
        let ndt = accepted(&spec, &arrivals, Ndt::new(&spec, neutral));
        prop_assert_eq!(ndt, accepted(&spec, &arrivals, DynamicThresholds::new(1.0)));
    }
}

/// All decisions up to a moment, from the log alone: `alpha` of each port.
fn alphas(spec: &SwitchSpec, network: &NdtNetwork, moment: &Moment<'_>) -> Vec<f64> {
    let ports = spec.ports();
    let inputs = network.shape().inputs();
    let fair_bytes = i64::from(spec.buffer_bytes) / ports as i64;
    let fair_drain_ns = spec.drain_ns() / ports as u64;
    let port = |queue: usize| queue / usize::from(spec.queues_per_port);
    let unit = |part: f64| (part.min(8.0) * f64::from(ONE)).floor() as i32;
    let mut alphas = vec![1.0; ports];
    // alpha 1.
    let mut actions = vec![2_u8; ports];
    let mut history = vec![vec![0; inputs]; ports];
    let (mut added, mut dropped, mut excess) = (vec![0; ports], vec![0; ports], vec![0; ports]);
    let (mut decided, mut safeguard_used) = (0, false);
    for (index, event) in moment.log.iter().enumerate() {
        match *event {
            Event::Departed { queue, size_bytes, .. } => {
                excess[port(queue)] = (excess[port(queue)] - i64::from(size_bytes)).max(0);
            }
            Event::Arrived { packet, accepted, time } => {
                let own = port(packet.queue);
                let bytes = i64::from(packet.size_bytes);
                excess[own] += bytes;
                *if accepted { &mut added[own] } else { &mut dropped[own] } += bytes;
                let regular = excess[own] >= fair_bytes;
                if !regular && (safeguard_used || dropped[own] < fair_bytes) {
                    continue;
                }
                safeguard_used = !regular;
                let lengths = moment.lengths_after(index + 1);
                for of in 0..ports {
                    let queues = (0..lengths.len()).filter(|&queue| port(queue) == of);
                    let held: u32 = queues.map(|queue| lengths[queue]).sum();
                    let part = |bytes: i64| unit(bytes as f64 / f64::from(spec.buffer_bytes));
                    let now = [
                        part(i64::from(held)),
                        part(added[of]),
                        part(dropped[of]),
                        i32::from(actions[of]) * ONE / i32::from(ACTIONS),
                        unit((time - decided) as f64 / fair_drain_ns as f64),
                    ];
                    history[of] =
                        now.iter().chain(&history[of][..inputs - ATTRIBUTES]).copied().collect();
                }
                actions = slow_actions(network, &history);
                alphas = actions.iter().map(|&action| 2_f64.powi(i32::from(action) - 2)).collect();
                (added, dropped, excess) = (vec![0; ports], vec![0; ports], vec![0; ports]);
                decided = time;
            }
        }
    }
    alphas
}

#[test]
fn decides_when_equation_5_says() {
    try_random(150, (switch_and_arrivals(), networks()), |((spec, arrivals), network)| {
        let ndt = Ndt::new(&spec, network.clone());
        let watched = Watched::new(ndt, |moment: &Moment<'_>| {
            let free =
                spec.buffer_bytes - moment.lengths_after(moment.log.len()).iter().sum::<u32>();
            let port = moment.packet.queue / usize::from(spec.queues_per_port);
            moment.is_below(alphas(&spec, &network, moment)[port] * f64::from(free))
        });
        run(&spec, &arrivals, watched).policy().counts
    });
}

/// Section IV-B: traffic at line rate never triggers the network, an overload does so for each B/N.
#[test]
fn decides_as_often_as_traffic_is_dense() {
    let spec = SwitchSpec::uniform(4, LINE_RATE_BPS, 400_000, 20_000);
    let neutral = NdtNetwork::neutral(NetworkShape::default()).expect("valid");
    let decisions = |overloaded: u64| {
        let arrivals = overload(&[0], overloaded, 3_000);
        run(&spec, &arrivals, Ndt::new(&spec, neutral.clone())).policy().decisions()
    };
    assert_eq!(decisions(1), 0);
    // 3,000 packets, of which 1,000 depart, 100 for each decision.
    assert!((19..=20).contains(&decisions(3)), "{}", decisions(3));
}

#[test]
fn what_is_no_network_is_refused() {
    let shape = NetworkShape { history: 1, embedding: 2, summary: 2 };
    let count = shape.parameters();
    assert_eq!(count, 12 + 6 + 10 + 3);
    let parameters = NetworkError::Parameters { expected: count, found: 1 };
    assert_eq!(NdtNetwork::new(shape, vec![0]), Err(parameters));
    let empty = NetworkShape { summary: 0, ..shape };
    assert_eq!(NdtNetwork::neutral(empty), Err(NetworkError::Size { field: "summary", size: 0 }));
    let text = serde_json::to_string(&NdtNetwork::neutral(shape).expect("valid")).expect("numbers");
    let newer = text.replace("\"version\":1", "\"version\":2");
    let error = serde_json::from_str::<NdtNetwork>(&newer).expect_err("newer").to_string();
    assert!(error.contains("expected dropcast-ndt version 1"), "{error}");
}
