//! The paths that flows take in the Credence artifact's ns-3.
//!
//! Its switches hash addresses and ports (`Ipv4GlobalRouting::GetTupleValue`). A list of flows has
//! neither, but they follow from it: addresses count servers, a receiver's ports count the flows
//! to it in the order in which `credence-evaluation.cc` installs them, a sender's ports count the
//! flows from it in the order in which they connect. Single flows connect when they start, answers
//! to a request within the first second, at a time from the C library's random numbers, of which
//! every flow draws as many as the list shows.

use super::FlowList;
use super::murmur3::murmur3;
use crate::fabric::{FabricConfig, Flow, FlowClass};
use std::collections::BTreeMap;

/// The seed of ns-3's hash functions.
const HASH_SEED: u32 = 0x8bad_f00d;
/// What the artifact appends to what it hashes.
const PERTURBATION: u32 = 12_345_678;
const TCP: u8 = 6;
/// The first port that receives, and the first that sends.
const PORTS: (u16, u16) = (4444, 49_153);
/// Traffic starts this long after the simulation, nanoseconds.
const TRAFFIC_STARTS_NS: u64 = 10_000_000_000;
/// Answers connect at a whole millisecond between these, and so many nanoseconds later.
const CONNECT_MS: (u64, u64) = (50, 1000);
const CONNECT_AFTER_NS: u64 = 150;

/// Why a list is not one of the artifact's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ns3PathsError {
    /// The artifact draws another receiver for a flow.
    #[error(
        "ns3_seed: with randomSeed {seed} the artifact sends the flow that starts at server {from} \
         at {start_ns} ns to server {drawn}, the list to {to}; give the seed of the run that the \
         list is from, and the whole list"
    )]
    Receiver {
        /// The given seed.
        seed: u32,
        /// The sending server.
        from: u16,
        /// When it starts.
        start_ns: u64,
        /// The receiver that the seed gives.
        drawn: u64,
        /// The list's.
        to: u16,
    },
    /// A request is not answered by each server of the next leaf once.
    #[error(
        "ns3_seed: the request of server {to} at {start_ns} ns is answered by servers {from:?}, in \
         the artifact by each server of the next leaf once"
    )]
    Request {
        /// The server that asks.
        to: u16,
        /// When.
        start_ns: u64,
        /// Those that answer.
        from: Vec<u16>,
    },
    /// A server has more flows than the artifact has ports.
    #[error(
        "ns3_seed: server {server} has {flows} flows in one direction, at most {most} have ports"
    )]
    Ports {
        /// The server.
        server: u16,
        /// Its flows.
        flows: usize,
        /// Ports.
        most: usize,
    },
}

impl FlowList {
    /// These flows on the paths that they take in the Credence artifact's ns-3, of which they are
    /// all the flows of a run with this `randomSeed`.
    ///
    /// # Errors
    /// If the artifact, with this seed and a fabric of this shape, does not make such flows.
    pub fn on_ns3_paths(self, fabric: &FabricConfig, seed: u32) -> Result<Self, Ns3PathsError> {
        let mut flows = self.flows().to_vec();
        let installed = install(&flows, fabric, seed)?;
        let receiving = number(&flows, &installed, PORTS.0, PORTS.1 - PORTS.0, |flow| flow.to)?;
        let mut connected = installed;
        connected.sort_by_key(|at| at.connects_ns);
        let ports = u16::MAX - PORTS.1 + 1;
        let sending = number(&flows, &connected, PORTS.1, ports, |flow| flow.from)?;
        for ((flow, to_port), from_port) in flows.iter_mut().zip(receiving).zip(sending) {
            let from = (address(flow.from, fabric.servers), from_port);
            let to = (address(flow.to, fabric.servers), to_port);
            let spines = u32::from(fabric.spines.max(1));
            let spine = |from, to| (tuple_hash(from, to) % spines) as u16;
            flow.spines = Some((spine(from, to), spine(to, from)));
        }
        Ok(FlowList::new(flows))
    }
}

/// An installed flow.
#[derive(Clone, Copy, Debug)]
struct Installed {
    /// Its place in the list.
    place: usize,
    connects_ns: u64,
}

/// The flows in the order in which the artifact installs them.
fn install(
    flows: &[Flow],
    fabric: &FabricConfig,
    seed: u32,
) -> Result<Vec<Installed>, Ns3PathsError> {
    let (mut singles, mut requests) = (BTreeMap::new(), BTreeMap::new());
    for (place, flow) in flows.iter().enumerate() {
        match flow.class {
            FlowClass::Incast(request) => {
                let key = (flow.to, flow.start_ns, request);
                requests.entry(key).or_insert_with(Vec::new).push(place);
            }
            _ => singles.entry(flow.from).or_insert_with(Vec::new).push(place),
        }
    }
    let mut random = LibraryRandom::new(seed);
    let mut installed = Vec::with_capacity(flows.len());
    for leaf in 0..fabric.leaves {
        let servers = leaf * fabric.servers..(leaf + 1) * fabric.servers;
        // The queue of the data.
        random.draw();
        for server in servers.clone() {
            // The time to the first flow; then, for each flow, receiver, size, time to the next.
            random.draw();
            for &place in singles.get(&server).into_iter().flatten() {
                check_receiver(&flows[place], fabric, seed, &mut random)?;
                random.draw();
                random.draw();
                let connects_ns = TRAFFIC_STARTS_NS + flows[place].start_ns;
                installed.push(Installed { place, connects_ns });
            }
        }
        if requests.is_empty() {
            continue;
        }
        random.draw();
        for server in servers {
            random.draw();
            let earliest = (server, 0, 0);
            for (_, places) in requests.range_mut(earliest..=(server, u64::MAX, u32::MAX)) {
                places.sort_by_key(|&place| flows[place].from);
                check_request(places, flows, fabric)?;
                for &place in places.iter() {
                    let connects_ms = random.between(CONNECT_MS.0, CONNECT_MS.1);
                    let connects_ns = connects_ms * 1_000_000 + CONNECT_AFTER_NS;
                    installed.push(Installed { place, connects_ns });
                }
                random.draw();
            }
        }
    }
    Ok(installed)
}

