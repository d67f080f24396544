//! What counters of a switch say.

use crate::drop_words::powers_of_two;
use crate::numbers::{count, ratio};
use dropcast_pipeline::counters::{
    Bounds, CounterConclusion, CounterReport, DroppingQueue, PortCounters,
};
use std::cmp::Reverse;

/// Queues and ports that the text lists.
const LISTED: usize = 20;

/// The verdict on counters.
pub fn counters_text(report: &CounterReport) -> String {
    let mut text = format!("{}\n{}\n", conclusion(report), scope(report));
    report.unknown.iter().for_each(|unknown| text += &format!("not known: {unknown}\n"));
    report.cautions.iter().for_each(|caution| text += &format!("caution: {caution}\n"));
    if !report.drops.is_empty() {
        text += &drops(report);
    }
    text + &ports(report)
}

fn scope(report: &CounterReport) -> String {
    let times =
        report.from_utc.as_ref().zip(report.to_utc.as_ref()).filter(|(from, to)| from != to);
    let when = times
        .map_or_else(String::new, |(from, to)| format!(", {} to {}", in_words(from), in_words(to)));
    let pool = report.pool.as_ref().map_or_else(String::new, |pool| format!(" ({pool})"));
    let covered = match report.coverage.intervals_covered {
        covered if covered == report.intervals => String::new(),
        covered => format!(" (all counters known in {})", count(covered)),
    };
    let intervals = match report.intervals {
        1 => format!("1 interval{covered}"),
        intervals => format!("{} intervals{covered}", count(intervals)),
    };
    let ports = match report.ports.len() {
        1 => "1 port".to_owned(),
        ports => format!("{ports} ports"),
    };
    format!(
        "{intervals}{when}; {ports}, a pool{pool} of {} bytes; sent {} bytes",
        count(report.buffer_bytes.into()),
        range(report.sent_bytes)
    )
}

/// The pool's peak, as the subject of a sentence.
fn peaked(report: &CounterReport) -> String {
    match &report.peak {
        None => "how full the pool was is not known".to_owned(),
        Some(peak) => {
            let bound = if peak.is_upper_bound { " or less" } else { "" };
            let when =
                peak.at_utc.as_ref().map_or_else(String::new, |at| format!(" ({})", in_words(at)));
            let known = match peak.intervals_known {
                known if known == report.intervals => String::new(),
                known => {
                    let all = count(report.intervals);
                    format!(", where watermarks are known ({} of {all} intervals)", count(known))
                }
            };
            format!(
                "the pool peaked at {}% of its size{bound}{when}{known}",
                ratio(100.0 * peak.share, 1)
            )
        }
    }
}

fn conclusion(report: &CounterReport) -> String {
    let peaked = peaked(report);
    let losses = losses(report);
    let other = match report.dropped_of_other_cause {
        0 => String::new(),
        packets => format!(
            "\n{} of these packets were dropped while the pool had room and their queue was below its threshold: by \
             WRED, an ingress limit, another pool, or the switch description is wrong. No alpha changes that.",
            count(packets)
        ),
    };
    match &report.conclusion {
        CounterConclusion::NothingDropped => {
            let elsewhere = report.ports.iter().any(|port| port.dropped_packets.at_least > 0);
            let of_pool = if elsewhere { " from the pool's queues" } else { "" };
            format!(
                "Nothing was dropped{of_pool}, and {peaked}: there is nothing to gain from another alpha or an oracle."
            )
        }
        CounterConclusion::NothingCounted => format!(
            "No drop was counted, but not all queues and times have counters: whether something was dropped is not \
             known; {peaked}."
        ),
        CounterConclusion::OtherCause => format!("{losses}{other}"),
        CounterConclusion::LargerAlpha { alpha } => {
            let which = alpha.map_or_else(
                || "Complete Sharing (no threshold)".to_owned(),
                |alpha| format!("Alpha {alpha}{} for all queues", as_power(alpha)),
            );
            format!(
                "{losses}{other}\n{which} would have dropped none of them: there is nothing to gain from an oracle."
            )
        }
        CounterConclusion::Undecided => format!(
            "{losses}{other}\nOf these bytes, the best policy saves {}. A larger alpha certainly drops nothing in {} \
             of the {} intervals with drops. In the others counters cannot say what alphas or an oracle save: capture \
             these times (docs/pcap.md).",
            saved(report.saved_by_the_best),
            count(report.intervals_of_larger_alpha),
            count(report.intervals_with_drops)
        ),
    }
}

/// The alpha as SONiC has it.
fn as_power(alpha: f64) -> String {
    let power = powers_of_two(&alpha.to_string());
    power.map_or_else(String::new, |power| format!(" (dynamic_th {power})"))
}

