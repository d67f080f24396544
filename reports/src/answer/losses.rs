//! What each policy loses, against what the switch has.

use super::lines::{COLUMNS, Loss, cut};
use crate::drop_words::{alpha_name, own_name};
use crate::rival_words::name_of;
use crate::trace_words::rows;
use dropcast_data::printable_line;
use dropcast_measure::Report;
use dropcast_measure::verdict::{AgainstNow, Needs, Verdict};

/// Policies of the table, at most.
const MOST: usize = 9;

/// The table: what each policy loses, in one unit.
pub(crate) struct Losses<'a> {
    pub(crate) unit: Loss,
    pub(crate) heads: [String; 5],
    pub(crate) rows: Vec<Row<'a>>,
}

/// A policy: its name, what it loses, that against now, an interval of that, what it needs.
pub(crate) struct Row<'a> {
    pub(crate) of: &'a AgainstNow,
    pub(crate) cells: [String; 5],
}

/// The policies that matter most, those that lose least first.
pub(crate) fn losses<'a>(verdict: &'a Verdict, report: Option<&Report>) -> Losses<'a> {
    let mut kept: Vec<&AgainstNow> = verdict.against_now.iter().collect();
    // What cannot be had leaves first, then of many that were asked for the worst.
    let leaving = [Needs::Labels, Needs::QueueSettings, Needs::Future, Needs::Asked];
    while kept.len() > MOST {
        let last = |needs: &Needs| kept.iter().rposition(|row| row.needs == *needs);
        let Some(last) = leaving.iter().find_map(last) else { break };
        kept.remove(last);
    }
    let most = kept.iter().map(|row| row.lost_bytes).max().unwrap_or(0);
    let loss = Loss::of(most);
    let row = |row| row_of(verdict, row, loss);
    let lost = format!("lost {}", loss.name);
    // The advice of a report is about the whole trace.
    let part = report.and_then(rows).map_or("", |_| "In the test part");
    let heads = [part, &lost, "against now", "99% interval", "needs"].map(str::to_owned);
    Losses { unit: loss, heads, rows: kept.into_iter().map(row).collect() }
}

fn row_of<'a>(verdict: &Verdict, row: &'a AgainstNow, loss: Loss) -> Row<'a> {
    let interval = row.low_bytes.zip(row.high_bytes);
    let interval =
        interval.map(|(low, high)| format!("{} to {}", loss.signed(low), loss.signed(high)));
    Row {
        of: row,
        cells: [
            name(verdict, row),
            loss.shown(i64::try_from(row.lost_bytes).unwrap_or(i64::MAX)),
            loss.signed(row.against_now_bytes),
            interval.unwrap_or_default(),
            needs(row.needs).to_owned(),
        ],
    }
}

fn name(verdict: &Verdict, row: &AgainstNow) -> String {
    match (row.needs, row.policy.as_deref()) {
        (Needs::Nothing, _) if verdict.own_policy.is_none() => {
            "Each switch's own policy".to_owned()
        }
        (Needs::Nothing, _) => own_name(verdict),
        (Needs::OtherChip, _) => "LQD".to_owned(),
        (Needs::Table, _) => "Credence, this forest".to_owned(),
        (Needs::Labels, _) => "Credence, perfect oracle".to_owned(),
        (Needs::Future, _) => "Any policy, at the least".to_owned(),
        (Needs::QueueSettings, Some(policy)) => {
            let alphas = alpha_name(verdict, policy.trim_start_matches("dt:alpha="));
            format!("By queue, {alphas}")
        }
        (_, policy) => name_of(verdict, policy.unwrap_or_default()),
    }
}

fn needs(needs: Needs) -> &'static str {
    match needs {
        Needs::Nothing => "now",
        Needs::Setting => "one setting",
        Needs::QueueSettings => "queue settings",
        Needs::Table => "table, virtual LQD",
        Needs::Asked => "--policy",
        Needs::OtherChip => "push-out chip",
        Needs::Labels => "LQD's drops ahead",
        Needs::Future => "all arrivals ahead",
    }
}

impl Row<'_> {
    /// Whether the switch does this now.
    pub(crate) fn is_now(&self) -> bool {
        self.of.needs == Needs::Nothing
    }
}

impl Losses<'_> {
    /// Lines of text; numbers are aligned, the present policy has a mark.
    pub(crate) fn lines(&self) -> Vec<String> {
        let all = || std::iter::once(&self.heads).chain(self.rows.iter().map(|row| &row.cells));
        let wide = |cell: usize| all().map(|cells| cells[cell].chars().count()).max().unwrap_or(0);
        let [lost, now, interval, needs] = [1, 2, 3, 4].map(wide);
        // Marks and gaps take 10 columns.
        let name = (COLUMNS - 10).saturating_sub(lost + now + interval + needs).min(wide(0));
        let line = |mark: &str, cells: &[String; 5]| {
            let first = cut(&printable_line(&cells[0]), name);
            let line = format!(
                "{mark:<2}{first:<name$}  {:>lost$}  {:>now$}  {:>interval$}  {}",
                cells[1], cells[2], cells[3], cells[4]
            );
            line.trim_end().to_owned()
        };
        let rows =
            self.rows.iter().map(|row| line(if row.is_now() { ">" } else { "" }, &row.cells));
        std::iter::once(line("", &self.heads)).chain(rows).collect()
    }
}
