//! The figures of a verdict: drops over time and by queue.

use crate::drop_words::{better_alpha, dropped, own_name};
use crate::numbers;
use crate::overview;
use crate::plot::{
    Axis, BarFigure, BarGroup, BarLook, Clock, Draw, HeatFigure, Panel, PanelFigure, Series, Unit,
};
use dropcast_measure::verdict::{
    DropCounts, EpisodeSection, HourSection, TimelineSection, Verdict,
};
use dropcast_replay::Sent;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A trace over time. None if nothing of it counts.
pub(crate) fn timeline(verdict: &Verdict, trace: usize) -> Option<PanelFigure> {
    let timeline = verdict.timelines.get(trace).filter(|line| !line.arrived_packets.is_empty())?;
    let of = match verdict.traces.as_slice() {
        [_] | [] => String::new(),
        _ => format!(" of {}", verdict.traces[trace]),
    };
    let title = format!("Occupancy and drops over time{of}");
    let mut figure = panels(
        verdict,
        title,
        timeline,
        ("Time since the first arrival", ""),
        "of the fullest switch",
    );
    let begin = numbers::at_clock(timeline.begin_ns, verdict);
    if begin.is_empty() {
        return Some(figure);
    }
    let long_ns = timeline.bin_ns.saturating_mul(timeline.arrived_packets.len() as u64);
    if long_ns < LEAST_BY_CLOCK_NS {
        figure.description.push_str(&format!(" The first arrival{begin} is at 0."));
        return Some(figure);
    }
    let offset = verdict.utc_offset;
    let unit_ns = numbers::time_unit(long_ns).ns;
    let (date, time) = offset.date_and_time(timeline.begin_ns);
    figure.x = Axis::new(format!("Time of day, {offset} (from {date} {} on)", &time[..8]))
        .clock(Clock { begin_ns: timeline.begin_ns, unit_ns, offset });
    Some(figure)
}

/// What a trace's switches drop over time. None if nothing of it counts.
pub(crate) fn drops(verdict: &Verdict, trace: usize) -> Option<PanelFigure> {
    let mut figure = timeline(verdict, trace)?;
    figure.title = figure.title.replace("Occupancy and drops", "Drops");
    figure.description =
        "Packets that the switch, the best alpha and LQD drop, over time.".to_owned();
    figure.panels.remove(0);
    figure.panels[0].series.retain(|series| !series.name.starts_with("false "));
    Some(figure)
}

/// Ports that are drawn, at most.
const MOST_PORTS: usize = 5;

/// The ports with the most drops.
pub(crate) fn ports(verdict: &Verdict, ports: &[(String, u64)]) -> BarFigure {
    let bars = &ports[..MOST_PORTS.min(ports.len())];
    let name = if verdict.counts.real.is_some() { "real drops" } else { OWN_DROPS };
    BarFigure {
        title: "Drops by port".to_owned(),
        description: "The ports with the most drops, in packets.".to_owned(),
        categories: bars.iter().map(|(name, _)| name.clone()).collect(),
        groups: vec![BarGroup {
            name: name.to_owned(),
            values: bars.iter().map(|(_, drops)| Some(*drops as f64)).collect(),
            labels: bars.iter().map(|(_, drops)| numbers::count(*drops)).collect(),
            ranges: Vec::new(),
        }],
        look: BarLook::Flat,
        ..BarFigure::default()
    }
}

/// Shorter traces are drawn over the time since their first arrival: ticks of a clock are a second apart at least.
const LEAST_BY_CLOCK_NS: u64 = 5_000_000_000;

/// Numbers of the traces, those with the most drops first.
pub(crate) fn worst_first(verdict: &Verdict) -> Vec<usize> {
    let drops = |at: &usize| Reverse(verdict.by_trace.get(*at).map(|trace| dropped(&trace.counts)));
    let mut order: Vec<usize> = (0..verdict.timelines.len()).collect();
    order.sort_by_key(drops);
    order
}

