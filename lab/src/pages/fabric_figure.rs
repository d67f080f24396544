//! Figures of policies in the fabric, as CSV, SVG and a page.

use super::metric_label::metric_label;
use crate::closed_loop::shares;
use crate::reproduce::fabric::{
    Cell, Claim, FabricFigure, MeasuredFigure, Panels, Paper, Ratio, Vary, figure_metric, pred,
    smartbuf_bursts,
};
use dropcast_fabric::{MetricUnit, quantile};
use dropcast_reports::plot::{Axis, AxisScale, LineFigure, Point, Series, Unit};
use std::fmt::Write as _;

/// One row per point and policy; for figures of metrics the mean and the 95% interval of each, for
/// distributions the slowdown of each share of the flows (empty for flows that did not complete).
pub fn csv(measured: &MeasuredFigure) -> String {
    let vary = measured.figure.vary.name();
    let mut out = match measured.figure.panels {
        Panels::Metrics(_) => format!("{vary},policy,metric,mean,low,high,runs\n"),
        Panels::Cdf => format!("{vary},policy,share_of_flows,slowdown\n"),
    };
    for cell in &measured.cells {
        match measured.figure.panels {
            Panels::Metrics(metrics) => metric_rows(cell, metrics, &mut out),
            Panels::Cdf => {
                for share in shares() {
                    let slowdown = optional(at_share(cell, share));
                    let _ = writeln!(out, "{},\"{}\",{share},{slowdown}", cell.point, cell.policy);
                }
            }
        }
    }
    out
}

fn metric_rows(cell: &Cell, metrics: &[&str], out: &mut String) {
    for metric in metrics {
        let interval = cell.runs.interval(metric, 1);
        let (low, high) = interval.and_then(|interval| interval.bounds).unzip();
        let _ = writeln!(
            out,
            "{},\"{}\",{metric},{},{},{},{}",
            cell.point,
            cell.policy,
            optional(interval.map(|interval| interval.mean)),
            optional(low),
            optional(high),
            interval.map_or(0, |interval| interval.values)
        );
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The slowdown that this share of a cell's flows stays within; none if so many did not complete.
fn at_share(cell: &Cell, share: f64) -> Option<f64> {
    quantile(&cell.slowdowns, cell.flows, share)
}

/// The panels of a figure, by the name of their files.
pub fn panels(measured: &MeasuredFigure) -> Vec<(String, LineFigure)> {
    let name = measured.figure.name;
    match measured.figure.panels {
        Panels::Metrics(metrics) => {
            let panel = |&metric| (format!("{name}-{metric}"), metric_panel(measured, metric));
            metrics.iter().map(panel).collect()
        }
        Panels::Cdf => {
            let panel = |&point: &f64| {
                let at = shown_point(measured.figure.vary, point).replace('%', "");
                (format!("{name}-{at}"), distribution(measured, point))
            };
            measured.figure.points.iter().map(panel).collect()
        }
    }
}

fn metric_panel(measured: &MeasuredFigure, metric: &str) -> LineFigure {
    let figure = measured.figure;
    let own = figure_metric(metric);
    let words = metric_label(&own);
    let point = |cell: &Cell| {
        let interval = cell.runs.interval(metric, 1)?;
        Some(Point { interval: interval.bounds, ..Point::new(cell.point, interval.mean) })
    };
    let series = |policy: &&'static str| Series {
        name: (*policy).to_owned(),
        points: figure.points.iter().filter_map(|&at| point(measured.cell(at, policy)?)).collect(),
        ..Series::default()
    };
    let (label, unit) = match own.unit {
        MetricUnit::Share => (format!("{words}, %"), Unit::Percent),
        _ => (words.clone(), Unit::One),
    };
    let x = Axis::new(figure.vary.label());
    LineFigure {
        title: format!("{}: {}", number(figure), figure.title),
        description: format!("{words} against {}, by policy.", figure.vary.label()),
        x: match figure.vary {
            Vary::Load | Vary::ReceiverLoad | Vary::Burst | Vary::CubicLoad => {
                x.unit(Unit::Percent)
            }
            Vary::BaseRtt
            | Vary::BufferPerPort
            | Vary::QueuesPerPort
            | Vary::Flows
            | Vary::TimeMs
            | Vary::Lambda
            | Vary::CountingRtts => x,
            Vary::UpdateRtts => x.scale(AxisScale::Log10),
            Vary::Flips => x.scale(AxisScale::Log10).with_zero(),
        },
        y: Axis::new(label).unit(unit).scale(match own.unit {
            MetricUnit::Share | MetricUnit::BitsPerSecond | MetricUnit::GigabitsPerSecond => {
                AxisScale::Linear
            }
            _ => AxisScale::Log10,
        }),
        series: measured.policies().iter().map(series).collect(),
        notes: vec![scale_words(measured)],
    }
}

fn distribution(measured: &MeasuredFigure, point: f64) -> LineFigure {
    let figure = measured.figure;
    let series = |policy: &&'static str| {
        let cell = measured.cell(point, policy);
        let at = |share| Some((at_share(cell?, share)?, share));
        Series::new(*policy, dropcast_reports::plot::Draw::Line, shares().filter_map(at))
    };
    let varied = figure.vary.label().split(',').next().unwrap_or_default();
    let at = shown_point(figure.vary, point);
    LineFigure {
        title: format!("{}: {}, {varied} {at}", number(figure), figure.title),
        description: format!("Share of all flows within a slowdown, by policy, {varied} {at}."),
        x: Axis::new("slowdown (all flows)").scale(AxisScale::Log10),
        y: Axis::new("share of flows, %").unit(Unit::Percent).range(0.0, 1.0),
        series: measured.policies().iter().map(series).collect(),
        notes: vec![scale_words(measured)],
    }
}

