//! Whether the numbers of a verdict can be trusted: one list of checks.

use super::check::{Check, CheckFinding, CheckResult, CheckStatus};
use super::check_words::{named, number, percent};
use super::drop_counts::DropCounts;
use super::input_checks::of_inputs;
use dropcast_data::{InputNote, InputProvenance};
use dropcast_forest::Confusion;

/// What is known of traces when their checks are made.
pub(super) struct Checked<'a> {
    /// By trace: its name, what it was made from, and its packets.
    pub(super) traces: Vec<(&'a str, &'a [InputProvenance], DropCounts)>,
    /// All packets.
    pub(super) counts: DropCounts,
    /// The labels against the replay's LQD.
    pub(super) labels: Confusion,
    /// Whether a switch's description has no `dt_alpha`.
    pub(super) alpha_is_assumed: bool,
}

impl Checked<'_> {
    /// Every check of all traces together.
    pub(super) fn all(&self) -> Vec<CheckResult> {
        Check::ALL.iter().map(|&check| self.check(check).of(check)).collect()
    }

    /// The checks of a trace that found something wrong.
    pub(super) fn of_trace(&self, trace: usize) -> Vec<CheckResult> {
        let results = Check::ALL.iter().map(|&check| self.one(check, trace).of(check));
        results.into_iter().filter(|result| result.status > CheckStatus::Ok).collect()
    }

    fn check(&self, check: Check) -> CheckFinding {
        let by_trace = (0..self.traces.len()).map(|trace| self.one(check, trace)).collect();
        let all = match check {
            Check::Labels => return labels(&self.labels),
            // Of traces with few drops each, only all together show a difference.
            Check::Drops => {
                let inputs = self.traces.iter().flat_map(|(_, inputs, _)| *inputs);
                Some(self.drops(&self.counts, inputs))
            }
            Check::Rates => overload(&self.counts),
            _ => None,
        };
        let worst = self.worst(by_trace);
        match all {
            Some(all) if all.status >= worst.status => all,
            _ => worst,
        }
    }

    fn one(&self, check: Check, trace: usize) -> CheckFinding {
        let (_, inputs, counts) = &self.traces[trace];
        match check {
            Check::Drops => self.drops(counts, inputs.iter()),
            Check::Labels => CheckFinding::not_checked("only all traces together say"),
            Check::Rates => {
                let found = of_inputs(check, inputs);
                let load = overload(counts);
                load.filter(|load| load.status > found.status).unwrap_or(found)
            }
            Check::Clocks
            | Check::Taps
            | Check::Copies
            | Check::Backlog
            | Check::Files
            | Check::Rows => of_inputs(check, inputs),
        }
    }

    /// The worst of what was found on the traces, which names those with it.
    fn worst(&self, by_trace: Vec<CheckFinding>) -> CheckFinding {
        let Some(status) = by_trace.iter().map(|found| found.status).max() else {
            return CheckFinding::not_checked("there is no trace");
        };
        let found = by_trace.iter().zip(&self.traces).filter(|(found, _)| found.status == status);
        let found: Vec<(&CheckFinding, &str)> =
            found.map(|(found, (name, ..))| (found, *name)).collect();
        let first = found[0].0.clone();
        if by_trace.len() == 1 {
            return first;
        }
        let evidence = if status <= CheckStatus::Ok {
            format!("{} (in {} of {} traces)", first.evidence, found.len(), by_trace.len())
        } else {
            let shown = found.iter().map(|(found, name)| format!("{name}: {}", found.evidence));
            named(shown.collect(), "; ", "traces")
        };
        CheckFinding { evidence, ..first }
    }

    /// What the switch reports to drop against what its policy drops in the replay.
    fn drops<'a>(
        &self,
        counts: &DropCounts,
        inputs: impl Iterator<Item = &'a InputProvenance>,
    ) -> CheckFinding {
        /// So many packets more or less are chance.
        const CHANCE: u64 = 16;
        let inputs: Vec<&InputProvenance> = inputs.collect();
        let noted =
            |note: InputNote| inputs.iter().filter_map(|input| input.notes.get(&note)).sum::<u64>();
        let (Some(real), Some(with_fate)) = (counts.real, counts.real_known) else {
            return CheckFinding::not_checked("the traces do not say what the switch dropped");
        };
        let (real, own) = (real.packets, counts.own.packets);
        let missing = noted(InputNote::MissingReports);
        let evidence = format!(
            "the switch reports {} dropped packets, and its policy drops {} of the same arrivals in the replay",
            number(real),
            number(own)
        );
        // A report that did not come makes the switch drop less than it did.
        let known = if own > real { own.min(real + missing) } else { real };
        let (less, more) = (known.min(own), known.max(own));
        if more - less > CHANCE && less * 2 < more {
            let alpha = match self.alpha_is_assumed {
                true => "its dt_alpha is not given",
                false => "dt_alpha",
            };
            let remedy = format!(
                "the replay is not this switch: mend the checks that failed before, then look at buffer_bytes, \
                 line_rate_bps and the alpha ({alpha}) of its description, and at what its reports leave out"
            );
            return CheckFinding::failed(evidence, remedy);
        }
        if let Some(found) = incomplete(&evidence, counts, with_fate.packets, missing, &noted) {
            return found;
        }
        if more - less > CHANCE && less * 5 < more * 4 {
            let remedy = "buffer_bytes or dt_alpha of its description may differ from the switch's";
            return CheckFinding::doubtful(evidence, remedy);
        }
        CheckFinding::ok(evidence)
    }
}