/// One of the worst episodes, `rank` from 1.
pub(crate) fn episode(verdict: &Verdict, rank: usize, episode: &EpisodeSection) -> PanelFigure {
    let begin_ns = verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns);
    let timeline = &episode.timeline;
    let after = numbers::duration(timeline.begin_ns.saturating_sub(begin_ns));
    let at = match numbers::at_clock(timeline.begin_ns, verdict) {
        known if known.is_empty() => format!("{after} after the first of these arrivals"),
        known => known.trim_start_matches(" (").trim_end_matches(')').to_owned(),
    };
    let from = format!(" (from {at} on)");
    panels(verdict, format!("Episode {rank}"), timeline, ("Time", &from), "of the switch")
}

/// The plots of a timeline. `time` is the name of the time, `from` when it begins, where that is not in its name.
fn panels(
    verdict: &Verdict,
    title: String,
    timeline: &TimelineSection,
    (time, from): (&str, &str),
    whose: &str,
) -> PanelFigure {
    let bins = timeline.arrived_packets.len() as u64;
    let unit = numbers::time_unit(timeline.bin_ns.saturating_mul(bins));
    let bin = timeline.bin_ns as f64 / unit.ns;
    let count = |name: &str, packets: &[u64]| {
        Series::new(name, Draw::Steps, held(bin, packets.iter().map(|&p| Some(p as f64))))
    };
    let occupancy = held(bin, timeline.peak_occupancy.iter().copied());
    let mut drops = vec![count(OWN_DROPS, &timeline.own_packets)];
    if let (Some(best), Some(_)) = (&timeline.best_alpha_packets, better_alpha(verdict)) {
        drops.push(count(BEST_DROPS, best));
    }
    drops.push(count("LQD drops", &timeline.lqd_packets));
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
             below, drops and errors of the model, in packets. The switch's own policy is {}. Each value is of {}.",
            own_name(verdict),
            numbers::duration(timeline.bin_ns)
        ),
        x: Axis::new(format!("{time}, {}{from}", unit.name)),
        panels: vec![
            Panel {
                y: Axis::new("Full, %").unit(Unit::Percent).range(0.0, 1.0),
                series: vec![Series::new("LQD's buffer", Draw::Steps, occupancy)],
                height: 1,
            },
            Panel { y: Axis::new("Packets").whole(), series: drops, height: 2 },
        ],
        notes: Vec::new(),
    }
}

/// Values that each hold to the end of their bin, as steps; where there is none is a gap.
fn held(bin: f64, values: impl Iterator<Item = Option<f64>>) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut before = None;
    let mut end = 0;
    for (at, value) in values.enumerate() {
        let time = at as f64 * bin;
        if let (Some(before), None) = (before, value) {
            points.extend([(time, before), (time, f64::NAN)]);
        }
        points.extend(value.map(|value| (time, value)));
        (before, end) = (value, at + 1);
    }
    points.extend(before.map(|before| (end as f64 * bin, before)));
    points
}

/// What the switch's own policy drops.
pub(crate) const OWN_DROPS: &str = "own drops";
/// What the best alpha drops.
pub(crate) const BEST_DROPS: &str = "best alpha";

/// All traces by the hour. None if there is nothing to show.
pub(crate) fn by_hour(verdict: &Verdict) -> Option<PanelFigure> {
    let hours = overview::hours(verdict);
    let first = hours.first()?;
    let series = |name: &str, of: fn(&DropCounts) -> Option<u64>| {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for HourSection { begin_ns, hours, counts, .. } in hours {
            let at = (begin_ns - first.begin_ns) as f64 / HOUR_NS;
            let dropped = of(counts).map_or(0.0, |packets| packets as f64);
            // A value holds for its hour; hours without arrivals are a gap.
            match points.last_mut() {
                Some(last) if last.0 == at => last.1 = dropped,
                Some(&mut (end, _)) => points.extend([(end, f64::NAN), (at, dropped)]),
                None => points.push((at, dropped)),
            }
            points.push((at + *hours as f64, dropped));
        }
        Series::new(name, Draw::Steps, points)
    };
    let mut drops = vec![series(OWN_DROPS, |counts| Some(counts.own.packets))];
    if better_alpha(verdict).is_some() {
        drops.push(series(BEST_DROPS, |counts| packets(counts.best_alpha)));
    }
    drops.push(series("LQD drops", |counts| Some(counts.lqd.packets)));
    if hours.iter().any(|hour| hour.counts.real.is_some()) {
        drops.push(series("real drops", |counts| packets(counts.real)));
    }
    Some(PanelFigure {
        title: "Drops by the hour".to_owned(),
        description: format!(
            "Packets dropped in each {} of all traces. The switch's own policy is {}.",
            overview::hours_long(first.hours),
            own_name(verdict)
        ),
        x: Axis::new(format!(
            "Time, h (from {} {} on)",
            overview::begin(verdict, first),
            verdict.utc_offset
        )),
        panels: vec![Panel { y: Axis::new("Packets").whole(), series: drops, height: 1 }],
        notes: Vec::new(),
    })
}

