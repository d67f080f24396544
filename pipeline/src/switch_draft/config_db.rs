//! The tables of SONiC's `config_db.json` that are about buffers. Values are texts there, numbers too.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Tables about buffers and queues that a description does not have, and why.
const NOT_CARRIED_OVER: [(&str, &str); 11] = [
    ("BUFFER_PG", "ingress priority groups: a packet counts once, in its output queue"),
    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "ingress limits of whole ports"),
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "egress limits of whole ports"),
    ("CABLE_LENGTH", "headroom, for which senders are paused"),
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "headroom, for which senders are paused"),
    ("PFC_WD", "the watchdog of pauses"),
    ("WRED_PROFILE", "early drops and ECN marks: LQD drops for want of buffer only"),
    ("SCHEDULER", "weights and rates: the draft's scheduler is round-robin; set it by hand"),
    ("PORT_QOS_MAP", "which priorities pause (pfc_enable), and other maps of ports"),
    ("SWITCH_TRIMMING", "packet trimming: a packet is transmitted or dropped whole"),
    ("BUFFER_POOL_SIZE_PERCENT", "pools as shares of the memory"),
];

/// Why a configuration cannot be drafted from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct SonicError(String);

impl SonicError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        SonicError(problem.into())
    }
}

/// A configuration.
pub(super) struct ConfigDb {
    tables: Map<String, Value>,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// `Ethernet0` and so on.
    pub(super) name: String,
    pub(super) alias: Option<String>,
    /// Bits per second.
    pub(super) rate_bps: u64,
    pub(super) is_up: bool,
}

/// A profile of queues.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) pool: String,
    /// Bytes that only the queue may use.
    pub(super) reserved_bytes: u32,
    pub(super) limit: Limit,
    /// Whether packets that find no room are cut.
    pub(super) trims: bool,
}

/// How much of its pool a queue may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// A share of what is free: alpha is two to this power.
    Dynamic(i8),
    /// So many bytes.
    Static(u64),
}

