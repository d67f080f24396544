//! Events cut into pieces that are labelled independently of each other.

use super::events_source::Events;
use crate::PipelineError;
use crate::settings::TracerSettings;
use dropcast_data::{
    DataError, Departures, Event, EventBatch, EventKind, InputProvenance, Label, SwitchSpec,
    SwitchSpecs,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Events of a switch in a stretch of time. Labelled alone, they give the rows that they give among
/// all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchPiece {
    /// The switch.
    pub switch: u16,
    /// The first time, nanoseconds.
    pub from_ns: u64,
    /// The first time after it; none for the last piece of a switch.
    pub before_ns: Option<u64>,
    /// Its arrivals.
    pub rows: u64,
}

impl SwitchPiece {
    fn has(&self, event: &Event) -> bool {
        event.switch_id == self.switch
            && event.time_ns >= self.from_ns
            && self.before_ns.is_none_or(|before| event.time_ns < before)
    }
}

/// The pieces of each switch, in the order of their numbers and times: of about `rows` arrivals, or
/// more where a switch cannot be cut.
///
/// A switch is cut where all its ports would be idle even if nothing were ever dropped: then no
/// policy holds a packet, and what comes does not depend on what was. That takes one queue per port
/// (a scheduler remembers whose turn it is), queues that drain at line rate, LQD's labels, features that remember
/// nothing, and events without real drops and pauses; else a switch stays whole.
///
/// # Errors
/// If an event cannot be read.
pub fn cut_switches(
    events: impl Events,
    specs: &SwitchSpecs,
    settings: &TracerSettings,
    rows: u64,
) -> Result<Vec<SwitchPiece>, PipelineError> {
    let remembers = settings.features.features().iter().any(|of| of.has_time_constant());
    let is_lqd = settings.label == Label::Lqd;
    let may_cut = settings.departures == Departures::LineRate && !remembers && is_lqd;
    let mut switches: BTreeMap<u16, CutSwitch> = BTreeMap::new();
    for batch in events {
        for event in batch?.events.iter().filter(|event| event.kind != EventKind::Departure) {
            let Some(spec) = specs.get(event.switch_id) else { continue };
            let cut = || CutSwitch::new(event, spec.ports());
            let switch = switches.entry(event.switch_id).or_insert_with(cut);
            let may_cut = may_cut && spec.queues_per_port == 1;
            switch.take(event, spec, if may_cut { rows.max(1) } else { u64::MAX });
        }
    }
    let pieces = switches.into_values().flat_map(CutSwitch::finish);
    // Pauses alone are nothing to label.
    Ok(pieces.filter(|piece| piece.rows > 0).collect())
}

/// A switch while it is cut.
struct CutSwitch {
    done: Vec<SwitchPiece>,
    piece: SwitchPiece,
    /// By port, when it would have sent all that arrived.
    idle_ns: Vec<u64>,
    last_ns: Option<u64>,
    /// Whether real drops or pauses are among the events: packets that are pushed out are found among
    /// all, and a pause lasts until it ends.
    is_whole: bool,
}

impl CutSwitch {
    fn new(first: &Event, ports: usize) -> Self {
        let piece = SwitchPiece { switch: first.switch_id, from_ns: 0, before_ns: None, rows: 0 };
        CutSwitch {
            done: Vec::new(),
            piece,
            idle_ns: vec![0; ports],
            last_ns: None,
            is_whole: false,
        }
    }

    fn take(&mut self, event: &Event, spec: &SwitchSpec, rows: u64) {
        let now_ns = event.time_ns;
        let is_idle = || self.idle_ns.iter().all(|&idle| idle < now_ns);
        if self.piece.rows >= rows && self.last_ns.is_some_and(|last| last < now_ns) && is_idle() {
            let next = SwitchPiece { from_ns: now_ns, rows: 0, ..self.piece };
            let ended = SwitchPiece { before_ns: Some(now_ns), ..self.piece };
            self.done.push(ended);
            self.piece = next;
        }
        self.piece.rows += u64::from(event.kind.is_arrival());
        self.is_whole |= event.kind != EventKind::Arrival;
        self.last_ns = Some(now_ns);
        if !event.kind.has_packet() {
            return;
        }
        let port = usize::from(event.port);
        if let Some(idle) = self.idle_ns.get_mut(port) {
            let wire_ns = spec.wire_time_ns(port, event.size_bytes);
            *idle = (*idle).max(now_ns).saturating_add(wire_ns);
        }
    }

    fn finish(mut self) -> Vec<SwitchPiece> {
        self.done.push(self.piece);
        if self.is_whole {
            let rows = self.done.iter().map(|piece| piece.rows).sum();
            return vec![SwitchPiece { from_ns: 0, rows, ..self.piece }];
        }
        self.done
    }
}

/// The events of a piece, among all. Labelled into an [`EvenTrace`](super::EvenTrace), it has the same bytes as when
/// [`join_pieces`](super::join_pieces) makes it of smaller pieces.
pub struct PieceEvents<'a, E> {
    events: E,
    piece: &'a SwitchPiece,
    /// Columns of the user's own.
    own: usize,
}

impl<'a, E: Events> PieceEvents<'a, E> {
    /// Those of `piece` among `events`, which are labelled with these settings.
    pub fn among(events: E, piece: &'a SwitchPiece, settings: &TracerSettings) -> Self {
        PieceEvents { events, piece, own: settings.features.split_own().1.len() }
    }
}

impl<E: Events> Iterator for PieceEvents<'_, E> {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.events.next()?.map(|mut batch| {
            let has: Vec<bool> = batch.events.iter().map(|event| self.piece.has(event)).collect();
            let mut of_events = has.iter();
            batch.events.retain(|_| of_events.next() == Some(&true));
            let mut of_values = has.iter().flat_map(|has| std::iter::repeat_n(has, self.own));
            batch.own.retain(|_| of_values.next() == Some(&true));
            batch
        }))
    }
}

impl<E: Events> Events for PieceEvents<'_, E> {
    fn may_push_out(&self) -> bool {
        self.events.may_push_out()
    }

    fn records_drops(&self) -> bool {
        self.events.records_drops()
    }

    fn records_marks(&self) -> bool {
        self.events.records_marks()
    }

    fn inputs(&self) -> Vec<InputProvenance> {
        self.events.inputs()
    }
}
