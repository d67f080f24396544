//! What captures show once they are merged: whether packets queue, and whether the order of the files can say
//! their ports.

use super::backlog::Backlog;
use super::ingress_rate::{IngressRates, OverRate};
use super::reader::EventReader;
use super::sightings::Sightings;
use super::taps::Taps;
use crate::capture::{Evidence, NoOutputPorts, PortCapture, Sight, draft, why_no_output_ports};
use crate::{CaptureFacts, DataError, Event, SwitchSpecs};
use std::collections::BTreeMap;

/// Packets of captures before they are first looked at; twice as many before each next time.
const FIRST_LOOK: u64 = 1 << 16;
/// Packets of all captures that are read to draft rules, at most.
const MOST_DRAFTED: usize = 1 << 23;
/// Captures with wrong clocks that a sentence names, at most.
const MOST_NAMED: usize = 8;

/// Watches the packets of captures in order of time.
pub(super) struct MergedCaptures {
    backlog: Backlog,
    sightings: Sightings,
    taps: Taps,
    rates: IngressRates,
    specs: SwitchSpecs,
    packets: u64,
    next_look: u64,
}

impl MergedCaptures {
    pub(super) fn new(specs: &SwitchSpecs) -> Self {
        let (backlog, sightings) = (Backlog::new(specs), Sightings::default());
        let taps = Taps::default();
        let (rates, specs) = (IngressRates::default(), specs.clone());
        MergedCaptures { backlog, sightings, taps, rates, specs, packets: 0, next_look: FIRST_LOOK }
    }

    /// The next packet, of this file and interface.
    pub(super) fn add(&mut self, event: &Event, file: usize, sight: Option<(u32, Sight)>) {
        self.backlog.add(event);
        if let Some((interface, sight)) = sight {
            self.sightings.add(event.time_ns, (file, interface), &sight);
            self.taps.add(event, &sight);
            if let Some(ingress) = sight.ingress {
                self.rates.add(event, (file, interface), ingress, &self.specs);
            }
        }
        self.packets += 1;
    }

    /// How many packets there are, if hardly one of them waits at its port.
    pub(super) fn packets_without_backlog(&self) -> Option<u64> {
        self.backlog.packets_without()
    }

    /// What packets show of each other.
    pub(super) fn sightings(&self) -> &Sightings {
        &self.sightings
    }

    /// What each file with packets shows; what all show together is that of the file `first`.
    pub(super) fn facts(&self, first: Option<usize>) -> BTreeMap<usize, CaptureFacts> {
        let mut facts = self.sightings.facts();
        if let Some(first) = first {
            let of_all = facts.entry(first).or_default();
            (of_all.mixes, of_all.taps) = (self.sightings.mixes(), self.taps.facts());
        }
        facts
    }

    /// Packets of links that bring more than their line rate allows.
    pub(super) fn over_rate(&self) -> u64 {
        self.rates.packets()
    }

    /// These links; files have these names.
    pub(super) fn links_over_rate(&self, files: &[&str]) -> Vec<OverRate> {
        self.rates.over(&self.specs, files)
    }

    /// By how much clocks of captures differ at least, in a sentence; none if nothing shows it. Files have these
    /// names.
    pub(super) fn clock_remark(&self, files: &[&str]) -> Option<String> {
        if self.sightings.clocks_are_unknown() {
            return Some(
                "whether the clocks of these captures agree is not known: none holds an acknowledgement of TCP of \
                 another's data; a difference of 100 us changes LQD's drops (docs/pcap.md)"
                    .to_owned(),
            );
        }
        let (packets, most_ns) = self.sightings.early_acknowledgements()?;
        Some(format!(
            "{packets} acknowledgements of TCP come before the data that they acknowledge, by up to {most_ns} ns: \
             the clocks of these captures differ by that at least; {}; shift them (editcap -t), or capture with one \
             clock (docs/pcap.md)",
            self.wrong_clocks(files)
        ))
    }

    /// The captures whose clocks are wrong, in words.
    fn wrong_clocks(&self, files: &[&str]) -> String {
        let wrong = self.facts(None).into_iter().filter_map(|(place, facts)| {
            let ns = facts.clock_ahead_ns;
            let (by, side) = (ns.unsigned_abs(), if ns > 0 { "ahead" } else { "behind" });
            Some(format!("{} is {by} ns {side}", files.get(place)?)).filter(|_| ns != 0)
        });
        let wrong: Vec<String> = wrong.collect();
        let more = match wrong.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", wrong[..wrong.len().min(MOST_NAMED)].join(", "))
    }

    /// Whether it is time to [check](Self::check) captures.
    pub(super) fn is_due(&mut self, has_ended: bool) -> bool {
        let is_due = self.packets >= self.next_look;
        if is_due {
            self.next_look = self.packets.saturating_mul(2);
        }
        is_due || has_ended
    }

    /// Refuses captures without rules for ports that cannot each hold the packets for one, with a draft of rules,
    /// for which more of them is read. That packets do not queue is known in the end.
    pub(super) fn check(
        &self,
        readers: &mut [&mut EventReader],
        has_ended: bool,
    ) -> Result<(), DataError> {
        let without_backlog = self.packets_without_backlog().filter(|_| has_ended);
        let captures = of_ports(readers);
        let Some(found) = why_no_output_ports(&captures, without_backlog) else { return Ok(()) };
        let is_whole = read_on(readers);
        Err(refusal(&of_ports(readers), &found, is_whole))
    }
}

fn of_ports<'a>(readers: &'a [&mut EventReader]) -> Vec<PortCapture<'a>> {
    readers.iter().filter_map(|reader| reader.port_capture()).collect()
}

/// Reads on, so that a draft has more; whether all was read. What is wrong with the rest is not the question.
fn read_on(readers: &mut [&mut EventReader]) -> bool {
    let most = MOST_DRAFTED / readers.len().max(1);
    for reader in readers.iter_mut() {
        let mut read = 0;
        while read < most && !reader.is_a_stream() {
            let Some(Ok(batch)) = reader.next() else { break };
            read += batch.events.len();
        }
    }
    readers.iter().all(|reader| reader.is_done())
}

fn refusal(captures: &[PortCapture<'_>], found: &NoOutputPorts, is_whole: bool) -> DataError {
    let NoOutputPorts { at, problem, kind } = found;
    let file = captures.get(*at).map_or("captures", |capture| capture.file);
    let hint = match kind {
        Evidence::BothDirections => {
            "capture what comes into the switch alone (mirror ingress, tcpdump -Q in), then give rules by \
             destination (docs/pcap.md). It holds"
        }
        Evidence::SharedDestinations => {
            "say the ports by destination, or by file (file = \"NAME\") if each capture holds what is for one \
             port all the same; these rules are for the switch description (docs/pcap.md)"
        }
        Evidence::NoBacklog => {
            "capture before the buffer; if these were, and each holds what is for one port, add these rules to \
             the switch description (docs/pcap.md)"
        }
    };
    let part = if is_whole { "" } else { ", after the first part of the captures" };
    DataError::file(file, problem, format!("{hint}{part}:\n\n{}", draft(captures, *kind)))
}
