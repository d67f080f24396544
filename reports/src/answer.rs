//! The answer of a report: what was measured, the advice, what each policy loses, where and when, how far to trust it. It is
//! what a terminal shows: at most 22 lines of 100 columns, so that a command can add where to go from here.

mod advice;
mod facts;
mod lines;
mod losses;

use crate::trace_words::{listed, rows};
pub(crate) use advice::advice;
use dropcast_data::printable_line;
use dropcast_measure::verdict::{SwitchDrops, Verdict};
use dropcast_measure::{Report, TraceSection};
pub(crate) use facts::{facts, of_model, worst_ports};
use lines::{COLUMNS, cut, joined};
pub(crate) use losses::{Losses, Row, losses};

use crate::numbers::count;

/// Lines of evidence and remedy of a failed check, at most.
const MOST_OF_CHECK: usize = 3;

/// The answer of a verdict, and of the model's report that it belongs to, if there is one.
pub(crate) fn answer(verdict: &Verdict, report: Option<&Report>) -> String {
    let mut lines = vec![cut(&measured(verdict, report), COLUMNS)];
    let advice = advice(verdict);
    let (first, most) = if verdict.is_trusted() { (2, 1) } else { (MOST_OF_CHECK, MOST_OF_CHECK) };
    lines.extend(joined("", &advice[0], first));
    lines.extend(advice[1..].iter().flat_map(|more| joined("    ", more, most)));
    if verdict.is_trusted() {
        lines.push(String::new());
        lines.extend(losses(verdict, report).lines());
    }
    lines.push(String::new());
    for (label, text, most) in facts(verdict, report) {
        lines.extend(joined(&format!("{label:<9}"), &text, most));
    }
    lines.join("\n") + "\n"
}

/// The answer of a report without a replay: what the model predicts.
pub(crate) fn unreplayed(report: &Report) -> String {
    let names: Vec<&str> =
        report.traces.iter().map(|trace: &TraceSection| trace.name.as_str()).collect();
    let mut lines = vec![
        cut(&format!("{}: {} packets", names_of(&names), count(report.labels.rows)), COLUMNS),
        String::new(),
    ];
    lines.splice(1..1, joined("", &no_advice(report), MOST_OF_CHECK));
    for (label, text, most) in of_model(report) {
        lines.extend(joined(&format!("{label:<9}"), &text, most));
    }
    lines.join("\n") + "\n"
}

/// Why a report without a replay has no advice.
pub(crate) fn no_advice(report: &Report) -> String {
    let reason = report.replay_omitted.as_deref().unwrap_or("no reason is known");
    format!("NO ADVICE: nothing was replayed, because {reason}.")
}

fn measured(verdict: &Verdict, report: Option<&Report>) -> String {
    format!("{}: {}", names_of(&verdict.traces), amount(verdict, report))
}

/// How much was measured, of which switches.
pub(crate) fn amount(verdict: &Verdict, report: Option<&Report>) -> String {
    let part = match report.and_then(rows) {
        Some(_) => " of the test part",
        None => "",
    };
    format!(
        "{} packets ({}){part}, {}",
        count(verdict.arrived.packets),
        lines::megabytes(verdict.arrived.bytes),
        switches(&verdict.switches)
    )
}

/// Names in half a line.
fn names_of(names: &[impl AsRef<str>]) -> String {
    cut(&printable_line(&listed(names)), COLUMNS / 2)
}

fn switches(switches: &[SwitchDrops]) -> String {
    match switches {
        [] => "no switch".to_owned(),
        [one] => {
            let name = one.name.as_deref().unwrap_or("1 switch");
            let buffer = lines::megabytes(one.buffer_bytes.into());
            format!("{name}: {} ports, {buffer} buffer", count(one.ports as u64))
        }
        several => format!("{} switches", count(several.len() as u64)),
    }
}
