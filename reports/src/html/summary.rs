//! The first screen: the advice, what is lost, when and where, how far to trust it, what was assumed.

use super::body::{Body, Data};
use super::table::Cell;
use crate::answer::{self, Losses};
use crate::numbers::at_clock;
use crate::plot::escape;
use crate::trace_words::listed;
use crate::{figures, numbers, verdict_figures};
use dropcast_measure::Report;
use dropcast_measure::verdict::{Needs, Verdict};

/// The model, if there is one, and the files.
pub(super) fn title(report: Option<&Report>, traces: &[impl AsRef<str>]) -> String {
    let model = report.and_then(|report| report.model.name.as_deref());
    model.map(|name| format!("{name} on ")).unwrap_or_default() + &listed(traces)
}

/// The heading: name, files, how much was measured and when. The script adds when the page was written.
pub(super) fn header(title: &str, verdict: Option<&Verdict>, report: Option<&Report>) -> String {
    let rows = report.map_or(0, |report| report.labels.rows);
    let amount = verdict.map_or_else(
        || format!("{} packets", numbers::count(rows)),
        |verdict| {
            let begin_ns = verdict.timelines.first().map_or(0, |timeline| timeline.begin_ns);
            answer::amount(verdict, report) + &at_clock(begin_ns, verdict).replace(" (", ", (from ")
        },
    );
    let (title, amount) = (escape(title), escape(&amount));
    format!("<h1>{title}</h1>\n<p class=\"faint\">{amount}<span id=\"written\"></span></p>\n")
}

/// The first screen of a verdict, with what is known of the model, if there is one.
pub(super) fn write(page: &mut Body, verdict: &Verdict, report: Option<&Report>) {
    let (advice, is_trusted) = (answer::advice(verdict), verdict.is_trusted());
    let facts = answer::facts(verdict, report);
    let fact = |label: &str| facts.iter().find(|fact| fact.0 == label).map(|fact| fact.1.as_str());
    page.answer(&advice[0], is_trusted);
    advice[1..].iter().for_each(|why| page.paragraph(why));
    let losses = answer::losses(verdict, report);
    if is_trusted {
        let tiles = tiles(verdict, &losses);
        let tiles: Vec<(&str, Cell)> =
            tiles.iter().map(|(name, lost)| (name.as_str(), Cell::text(lost))).collect();
        page.cards(&tiles);
    }
    page.open("screen");
    page.open("stack");
    if is_trusted && !losses.rows.is_empty() {
        policies(page, &losses);
    }
    fact("Where").iter().for_each(|text| ports(page, verdict, text));
    page.close();
    page.open("stack");
    fact("When").iter().for_each(|text| times(page, verdict, text));
    ["Forest", "Trust", "Assumed"].iter().for_each(|label| page.fact(label, fact(label)));
    page.close();
    page.close();
}

/// The first screen of a report without a replay.
pub(super) fn unreplayed(page: &mut Body, report: &Report) {
    page.answer(&answer::no_advice(report), false);
    answer::of_model(report).iter().for_each(|(label, text, _)| page.fact(label, Some(text)));
}

/// What is lost now, with the best alpha, with the forest and by LQD; without a forest by any policy, too.
fn tiles(verdict: &Verdict, losses: &Losses<'_>) -> Vec<(String, String)> {
    let best = verdict.rivals.best_alpha();
    let is_best =
        |policy: &Option<String>| best.is_some_and(|of| *policy == Some(of.policy.clone()));
    let has_forest = losses.rows.iter().any(|row| row.of.needs == Needs::Table);
    let [mut now, mut alpha, mut forest, mut lqd] = [const { None }; 4];
    for row in &losses.rows {
        let [name, lost, against, ..] = &row.cells;
        let tile = |what: &str| {
            Some((format!("{what}: {against}"), format!("{lost} {}", losses.unit.name)))
        };
        let short = name.replace("Dynamic Thresholds, ", "");
        match row.of.needs {
            Needs::Nothing => {
                let lost = format!("{lost} {}", losses.unit.name);
                let is_best = is_best(&row.of.policy);
                alpha = is_best.then(|| ("best alpha: as now".to_owned(), lost.clone())).or(alpha);
                now = Some((format!("lost now ({short})"), lost));
            }
            Needs::Setting if is_best(&row.of.policy) => {
                alpha = tile(&format!("{short}, the best"));
            }
            Needs::Table => forest = tile("this forest"),
            Needs::Future if !has_forest => forest = tile("any policy, at the least"),
            Needs::OtherChip => lqd = tile("LQD"),
            _ => {}
        }
    }
    [now, alpha, forest, lqd].into_iter().flatten().collect()
}

fn policies(page: &mut Body, losses: &Losses<'_>) {
    let (figure, off) = figures::losses(losses);
    let off = if off.is_empty() { off } else { format!(" Off the scale: {off}.") };
    let caption = format!("Lines are 99% intervals over episodes, where there are enough.{off}");
    let rows = losses.rows.iter().map(|row| row.cells.iter().map(Cell::text).collect());
    let mut heads = losses.heads.each_ref().map(String::as_str);
    heads[0] = "policy";
    page.figure(&figure, &caption, &Data { heads: &heads, groups: vec![("", rows.collect())] });
}

fn times(page: &mut Body, verdict: &Verdict, when: &str) {
    let worst = verdict_figures::worst_first(verdict).first().copied();
    let figure = worst.and_then(|at| Some((at, verdict_figures::drops(verdict, at)?)));
    if let Some((at, figure)) = figure {
        let (heads, rows) = super::timeline::numbers_of(&verdict.timelines[at]);
        page.figure(&figure, &sentence(when), &Data { heads: &heads, groups: vec![("", rows)] });
    }
}

fn ports(page: &mut Body, verdict: &Verdict, which: &str) {
    let ports = answer::worst_ports(verdict);
    let row =
        |(name, drops): &(String, u64)| [name, &numbers::count(*drops)].map(Cell::text).into();
    let rows = ports.iter().map(row).collect();
    let data = Data { heads: &["port", "drops"], groups: vec![("", rows)] };
    page.figure(&verdict_figures::ports(verdict, &ports), &sentence(which), &data);
}

fn sentence(text: &str) -> String {
    format!("{}.", figures::capitalised(text))
}
