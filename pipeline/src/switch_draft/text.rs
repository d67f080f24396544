//! The description as TOML.

use super::config_db::{ConfigDb, Limit, Port};
use super::queues::{PlacedQueue, PlacedQueues};
use dropcast_data::printable_line;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// That of the largest alpha of SAI below infinity, 64: for queues without a dynamic threshold.
const LARGEST_DYNAMIC_TH: i8 = 6;
/// What DSCP has values for.
const DSCPS: u8 = 64;

/// Which DSCPs go to which queue, for `[[capture.queue]]`; empty if the configuration has not one map for all ports.
pub(super) fn dscp_rules(
    config: &ConfigDb,
    queues: usize,
    notes: &mut Vec<String>,
) -> BTreeMap<usize, Vec<u8>> {
    let mut rules: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let tables =
        ["DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP"].map(|name| config.table(name).unwrap_or_default());
    if tables.iter().all(BTreeMap::is_empty) {
        return rules;
    }
    let [Some(to_class), Some(to_queue)] =
        tables.each_ref().map(|maps| if maps.len() == 1 { maps.values().next() } else { None })
    else {
        let problem = "DSCP_TO_TC_MAP and TC_TO_QUEUE_MAP are not carried over: there is not one of each for all ports";
        notes.push(problem.to_owned());
        return rules;
    };
    let mut beyond = Vec::new();
    for dscp in 0..DSCPS {
        let queue = || {
            let class = to_class.get(&dscp.to_string())?.as_str()?;
            to_queue.get(class)?.as_str()?.parse::<usize>().ok()
        };
        match queue() {
            Some(queue) if queue >= queues => beyond.push(dscp.to_string()),
            Some(queue) if queue > 0 => rules.entry(queue).or_default().push(dscp),
            // Queue 0 is that of packets without a rule.
            _ => {}
        }
    }
    if !beyond.is_empty() {
        notes.push(format!(
            "DSCP {} goes to queues without a profile, which the draft does not have: its packets are of queue 0 here",
            beyond.join(", ")
        ));
    }
    rules
}

/// The description. Its comments begin with what is not carried over.
pub(super) fn description(
    config: &ConfigDb,
    ports: &[Port],
    placed: &PlacedQueues,
    rules: &BTreeMap<usize, Vec<u8>>,
    base_rtt_ns: u64,
    notes: &[String],
) -> String {
    let mut toml =
        String::from("# Drafted from SONiC's config_db.json by `dropcast switch`. Check it.\n");
    notes.iter().for_each(|note| line(&mut toml, format_args!("# - {}", one_line(note))));
    line(&mut toml, format_args!("ports = {}", ports.len()));
    port_names(&mut toml, ports.iter().map(|port| (port.name.as_str(), note_of(port))));
    let rates: Vec<u64> = ports.iter().map(|port| port.rate_bps).collect();
    line(&mut toml, format_args!("line_rate_bps = {}", list(&rates)));
    line(
        &mut toml,
        format_args!("buffer_bytes = {} # pool {}", placed.pool_bytes, one_line(&placed.pool)),
    );
    line(&mut toml, format_args!("base_rtt_ns = {base_rtt_ns}"));
    line(&mut toml, format_args!("queues_per_port = {}", placed.queues.len()));
    let of = |value: fn(&PlacedQueue) -> String| {
        list(&placed.queues.iter().map(value).collect::<Vec<_>>())
    };
    line(&mut toml, format_args!("shared = {}", of(|queue| queue.is_shared.to_string())));
    line(&mut toml, format_args!("dynamic_th = {}", of(|queue| dynamic_th(queue).to_string())));
    line(
        &mut toml,
        format_args!("reserved_bytes = {}", of(|queue| reserved_bytes(queue).to_string())),
    );
    if let Some(role) = config.role() {
        line(&mut toml, format_args!("role = {}", toml::Value::from(role)));
    }
    toml.push_str(
        "# Of captures, which lack checksum, preamble and gap:\n# wire_overhead_bytes = 24\n",
    );
    for (queue, dscps) in rules {
        line(&mut toml, format_args!("\n[[capture.queue]]\nqueue = {queue}\ndscp = {dscps:?}"));
    }
    toml
}

/// The names of ports, in order of their numbers, each with a comment.
pub(super) fn port_names<'a>(
    toml: &mut String,
    ports: impl Iterator<Item = (&'a str, Option<String>)>,
) {
    toml.push_str("port_names = [\n");
    for (name, note) in ports {
        let note = note.map_or_else(String::new, |note| format!(" # {note}"));
        line(toml, format_args!("    {},{note}", toml::Value::from(&*printable_line(name))));
    }
    toml.push_str("]\n");
}

/// What else is known of a port.
fn note_of(port: &Port) -> Option<String> {
    let alias = port.alias.as_deref().map(one_line);
    let down = (!port.is_up).then(|| "down".to_owned());
    let notes: Vec<String> = alias.into_iter().chain(down).collect();
    (!notes.is_empty()).then(|| notes.join(", "))
}

fn dynamic_th(queue: &PlacedQueue) -> i8 {
    match queue.profile.as_ref().map(|profile| profile.limit) {
        Some(Limit::Dynamic(power)) => power,
        Some(Limit::Static(_)) | None => LARGEST_DYNAMIC_TH,
    }
}

/// A queue outside of the pool takes nothing of it, and needs no guarantee.
fn reserved_bytes(queue: &PlacedQueue) -> u32 {
    match &queue.profile {
        Some(profile) if queue.is_shared => profile.reserved_bytes,
        _ => 0,
    }
}

/// One value if all are the same.
fn list<T: Display + PartialEq>(values: &[T]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        _ => {
            let shown: Vec<String> = values.iter().map(T::to_string).collect();
            format!("[{}]", shown.join(", "))
        }
    }
}

/// Names from a file cannot end a comment.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

pub(super) fn line(toml: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text does not fail.
    let _ = writeln!(toml, "{text}");
}
