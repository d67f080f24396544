//! Where an oracle pays, as CSV, text and heat maps.

use super::metric_label::metric_label;
use crate::map::{
    Advised, Difference, FALSE_DISCOVERY_RATE, Grid, Map, MapCondition, MapFinding, MapPoint,
    MeasureName, PairCounts, PolicyTally, PolicyValues, SettingTally, Significance,
};
use dropcast_fabric::Recovery;
use dropcast_reports::PageError;
use dropcast_reports::csv::field;
use dropcast_reports::numbers::column_width;
use dropcast_reports::plot::{Axis, HeatFigure, Page, Unit};
use std::fmt::Write as _;

/// One row per point, policy and measure: the grid, the value of each axis that it sets, the mean
/// over the runs, the ends of its 95% interval; then the best policy that predicts nothing, chosen on other runs,
/// and whether this one is `better` than it, `worse` or `unclear` ([`Significance`]). A field is empty where there is no
/// value. RFC 4180 with `\n`.
pub fn csv(map: &Map) -> String {
    let names = Grid::names();
    let axes = names.join(",");
    let mut out = format!("grid,{axes},policy,measure,mean,low,high,best_plain,over_best_plain\n");
    for point in &map.points {
        let at: Vec<&str> =
            names.iter().map(|axis| point.condition.value(axis).unwrap_or_default()).collect();
        for values in &point.values {
            for (name, measured) in &values.measures {
                let bounds = measured.mean.and_then(|mean| mean.bounds);
                let (low, high) = bounds.unzip();
                let numbers = [measured.mean.map(|mean| mean.mean), low, high]
                    .map(|value| value.map_or_else(String::new, |value| value.to_string()));
                let finding = point.finding(&MeasureName(name.clone()));
                let best = finding.and_then(|own| own.best_plain.as_deref()).unwrap_or_default();
                let own = finding.and_then(|own| own.policy(&values.policy)?.over_plain.as_ref());
                let _ = writeln!(
                    out,
                    "{},{},{},{name},{},{},{}",
                    point.condition.grid,
                    at.join(","),
                    field(&values.policy),
                    numbers.join(","),
                    field(best),
                    own.map_or("", |own| verdict(own.verdict)),
                );
            }
        }
    }
    out
}

fn verdict(verdict: Significance) -> &'static str {
    match verdict {
        Significance::Better => "better",
        Significance::Worse => "worse",
        Significance::Unclear => "unclear",
    }
}

/// The files of a map, with their names: all values, and pictures for each measure, as SVG and for LaTeX, without titles.
///
/// # Errors
/// See [`PageError`].
pub fn files(map: &Map) -> Result<Vec<(String, String)>, PageError> {
    let mut files = vec![
        ("map.csv".to_owned(), csv(map)),
        ("map.json".to_owned(), serde_json::to_string_pretty(map)?),
    ];
    for (name, figure) in figures(map) {
        let plain = HeatFigure { title: String::new(), ..figure.clone() };
        files.push((format!("{name}.svg"), plain.to_svg(Page::Alone)));
        files.push((format!("{name}.tex"), figure.to_tikz()));
    }
    Ok(files)
}

/// What was found, in words and tables.
pub fn summary(map: &Map) -> String {
    let mut text = headline(map);
    text.push_str(&settings(map));
    text.push_str(&gains(map));
    text.push_str(&verdicts(map, Significance::Better));
    text.push_str(&verdicts(map, Significance::Worse));
    text.push_str(&advice(map));
    text
}

