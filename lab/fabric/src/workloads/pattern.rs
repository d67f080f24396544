//! Traffic patterns: senders and receivers.

use crate::fabric::Fabric;
use rand::Rng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Destination of a server's traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// To a random server of the next leaf, as in the Credence artifact; the last leaf's next is the
    /// first.
    #[default]
    Permutation,
    /// To a random server of any other leaf; of the same leaf if there is only one.
    Random,
    /// To server 0, from all others. A load is then a share of its link's rate.
    OneReceiver,
    /// From servers that were drawn for each receiver, to receivers that were drawn: of both any number, of a receiver's
    /// senders all but itself at most (the fan-in of each port; NDT, INFOCOM 2022, section VI-A). For `[[flows]]` only.
    FanIn,
}

/// The only receiver of [`Pattern::OneReceiver`].
const RECEIVER: u16 = 0;

/// Draws servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partners {
    pattern: Pattern,
    leaves: u16,
    servers: u16,
}

impl Partners {
    pub(crate) fn new(pattern: Pattern, fabric: &Fabric) -> Self {
        let config = fabric.config();
        Partners { pattern, leaves: config.leaves, servers: config.servers }
    }

    pub(crate) fn all_servers(self) -> u16 {
        self.leaves * self.servers
    }

    /// Number of servers that a receiver may be sent to from, or a sender may send to.
    pub(crate) fn candidates(self) -> u16 {
        match self.pattern {
            Pattern::OneReceiver => self.all_servers() - 1,
            _ if self.leaves == 1 => self.servers - 1,
            Pattern::FanIn => self.all_servers() - 1,
            Pattern::Permutation => self.servers,
            Pattern::Random => self.all_servers() - self.servers,
        }
    }

    /// Candidate number `nth` of a server, from 0.
    pub(crate) fn candidate(self, server: u16, nth: u16) -> u16 {
        let leaf = server / self.servers;
        match self.pattern {
            // All but the server itself.
            Pattern::FanIn if nth < server => nth,
            Pattern::FanIn => nth + 1,
            _ if self.leaves == 1 && nth < server => nth,
            _ if self.leaves == 1 => nth + 1,
            Pattern::OneReceiver => RECEIVER + 1 + nth,
            Pattern::Permutation => (leaf + 1) % self.leaves * self.servers + nth,
            Pattern::Random if nth < leaf * self.servers => nth,
            Pattern::Random => nth + self.servers,
        }
    }

    /// A random sender and receiver.
    pub(crate) fn pair(self, rng: &mut ChaCha8Rng) -> (u16, u16) {
        let one = self.receiver(rng);
        let other = self.candidate(one, rng.random_range(0..self.candidates()));
        match self.pattern {
            Pattern::OneReceiver => (other, one),
            Pattern::Permutation | Pattern::Random | Pattern::FanIn => (one, other),
        }
    }

    /// A random server that receives.
    pub(crate) fn receiver(self, rng: &mut ChaCha8Rng) -> u16 {
        match self.pattern {
            Pattern::OneReceiver => RECEIVER,
            Pattern::Permutation | Pattern::Random | Pattern::FanIn => {
                rng.random_range(0..self.all_servers())
            }
        }
    }
}

/// Draws the two ends of flows.
#[derive(Clone, Debug)]
pub(crate) enum Ends {
    /// Any server sends.
    Partners(Partners),
    /// Receivers, each with its senders.
    FanIns(Vec<(u16, Vec<u16>)>),
}

impl Ends {
    pub(crate) fn new(pattern: Pattern, fabric: &Fabric, rng: &mut ChaCha8Rng) -> Self {
        let partners = Partners::new(pattern, fabric);
        if pattern != Pattern::FanIn {
            return Ends::Partners(partners);
        }
        let servers = usize::from(partners.all_servers());
        let receivers = rng.random_range(1..=servers);
        let fan_in = |receiver: usize, rng: &mut ChaCha8Rng| {
            let senders = rng.random_range(1..servers);
            // All but the receiver, fewer than 65536.
            let senders = sample(rng, servers - 1, senders).into_iter();
            let senders = senders.map(|nth| partners.candidate(receiver as u16, nth as u16));
            (receiver as u16, senders.collect())
        };
        let receivers = sample(rng, servers, receivers);
        Ends::FanIns(receivers.into_iter().map(|receiver| fan_in(receiver, rng)).collect())
    }

    /// A sender and a receiver.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> (u16, u16) {
        match self {
            Ends::Partners(partners) => partners.pair(rng),
            Ends::FanIns(receivers) => {
                let (to, senders) = &receivers[rng.random_range(0..receivers.len())];
                (senders[rng.random_range(0..senders.len())], *to)
            }
        }
    }
}
