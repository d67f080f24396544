//! Rows of which it is not known yet whether they are replayed.

use crate::arrival::is_counted;
use dropcast_forest::Sent;
use dropcast_switch::Packet;

/// An arrived packet.
#[derive(Clone, Copy)]
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
    rows: ReadyRows,
    is_replayed: Vec<bool>,
}

/// Rows to replay.
#[derive(Default)]
pub(super) struct ReadyRows {
    pub(super) packets: Vec<Arrived>,
    /// By forest.
    pub(super) scores: Vec<Vec<u32>>,
}

impl ReadyRows {
    pub(super) fn new(forests: usize) -> Self {
        ReadyRows { packets: Vec::new(), scores: vec![Vec::new(); forests] }
    }

    /// Adds a row with its scores by forest.
    pub(super) fn push(&mut self, arrived: Arrived, scores: impl Iterator<Item = u32>) {
        self.packets.push(arrived);
        self.scores.iter_mut().zip(scores).for_each(|(all, score)| all.push(score));
    }
}

impl PendingRows {
    pub(super) fn new(forests: usize) -> Self {
        PendingRows { rows: ReadyRows::new(forests), ..PendingRows::default() }
    }

    fn len(&self) -> usize {
        self.rows.packets.len()
    }

    /// Adds row number `row`, the next after those that are here; and whether it is replayed.
    pub(super) fn add(
        &mut self,
        row: u64,
        arrived: Arrived,
        scores: impl Iterator<Item = u32>,
        is_replayed: bool,
    ) {
        if self.len() == 0 {
            self.first = row;
        }
        self.rows.push(arrived, scores);
        self.is_replayed.push(is_replayed);
    }

    /// The rows of a switch from `first` on are replayed.
    pub(super) fn replay(&mut self, switch_id: u16, first: u64) {
        let from = (first.saturating_sub(self.first) as usize).min(self.len());
        let flags = self.is_replayed[from..].iter_mut();
        for (flag, packet) in flags.zip(&self.rows.packets[from..]) {
            *flag |= packet.switch_id == switch_id;
        }
    }

    /// Takes the rows before `end`: those that are replayed, and what was transmitted of the others.
    pub(super) fn take(&mut self, end: u64) -> (ReadyRows, Sent) {
        let rows = (end.saturating_sub(self.first) as usize).min(self.len());
        self.first += rows as u64;
        let flags: Vec<bool> = self.is_replayed.drain(..rows).collect();
        let keep = |at: usize| flags[at];
        let ReadyRows { packets, scores } = &mut self.rows;
        let mut ready = ReadyRows::default();
        for scores in scores {
            let scores = scores.drain(..rows).enumerate().filter(|(at, _)| keep(*at));
            ready.scores.push(scores.map(|(_, score)| score).collect());
        }
        let mut sent = Sent::default();
        for (at, arrived) in packets.drain(..rows).enumerate() {
            if keep(at) {
                ready.packets.push(arrived);
            } else if is_counted(arrived.packet.id) {
                sent.add(Sent { packets: 1, bytes: arrived.packet.size_bytes.into() });
            }
        }
        (ready, sent)
    }
}
