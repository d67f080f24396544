//! Smartbuf (IWQoS 2021): queues limited to the need of similar bursts.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{Arrivals, LINE_RATE_BPS, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::smartbuf::{Smartbuf, SmartbufParameters, SmartbufReading};
use dropcast_switch::{
    Alphas, Buffer, CompleteSharing, Decision, DynamicThresholds, Packet, Policy,
};

/// Memory is of the bursts that were seen, not of those that may be remembered.
#[test]
fn as_many_bursts_as_there_can_be_take_no_memory() {
    let parameters = SmartbufParameters { known_bursts: usize::MAX, ..Default::default() };
    let policy = parameters.policy(&SwitchSpec::uniform(4, 1_000_000_000, 100_000, 8_000));
    assert_eq!(policy.expect("valid").known_bursts().count(), 0);
}

/// Algorithm 1 from the log alone: each queue's limit.
fn limits(parameters: &SmartbufParameters, moment: &Moment<'_>) -> Vec<Option<u32>> {
    let queues = moment.buffer.queues();
    let buffer_bytes = f64::from(moment.buffer.capacity_bytes());
    let mut lengths = vec![0_i64; queues];
    let mut after_last = vec![(0_i64, 0_i64); queues];
    let mut gradients = vec![0_i64; queues];
    // Peak, and gradient at the peak.
    let mut temp_map = vec![(0_i64, 0_i64); queues];
    let mut limits = vec![None; queues];
    let mut in_burst = vec![false; queues];
    // Gradient and peak, in order of learning.
    let mut main_map: Vec<(i64, i64)> = Vec::new();
    for event in moment.log {
        let (queue, time) = match *event {
            Event::Arrived { packet, accepted, .. } => {
                lengths[packet.queue] += if accepted { i64::from(packet.size_bytes) } else { 0 };
                continue;
            }
            Event::Departed { queue, size_bytes, time } => {
                lengths[queue] -= i64::from(size_bytes);
                (queue, time as i64)
            }
        };
        let length = lengths[queue];
        let (length_before, time_before) = after_last[queue];
        if time > time_before {
            let gradient = (length - length_before) * 1_000_000 / (time - time_before);
            gradients[queue] = (gradient + 3 * gradients[queue]) / 4;
        }
        after_last[queue] = (length, time);
        if length > temp_map[queue].0 {
            temp_map[queue] = (length, gradients[queue]);
        }
        let (peak, gradient) = temp_map[queue];
        let is_burst = peak as f64 > buffer_bytes / parameters.sigma;
        if (length as f64) < parameters.beta * peak as f64 {
            if is_burst {
                let known = main_map.iter().position(|&(known, _)| known == gradient);
                let known = known.map(|at| main_map.remove(at).1).unwrap_or(0);
                main_map.push((gradient, peak.max(known)));
                if main_map.len() > parameters.known_bursts {
                    main_map.remove(0);
                }
            }
            (temp_map[queue], gradients[queue]) = ((0, 0), 0);
            (in_burst[queue], limits[queue]) = (false, None);
        } else if is_burst && !in_burst[queue] {
            in_burst[queue] = true;
            let mut steeper: Vec<(i64, i64)> =
                main_map.iter().copied().filter(|&(known, _)| known >= gradients[queue]).collect();
            steeper.sort_unstable();
            steeper.truncate(parameters.neighbours);
            let sum: i64 = steeper.iter().map(|&(_, peak)| peak).sum();
            limits[queue] = (!steeper.is_empty()).then(|| (sum / steeper.len() as i64) as u32);
        }
    }
    limits
}

#[test]
fn decides_as_algorithm_1_says() {
    for (sigma, known_bursts) in [(5.0, 70), (12.0, 3)] {
        let alpha = Alphas::try_from(0.8).expect("positive");
        let parameters =
            SmartbufParameters { alpha, sigma, known_bursts, ..SmartbufParameters::default() };
        try_random(100, switch_and_arrivals(), |(spec, arrivals)| {
            let policy = parameters.policy(&spec).expect("valid parameters");
            let watched = Watched::new(policy, |moment: &Moment<'_>| {
                let free = spec.buffer_bytes - moment.buffer.occupancy_bytes();
                let limit = limits(&parameters, moment)[moment.packet.queue];
                moment.is_below(limit.map_or(0.8 * f64::from(free), f64::from))
            });
            run(&spec, &arrivals, watched).policy().counts
        });
    }
}

/// A switch of 4 ports with a buffer of 4,000 packets of 1,000 bytes, as large as the paper's.
fn spec() -> SwitchSpec {
    SwitchSpec::uniform(4, LINE_RATE_BPS, 4_000_000, 80_000)
}

