//! Checks of what a trace was made from: what its footer records of captures and logs (docs/trace.md).

use super::check::{Check, CheckFinding, is_large};
use super::check_words::{named, number, percent, time};
use dropcast_data::{CaptureFacts, InputNote, InputProvenance, SilentPort};
use std::collections::BTreeMap;

/// Acknowledgements before their data that are more than chance.
const MANY_EARLY: u64 = 16;
/// Flows without data that are more than chance, and their share, one in so many.
const FLOWS_WITHOUT_DATA: (u64, u64) = (8, 50);
/// A capture that is cut off this long before the others end leaves out packets.
const ENDS_EARLY_NS: u64 = 1_000_000;
/// Reasons for which rows are left out because they are bad (docs/events.md); that a file is cut off is another check.
const BAD_ROWS: [&str; 15] = [
    "field-count",
    "not-a-number",
    "empty",
    "out-of-range",
    "not-understood",
    "no-port",
    "time-backwards",
    "unknown-switch",
    "too-many-queues",
    "port-out-of-range",
    "queue-out-of-range",
    "size-zero",
    "size-over-buffer",
    "departure-without-arrival",
    "push-out-without-arrival",
];

/// What a check finds that looks at inputs alone.
pub(super) fn of_inputs(check: Check, inputs: &[InputProvenance]) -> CheckFinding {
    if inputs.is_empty() {
        return CheckFinding::not_checked("the trace does not say what it was made from");
    }
    let inputs = Inputs(inputs);
    match check {
        Check::Clocks => inputs.clocks(),
        Check::Taps => inputs.taps(),
        Check::Copies => inputs.copies(),
        Check::Rates => inputs.rates(),
        Check::Backlog => inputs.backlog(),
        Check::Files => inputs.files(),
        Check::Rows => inputs.rows(),
        Check::Drops | Check::Labels => CheckFinding::not_checked("its inputs do not say"),
    }
}

struct Inputs<'a>(&'a [InputProvenance]);