/// What was dropped and trimmed.
fn losses(report: &CounterReport) -> String {
    let trimmed = report.trimmed_packets.filter(|packets| packets.at_least > 0);
    let trimmed = trimmed.map_or_else(String::new, |packets| {
        format!(
            "; trimmed to their headers for want of room: {} packets, which may count as dropped, too",
            range(packets)
        )
    });
    format!(
        "Dropped: {} packets, {} bytes{}{trimmed}, in {} of {} intervals; {}.",
        range(report.dropped_packets),
        range(report.dropped_bytes),
        dropped_percent(report),
        count(report.intervals_with_drops),
        count(report.intervals),
        peaked(report)
    )
}

/// Of the bytes that arrived, if both are known.
fn dropped_percent(report: &CounterReport) -> String {
    let percent =
        |dropped: u64, sent: u64| ratio(100.0 * dropped as f64 / (sent as f64 + dropped as f64), 4);
    let Bounds { at_least, at_most: Some(at_most) } = report.dropped_bytes else {
        return String::new();
    };
    let Some(sent) = report.sent_bytes.at_most.filter(|&sent| sent > 0 || at_most > 0) else {
        return String::new();
    };
    let share = match (percent(at_least, sent), percent(at_most, sent)) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}"),
    };
    format!(" ({share}% of what arrived)")
}

fn saved(bytes: Bounds) -> String {
    match (bytes.at_least, bytes.at_most) {
        (0, None) => "a part that is not known".to_owned(),
        (at_least, None) => format!("at least {}", count(at_least)),
        (0, Some(at_most)) => format!("at most {}", count(at_most)),
        (at_least, Some(at_most)) => {
            format!("between {} and {}", count(at_least), count(at_most))
        }
    }
}

fn range(number: Bounds) -> String {
    match number.at_most {
        Some(at_most) if at_most == number.at_least => count(at_most),
        Some(at_most) => format!("{} to {}", count(number.at_least), count(at_most)),
        None => format!("at least {}", count(number.at_least)),
    }
}

fn or_dash(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "-".to_owned(), count)
}

/// A time of day, with what it has of a second.
fn in_words(utc: &str) -> String {
    let time = utc.trim_end_matches('Z').replace('T', " ");
    let time = match time.split_once('.') {
        Some((whole, part)) if part.trim_end_matches('0').is_empty() => whole,
        Some(_) => time.trim_end_matches('0'),
        None => &time,
    };
    format!("{time} UTC")
}

/// The upper bound, or the lower one where there is none.
fn most(bytes: Bounds) -> u64 {
    bytes.at_most.unwrap_or(bytes.at_least)
}

fn drops(report: &CounterReport) -> String {
    let mut worst: Vec<&DroppingQueue> = report.drops.iter().collect();
    worst.sort_by_key(|drop| Reverse(most(drop.dropped_bytes)));
    let listed = &worst[..worst.len().min(LISTED)];
    let mut text = format!(
        "\n{:29}  {:>12} {:>6} {:>10} {:>16} {:>13} {:>12}  pool at most\n",
        "drops until", "port", "queue", "packets", "bytes", "queue at most", "threshold"
    );
    for drop in listed {
        let when = drop.to_utc.as_deref().map(in_words);
        let when =
            when.or_else(|| drop.to_ns.as_ref().map(|ns| format!("{ns} ns"))).unwrap_or_default();
        let least = drop.least_threshold_bytes;
        let threshold =
            least.map_or_else(|| "-".to_owned(), |bytes| format!(">= {}", count(bytes)));
        let other = if drop.is_of_other_cause { "  other cause" } else { "" };
        text += &format!(
            "{when:29}  {:>12} {:>6} {:>10} {:>16} {:>13} {threshold:>12}  {}{other}\n",
            drop.port,
            drop.queue,
            range(drop.dropped_packets),
            range(drop.dropped_bytes),
            or_dash(drop.queue_peak_bytes),
            drop.pool_peak_share
                .map_or_else(|| "-".to_owned(), |share| format!("{}%", ratio(100.0 * share, 1))),
        );
    }
    let more = (worst.len() - listed.len()) as u64 + report.drops_left_out;
    if more > 0 {
        text += &format!("and {} more queues and times\n", count(more));
    }
    text
}

fn ports(report: &CounterReport) -> String {
    let mut worst: Vec<&PortCounters> = report.ports.iter().collect();
    worst.sort_by_key(|port| Reverse((most(port.dropped_bytes), port.queue_peak_bytes)));
    let mut text = format!(
        "\n{:12} {:>20} {:>12} {:>12} {:>20} {:>13}\n",
        "port", "sent bytes", "of its rate", "dropped", "bytes", "queue at most"
    );
    for port in worst.iter().take(LISTED) {
        let share = port
            .utilisation
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share));
        text += &format!(
            "{:12} {:>20} {share:>12} {:>12} {:>20} {:>13}\n",
            port.port,
            range(port.sent_bytes),
            range(port.dropped_packets),
            range(port.dropped_bytes),
            or_dash(port.queue_peak_bytes)
        );
    }
    match worst.len().saturating_sub(LISTED) {
        0 => text,
        more => format!("{text}and {more} more ports\n"),
    }
}
