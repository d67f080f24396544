//! Where an oracle pays, as CSV, text and heat maps.

use crate::ExportError;
use crate::metric_words::metric_words;
use crate::plot::{Axis, HeatFigure, Page, Unit};
use dropcast_pipeline::map::{
    Condition, Finding, Grid, Map, MapPoint, Measure, OracleFinding, PolicyValues,
};
use std::fmt::Write as _;

/// The axes of a grid, by name.
const AXES: [&str; 8] = [
    "load",
    "burst",
    "buffer_kb",
    "transports",
    "ecn",
    "priorities",
    "oversubscription",
    "servers",
];

/// One row per point, policy and measure: the grid, the value of each axis that it sets, the mean
/// over the runs, the ends of its 95% interval, and LQD's verdict over policies without an oracle
/// (`lqd_is_better`). A field is empty where there is no value. RFC 4180 with `\n`.
pub fn csv(map: &Map) -> String {
    let mut out = format!("grid,{},policy,measure,mean,low,high,lqd_is_better\n", AXES.join(","));
    for point in &map.points {
        let at = AXES.map(|axis| point.condition.value(axis).unwrap_or_default());
        for values in &point.values {
            for (name, measured) in &values.measures {
                let bounds = measured.mean.and_then(|mean| mean.bounds);
                let (low, high) = bounds.unzip();
                let numbers = [measured.mean.map(|mean| mean.mean), low, high]
                    .map(|value| value.map_or_else(String::new, |value| value.to_string()));
                let is_prone =
                    point.finding(&Measure(name.clone())).is_some_and(|one| one.is_beyond_interval);
                let _ = writeln!(
                    out,
                    "{},{},{},{name},{},{is_prone}",
                    point.condition.grid,
                    at.join(","),
                    field(&values.policy),
                    numbers.join(",")
                );
            }
        }
    }
    out
}

/// The files of a map, with their names: all values, and a picture for each measure.
///
/// # Errors
/// See [`ExportError`].
pub fn files(map: &Map) -> Result<Vec<(String, String)>, ExportError> {
    let mut files = vec![
        ("map.csv".to_owned(), csv(map)),
        ("map.json".to_owned(), serde_json::to_string_pretty(map)?),
    ];
    let svg = |(name, figure): (String, HeatFigure)| (name + ".svg", figure.to_svg(Page::Alone));
    files.extend(figures(map).into_iter().map(svg));
    Ok(files)
}