/// What to deploy.
fn advice(map: &Map) -> String {
    let Map { advice, tally, settings, .. } = map;
    let senders = match settings.fabric.recovery {
        Recovery::Ns3 => {
            "like ns-3's; with Linux's (recovery = \"rack-tlp\" of [fabric]) the answer may be another"
        }
        Recovery::Rfc6675 => "of RFC 6675",
        Recovery::RackTlp => "like Linux's",
    };
    let mut text = format!("\nWhat to deploy, with senders {senders}\n");
    if let Some(SettingTally { policy, best, worse_by_a_tenth, .. }) = &advice.setting {
        let pairs = tally.pairs;
        let _ = writeln!(
            text,
            "Set {policy}: the best that predicts nothing in {best} of {pairs} pairs of a point and a measure, worse than \
             the best by more than a tenth in {worse_by_a_tenth}."
        );
        if let Some(alpha) = advice.alpha.as_ref().filter(|alpha| alpha.policy != *policy) {
            let SettingTally { policy: alpha, best, worse_by_a_tenth, .. } = alpha;
            let _ = writeln!(
                text,
                "That is no alpha: docs/policies.md says what it needs of switches and senders. Of alphas set {alpha}: the \
                 best in {best}, worse than the best by more than a tenth in {worse_by_a_tenth}."
            );
        }
    }
    let setting = advice.setting.as_ref().map_or("", |setting| &setting.policy);
    let found = |Advised { counts: PairCounts { better, worse, .. }, .. }: &Advised| {
        format!("better than {setting} in {better} of {} pairs, worse in {worse}", tally.pairs)
    };
    let none = if map.has_oracles { "no rule and no oracle" } else { "no rule" };
    if !map.has_oracles && !settings.oracles.is_empty() {
        text.push_str(
            "No oracle was measured: LQD drops nothing in this network, so none can be learned.\n",
        );
    }
    let _ = match &advice.addition {
        None => writeln!(text, "Add {none}: none is better anywhere."),
        Some(rule) if rule.is_harmless => {
            writeln!(
                text,
                "Or deploy {}: {}. Corrected for all that it was chosen from; still, first run the map with another seed.",
                rule.policy,
                found(rule)
            )
        }
        Some(rule) => {
            writeln!(text, "Add {none}: each is worse somewhere. {}: {}.", rule.policy, found(rule))
        }
    };
    let _ = match &advice.push_out {
        None => writeln!(text, "A chip that pushes packets out gains nothing."),
        Some(chip) => {
            writeln!(text, "A chip that pushes packets out ({}): {}.", chip.policy, found(chip))
        }
    };
    text
}

fn findings(map: &Map) -> impl Iterator<Item = (&MapPoint, &MapFinding)> {
    map.points.iter().flat_map(|point| point.findings.iter().map(move |finding| (point, finding)))
}

type CountsOf = fn(&PolicyTally) -> Option<&PairCounts>;

/// What policies are compared with, and the counts of it.
const RIVALS: [(&str, CountsOf); 4] = [
    ("best alpha", |own| own.over_alpha.as_ref()),
    ("best plain", |own| Some(&own.over_plain)),
    ("LQD", |own| own.over_lqd.as_ref()),
    ("its base", |own| own.over_base.as_ref()),
];

/// How often each policy is better or worse than the best rivals.
fn headline(map: &Map) -> String {
    let Map { tally, settings, .. } = map;
    let head = "pairs, better / worse than";
    let names = longest(tally.policies.iter().map(|own| own.policy.as_str()), head);
    let mut text = format!(
        "{} pairs of a point and a measure, {} runs. The best policy of each pair was chosen on {} other runs: of alphas \
         (Complete Sharing is one), and of all that predict nothing (plain).\nBetter / worse: at most \
         {} of all such verdicts on a policy are so by chance, in expectation.\n\n{:<28}",
        tally.pairs,
        settings.runs,
        settings.choosing_runs,
        percent(Some(FALSE_DISCOVERY_RATE)),
        head,
    );
    for (rival, _) in RIVALS {
        let _ = write!(text, " {rival:>13}");
    }
    text.push_str("  share of LQD's gain over the best plain: median (pairs)\n");
    for policy in &tally.policies {
        let _ = write!(text, "{:<names$}", policy.policy);
        for (_, counts) in RIVALS {
            let counts = counts(policy)
                .map_or_else(|| "-".to_owned(), |own| format!("{} / {}", own.better, own.worse));
            let _ = write!(text, " {counts:>13}");
        }
        let shares: Vec<String> = policy
            .share_of_gain
            .iter()
            .map(|share| format!("{} {} ({})", share.of, percent(share.median), share.pairs))
            .collect();
        let _ = writeln!(text, "  {}", shares.join(", "));
    }
    text
}

/// What it costs to set one policy everywhere.
fn settings(map: &Map) -> String {
    let head = "set everywhere";
    let names = longest(map.tally.settings.iter().map(|own| own.policy.as_str()), head);
    let mut text = format!(
        "\n{:<names$} {:>16} {:>14} {:>22}\n",
        head, "best of plain in", "median regret", "worse by a tenth in"
    );
    for own in &map.tally.settings {
        let median = percent(own.median_regret);
        let (best, often) = (own.best, own.worse_by_a_tenth);
        let _ = writeln!(text, "{:<names$} {best:>16} {median:>14} {often:>22}", own.policy);
    }
    text
}

