//! FAB (Workshop on Buffer Sizing 2019): Dynamic Thresholds that know flows.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{LINE_RATE_BPS, accepted, overload, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::fab::FabParameters;
use dropcast_switch::{Alphas, DynamicThresholds, Packet};

/// The rule from the log alone.
fn accepts(parameters: &FabParameters, moment: &Moment<'_>) -> bool {
    let arrived = moment.log.iter().filter_map(|event| match *event {
        Event::Arrived { packet, time, .. } => Some((packet, time)),
        Event::Departed { .. } => None,
    });
    let place = |packet: &Packet| packet.flow_hash % parameters.flows as u64;
    let own_place = arrived
        .chain([(*moment.packet, moment.now)])
        .filter(|(packet, _)| packet.flow_hash > 0 && place(packet) == place(moment.packet));
    let mut bytes = 0;
    let mut before = (0, 0);
    for (packet, time) in own_place {
        if before.0 != packet.flow_hash || time - before.1 > parameters.window_ns {
            bytes = 0;
        }
        bytes += u64::from(packet.size_bytes);
        before = (packet.flow_hash, time);
    }
    let is_first = match moment.packet.flow_hash {
        0 => moment.packet.is_first_rtt(),
        _ => bytes < parameters.first_bytes,
    };
    let free = moment.buffer.capacity_bytes() - moment.buffer.occupancy_bytes();
    let alpha = if is_first { parameters.first_alpha } else { parameters.alpha.at(0) };
    moment.is_below(alpha * f64::from(free))
}

#[test]
fn decides_as_flows_are_counted() {
    let parameters = FabParameters {
        alpha: Alphas::try_from(0.3).expect("positive"),
        first_alpha: 4.0,
        first_bytes: 3_000,
        window_ns: 2_000,
        flows: 8,
    };
    try_random(100, switch_and_arrivals(), |(spec, arrivals)| {
        let policy = parameters.policy().expect("valid parameters");
        let watched = Watched::new(policy, |moment: &Moment<'_>| accepts(&parameters, moment));
        run(&spec, &arrivals, watched).policy().counts
    });
}

/// Short flows are accepted when long ones are not, and a flow is short again after a silence.
#[test]
fn the_first_bytes_of_a_flow_find_room() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 400_000, 20_000);
    let mut arrivals = overload(&[0], 3, 1_000);
    for (_, packet) in &mut arrivals {
        packet.flow_hash = 1;
    }
    let now = arrivals.last().expect("packets").0;
    let of = |flow_hash, id| Packet { flow_hash, ..Packet::new(id, 0, 1_000) };
    // 20 packets of a flow are among its first 21,000 bytes, with the packet itself; the 21st is not.
    arrivals.push((now, of(1, 1_000)));
    arrivals.extend((0..21).map(|id| (now, of(2, 1_001 + id))));
    let fab = FabParameters::default().policy().expect("valid parameters");
    let found = accepted(&spec, &arrivals, fab);
    let expected: Vec<bool> = (0..22).map(|place| (1..=20).contains(&place)).collect();
    assert_eq!(found[1_000..], expected);
    assert!(accepted(&spec, &arrivals, DynamicThresholds::new(0.5))[1_000..].iter().all(|&a| !a));

    // Silent for longer than the window, while another flow keeps the queue at its threshold.
    let mut arrivals = overload(&[0], 3, 30_000);
    for (_, packet) in &mut arrivals {
        packet.flow_hash = if packet.id < 100 { 2 } else { 1 };
    }
    let now = arrivals.last().expect("packets").0;
    arrivals.extend([(now, of(1, 30_000)), (now, of(2, 30_001))]);
    let fab = FabParameters::default().policy().expect("valid parameters");
    assert_eq!(accepted(&spec, &arrivals, fab)[30_000..], [false, true]);
}

/// The artifact's alpha for first bytes, 1,024, lets short flows fill the buffer; with 64 they would stop at
/// 64 / 65 of it.
#[test]
fn first_bytes_may_fill_the_buffer() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 400_000, 20_000);
    let of_short_flows =
        |(now, packet): (u64, Packet)| (now, Packet { flow_hash: 1 + packet.id / 20, ..packet });
    let arrivals = overload(&[0], 100_000, 420).into_iter().map(of_short_flows).collect();
    let fab = FabParameters::default().policy().expect("valid parameters");
    assert!(accepted(&spec, &arrivals, fab).iter().filter(|&&is| is).count() >= 400);
}
