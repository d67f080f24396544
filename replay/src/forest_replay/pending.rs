//! Rows of which it is not known yet whether they are replayed.

use crate::arrival::is_counted;
use dropcast_switch::Packet;
use dropcast_train::Sent;

/// An arrived packet.
pub(super) struct Arrived {
    pub(super) packet: Packet,
    pub(super) switch_id: u16,
    pub(super) time_ns: u64,
}

/// The last rows, from the first that may have to be replayed.
#[derive(Default)]
pub(super) struct PendingRows {
    /// The number of the first.
    first: u64,
    packets: Vec<Arrived>,
    /// By forest.
    scores: Vec<Vec<u32>>,
    is_replayed: Vec<bool>,
}

/// Rows to replay.
pub(super) struct ReadyRows {
    pub(super) packets: Vec<Arrived>,
    /// By forest.
    pub(super) scores: Vec<Vec<u32>>,
}

impl PendingRows {
    pub(super) fn new(forests: usize) -> Self {
        PendingRows { scores: vec![Vec::new(); forests], ..PendingRows::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds rows.
    pub(super) fn add(&mut self, packets: Vec<Arrived>, scores: Vec<Vec<u32>>) {
        self.is_replayed.resize(self.len() + packets.len(), false);
        self.packets.extend(packets);
        for (all, scores) in self.scores.iter_mut().zip(scores) {
            all.extend(scores);
        }
    }

    /// The rows of a switch from `first` to `last` are replayed.
    pub(super) fn replay(&mut self, switch_id: u16, first: u64, last: u64) {
        let place = |row: u64| row.saturating_sub(self.first) as usize;
        let rows = place(first)..=place(last);
        let flags = self.is_replayed[rows.clone()].iter_mut();
        for (flag, packet) in flags.zip(&self.packets[rows]) {
            *flag |= packet.switch_id == switch_id;
        }
    }

    /// Takes the rows before `end`: those that are replayed, and what was transmitted of the others.
    pub(super) fn take(&mut self, end: u64) -> (ReadyRows, Sent) {
        let rows = (end.saturating_sub(self.first) as usize).min(self.len());
        self.first += rows as u64;
        let flags: Vec<bool> = self.is_replayed.drain(..rows).collect();
        let keep = |at: usize| flags[at];
        let scores = self.scores.iter_mut().map(|scores| {
            let ready = scores.drain(..rows).enumerate().filter(|(at, _)| keep(*at));
            ready.map(|(_, score)| score).collect()
        });
        let scores = scores.collect();
        let mut sent = Sent::default();
        let mut packets = Vec::new();
        for (at, arrived) in self.packets.drain(..rows).enumerate() {
            if keep(at) {
                packets.push(arrived);
            } else if is_counted(arrived.packet.id) {
                sent.add(Sent { packets: 1, bytes: arrived.packet.size_bytes.into() });
            }
        }
        (ReadyRows { packets, scores }, sent)
    }
}