/// Where not all drops are reported.
fn incomplete(
    evidence: &str,
    counts: &DropCounts,
    with_fate: u64,
    missing: u64,
    noted: &dyn Fn(InputNote) -> u64,
) -> Option<CheckFinding> {
    let unmatched = noted(InputNote::UnmatchedPushOut);
    let silent = noted(InputNote::NoRealDrops);
    let (why, remedy) = if missing > 0 {
        let why = format!("{} more are in no report, by its counters", number(missing));
        (why, "raise the limit of the switch's agent, and keep all its reports (docs/drops.md)")
    } else if silent > 0 {
        let why = format!("{} events are from an input without drops", number(silent));
        (why, "give the drops of that input, too (docs/events.md)")
    } else if with_fate != counts.arrived.packets {
        let (with_fate, arrived) = (number(with_fate), number(counts.arrived.packets));
        let why =
            format!("of {with_fate} of {arrived} packets alone the traces say what became of them");
        (why, "collect all traces with their drops")
    } else if unmatched > 0 {
        let why = format!("{} push-outs are of unknown packets", number(unmatched));
        (why, "log the arrival of each packet (docs/events.md)")
    } else {
        return None;
    };
    Some(CheckFinding::doubtful(format!("{evidence}; {why}"), remedy))
}

/// Links that are overloaded for long, which no switch in use is.
fn overload(counts: &DropCounts) -> Option<CheckFinding> {
    let (dropped, arrived) = (counts.lqd.packets, counts.arrived.packets);
    (u128::from(dropped) * 4 > u128::from(arrived)).then(|| {
        let share = percent(dropped, arrived);
        CheckFinding::doubtful(
            format!("LQD drops {share} of the packets, which no switch in use does for long"),
            "check line_rate_bps, buffer_bytes, the unit of time and the rules for ports (docs/switch.md)",
        )
    })
}

/// The replay's LQD against the labels.
fn labels(agreement: &Confusion) -> CheckFinding {
    let Confusion { tp, fp, fn_, tn } = *agreement;
    if tp + fp + fn_ + tn == 0 {
        return CheckFinding::not_checked("there are no arrivals");
    }
    if fp + fn_ == 0 {
        return CheckFinding::ok("the replay's LQD drops the packets that the labels say");
    }
    CheckFinding::doubtful(
        format!(
            "by the labels LQD drops {} packets; drained at line rate it drops {}, and not all are the same packets",
            number(tp + fn_),
            number(tp + fp)
        ),
        "labels follow the trace's own departures, the policies are drained at line rate; label with departures = \
         \"line-rate\" to compare them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_replay::Sent;

    fn sent(packets: u64) -> Sent {
        Sent { packets, bytes: packets * 1_000 }
    }

    fn drops(real: Option<u64>, own: u64, notes: &[(InputNote, u64)]) -> CheckResult {
        let counts = DropCounts {
            arrived: sent(700_000),
            own: sent(own),
            real: real.map(sent),
            real_known: real.map(|_| sent(700_000)),
            ..DropCounts::default()
        };
        let notes = notes.iter().copied().collect();
        let inputs = [InputProvenance { notes, ..InputProvenance::default() }];
        let checked = Checked {
            traces: vec![("a", &inputs, counts)],
            counts,
            labels: Confusion::default(),
            alpha_is_assumed: false,
        };
        let of_drops = |result: &CheckResult| result.check == Check::Drops;
        checked.all().into_iter().find(of_drops).expect("every check is made")
    }

    #[test]
    fn drops_that_are_reported_are_evidence_about_the_replay() {
        let status = |real, own, notes: &[_]| drops(real, own, notes).status;
        assert_eq!(status(None, 3_624, &[]), CheckStatus::NotChecked);
        for (real, own) in [(3_624, 3_624), (3_624, 3_300), (0, 0), (10, 0), (0, 16)] {
            assert_eq!(status(Some(real), own, &[]), CheckStatus::Ok, "{real} {own}");
        }
        for (real, own) in [(3_625, 0), (0, 100_432), (3_624, 1_700), (40, 10)] {
            assert_eq!(status(Some(real), own, &[]), CheckStatus::Failed, "{real} {own}");
        }
        assert_eq!(status(Some(3_624), 2_500, &[]), CheckStatus::Doubtful);
        // Reports that did not come explain drops of the replay, not the want of them.
        let missing = [(InputNote::MissingReports, 2_624)];
        assert_eq!(status(Some(1_000), 3_624, &missing), CheckStatus::Doubtful);
        assert_eq!(status(Some(1_000), 0, &missing), CheckStatus::Failed);
        let said = drops(Some(3_625), 0, &[]);
        assert!(
            said.evidence
                .starts_with("the switch reports 3,625 dropped packets, and its policy drops 0")
        );
        assert!(said.remedy.is_some_and(|remedy| remedy.contains("(dt_alpha)")));
    }

    #[test]
    fn the_list_has_every_check_in_order_and_by_its_name() {
        assert!(Check::ALL.is_sorted());
        for &check in Check::ALL {
            assert_eq!(serde_json::to_value(check).expect("JSON"), check.name());
        }
    }
}