impl Inputs<'_> {
    fn noted(&self, note: InputNote) -> u64 {
        self.0.iter().filter_map(|input| input.notes.get(&note)).sum()
    }

    /// The names of inputs with a note.
    fn with(&self, note: InputNote) -> Vec<String> {
        let with = self.0.iter().filter(|input| input.notes.contains_key(&note));
        with.map(|input| input.name.clone()).collect()
    }

    fn captures(&self) -> impl Iterator<Item = (&str, &CaptureFacts, u64)> {
        let of = |input: &'_ InputProvenance| input.events;
        self.0.iter().filter_map(move |input| {
            Some((input.name.as_str(), input.capture.as_ref()?, of(input)))
        })
    }

    /// Packets of captures; of all inputs, where nothing says which are captures.
    fn packets(&self) -> u64 {
        match self.captures().map(|(.., packets)| packets).sum() {
            0 => self.0.iter().map(|input| input.events).sum(),
            packets => packets,
        }
    }

    fn no_captures(&self) -> Option<CheckFinding> {
        let has_none = self.captures().next().is_none();
        has_none.then(|| CheckFinding::not_checked("no input is known to be a capture"))
    }

    fn clocks(&self) -> CheckFinding {
        let digits = self.noted(InputNote::SixDigitTime);
        if digits > 0 {
            return CheckFinding::doubtful(
                format!(
                    "the times of {} rows have at most 6 digits, as ns-3 prints them",
                    number(digits)
                ),
                "queues are only roughly known: let ns-3 print more digits (docs/ns3-ascii.md)",
            );
        }
        let early = self.noted(InputNote::Skew);
        if early > 0 {
            return self.skew(early);
        }
        if let Some(found) = self.no_captures() {
            return found;
        }
        if !self.captures().any(|(_, facts, _)| facts.mixes) {
            return CheckFinding::ok("no two captures overlap in time");
        }
        let captures = self.captures().filter(|(.., packets)| *packets > 0).count();
        let compared = self.captures().filter(|(_, facts, _)| facts.clock_compared > 0).count();
        if compared == 0 {
            return CheckFinding::not_checked(
                "no capture holds an acknowledgement of TCP of another's data",
            );
        }
        CheckFinding::ok(format!(
            "no acknowledgement of TCP comes before its data, in {compared} of {captures} captures"
        ))
    }

    fn skew(&self, early: u64) -> CheckFinding {
        let wrong = self.captures().filter(|(_, facts, _)| facts.clock_ahead_ns != 0);
        let mut wrong: Vec<(&str, i64)> =
            wrong.map(|(name, facts, _)| (name, facts.clock_ahead_ns)).collect();
        wrong.sort_by_key(|(_, ns)| std::cmp::Reverse(ns.unsigned_abs()));
        let shown = |(name, ns): &(&str, i64)| {
            let side = if *ns > 0 { "ahead" } else { "behind" };
            format!("{name} {} {side}", time(ns.unsigned_abs()))
        };
        let names = match wrong.len() {
            0 => "the clocks of captures differ".to_owned(),
            some => format!(
                "the clocks of {some} of {} captures differ from the others', at least: {}",
                self.captures().count(),
                named(wrong.iter().map(shown).collect(), ", ", "captures")
            ),
        };
        let acks = number(early);
        CheckFinding::wrong(
            early >= MANY_EARLY,
            format!("{names} ({acks} acknowledgements of TCP come before their data)"),
            "capture with one clock, or shift these captures (editcap -t), and collect again (docs/pcap.md)",
        )
    }

    fn taps(&self) -> CheckFinding {
        let empty = self.with(InputNote::NoPackets);
        let facts = self.captures().find_map(|(_, facts, _)| facts.taps.as_ref());
        let silent = facts.map_or(&[][..], |facts| &facts.silent_ports);
        if !silent.is_empty() {
            let acks = silent.iter().map(|port| port.acknowledgements).sum();
            return CheckFinding::failed(
                format!(
                    "no packet from behind {} was captured, though {} acknowledgements of data from there were",
                    ports(silent),
                    number(acks)
                ),
                "capture these links, too, and collect again: without their packets queues are shorter than the switch's \
                 (docs/pcap.md)",
            );
        }
        if let Some(facts) = facts
            && facts.flows_without_data >= FLOWS_WITHOUT_DATA.0
            && facts.flows_without_data * FLOWS_WITHOUT_DATA.1 >= facts.flows
        {
            let (without, flows) = (number(facts.flows_without_data), number(facts.flows));
            return CheckFinding::doubtful(
                format!("the data of {without} of {flows} acknowledged flows was not captured"),
                "a link is not captured, or their data takes another path",
            );
        }
        if !empty.is_empty() {
            return CheckFinding::doubtful(
                format!(
                    "{} without a packet: {}",
                    captures(empty.len()),
                    named(empty, ", ", "captures")
                ),
                "check these taps; an idle link looks like that, too",
            );
        }
        if let Some(found) = self.no_captures() {
            return found;
        }
        match facts {
            None => CheckFinding::not_checked("the captures hold no acknowledgements of TCP"),
            Some(facts) => CheckFinding::ok(format!(
                "the data that is acknowledged was captured, of {} flows",
                number(facts.flows - facts.flows_without_data)
            )),
        }
    }

    fn copies(&self) -> CheckFinding {
        let (copies, packets) = (self.noted(InputNote::Duplicates), self.packets());
        if copies == 0 {
            return self
                .no_captures()
                .unwrap_or_else(|| CheckFinding::ok("each packet is there once"));
        }
        let own: u64 = self.captures().map(|(_, facts, _)| facts.own_copies).sum();
        let other: u64 = self.captures().map(|(_, facts, _)| facts.other_copies).sum();
        let most =
            self.captures().max_by_key(|(_, facts, _)| facts.own_copies + facts.other_copies);
        let places = match most.filter(|_| own + other > 0) {
            None => String::new(),
            Some((name, facts, _)) => format!(
                ", {} within a capture and {} of another capture, most ({}) in {name}",
                number(own),
                number(other),
                number(facts.own_copies + facts.other_copies)
            ),
        };
        let remedy = if other > 0 {
            "capture each packet once, where it comes into the switch: at hosts what they send (tcpdump -Q out), at the \
             switch ingress alone; editcap -d removes only copies within a file (docs/pcap.md)"
        } else {
            "remove them (editcap -d), or capture each packet once (docs/pcap.md)"
        };
        let share = percent(copies, packets);
        let (shown, all) = (number(copies), number(packets));
        CheckFinding::wrong(
            is_large(copies, packets),
            format!("{shown} of {all} packets ({share}) are copies of one shortly before{places}"),
            remedy,
        )
    }

    fn rates(&self) -> CheckFinding {
        let (early, packets) = (self.noted(InputNote::OverRate), self.packets());
        if early == 0 {
            let ok = || CheckFinding::ok("no link brings more than its line rate");
            return self.no_captures().unwrap_or_else(ok);
        }
        let share = percent(early, packets);
        CheckFinding::wrong(
            is_large(early, packets),
            format!(
                "{} packets ({share}) come earlier than the line rate of their sender's link allows",
                number(early)
            ),
            "check line_rate_bps and [[capture.port]] of the description, and clocks and copies of captures; of a host \
             with several links capture each into a file of its own (docs/pcap.md)",
        )
    }

    fn backlog(&self) -> CheckFinding {
        let packets = self.noted(InputNote::NoBacklog);
        if packets > 0 {
            return CheckFinding::doubtful(
                format!(
                    "hardly one of {} packets meets another that waits at its port",
                    number(packets)
                ),
                "an idle network looks like that, and so does a capture from behind the buffer, which shows no queues: \
                 capture before it (docs/pcap.md)",
            );
        }
        self.no_captures().unwrap_or_else(|| CheckFinding::ok("packets wait at their ports"))
    }

    fn files(&self) -> CheckFinding {
        let cut = self.with(InputNote::CutOff);
        if !cut.is_empty() {
            let early = self.captures().filter(|(name, ..)| cut.iter().any(|cut| cut == name));
            let early = early.map(|(_, facts, _)| facts.ends_early_ns).max().unwrap_or(0);
            let before = match early {
                0 => String::new(),
                _ => format!(", up to {} before the last packet", time(early)),
            };
            return CheckFinding::wrong(
                early > ENDS_EARLY_NS,
                format!(
                    "{} cut off{before}: {}",
                    captures(cut.len()),
                    named(cut, ", ", "captures")
                ),
                "cut the other captures at the same time (editcap -B), and collect again (docs/pcap.md)",
            );
        }
        let passed = self.with(InputNote::PassedOver);
        if !passed.is_empty() {
            return CheckFinding::doubtful(
                format!("without events, and passed over: {}", named(passed, ", ", "files")),
                "if they were to hold packets, these are missing (docs/events.md)",
            );
        }
        CheckFinding::ok(format!(
            "{} read to the end",
            if self.0.len() == 1 { "1 file is" } else { "all files are" }
        ))
    }

    fn rows(&self) -> CheckFinding {
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, rows) in self.0.iter().flat_map(|input| &input.skipped) {
            if BAD_ROWS.contains(&reason.as_str()) {
                *reasons.entry(reason).or_default() += rows;
            }
        }
        let skipped: u64 = reasons.values().sum();
        if skipped == 0 {
            return CheckFinding::ok("every row could be used");
        }
        let used: u64 = self.0.iter().map(|input| input.events).sum();
        let shown = reasons.iter().map(|(reason, rows)| format!("{} {reason}", number(*rows)));
        let remedy = if reasons.contains_key("no-port") {
            "add a [[capture.port]] rule for the packets without a port to the switch description (docs/pcap.md)"
        } else {
            "dropcast inspect --check shows the first of each kind (docs/events.md)"
        };
        let share = percent(skipped, skipped + used);
        CheckFinding::wrong(
            is_large(skipped, skipped + used),
            format!(
                "{} rows ({share}) are left out: {}",
                number(skipped),
                shown.collect::<Vec<_>>().join(", ")
            ),
            remedy,
        )
    }
}