fn check_receiver(
    flow: &Flow,
    fabric: &FabricConfig,
    seed: u32,
    random: &mut LibraryRandom,
) -> Result<(), Ns3PathsError> {
    let leaf = (flow.from / fabric.servers + 1) % fabric.leaves;
    let drawn = u64::from(leaf * fabric.servers) + random.between(0, u64::from(fabric.servers));
    if drawn == u64::from(flow.to) {
        return Ok(());
    }
    let (from, start_ns, to) = (flow.from, flow.start_ns, flow.to);
    Err(Ns3PathsError::Receiver { seed, from, start_ns, drawn, to })
}

fn check_request(
    places: &[usize],
    flows: &[Flow],
    fabric: &FabricConfig,
) -> Result<(), Ns3PathsError> {
    let Flow { to, start_ns, .. } = flows[places[0]];
    let leaf = (to / fabric.servers + 1) % fabric.leaves;
    let expected = leaf * fabric.servers..(leaf + 1) * fabric.servers;
    let from: Vec<u16> = places.iter().map(|&place| flows[place].from).collect();
    match expected.eq(from.iter().copied()) {
        true => Ok(()),
        false => Err(Ns3PathsError::Request { to, start_ns, from }),
    }
}

/// The port of each flow at the server that `end` gives, numbered in this order.
fn number(
    flows: &[Flow],
    order: &[Installed],
    first: u16,
    ports: u16,
    end: impl Fn(&Flow) -> u16,
) -> Result<Vec<u16>, Ns3PathsError> {
    let mut numbers = vec![0; flows.len()];
    let mut counts = BTreeMap::new();
    for at in order {
        let count = counts.entry(end(&flows[at.place])).or_insert(0usize);
        numbers[at.place] = first.wrapping_add(*count as u16);
        *count += 1;
    }
    let most = usize::from(ports);
    match counts.into_iter().find(|&(_, count)| count > most) {
        Some((server, flows)) => Err(Ns3PathsError::Ports { server, flows, most }),
        None => Ok(numbers),
    }
}

/// `10.1.4.1`, `10.1.4.3`, ... on the first leaf, `10.1.8.1`, ... on the next: each link takes two
/// addresses of its leaf's network of 1,024.
fn address(server: u16, servers: u16) -> u32 {
    let (leaf, nth) = (u32::from(server / servers), u32::from(server % servers));
    0x0a01_0000 + ((leaf + 1) << 10) + 2 * nth + 1
}

/// The artifact's hash of a packet from one (address, port) to another.
fn tuple_hash(from: (u32, u16), to: (u32, u16)) -> u32 {
    let mut bytes = Vec::with_capacity(17);
    bytes.extend(from.0.to_be_bytes());
    bytes.extend(to.0.to_be_bytes());
    bytes.push(TCP);
    bytes.extend(from.1.to_be_bytes());
    bytes.extend(to.1.to_be_bytes());
    bytes.extend(PERTURBATION.to_be_bytes());
    murmur3(&bytes, HASH_SEED)
}

/// `rand()` of the GNU C library: an additive feedback generator over its latest 31 numbers.
struct LibraryRandom {
    latest: [u32; 31],
    place: usize,
}

impl LibraryRandom {
    /// `srand(seed)`.
    fn new(seed: u32) -> Self {
        let mut latest = [seed.max(1); 31];
        let mut word = i64::from(latest[0] as i32);
        for number in &mut latest[1..] {
            word = (16_807 * word) % 2_147_483_647;
            word += if word < 0 { 2_147_483_647 } else { 0 };
            *number = word as u32;
        }
        let mut random = LibraryRandom { latest, place: 3 };
        for _ in 0..310 {
            random.draw();
        }
        random
    }

    /// `rand()`.
    fn draw(&mut self) -> u32 {
        let three_ago = self.latest[(self.place + 28) % 31];
        let number = self.latest[self.place].wrapping_add(three_ago);
        self.latest[self.place] = number;
        self.place = (self.place + 1) % 31;
        number >> 1
    }

    /// The artifact's `rand_range` of whole numbers.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        let share = (most - least) as f64 * f64::from(self.draw()) / 2_147_483_647.0;
        (least as f64 + share) as u64
    }
}

#[cfg(test)]
mod tests;