/// Where LQD is better than the best policy that predicts nothing, and what others get of that.
fn gains(map: &Map) -> String {
    let names: Vec<&str> =
        map.tally.policies.iter().skip(1).map(|own| own.policy.as_str()).collect();
    let widths: Vec<usize> = names.iter().map(|name| column_width([name]).max(6)).collect();
    let found: Vec<(&MapPoint, &MapFinding)> =
        findings(map).filter(|(_, finding)| finding.gain().is_some()).collect();
    let (places, measures) = place_and_measure(&found);
    let plain = |(_, finding): &(_, &MapFinding)| finding.best_plain.clone().unwrap_or_default();
    let bests = longest(found.iter().map(plain), "best");
    let mut text = format!(
        "\nWhere LQD is better than the best policy that predicts nothing, and which share of that others get\n\
         {:<places$} {:<measures$} {:<bests$} {:>9} {:>9} {:>6}",
        "point", "measure", "best", "its mean", "LQD", "gain"
    );
    for (name, &width) in names.iter().zip(&widths) {
        let _ = write!(text, " {name:>width$}");
    }
    text.push('\n');
    for &(point, finding) in &found {
        let mean = |policy| shown(mean_of(point, policy, &finding.measure));
        let best = finding.best_plain.as_deref().unwrap_or_default();
        let relative = finding.lqd().and_then(|lqd| lqd.over_plain.as_ref()?.relative);
        let _ = write!(
            text,
            "{:<places$} {:<measures$} {best:<bests$} {:>9} {:>9} {:>6}",
            place(&point.condition),
            finding.measure.name(),
            mean(best),
            mean("lqd"),
            percent(relative),
        );
        for (name, &width) in names.iter().zip(&widths) {
            let share = finding.policy(name).and_then(|own| own.share_of_gain);
            let _ = write!(text, " {:>width$}", percent(share));
        }
        text.push('\n');
    }
    if found.is_empty() {
        return "\nLQD is nowhere better than the best policy that predicts nothing.\n".to_owned();
    }
    text
}

/// The width of a column that has these texts.
fn longest(texts: impl Iterator<Item: AsRef<str>>, head: &str) -> usize {
    column_width(texts).max(head.len())
}

/// The widths of the columns that name points and measures.
fn place_and_measure(found: &[(&MapPoint, &MapFinding)]) -> (usize, usize) {
    let places = longest(found.iter().map(|(point, _)| place(&point.condition)), "point");
    (places, longest(found.iter().map(|(_, finding)| finding.measure.name()), "measure"))
}

/// Where a policy is better, or worse, than the best that predicts nothing.
fn verdicts(map: &Map, wanted: Significance) -> String {
    let word = verdict(wanted);
    let mut text = format!("\nWhere a policy is {word} than the best that predicts nothing\n");
    let mut rows = Vec::new();
    for (point, finding) in findings(map) {
        for own in finding.policies.iter().filter(|own| own.policy != "lqd") {
            let over = own.over_plain.as_ref().filter(|own| own.verdict == wanted);
            rows.extend(over.map(|over| (point, finding, own, over)));
        }
    }
    if rows.is_empty() {
        return text + "nowhere\n";
    }
    let found: Vec<(&MapPoint, &MapFinding)> = rows.iter().map(|row| (row.0, row.1)).collect();
    let (places, measures) = place_and_measure(&found);
    let names = longest(rows.iter().map(|row| row.2.policy.as_str()), "");
    for (point, finding, own, over) in rows {
        let mean = |policy| shown(mean_of(point, policy, &finding.measure));
        let best = finding.best_plain.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:<places$} {:<measures$} {:<names$} {:>9}, {best} {:>9}, LQD {:>9}, by {}",
            place(&point.condition),
            finding.measure.name(),
            own.policy,
            mean(&own.policy),
            mean(best),
            mean("lqd"),
            percent(over.relative.map(f64::abs)),
        );
    }
    text
}

fn place(condition: &MapCondition) -> String {
    let at: Vec<String> =
        condition.at.iter().map(|(axis, value)| format!("{axis} {value}")).collect();
    format!("{}: {}", condition.grid, at.join(", "))
}

