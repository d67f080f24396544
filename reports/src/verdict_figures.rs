//! The figures of a verdict: drops over time and by queue.

use crate::numbers;
use crate::plot::{Axis, Draw, HeatFigure, Panel, PanelFigure, Series, Unit};
use dropcast_pipeline::verdict::{DropCounts, EpisodeSection, TimelineSection, Verdict};
use dropcast_replay::Sent;
use std::collections::BTreeSet;

/// A trace over time. None if nothing of it counts.
pub(crate) fn timeline(verdict: &Verdict, trace: usize) -> Option<PanelFigure> {
    let timeline = verdict.timelines.get(trace).filter(|line| !line.arrived_packets.is_empty())?;
    let of = match verdict.traces.as_slice() {
        [_] | [] => String::new(),
        _ => format!(" of {}", verdict.traces[trace]),
    };
    Some(panels(
        format!("Occupancy and drops over time{of}"),
        timeline,
        timeline.begin_ns,
        "of the fullest switch",
    ))
}

/// One of the worst episodes, `rank` from 1.
pub(crate) fn episode(verdict: &Verdict, rank: usize, episode: &EpisodeSection) -> PanelFigure {
    let begin_ns = verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns);
    panels(format!("Episode {rank}"), &episode.timeline, begin_ns, "of the switch")
}

fn panels(title: String, timeline: &TimelineSection, origin_ns: u64, whose: &str) -> PanelFigure {
    let bin_ms = timeline.bin_ns as f64 / 1e6;
    let first_ms = (timeline.begin_ns as f64 - origin_ns as f64) / 1e6;
    let time_ms = |at: usize| first_ms + at as f64 * bin_ms;
    let count = |name: &str, packets: &[u64]| {
        let points = packets.iter().enumerate().map(|(at, &p)| (time_ms(at), p as f64));
        // The last value holds to the end of its bin.
        let end = packets.last().map(|&last| (time_ms(packets.len()), last as f64));
        Series::new(name, Draw::Steps, points.chain(end))
    };
    let shares = timeline.peak_occupancy.iter().enumerate();
    let occupancy = shares.filter_map(|(at, share)| Some((time_ms(at), (*share)?)));
    let mut drops = vec![count("LQD drops", &timeline.lqd_packets)];
    if let Some(real) = &timeline.real {
        drops.push(count("real drops", &real.packets));
    }
    if let Some(errors) = &timeline.errors {
        drops.push(count("false positives", &errors.false_positives));
        drops.push(count("false negatives", &errors.false_negatives));
    }
    PanelFigure {
        title,
        description: format!(
            "Above, the highest occupancy {whose} that an arrival meets, as a share of the buffer; \
             below, drops and errors of the model, in packets. Each value is of {} us.",
            numbers::short(timeline.bin_ns as f64 / 1e3)
        ),
        x: Axis::new("Time since the first arrival, ms"),
        panels: vec![
            Panel {
                y: Axis::new("Full, %").unit(Unit::Percent).range(0.0, 1.0),
                series: vec![Series::new("LQD's buffer", Draw::Line, occupancy)],
                height: 1,
            },
            Panel { y: Axis::new("Packets").whole(), series: drops, height: 2 },
        ],
        notes: Vec::new(),
    }
}

/// Packets of one kind; none if that is not told.
type CountOf = fn(&DropCounts) -> Option<u64>;

/// Kinds of packets that are counted by queue.
pub(crate) const KINDS: [(&str, CountOf); 6] = [
    ("LQD drops", |counts| Some(counts.lqd.packets)),
    ("real drops", |counts| packets(counts.real)),
    ("only real", |counts| packets(counts.only_real)),
    ("only LQD", |counts| packets(counts.only_lqd)),
    ("false positives", |counts| Some(counts.confusion?.fp)),
    ("false negatives", |counts| Some(counts.confusion?.fn_)),
];

fn packets(sent: Option<Sent>) -> Option<u64> {
    sent.map(|sent| sent.packets)
}

/// Drops and errors of a switch by port. None if there are none.
pub(crate) fn by_port(verdict: &Verdict, trace: usize, switch_id: u16) -> Option<HeatFigure> {
    let own = || verdict.queues.iter().filter(|q| (q.trace, q.switch_id) == (trace, switch_id));
    let most = own().map(|queue| queue.port).max()?;
    let queues: BTreeSet<u8> = own().map(|queue| queue.queue).collect();
    let mut figure = heat(verdict, trace, switch_id);
    figure.columns = (0..=most).map(|port| port.to_string()).collect();
    for (name, of) in KINDS {
        for &queue in &queues {
            let mut cells = vec![None; usize::from(most) + 1];
            for place in own().filter(|place| place.queue == queue) {
                cells[usize::from(place.port)] = of(&place.counts).map(|count| count as f64);
            }
            if cells.iter().flatten().all(|&count| count == 0.0) {
                continue;
            }
            let which = if queues.len() > 1 { format!(", queue {queue}") } else { String::new() };
            figure.rows.push(format!("{name}{which}"));
            figure.cells.push(cells);
        }
    }
    (!figure.rows.is_empty()).then_some(figure)
}

fn heat(verdict: &Verdict, trace: usize, switch_id: u16) -> HeatFigure {
    let title = match verdict.switches.as_slice() {
        [_] | [] => "Drops and errors by port".to_owned(),
        _ => format!("Drops and errors by port of {}", switch_name(verdict, trace, switch_id)),
    };
    HeatFigure {
        title,
        description: "Packets by port: what LQD and the real switch drop, where they differ, and \
                      what the model predicts wrongly. The more, the darker."
            .to_owned(),
        x: Axis::new("Port"),
        y: Axis::new(""),
        value: Axis::new("packets"),
        ..HeatFigure::default()
    }
}

/// A switch, with its trace if there are several.
pub(crate) fn switch_name(verdict: &Verdict, trace: usize, switch_id: u16) -> String {
    match verdict.traces.as_slice() {
        [_] | [] => format!("switch {switch_id}"),
        _ => format!("switch {switch_id}, trace {}", trace + 1),
    }
}