/// A field, in quotes where it needs them.
fn field(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// What was found, in words and a table.
pub fn summary(map: &Map) -> String {
    let mut text = headline(map);
    let prone: Vec<(&MapPoint, &Finding)> =
        findings(map).filter(|(_, finding)| finding.is_beyond_interval).collect();
    if !prone.is_empty() {
        text.push_str(&table(map, &prone));
    }
    text.push_str(&harm(map));
    text
}

fn findings(map: &Map) -> impl Iterator<Item = (&MapPoint, &Finding)> {
    map.points.iter().flat_map(|point| point.findings.iter().map(move |finding| (point, finding)))
}

fn headline(map: &Map) -> String {
    let tally = &map.tally;
    let mut text = format!(
        "LQD is better than both Complete Sharing and FollowLQD, beyond the paired 95% interval, in \
         {} of {} pairs of a point and a measure, at {} of {} points; by at least a tenth in {}. By \
         chance about {:.1} would be.\n\
         In each of {} runs, too, it is in {} (marked *); by chance {:.1} at most would be.\n",
        tally.beyond_interval,
        tally.tests,
        tally.points_beyond_interval,
        tally.points,
        tally.beyond_interval_by_a_tenth,
        tally.beyond_interval_by_chance,
        map.settings.runs,
        tally.in_every_run,
        tally.in_every_run_by_chance,
    );
    for oracle in &tally.oracles {
        let share = percent(oracle.median_share_of_gain);
        let _ = write!(text, "Credence with {}: median share of LQD's gain {share}", oracle.oracle);
        let by_subject = oracle.by_subject.iter().map(|(subject, of)| {
            let (share, pairs) = (percent(of.median_share_of_gain), of.pairs);
            format!("{subject} {share} of {pairs}")
        });
        let by_subject: Vec<String> = by_subject.collect();
        if !by_subject.is_empty() {
            let _ = write!(text, " ({} pairs)", by_subject.join(", "));
        }
        if oracle.oracle != "accept" {
            let _ = write!(
                text,
                "; better than always accepting in {} pairs, worse in {}",
                oracle.helps, oracle.does_harm
            );
        }
        text.push_str(".\n");
    }
    text
}

fn table(map: &Map, prone: &[(&MapPoint, &Finding)]) -> String {
    let names: Vec<&String> = map.tally.oracles.iter().map(|oracle| &oracle.oracle).collect();
    let mut text = format!(
        "\nWhere LQD is better (share: of LQD's gain over the better of the two)\n{:<58} {:<20} \
         {:>10} {:>10} {:>10} {:>6}",
        "point", "measure", "LQD", "CompleteS", "FollowLQD", "gain"
    );
    for name in &names {
        let _ = write!(text, " {name:>12}");
    }
    text.push('\n');
    for (point, finding) in prone {
        let mean = |policy| shown(mean_of(point, policy, &finding.measure));
        let _ = write!(
            text,
            "{:<58} {:<20} {:>10} {:>10} {:>10} {:>6}",
            place(&point.condition),
            format!("{}{}", finding.measure.name(), if finding.is_in_every_run { "*" } else { "" }),
            mean("lqd"),
            mean("complete-sharing"),
            mean("follow-lqd"),
            percent(finding.relative_gain),
        );
        for one in &finding.oracles {
            let _ = write!(text, " {:>12}", percent(one.share_of_gain));
        }
        text.push('\n');
    }
    text
}

/// Where an oracle is worse, or better, than always accepting.
fn harm(map: &Map) -> String {
    let mut text = String::new();
    type Kind = (&'static str, fn(&OracleFinding) -> bool);
    let kinds: [Kind; 2] = [
        ("\nWhere an oracle is worse than always accepting\n", |one| one.does_harm),
        ("\nWhere an oracle is better than always accepting\n", |one| one.helps),
    ];
    for (title, is_one) in kinds {
        let mut lines = String::new();
        for (point, finding) in findings(map) {
            for one in finding.oracles.iter().filter(|one| is_one(one)) {
                let policy = format!("credence:model={}", one.oracle);
                let mean = |policy| shown(mean_of(point, policy, &finding.measure));
                let _ = writeln!(
                    lines,
                    "{:<58} {:<20} {:<12} {:>10}, accepting {:>10}, LQD {:>10}",
                    place(&point.condition),
                    finding.measure.name(),
                    one.oracle,
                    mean(&policy),
                    mean("credence"),
                    mean("lqd")
                );
            }
        }
        text.push_str(title);
        text.push_str(if lines.is_empty() { "nowhere\n" } else { &lines });
    }
    text
}

fn place(condition: &Condition) -> String {
    let at: Vec<String> =
        condition.at.iter().map(|(axis, value)| format!("{axis} {value}")).collect();
    format!("{}: {}", condition.grid, at.join(", "))
}

fn mean_of(point: &MapPoint, policy: &str, measure: &Measure) -> Option<f64> {
    let is_policy = |values: &&PolicyValues| values.policy == policy;
    let values = point.values.iter().find(is_policy)?;
    Some(values.measures.get(measure.name())?.mean?.mean)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(
        || "-".to_owned(),
        |value| match value.abs() {
            big if big >= 1e6 => format!("{:.4}e9", value / 1e9),
            big if big >= 100.0 => format!("{value:.0}"),
            _ => format!("{value:.3}"),
        },
    )
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.0}%", value * 100.0))
}

/// Heat maps by name: for each grid and measure LQD's gain over the better policy without an oracle,
/// and, where that is beyond the interval somewhere, each oracle's share of it.
pub fn figures(map: &Map) -> Vec<(String, HeatFigure)> {
    let mut figures = Vec::new();
    for grid in &map.settings.grids {
        for measure in &map.settings.measures {
            let sheet = Sheet::new(map, grid, measure);
            let name = |what: &str| format!("{}-{}-{what}", grid.name, measure.name());
            figures.push((name("gain"), sheet.gain()));
            if sheet.is_prone_somewhere() {
                for oracle in &map.tally.oracles {
                    figures.push((name(&oracle.oracle), sheet.share(&oracle.oracle)));
                }
            }
        }
    }
    figures
}

/// The points of a grid as rows and columns, for one measure.
struct Sheet<'a> {
    map: &'a Map,
    grid: &'a Grid,
    measure: &'a Measure,
    columns: dropcast_pipeline::map::Axis,
    /// Labels and names of the rows: every combination of the other axes.
    row_label: String,
    rows: Vec<String>,
    /// By row, then column.
    findings: Vec<Vec<Option<&'a Finding>>>,
}