impl ConfigDb {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If it is no JSON object.
    pub(super) fn parse(text: &str) -> Result<Self, SonicError> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            SonicError::new(format!("is no JSON: {error}; give SONiC's config_db.json"))
        })?;
        match value {
            Value::Object(tables) => Ok(ConfigDb { tables }),
            _ => Err(SonicError::new("is no object of tables; give SONiC's config_db.json")),
        }
    }

    /// The entries of a table, empty if there is none.
    pub(super) fn table(
        &self,
        name: &str,
    ) -> Result<BTreeMap<&str, &Map<String, Value>>, SonicError> {
        let mut entries = BTreeMap::new();
        let Some(table) = self.tables.get(name) else { return Ok(entries) };
        let table = table
            .as_object()
            .ok_or_else(|| SonicError::new(format!("{name} is no object of entries")))?;
        for (key, value) in table {
            let fields = value.as_object();
            let fields = fields
                .ok_or_else(|| SonicError::new(format!("{name}|{key} is no object of fields")))?;
            entries.insert(key.as_str(), fields);
        }
        Ok(entries)
    }

    /// The ports, in the order of the numbers in their names.
    pub(super) fn ports(&self) -> Result<Vec<Port>, SonicError> {
        let mut ports = Vec::new();
        for (name, fields) in self.table("PORT")? {
            let place = format!("PORT|{name}");
            let rate_mbps = number(fields, &place, "speed")?.ok_or_else(|| {
                SonicError::new(format!(
                    "{place} has no speed; add it, in Mbps, as \"speed\": \"100000\""
                ))
            })?;
            let rate_bps = rate_mbps.checked_mul(1_000_000).filter(|&rate| rate > 0);
            ports.push(Port {
                name: name.to_owned(),
                alias: text(fields, "alias").map(str::to_owned),
                rate_bps: rate_bps.ok_or_else(|| {
                    SonicError::new(format!(
                        "{place} has a speed of {rate_mbps} Mbps, which no port has"
                    ))
                })?,
                is_up: text(fields, "admin_status") != Some("down"),
            });
        }
        if ports.is_empty() {
            return Err(SonicError::new(
                "has no PORT table, so it is not known which ports there are",
            ));
        }
        if ports.len() > usize::from(u16::MAX) {
            return Err(SonicError::new(format!("has {} ports, more than 65,535", ports.len())));
        }
        ports.sort_by(|a, b| alphanumeric_sort::compare_str(&a.name, &b.name));
        Ok(ports)
    }

    /// The profile of this name, of queues.
    pub(super) fn profile(&self, name: &str) -> Result<Profile, SonicError> {
        let place = format!("BUFFER_PROFILE|{name}");
        let table = self.table("BUFFER_PROFILE")?;
        let fields = table.get(name).ok_or_else(|| {
            SonicError::new(format!("{place} is not there, though BUFFER_QUEUE names it"))
        })?;
        let pool = text(fields, "pool").map(reference);
        let pool = pool.ok_or_else(|| SonicError::new(format!("{place} names no pool")))?;
        let limit = match (
            signed(fields, &place, "dynamic_th")?,
            number(fields, &place, "static_th")?,
        ) {
            (Some(power @ -16..=16), _) => Limit::Dynamic(power as i8),
            (Some(power), _) => {
                let problem = format!(
                    "{place} has dynamic_th {power}: alpha would be 2^{power}; expected -16 to 16"
                );
                return Err(SonicError::new(problem));
            }
            (None, Some(bytes)) => Limit::Static(bytes),
            (None, None) => {
                return Err(SonicError::new(format!(
                    "{place} has neither dynamic_th nor static_th"
                )));
            }
        };
        let size = number(fields, &place, "size")?.unwrap_or(0);
        Ok(Profile {
            name: name.to_owned(),
            pool: pool.to_owned(),
            reserved_bytes: fits(size, &place, "size")?,
            limit,
            trims: text(fields, "packet_discard_action") == Some("trim"),
        })
    }

    /// The size of a pool, bytes.
    pub(super) fn pool_bytes(&self, name: &str) -> Result<u32, SonicError> {
        let place = format!("BUFFER_POOL|{name}");
        let table = self.table("BUFFER_POOL")?;
        let fields = table.get(name).ok_or_else(|| {
            SonicError::new(format!("{place} is not there, though a profile names it"))
        })?;
        let size = number(fields, &place, "size")?.filter(|&size| size > 0).ok_or_else(|| {
            SonicError::new(format!(
                "{place} has no size: SONiC's dynamic buffer model computes it; add what `show buffer information` \
                 shows as \"size\": \"BYTES\""
            ))
        })?;
        fits(size, &place, "size")
    }

    /// Whether it is a pool of ingress memory.
    pub(super) fn is_ingress(&self, pool: &str) -> bool {
        let table = self.table("BUFFER_POOL").unwrap_or_default();
        table.get(pool).and_then(|fields| text(fields, "type")) == Some("ingress")
    }

    /// What kind of switch it is in its network, such as `LeafRouter`.
    pub(super) fn role(&self) -> Option<&str> {
        self.metadata("type")
    }

    /// Whether this is the configuration of a card of a chassis, as far as it names its host and chip.
    pub(super) fn is_card(&self, host: &str, asic: &str) -> bool {
        let is = |name, found: &str| {
            self.metadata(name).is_none_or(|own| own.eq_ignore_ascii_case(found))
        };
        is("hostname", host) && is("asic_name", asic)
    }

    fn metadata(&self, name: &str) -> Option<&str> {
        self.tables.get("DEVICE_METADATA")?.get("localhost")?.get(name)?.as_str()
    }

    /// Tables about buffers that are there and that a description does not have: a sentence for each.
    pub(super) fn not_carried_over(&self) -> Vec<String> {
        let is_there = |name: &str| {
            self.tables.get(name).and_then(Value::as_object).is_some_and(|table| !table.is_empty())
        };
        let left_out = NOT_CARRIED_OVER.iter().filter(|(name, _)| is_there(name));
        left_out.map(|(name, why)| format!("{name} is not carried over: {why}")).collect()
    }
}

/// A field as text.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// The name in a reference: `[BUFFER_POOL|name]` of older versions, or the name itself.
pub(super) fn reference(text: &str) -> &str {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    inner.rsplit_once('|').map_or(inner, |(_, name)| name)
}

fn signed(fields: &Map<String, Value>, place: &str, name: &str) -> Result<Option<i64>, SonicError> {
    let wrong = |value: &dyn Display| {
        SonicError::new(format!("{place}: {name} is {value}, expected a whole number"))
    };
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            text.trim().parse().map(Some).map_err(|_| wrong(&format!("{text:?}")))
        }
        Some(value) => value.as_i64().map(Some).ok_or_else(|| wrong(value)),
    }
}

fn number(fields: &Map<String, Value>, place: &str, name: &str) -> Result<Option<u64>, SonicError> {
    let Some(value) = signed(fields, place, name)? else { return Ok(None) };
    let wrong = |_| {
        SonicError::new(format!(
            "{place}: {name} is {value}, expected a number that is not negative"
        ))
    };
    u64::try_from(value).map(Some).map_err(wrong)
}

fn fits(bytes: u64, place: &str, name: &str) -> Result<u32, SonicError> {
    let wrong = |_| {
        SonicError::new(format!("{place}: {name} is {bytes} bytes, expected at most 4,294,967,295"))
    };
    u32::try_from(bytes).map_err(wrong)
}
