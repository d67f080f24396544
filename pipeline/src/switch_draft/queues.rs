//! Which queues share the buffer, and how much of it each may use.

use super::config_db::{ConfigDb, Limit, Port, Profile, SonicError, reference, text};
use std::collections::BTreeMap;

/// Queues of a port, at most.
const MOST_QUEUES: usize = 255;

/// The buffer and its queues, the same at every port.
pub(super) struct PlacedQueues {
    /// The pool that is described.
    pub(super) pool: String,
    pub(super) pool_bytes: u32,
    /// By number of the queue within its port.
    pub(super) queues: Vec<PlacedQueue>,
}

/// A queue of every port.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedQueue {
    /// None if the configuration says nothing of it.
    pub(super) profile: Option<Profile>,
    /// Whether it is in the pool.
    pub(super) is_shared: bool,
}

/// The profiles that ports give to their queues: by queue, by name of the profile, how many ports.
type Uses = BTreeMap<usize, BTreeMap<String, usize>>;

pub(super) fn place_queues(
    config: &ConfigDb,
    ports: &[Port],
    notes: &mut Vec<String>,
) -> Result<PlacedQueues, SonicError> {
    let uses = uses(config, ports, notes)?;
    let Some(last) = uses.keys().last() else {
        let problem =
            "has no BUFFER_QUEUE table for its ports, so it is not known what shares the buffer";
        return Err(SonicError::new(problem));
    };
    let mut profiles = Vec::new();
    for queue in 0..=*last {
        let profile = uses.get(&queue).map(|of| most_used(queue, of, ports.len(), notes));
        profiles.push(profile.map(|name| config.profile(&name)).transpose()?);
    }
    let pool = main_pool(config, &profiles, notes)?;
    let pool_bytes = config.pool_bytes(&pool)?;
    let place = |(number, profile): (usize, Option<Profile>)| {
        let is_shared = profile.as_ref().is_some_and(|profile| profile.pool == pool);
        note_left_out(number, profile.as_ref(), (is_shared, pool_bytes), notes);
        PlacedQueue { profile, is_shared }
    };
    let queues = profiles.into_iter().enumerate().map(place).collect();
    Ok(PlacedQueues { pool, pool_bytes, queues })
}

/// Reads keys such as `Ethernet0|0-2`, `Ethernet0,Ethernet4|3`, and of a chassis with virtual output queues
/// `HOST|ASIC|Ethernet0|0-2`, where those of this card are its ports'.
fn uses(config: &ConfigDb, ports: &[Port], notes: &mut Vec<String>) -> Result<Uses, SonicError> {
    let (mut uses, mut others) = (Uses::new(), 0_usize);
    for (key, fields) in config.table("BUFFER_QUEUE")? {
        let place = format!("BUFFER_QUEUE|{key}");
        let parts: Vec<&str> = key.split('|').collect();
        let (names, numbers) = match parts[..] {
            [names, numbers] => (names, numbers),
            [host, asic, names, numbers] if config.is_card(host, asic) => (names, numbers),
            _ => {
                others += 1;
                continue;
            }
        };
        let profile = text(fields, "profile").map(reference);
        let profile =
            profile.ok_or_else(|| SonicError::new(format!("{place} names no profile")))?;
        let count = names
            .split(',')
            .filter(|name| ports.iter().any(|port| port.name == name.trim()))
            .count();
        if count == 0 {
            others += 1;
            continue;
        }
        for queue in range(numbers, &place)? {
            *uses.entry(queue).or_default().entry(profile.to_owned()).or_default() += count;
        }
    }
    if others > 0 {
        notes.push(format!(
            "BUFFER_QUEUE: {others} entries are of other ports or cards, and not carried over"
        ));
    }
    Ok(uses)
}

/// The queues of `3` or `0-2`.
fn range(text: &str, place: &str) -> Result<std::ops::RangeInclusive<usize>, SonicError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number =
        |text: &str| text.trim().parse::<usize>().ok().filter(|&queue| queue < MOST_QUEUES);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => {
            let problem = format!(
                "{place}: {text:?} is no queue, expected one such as 3 or 0-2, below {MOST_QUEUES}"
            );
            Err(SonicError::new(problem))
        }
    }
}

/// The profile that most ports give to a queue; of two, the first by name.
fn most_used(
    queue: usize,
    of: &BTreeMap<String, usize>,
    ports: usize,
    notes: &mut Vec<String>,
) -> String {
    let most = of.values().max().copied().unwrap_or(0);
    let name = of.iter().find(|(_, count)| **count == most).map_or("", |(name, _)| name.as_str());
    if of.len() > 1 {
        let others: Vec<String> = of
            .iter()
            .filter(|(other, _)| *other != name)
            .map(|(other, count)| format!("{other} at {count}"))
            .collect();
        notes.push(format!(
            "queue {queue} has profile {name} at {most} of {ports} ports and {}: the draft has {name} at all, as a \
             description has one for each queue of a port",
            others.join(", ")
        ));
    } else if most < ports {
        notes.push(format!(
            "queue {queue} has a profile at {most} of {ports} ports: the draft has it at all"
        ));
    }
    name.to_owned()
}

/// The pool that most queues share by a dynamic threshold; else that of most queues.
fn main_pool(
    config: &ConfigDb,
    profiles: &[Option<Profile>],
    notes: &mut Vec<String>,
) -> Result<String, SonicError> {
    let mut pools: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for profile in profiles.iter().flatten() {
        let (dynamic, all) = pools.entry(&profile.pool).or_default();
        *dynamic += usize::from(matches!(profile.limit, Limit::Dynamic(_)));
        *all += 1;
    }
    let most = pools.values().max().copied().unwrap_or_default();
    let pool = pools.iter().find(|(_, uses)| **uses == most).map_or("", |(pool, _)| pool);
    if config.is_ingress(pool) {
        return Err(SonicError::new(format!(
            "BUFFER_POOL|{pool} is an ingress pool, but its queues are egress queues"
        )));
    }
    let others: Vec<&str> = pools.keys().copied().filter(|other| *other != pool).collect();
    if !others.is_empty() {
        notes.push(format!(
            "the draft is of pool {pool}; queues of {} are outside of it (shared = false): never dropped, and not in \
             the occupancy",
            others.join(", ")
        ));
    }
    Ok(pool.to_owned())
}

/// Notes what a description does not have of a queue.
fn note_left_out(
    number: usize,
    profile: Option<&Profile>,
    (is_shared, pool_bytes): (bool, u32),
    notes: &mut Vec<String>,
) {
    let Some(profile) = profile else {
        notes.push(format!(
            "queue {number} has no profile: the draft has it outside of the pool (shared = false)"
        ));
        return;
    };
    if let (true, Limit::Static(bytes)) = (is_shared, profile.limit)
        && bytes < u64::from(pool_bytes)
    {
        notes.push(format!(
            "queue {number} (profile {}) is limited to {bytes} bytes, which is not carried over: LQD has no \
             thresholds, and reports replay Dynamic Thresholds with alpha 64 there",
            profile.name
        ));
    }
    if profile.trims {
        notes.push(format!(
            "queue {number} (profile {}) cuts packets, which is not carried over",
            profile.name
        ));
    }
}
