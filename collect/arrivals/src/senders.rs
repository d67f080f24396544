//! Senders: sources start flows, links turn them into packets, all on one clock.

use crate::ingress::{Ack, Flow, Framing, Link, Packet};
use dropcast_switch::Tournament;

/// A set of sources.
pub(crate) trait Sources {
    /// Number of sources.
    fn count(&self) -> usize;

    /// Time of the next event of a source, nanoseconds.
    fn next_ns(&self, source: usize) -> u64;

    /// Processes the next event of a source: `start` gets each flow and the number of its link.
    fn fire(&mut self, source: usize, start: &mut Vec<(u16, Flow)>);
}

/// Sources and the links that their flows go out on.
///
/// Simultaneous events have a fixed order: sources first, then links by number.
#[derive(Clone, Debug)]
pub(crate) struct Senders<S> {
    framing: Framing,
    sources: S,
    links: Vec<Link>,
    /// A slot for each source, then one for each link.
    clocks: Tournament,
    started: Vec<(u16, Flow)>,
}

/// A packet whose last bit has just been put on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) time_ns: u64,
    pub(crate) link: usize,
    pub(crate) packet: Packet,
}

impl<S: Sources> Senders<S> {
    pub(crate) fn new(framing: Framing, sources: S, links: usize) -> Self {
        let mut clocks = Tournament::new(sources.count() + links);
        for source in 0..sources.count() {
            clocks.set(source, sources.next_ns(source));
        }
        let links = vec![Link::new(); links];
        Senders { framing, sources, links, clocks, started: Vec::new() }
    }

    /// The next packet sent before `end_ns`.
    pub(crate) fn next_sent(&mut self, end_ns: u64) -> Option<Sent> {
        loop {
            let (slot, time_ns) = self.clocks.first();
            if time_ns >= end_ns {
                return None;
            }
            let Some(link) = slot.checked_sub(self.sources.count()) else {
                self.fire(slot, time_ns);
                continue;
            };
            let sent = self.links[link].take_sent();
            self.proceed(link, time_ns);
            if let Some(packet) = sent {
                return Some(Sent { time_ns, link, packet });
            }
        }
    }

    /// Queues an acknowledgement at a link, ready no earlier than `now_ns` and those already
    /// queued.
    pub(crate) fn acknowledge(&mut self, link: usize, ack: Ack, now_ns: u64) {
        if self.links[link].add_ack(ack) {
            self.proceed(link, now_ns);
        }
    }

    fn fire(&mut self, source: usize, now_ns: u64) {
        let mut started = std::mem::take(&mut self.started);
        self.sources.fire(source, &mut started);
        for (link, flow) in started.drain(..) {
            let link = usize::from(link);
            if self.links[link].add_flow(flow) {
                self.proceed(link, now_ns);
            }
        }
        self.started = started;
        self.clocks.set(source, self.sources.next_ns(source));
    }

    fn proceed(&mut self, link: usize, now_ns: u64) {
        let next = self.links[link].proceed(now_ns, &self.framing).unwrap_or(Tournament::NEVER);
        self.clocks.set(self.sources.count() + link, next);
    }

    /// Flows that have something to send.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.links.iter().map(Link::waiting).sum()
    }
}
