//! The command that goes on from a report.

use dropcast_measure::measures::ReportOrVerdict;
use dropcast_measure::verdict::{Conclusion, Cost, Verdict};

/// The next command, on these traces, after a report of this model, if there is one.
pub fn next_command(measured: ReportOrVerdict<'_>, data: &str, model: Option<&str>) -> String {
    let Some(verdict) = measured.verdict() else {
        return format!("dropcast inspect --check {data}");
    };
    let is_deployed = || {
        let cost = verdict.advice.advised().map(|advised| advised.cost);
        cost == Some(Cost::Credence)
    };
    match model {
        _ if !verdict.is_trusted() => format!("dropcast report --data {data} --details"),
        Some(model) if is_deployed() => {
            format!("dropcast export {model} --target c dct -o tables")
        }
        Some(_) => format!("dropcast report --data {data}"),
        None if an_oracle_gains(verdict) => format!("dropcast train --data {data} -o model.json"),
        None => {
            let drops = verdict.counts.own.packets;
            format!("dropcast report --data {data} --fail-if 'switch_drops > {drops}'")
        }
    }
}

fn an_oracle_gains(verdict: &Verdict) -> bool {
    matches!(verdict.conclusion, Conclusion::OracleCouldGain { .. })
}