fn scale_words(measured: &MeasuredFigure) -> String {
    let scale = &measured.scale;
    let runs = match scale.runs {
        1 => "one run".to_owned(),
        runs if measured.figure.panels == Panels::Cdf => format!("flows of {runs} runs"),
        runs => format!("mean of {runs} runs with 95% intervals"),
    };
    let start = if scale.slow_start { "; slow start from at most 10 segments" } else { "" };
    if measured.figure.paper == Paper::Pred {
        let part = match measured.figure.vary {
            Vary::Flows | Vary::CountingRtts => ", the second half",
            Vary::ReceiverLoad | Vary::Lambda => ", without the first fifth",
            _ => "",
        };
        let ms = scale.duration_ns as f64 / 1e6;
        return format!("{}{start}; {ms} ms{part}; {runs}.", pred::words(measured.figure));
    }
    let requests = smartbuf_bursts::words(measured.figure).map_or_else(
        || format!("{} requests per second and server", scale.per_server_hz),
        str::to_owned,
    );
    format!(
        "{} leaves x {} servers, {} spines{start}; {} ms, {requests}; {runs}.",
        scale.leaves,
        scale.servers,
        scale.spines,
        scale.duration_ns as f64 / 1e6
    )
}

/// `fig6` as `Figure 6`, `abm-fig9a` as `ABM, figure 9a`.
fn number(figure: &FabricFigure) -> String {
    match figure.paper {
        Paper::Credence => figure.name.replace("fig", "Figure "),
        Paper::Abm => figure.name.replace("abm-fig", "ABM, figure "),
        Paper::Smartbuf => figure.name.replace("smartbuf-fig", "Smartbuf, figure "),
        Paper::Pred => {
            let name = figure.name.replace("pred-fig", "PRED, figure ");
            name.replace("pred-settling", "PRED").replace("-time", " over time")
        }
    }
}