fn mean_of(point: &MapPoint, policy: &str, measure: &MeasureName) -> Option<f64> {
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
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.0}%", (value * 100.0).round() + 0.0))
}

/// Heat maps by name: for each grid and measure LQD's advantage over the best policy that predicts nothing, and
/// that of each policy that is found to be better or worse somewhere.
pub fn figures(map: &Map) -> Vec<(String, HeatFigure)> {
    let mut figures = Vec::new();
    for grid in &map.settings.grids {
        for measure in &map.settings.measures {
            let sheet = Sheet::new(map, grid, measure);
            for policy in map.tally.policies.iter().map(|own| own.policy.as_str()) {
                if policy == "lqd" || sheet.is_clear_somewhere(policy) {
                    let name = format!("{}-{}-{}", grid.name, measure.name(), file_word(policy));
                    figures.push((name, sheet.figure(policy)));
                }
            }
        }
    }
    figures
}

/// A policy's name as a part of a file's: `oracle:base=dt` is `oracle-base-dt`.
fn file_word(policy: &str) -> String {
    policy.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// The points of a grid as rows and columns, for one measure.
struct Sheet<'a> {
    map: &'a Map,
    grid: &'a Grid,
    measure: &'a MeasureName,
    columns: crate::map::MapAxis,
    /// Labels and names of the rows: every combination of the other axes.
    row_label: String,
    rows: Vec<String>,
    /// By row, then column.
    findings: Vec<Vec<Option<&'a MapFinding>>>,
}

impl<'a> Sheet<'a> {
    fn new(map: &'a Map, grid: &'a Grid, measure: &'a MeasureName) -> Self {
        let mut axes = grid.axes();
        // Columns: of the axes with several values, the one with the shortest names, which must not
        // overlap.
        let several = axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1);
        let shortest = several.min_by_key(|(_, axis)| axis.values.iter().map(String::len).max());
        let place = shortest.map_or(0, |(place, _)| place);
        let nothing = crate::map::MapAxis { name: "", label: "", values: vec![] };
        let columns = if axes.is_empty() { nothing } else { axes.remove(place) };
        let row_name = |condition: &MapCondition| -> String {
            let others = condition.at.iter().filter(|(axis, _)| *axis != columns.name);
            // A single value goes without saying.
            let several = others.filter(|(name, _)| {
                axes.iter().any(|axis| axis.name == *name && axis.values.len() > 1)
            });
            several.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut rows: Vec<String> = Vec::new();
        let mut findings: Vec<Vec<Option<&MapFinding>>> = Vec::new();
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

    fn over_plain(finding: Option<&'a MapFinding>, policy: &str) -> Option<&'a Difference> {
        finding?.policy(policy)?.over_plain.as_ref()
    }

    fn is_clear(finding: Option<&'a MapFinding>, policy: &str) -> bool {
        Self::over_plain(finding, policy).is_some_and(|over| over.verdict != Significance::Unclear)
    }

    fn is_clear_somewhere(&self, policy: &str) -> bool {
        self.findings.iter().flatten().any(|&finding| Self::is_clear(finding, policy))
    }

    fn figure(&self, policy: &str) -> HeatFigure {
        let who = if policy == "lqd" { "LQD" } else { policy };
        let title = format!(
            "{who} against the best policy that predicts nothing: {}",
            self.measure.metric().map_or_else(String::new, |metric| metric_label(&metric))
        );
        let value = "how much better, % (below 0: worse; *: more than chance)";
        // Whole percents, without a minus before zero.
        let cell = |&finding: &Option<&'a MapFinding>| {
            let relative = Self::over_plain(finding, policy)?.relative?;
            Some((relative * 100.0).round() / 100.0 + 0.0)
        };
        let names = |rows: &[String]| -> Vec<String> {
            rows.iter()
                .map(|row| if row.is_empty() { " ".to_owned() } else { row.clone() })
                .collect()
        };
        let cells = |row: &Vec<Option<&'a MapFinding>>| row.iter().map(cell).collect();
        let starred = |row: &Vec<Option<&'a MapFinding>>| {
            row.iter().map(|&finding| Self::is_clear(finding, policy)).collect()
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
            cells: self.findings.iter().map(cells).collect(),
            starred: self.findings.iter().map(starred).collect(),
            notes: vec![format!("Cells: {value}. {} runs.", self.map.settings.runs)],
        }
    }
}