impl<'a> Sheet<'a> {
    fn new(map: &'a Map, grid: &'a Grid, measure: &'a Measure) -> Self {
        let mut axes = grid.axes();
        // Columns: of the axes with several values, the one with the shortest names, which must not
        // overlap.
        let several = axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1);
        let shortest = several.min_by_key(|(_, axis)| axis.values.iter().map(String::len).max());
        let place = shortest.map_or(0, |(place, _)| place);
        let nothing = dropcast_pipeline::map::Axis { name: "", label: "", values: vec![] };
        let columns = if axes.is_empty() { nothing } else { axes.remove(place) };
        let row_name = |condition: &Condition| -> String {
            let others = condition.at.iter().filter(|(axis, _)| *axis != columns.name);
            // A single value goes without saying.
            let several = others.filter(|(name, _)| {
                axes.iter().any(|axis| axis.name == *name && axis.values.len() > 1)
            });
            several.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut rows: Vec<String> = Vec::new();
        let mut findings: Vec<Vec<Option<&Finding>>> = Vec::new();
        for point in map.points.iter().filter(|point| point.condition.grid == grid.name) {
            let name = row_name(&point.condition);
            let row = rows.iter().position(|own| *own == name).unwrap_or_else(|| {
                rows.push(name);
                findings.push(vec![None; columns.values.len().max(1)]);
                rows.len() - 1
            });
            let value = point.condition.value(columns.name).unwrap_or_default();
            let column = columns.values.iter().position(|own| own == value).unwrap_or(0);
            findings[row][column] = point.finding(measure);
        }
        let labels = axes.iter().filter(|axis| axis.values.len() > 1).map(|axis| axis.label);
        let row_label = labels.collect::<Vec<_>>().join("; ");
        Sheet { map, grid, measure, columns, row_label, rows, findings }
    }

    fn is_prone_somewhere(&self) -> bool {
        self.findings.iter().flatten().flatten().any(|finding| finding.is_beyond_interval)
    }

    fn gain(&self) -> HeatFigure {
        let measure = metric_words(self.measure.name());
        self.figure(
            format!("LQD's gain over Complete Sharing and FollowLQD: {measure}"),
            "how much better LQD is than the better of the two, % (*: than both, beyond the 95% interval)",
            |finding| finding.relative_gain,
        )
    }

    fn share(&self, oracle: &str) -> HeatFigure {
        let who = match oracle {
            "accept" => "Credence that always accepts".to_owned(),
            oracle => format!("Credence with {oracle}"),
        };
        self.figure(
            format!("Share of LQD's gain that {who} gets: {}", metric_words(self.measure.name())),
            "share of LQD's gain, %, where LQD's is beyond the interval (below 0: worse than without an oracle)",
            |finding| finding.oracles.iter().find(|one| one.oracle == oracle)?.share_of_gain,
        )
    }

    fn figure(
        &self,
        title: String,
        value: &str,
        of: impl Fn(&Finding) -> Option<f64>,
    ) -> HeatFigure {
        // Whole percents, without a minus before zero.
        let cell =
            |finding: &Option<&Finding>| Some((of((*finding)?)? * 100.0).round() / 100.0 + 0.0);
        let is_prone =
            |finding: &Option<&Finding>| finding.is_some_and(|one| one.is_beyond_interval);
        let names = |rows: &[String]| -> Vec<String> {
            rows.iter()
                .map(|row| if row.is_empty() { " ".to_owned() } else { row.clone() })
                .collect()
        };
        HeatFigure {
            description: format!("{title}, for the points of grid {}.", self.grid.name),
            title,
            x: Axis::new(self.columns.label),
            y: Axis::new(self.row_label.clone()),
            value: Axis::new(value).unit(Unit::Percent).range(0.0, 1.0),
            decimals: 0,
            columns: self.columns.values.clone(),
            rows: names(&self.rows),
            cells: self.findings.iter().map(|row| row.iter().map(cell).collect()).collect(),
            starred: self.findings.iter().map(|row| row.iter().map(is_prone).collect()).collect(),
            notes: vec![format!("Cells: {value}. {} runs.", self.map.settings.runs)],
        }
    }
}