const HOUR_NS: f64 = 3_600e9;

/// Packets of one kind; none if that is unknown.
type CountOf = fn(&DropCounts) -> Option<u64>;

/// Kinds of packets that are counted by queue.
pub(crate) const KINDS: [(&str, CountOf); 8] = [
    (OWN_DROPS, |counts| Some(counts.own.packets)),
    (BEST_DROPS, |counts| packets(counts.best_alpha)),
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
    let mut switches = verdict.switches.iter();
    let switch = switches.find(|of| (of.trace, of.switch_id) == (trace, switch_id));
    let ports = switch.map_or(0, |switch| switch.ports).max(usize::from(most) + 1);
    let queues: BTreeSet<u8> = own().map(|queue| queue.queue).collect();
    let mut figure = heat(verdict, trace, switch_id);
    let names = switch.map(|switch| switch.port_names.as_slice()).unwrap_or_default();
    let name = |port: usize| names.get(port).map_or_else(|| port.to_string(), String::clone);
    figure.columns = (0..ports).map(name).collect();
    for (name, of) in KINDS {
        for &queue in &queues {
            let mut cells = vec![None; ports];
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
        description: format!(
            "Packets by port: what the switch's own policy ({}), the best alpha, LQD and the real switch drop, where \
             these two differ, and what the model predicts wrongly. The more, the darker.",
            own_name(verdict)
        ),
        x: Axis::new("Port"),
        y: Axis::new(""),
        value: Axis::new("packets"),
        ..HeatFigure::default()
    }
}

/// A port: its name, or its number if it has none.
pub(crate) fn port_name(verdict: &Verdict, (trace, switch_id): (usize, u16), port: u16) -> String {
    let mut switches = verdict.switches.iter();
    let switch = switches.find(|of| (of.trace, of.switch_id) == (trace, switch_id));
    let name = switch.and_then(|switch| switch.port_names.get(usize::from(port)));
    name.map_or_else(|| format!("port {port}"), String::clone)
}

/// A switch, with its trace if there are several.
pub(crate) fn switch_name(verdict: &Verdict, trace: usize, switch_id: u16) -> String {
    match verdict.traces.as_slice() {
        [_] | [] => format!("switch {switch_id}"),
        traces => named_switch(&traces[trace], switch_id),
    }
}

/// A switch of a trace, which may be named after it.
fn named_switch(trace: &str, switch_id: u16) -> String {
    let switch = format!("switch {switch_id}");
    match trace.strip_suffix(&format!("switch={switch_id}")).map(|run| run.strip_suffix('/')) {
        Some(Some(run)) => format!("{switch} of {run}"),
        Some(None) if trace.starts_with("switch=") => switch,
        _ => format!("{switch} of {trace}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_without_a_value_is_a_gap() {
        let steps = |values: &[Option<f64>]| {
            let points = held(2.0, values.iter().copied()).into_iter();
            points.map(|(x, y)| (x, (!y.is_nan()).then_some(y))).collect::<Vec<_>>()
        };
        let (low, full) = (Some(0.25), Some(1.0));
        assert_eq!(steps(&[low, full]), [(0.0, low), (2.0, full), (4.0, full)]);
        assert_eq!(
            steps(&[full, None, None, low, None]),
            [(0.0, full), (2.0, full), (2.0, None), (6.0, low), (8.0, low), (8.0, None)]
        );
        assert_eq!(steps(&[None, None]), []);
    }

    #[test]
    fn switches_are_named_with_their_trace() {
        let says = |trace, expected: &str| assert_eq!(named_switch(trace, 7), expected);
        says("run=3/switch=7", "switch 7 of run=3");
        says("switch=7", "switch 7");
        says("switch=17", "switch 7 of switch=17");
        says("leaf.parquet", "switch 7 of leaf.parquet");
    }
}
