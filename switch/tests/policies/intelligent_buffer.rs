//! Intelligent Buffer: fair dropping of long flows.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{LINE_RATE_BPS, accepted, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::intelligent_buffer::IntelligentBufferParameters;
use dropcast_switch::{Alphas, DynamicThresholds, Packet};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

const SEED: u64 = 7;

fn parameters() -> IntelligentBufferParameters {
    IntelligentBufferParameters {
        alpha: Alphas::try_from(2.0).expect("positive"),
        window_ns: 1_500,
        reference_bytes: Some(1_000),
        least_bytes: 1_000,
        first_packets: Some(2),
        silence_ns: 4_000,
        flows: 8,
        ..IntelligentBufferParameters::default()
    }
}

/// What arrived at which time, and what the queues held before.
fn arrivals(moment: &Moment<'_>) -> Vec<(Packet, u64, Vec<u32>)> {
    let logged = moment.log.iter().enumerate().filter_map(|(place, event)| match *event {
        Event::Arrived { packet, time, .. } => Some((packet, time, moment.lengths_after(place))),
        Event::Departed { .. } => None,
    });
    let own = (*moment.packet, moment.now, moment.lengths_after(moment.log.len()));
    logged.chain([own]).collect()
}

/// The rule from the log alone.
fn accepts(own: &IntelligentBufferParameters, spec: &SwitchSpec, moment: &Moment<'_>) -> bool {
    let arrivals = arrivals(moment);
    let port = moment.packet.queue / usize::from(spec.queues_per_port);
    let most = spec.line_rate_bps[port] as f64 / 8e9 * own.window_ns as f64;
    let (mut fair, mut before, mut began, mut window) = (most, 0.0, 0, 0_u64);
    // By arrival: its window.
    let mut windows = Vec::new();
    for (_, time, lengths) in &arrivals {
        if time - began > own.window_ns {
            let (length, reference) = (
                f64::from(lengths[moment.packet.queue]),
                f64::from(own.reference_bytes.expect("given")),
            );
            let change = own.a2 * (before - reference) - own.a1 * (length - reference);
            fair = (fair + change).clamp(0.0, most);
            (before, began, window) = (length, *time, window + 1);
        }
        windows.push(window);
    }
    let place = |packet: &Packet| packet.flow_hash % own.flows as u64;
    let (mut packets, mut sent, mut last, mut owner) = (0, 0, 0, 0);
    for ((packet, time, _), at) in arrivals.iter().zip(&windows) {
        if packet.flow_hash == 0 || place(packet) != place(moment.packet) {
            continue;
        }
        if packet.flow_hash != owner {
            (packets, sent, owner) = (0, 0, packet.flow_hash);
        }
        if time - last > own.silence_ns {
            packets = 0;
        }
        packets += 1;
        last = *time;
        if at + 1 == window && packet.flow_hash == moment.packet.flow_hash {
            sent += u64::from(packet.size_bytes);
        }
    }
    let is_first = moment.packet.flow_hash == 0 || packets <= own.first_packets.expect("given");
    let is_long =
        |(packet, _, lengths): &&(Packet, u64, Vec<u32>)| lengths[packet.queue] > own.least_bytes;
    if is_long(&arrivals.last().expect("its own")) {
        // A number is drawn for each packet of a long queue.
        let drawn = arrivals.iter().filter(is_long).count();
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let number = (0..drawn).map(|_| random.next_u32()).last().expect("one");
        let excess = 1.0 - fair.min(sent as f64) / (sent as f64).max(1.0);
        if !is_first && f64::from(number) < excess * 2_f64.powi(32) {
            return false;
        }
    }
    let free = moment.buffer.capacity_bytes() - moment.buffer.occupancy_bytes();
    moment.is_below(own.alpha.at(0) * f64::from(free))
}

#[test]
fn decides_as_flows_are_counted() {
    let own = parameters();
    try_random(100, switch_and_arrivals(), |(spec, arrivals)| {
        let policy = own.policy(&spec, SEED).expect("valid parameters");
        let watched = Watched::new(policy, |moment: &Moment<'_>| accepts(&own, &spec, moment));
        run(&spec, &arrivals, watched).policy().counts
    });
}

/// Ten elevenths of a link that is overloaded twice are one flow's: it loses most of what is lost, and the queue stays near
/// its reference. A flow that sends as little as a fair share loses next to nothing, as under no other policy here.
#[test]
fn a_flow_that_sends_more_loses_more() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 1_000_000, 50_000);
    let arrivals: Vec<(u64, Packet)> = (0..40_000)
        .map(|id| {
            let flow_hash = if id % 11 == 0 { 1 } else { 2 };
            (id * 500, Packet { flow_hash, ..Packet::new(id, 0, 1_000) })
        })
        .collect();
    let own = IntelligentBufferParameters { least_bytes: 20_000, ..Default::default() };
    let policy = own.policy(&spec, SEED).expect("valid parameters");
    let lost = |accepted: Vec<bool>| {
        let all = accepted.iter().enumerate().skip(10_000);
        let lost =
            |small: bool| all.clone().filter(|(id, is)| !**is && (id % 11 == 0) == small).count();
        [lost(true), lost(false)]
    };
    let [small, large] = lost(accepted(&spec, &arrivals, policy));
    assert!(small * 200 < large, "{small} of the small flow, {large} of the large one");
    let [small, large] = lost(accepted(&spec, &arrivals, DynamicThresholds::new(0.5)));
    assert!(small * 20 > large, "{small} of the small flow, {large} of the large one");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 1_000_000, 50_000);
    for (parameters, says) in [
        (IntelligentBufferParameters { a1: -1.0, ..parameters() }, "a1"),
        (IntelligentBufferParameters { window_ns: 0, ..parameters() }, "window_ns"),
        (IntelligentBufferParameters { flows: 3, ..parameters() }, "flows"),
    ] {
        let error = parameters.policy(&spec, 1).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}