fn captures(count: usize) -> String {
    if count == 1 { "1 capture".to_owned() } else { format!("{count} captures") }
}

/// "ports 3, 4 and 2 more ports of switch 0".
fn ports(silent: &[SilentPort]) -> String {
    let several = silent.iter().any(|port| port.switch_id != silent[0].switch_id);
    let shown = |port: &SilentPort| match several {
        true => format!("{} of switch {}", port.port, port.switch_id),
        false => port.port.to_string(),
    };
    let word = if silent.len() == 1 { "port" } else { "ports" };
    let listed = named(silent.iter().map(shown).collect(), ", ", "ports");
    let of = if several { String::new() } else { format!(" of switch {}", silent[0].switch_id) };
    format!("{word} {listed}{of}")
}

#[cfg(test)]
mod tests {
    use super::super::check::CheckStatus;
    use super::*;
    use dropcast_data::TapFacts;

    fn input(
        name: &str,
        notes: &[(InputNote, u64)],
        capture: Option<CaptureFacts>,
    ) -> InputProvenance {
        let (name, notes) = (name.to_owned(), notes.iter().copied().collect());
        InputProvenance { name, events: 1_000, notes, capture, ..InputProvenance::default() }
    }

    fn found(check: Check, inputs: &[InputProvenance]) -> (CheckStatus, String) {
        let found = of_inputs(check, inputs);
        assert_eq!(found.remedy.is_some(), found.status > CheckStatus::Ok);
        (found.status, found.evidence)
    }

