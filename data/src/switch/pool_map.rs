//! Switches whose ports share several buffers: each pool is a switch of its own (`docs/switch.md`).

use crate::tables::BadCell;
use crate::{Event, SwitchSpec, SwitchSpecs};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// `[[pool]]` of a switch description file: ports that share one buffer of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The switch in the events.
    pub of: u16,
    /// Its ports that draw on this pool. The first is port 0 of the pool, the next port 1, and so on.
    pub ports: Vec<u16>,
    /// The described switch that is this pool.
    pub switch: u16,
}

/// Where the ports of switches with several pools belong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PoolMap {
    /// Switch and port of the pool, by switch and port of the input.
    places: BTreeMap<(u16, u16), (u16, u16)>,
    /// Numbers of the pools.
    pools: BTreeSet<u16>,
}

impl PoolMap {
    /// The map of pools that [`check`] found to be sound.
    pub(crate) fn new(pools: &[Pool]) -> Self {
        let of = |pool: &Pool| {
            let (of, switch) = (pool.of, pool.switch);
            let places = pool.ports.clone().into_iter().zip(0..);
            places.map(move |(port, place)| ((of, port), (switch, place)))
        };
        PoolMap {
            places: pools.iter().flat_map(of).collect(),
            pools: pools.iter().map(|pool| pool.switch).collect(),
        }
    }

    /// Moves an event to its pool. The input knows no pools: events under a pool's number would be
    /// those of another switch.
    pub(crate) fn apply(&self, event: &mut Event) -> Result<(), BadCell> {
        if self.pools.contains(&event.switch_id) {
            let expected = "a switch of the input, not the number of a [[pool]]";
            return Err(BadCell::OutOfRange { value: event.switch_id.to_string(), expected });
        }
        if let Some(&(switch_id, port)) = self.places.get(&(event.switch_id, event.port)) {
            (event.switch_id, event.port) = (switch_id, port);
        }
        Ok(())
    }
}

/// Says what is wrong with pools of these switches, if something is.
pub(crate) fn check(pools: &[Pool], specs: &SwitchSpecs) -> Option<String> {
    let ports_of = |switch: u16| match specs {
        SwitchSpecs::Each(each) => each.get(&switch).map(SwitchSpec::ports),
        SwitchSpecs::Same(_) => None,
    };
    let mut taken: BTreeMap<(u16, u16), u16> = BTreeMap::new();
    for Pool { of, ports, switch } in pools {
        let Some(described) = ports_of(*switch) else {
            return Some(format!("pool: switch {switch} has no [[switch]] with that id"));
        };
        if ports.len() != described {
            return Some(format!(
                "pool: switch {switch} has {described} ports, but {} ports of switch {of} are listed",
                ports.len()
            ));
        }
        let lacks = |of_ports| ports.iter().find(|&&port| usize::from(port) >= of_ports);
        if let Some((of_ports, port)) = ports_of(*of).and_then(|all| Some((all, lacks(all)?))) {
            return Some(format!(
                "pool: switch {of} has {of_ports} ports, from 0, so there is no port {port}"
            ));
        }
        for &port in ports {
            if let Some(other) = taken.insert((*of, port), *switch) {
                return Some(format!(
                    "pool: port {port} of switch {of} is in pools {other} and {switch}"
                ));
            }
        }
        if pools.iter().any(|pool| pool.of == *switch) {
            return Some(format!(
                "pool: switch {switch} is a pool, and is divided into pools, too"
            ));
        }
        if pools.iter().filter(|pool| pool.switch == *switch).count() > 1 {
            return Some(format!(
                "pool: switch {switch} is a pool twice; list all its ports in one"
            ));
        }
    }
    pools.iter().map(|pool| pool.of).find_map(|of| {
        let pooled = taken.range((of, 0)..=(of, u16::MAX)).count();
        (pooled == ports_of(of)?).then(|| {
            format!(
                "pool: all ports of switch {of} are in pools; remove the [[switch]] with that id"
            )
        })
    })
}