fn shown_point(vary: Vary, point: f64) -> String {
    match vary {
        Vary::Load | Vary::ReceiverLoad | Vary::Burst | Vary::CubicLoad => {
            format!("{}%", (point * 1_000.0).round() / 10.0)
        }
        Vary::BaseRtt => format!("{point} us"),
        Vary::Flips => format!("{point}"),
        Vary::BufferPerPort => format!("{point} KB"),
        Vary::QueuesPerPort => format!("{point} queues"),
        Vary::UpdateRtts => format!("{point} RTTs"),
        Vary::Flows => format!("{point} flows"),
        Vary::TimeMs => format!("{point} ms"),
        Vary::Lambda => format!("{point}"),
        Vary::CountingRtts => format!("{point} RTTs"),
    }
}

/// The figure as Markdown: what the paper says, and a table of what was measured.
pub fn page(measured: &MeasuredFigure) -> String {
    let figure = measured.figure;
    let mut out = format!("## {}. {}\n\n", number(figure), figure.title);
    let _ = writeln!(out, "Paper: {}.\n\n{}\n", figure.says, scale_words(measured));
    match figure.panels {
        Panels::Metrics(metrics) => {
            metrics.iter().for_each(|metric| metric_table(measured, metric, &mut out));
        }
        Panels::Cdf => share_table(measured, &mut out),
    }
    claim_table(&measured.claims(), figure.vary, &mut out);
    out
}

fn heading(measured: &MeasuredFigure, first: &str, out: &mut String) {
    let vary = measured.figure.vary;
    let _ = write!(out, "| {first} |");
    for &point in measured.figure.points {
        let _ = write!(out, " {} |", shown_point(vary, point));
    }
    let _ = writeln!(out, "\n|---|{}", "---|".repeat(measured.figure.points.len()));
}

fn metric_table(measured: &MeasuredFigure, metric: &str, out: &mut String) {
    let own = figure_metric(metric);
    heading(measured, &metric_label(&own), out);
    let shown = if own.unit == MetricUnit::Share { percent } else { three };
    for policy in measured.policies() {
        let _ = write!(out, "| {policy} |");
        for &point in measured.figure.points {
            let interval =
                measured.cell(point, policy).and_then(|cell| cell.runs.interval(metric, 1));
            let text = interval.map_or_else(
                || "undefined".to_owned(),
                |interval| match interval.bounds {
                    None => shown(interval.mean),
                    Some((low, high)) => {
                        format!("{} ({} to {})", shown(interval.mean), shown(low), shown(high))
                    }
                },
            );
            let _ = write!(out, " {text} |");
        }
        out.push('\n');
    }
    out.push('\n');
}

fn share_table(measured: &MeasuredFigure, out: &mut String) {
    heading(measured, "slowdown of all flows, p50 / p95 / p99", out);
    for policy in measured.policies() {
        let _ = write!(out, "| {policy} |");
        for &point in measured.figure.points {
            let of = |share| {
                let value = measured.cell(point, policy).and_then(|cell| at_share(cell, share));
                value.map_or_else(|| "undefined".to_owned(), three)
            };
            let _ = write!(out, " {} / {} / {} |", of(0.5), of(0.95), of(0.99));
        }
        out.push('\n');
    }
    out.push('\n');
}

fn claim_table(claims: &[Ratio], vary: Vary, out: &mut String) {
    if claims.is_empty() {
        return;
    }
    out.push_str("| how much less | at | paper | measured |\n|---|---|---|---|\n");
    for Ratio { claim, measured } in claims {
        let Claim { metric, policy, than, at, paper } = claim;
        let measured = measured.map_or_else(
            || "undefined".to_owned(),
            |interval| match interval.bounds {
                None => percent(interval.mean),
                Some((low, high)) => {
                    format!("{} ({} to {})", percent(interval.mean), percent(low), percent(high))
                }
            },
        );
        let _ = writeln!(
            out,
            "| {}: {policy} than {than} | {} | {} | {measured} |",
            metric_label(&figure_metric(metric)),
            at.map_or_else(|| "all".to_owned(), |at| shown_point(vary, at)),
            paper.map_or_else(|| "left out".to_owned(), percent),
        );
    }
    out.push('\n');
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0 + 0.0)
}

/// Three digits that count.
fn three(value: f64) -> String {
    match value.abs() {
        big if big >= 100.0 => format!("{value:.0}"),
        big if big >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests;