    #[test]
    fn logs_and_clean_captures_raise_no_alarm() {
        let log = [input("events.csv", &[], None)];
        let clean = CaptureFacts { clock_compared: 7, ..CaptureFacts::default() };
        let taps = Some(TapFacts { flows: 90, flows_without_data: 1, ..TapFacts::default() });
        let first = CaptureFacts { mixes: true, taps, ..clean.clone() };
        let captures = [input("a.pcap", &[], Some(first)), input("b.pcap", &[], Some(clean))];
        for check in [Check::Clocks, Check::Taps, Check::Copies, Check::Rates, Check::Backlog] {
            assert_eq!(found(check, &log).0, CheckStatus::NotChecked, "{check:?}");
            assert_eq!(found(check, &captures).0, CheckStatus::Ok, "{check:?}");
        }
        for check in [Check::Files, Check::Rows] {
            assert_eq!(found(check, &log).0, CheckStatus::Ok);
        }
        assert_eq!(found(Check::Rows, &[]).0, CheckStatus::NotChecked);
        // Traces of earlier versions have notes alone.
        let early = [input("a.pcap", &[(InputNote::Skew, 40), (InputNote::Duplicates, 400)], None)];
        assert_eq!(found(Check::Clocks, &early).0, CheckStatus::Failed);
        assert_eq!(found(Check::Copies, &early).0, CheckStatus::Failed);
    }

    #[test]
    fn evidence_names_files_and_ports() {
        let ahead =
            |clock_ahead_ns| Some(CaptureFacts { clock_ahead_ns, ..CaptureFacts::default() });
        let skewed = [
            input("a.pcap", &[(InputNote::Skew, 40)], ahead(0)),
            input("b.pcap", &[], ahead(121_300)),
            input("c.pcap", &[], ahead(-2_000)),
        ];
        let (status, said) = found(Check::Clocks, &skewed);
        assert_eq!(status, CheckStatus::Failed);
        assert!(said.starts_with("the clocks of 2 of 3 captures differ from the others', at least: b.pcap 121.3 us ahead, c.pcap 2.0 us behind (40 "), "{said}");
        let silent = |switch_id, port| SilentPort { switch_id, port, acknowledgements: 30 };
        assert_eq!(ports(&[silent(0, 3)]), "port 3 of switch 0");
        assert_eq!(ports(&[silent(0, 3), silent(2, 3)]), "ports 3 of switch 0, 3 of switch 2");
        let taps = Some(TapFacts { silent_ports: vec![silent(0, 3)], ..TapFacts::default() });
        let silent = [input("a.pcap", &[], Some(CaptureFacts { taps, ..CaptureFacts::default() }))];
        let (status, said) = found(Check::Taps, &silent);
        assert_eq!(status, CheckStatus::Failed);
        assert!(
            said.contains("port 3 of switch 0 was captured, though 30 acknowledgements"),
            "{said}"
        );
        let empty = [
            input("a.pcap", &[], ahead(0)),
            input("e.pcap", &[(InputNote::NoPackets, 1)], ahead(0)),
        ];
        assert_eq!(
            found(Check::Taps, &empty),
            (CheckStatus::Doubtful, "1 capture without a packet: e.pcap".to_owned())
        );
        let cut = CaptureFacts { ends_early_ns: 5_000_000, ..CaptureFacts::default() };
        let cut =
            [input("a.pcap", &[], ahead(0)), input("k.pcap", &[(InputNote::CutOff, 9)], Some(cut))];
        assert_eq!(found(Check::Files, &cut).0, CheckStatus::Failed);
        let mut rows = input("a.pcap", &[], ahead(0));
        rows.skipped = [("no-port".to_owned(), 4), ("cut-off".to_owned(), 1)].into();
        assert_eq!(
            found(Check::Rows, std::slice::from_ref(&rows)),
            (CheckStatus::Doubtful, "4 rows (0.4%) are left out: 4 no-port".to_owned())
        );
        rows.skipped.insert("no-port".to_owned(), 400);
        assert_eq!(found(Check::Rows, &[rows]).0, CheckStatus::Failed);
    }
}
