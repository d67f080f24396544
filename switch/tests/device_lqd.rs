//! `dropcast-oracle`'s virtual LQD, the device's, against this crate's, the tracer's: the same
//! victims in the same order, the same lengths, for packets of any size.

use dropcast_data::{Outcome, SwitchSpec, Victim};
use dropcast_features::{BufferView, FeatureSet};
use dropcast_oracle::{VirtualLqd as DeviceLqd, VirtualPacket, VirtualQueue};
use dropcast_switch::{Fit, LineRate, Packet, VirtualLqd};
use proptest::prelude::*;

const BUFFER_BYTES: u32 = 1000;

/// Time, queue, bytes.
type Arrival = (u64, usize, u32);

/// Few sizes, so that queues are often equally long; now and then one that exceeds the buffer.
fn arrivals(queues: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let size = prop_oneof![
        8 => prop::sample::select(vec![50_u32, 100, 200, 400]),
        4 => 1..=300_u32,
        1 => Just(BUFFER_BYTES),
        1 => Just(BUFFER_BYTES + 1),
    ];
    let gap = prop_oneof![6 => Just(0_u64), 1 => 1..400_u64];
    prop::collection::vec((gap, 0..queues, size), 1..150).prop_map(|packets| {
        let mut now = 0;
        let at = |(gap, queue, bytes)| {
            now += gap;
            (now, queue, bytes)
        };
        packets.into_iter().map(at).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_device_drops_what_the_tracer_drops(
        (ports, arrivals) in (1_usize..7).prop_flat_map(|n| (Just(n), arrivals(n))),
    ) {
        let spec = SwitchSpec::uniform(ports as u16, 8_000_000_000, BUFFER_BYTES, 1);
        let (victim, fit, service) = (Victim::Tail, Fit::Exact, LineRate::new(&spec));
        let mut lqd = VirtualLqd::new(&spec, victim, fit, service, FeatureSet::none());
        let mut queues = vec![VirtualQueue::EMPTY; ports];
        let mut packets = vec![VirtualPacket::FREE; arrivals.len()];
        let mut device = DeviceLqd::new(BUFFER_BYTES, &mut queues, &mut packets);

        for (id, &(now, queue, size_bytes)) in (0..).zip(&arrivals) {
            let queue_of = |id: u64| arrivals[id as usize].1;
            let size_of = |id: u64| arrivals[id as usize].2;
            let mut departed = Vec::new();
            lqd.advance(now, |id, outcome| {
                assert_eq!(outcome, Outcome::Departed);
                departed.push(id);
            });
            for id in departed {
                prop_assert_eq!(device.departs(queue_of(id)), Some(size_of(id)));
            }
            let (mut victims, mut device_victims) = (Vec::new(), Vec::new());
            let packet = Packet::new(id, queue, size_bytes);
            let accepted = lqd.admit(&packet, now, |id, _| victims.push(queue_of(id)));
            let by_device =
                device.arrives(queue, size_bytes, |_, queue| device_victims.push(queue));
            prop_assert_eq!(by_device, accepted, "packet {}", id);
            prop_assert_eq!(device_victims, victims, "packet {}", id);
            for queue in 0..ports {
                prop_assert_eq!(device.queue_bytes(queue), lqd.buffer().lengths()[queue]);
            }
            prop_assert_eq!(device.occupancy_bytes(), lqd.buffer().occupancy_bytes());
        }
    }
}