/// Incasts one after another, each drained before the next: `fan_in` senders at line rate, each with
/// the same number of packets, towards a port. Time of each one's end, and the arrivals.
fn incasts(fan_ins: impl IntoIterator<Item = (usize, u64)>, packets_each: u64) -> Arrivals {
    let mut arrivals = Arrivals::new();
    let mut begin = 1_000_000;
    for (port, fan_in) in fan_ins {
        for number in 0..packets_each * fan_in {
            let id = arrivals.len() as u64;
            arrivals.push((begin + number / fan_in * 1_000, Packet::new(id, port, 1_000)));
        }
        begin += packets_each * fan_in * 1_000 + 500_000;
    }
    arrivals
}

/// Records each burst: its queue's limit, if any, and its peak length.
struct Bursts<P> {
    policy: P,
    limit: fn(&P, usize) -> Option<u32>,
    over: Vec<(Option<u32>, u32)>,
    now: [(Option<u32>, u32); 4],
}

impl<P: Policy> Policy for Bursts<P> {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        self.policy.decide(buffer, packet, now)
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.policy.departed(buffer, queue, size_bytes, time);
        let length = buffer.lengths()[queue];
        let (limit, peak) = &mut self.now[queue];
        *limit = limit.or((self.limit)(&self.policy, queue));
        *peak = (*peak).max(length);
        if length == 0 {
            self.over.push(std::mem::take(&mut self.now[queue]));
        }
    }
}

/// The larger an incast, the steeper, for any port: after some bursts a limit is within section
/// IV-E's 9% of the burst's unlimited need.
#[test]
fn predicts_what_bursts_need() {
    let fan_ins = (0..120_u64).map(|n| ((n % 4) as usize, 16 + n * 7 % 15));
    let arrivals = incasts(fan_ins, 64);
    let smartbuf = Bursts {
        policy: SmartbufParameters::default().policy(&spec()).expect("valid parameters"),
        limit: Smartbuf::limit_bytes,
        over: Vec::new(),
        now: [(None, 0); 4],
    };
    let unlimited = Bursts {
        policy: CompleteSharing,
        limit: |_, _| None,
        over: Vec::new(),
        now: [(None, 0); 4],
    };
    let found = run(&spec(), &arrivals, smartbuf);
    let needed = run(&spec(), &arrivals, unlimited);
    let both = found.policy().over.iter().zip(&needed.policy().over).skip(60);
    let errors: Vec<f64> = both
        .filter_map(|(&(limit, _), &(_, needed))| Some((limit?, needed)))
        .map(|(limit, needed)| f64::from(limit.abs_diff(needed)) / f64::from(needed))
        .collect();
    assert!(errors.len() > 30, "{} bursts were limited", errors.len());
    let largest = errors.iter().copied().fold(0.0, f64::max);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(largest < 0.09, "largest error {largest}, mean {mean}: {errors:.3?}");
}

/// Readings that the paper leaves open: in a learning phase, and where Dynamic Thresholds allow more, no limit holds.
#[test]
fn readings_differ_in_when_a_limit_holds() {
    let mut arrivals = incasts((0..12).map(|_| (0, 20)), 64);
    let begin = arrivals.last().expect("packets").0 + 3_000_000;
    let longer = incasts([(0, 20)], 400).into_iter().map(|(time, packet)| (begin + time, packet));
    arrivals.extend(longer);
    let most = |reading, known_bursts| {
        let parameters = SmartbufParameters { reading, known_bursts, ..Default::default() };
        let policy = parameters.policy(&spec()).expect("valid parameters");
        run(&spec(), &arrivals, policy).buffer().lengths()[0]
    };
    let literal = most(SmartbufReading::Literal, 70);
    let dynamic = run(&spec(), &arrivals, DynamicThresholds::new(1.0)).buffer().lengths()[0];
    assert!(literal < dynamic, "{literal}, {dynamic}");
    assert_eq!(most(SmartbufReading::LearnFirst, 70), dynamic);
    assert_eq!(most(SmartbufReading::LearnFirst, 3), most(SmartbufReading::Literal, 3));
    assert!(most(SmartbufReading::LearnFirst, 3) < dynamic);
    assert_eq!(most(SmartbufReading::AtLeastDt, 70), dynamic);
}

/// Section IV-B: a burst similar to known ones leaves room for others, while with Complete Sharing
/// it takes the whole buffer.
#[test]
fn limits_a_burst_that_outgrows_those_it_looked_like() {
    let mut arrivals = incasts((0..12).map(|_| (0, 20)), 64);
    let begin = arrivals.last().expect("packets").0 + 3_000_000;
    let longer = incasts([(0, 20)], 400).into_iter().map(|(time, packet)| (begin + time, packet));
    arrivals.extend(longer);
    let policy = SmartbufParameters::default().policy(&spec()).expect("valid parameters");
    let held = run(&spec(), &arrivals, policy).buffer().lengths()[0];
    let shared = run(&spec(), &arrivals, CompleteSharing).buffer().lengths()[0];
    assert!(shared >= 3_990_000, "{shared}");
    assert!(held <= 64 * 20 * 1_000, "{held}");
}
