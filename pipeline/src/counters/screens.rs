//! Screens of SONiC's `show queue counters`, `show queue watermark` and `show buffer_pool watermark`, as sonic-utilities
//! (`scripts/queuestat`, `scripts/watermarkstat`) prints them.

use super::polls::{Poll, PolledQueue, Polls, QueueId, Reading};
use crate::wall_clock::ns_of_utc;
use dropcast_data::{SwitchSpec, printable_line};
use std::collections::{BTreeMap, BTreeSet};

/// `counterpoll` refreshes counters of queues every 10 s; watermarks, every 60 s, are taken from the next poll, too.
const REFRESH_NS: u64 = 10_000_000_000;

/// Which table the lines are of.
enum Screen {
    /// None.
    Nothing,
    /// `show queue counters`: of how many columns, and which are packets trimmed and the rest of the counters.
    Counters {
        /// Columns.
        columns: usize,
        /// The column of trimmed packets, if there is one.
        trimmed: Option<usize>,
        /// Whether it has the packets sent and dropped, not only those trimmed.
        has_all: bool,
    },
    /// `show queue watermark`: the names of the queues.
    Watermarks(Vec<String>),
    /// `show buffer_pool watermark`.
    Pools,
    /// A table that is not used, such as that of priority groups.
    Other,
}

/// A poll by names.
#[derive(Default)]
struct Shown {
    time_ns: Option<u64>,
    counters: BTreeMap<(String, String), Reading>,
    trimmed: BTreeMap<(String, String), u64>,
    watermarks: BTreeMap<(String, String), u64>,
    pools: BTreeMap<String, u64>,
}

/// Reads screens. A time on a line of its own begins a poll. Errors name the line.
pub(super) fn read_screens(
    text: &str,
    spec: &SwitchSpec,
    pool: Option<&str>,
) -> Result<Polls, String> {
    let mut shown = vec![Shown::default()];
    let mut screen = Screen::Nothing;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_rule = !line.is_empty() && line.chars().all(|c| c == '-' || c == ' ');
        if let Some(time_ns) = ns_of_utc(line) {
            shown.push(Shown { time_ns: Some(time_ns), ..Shown::default() });
            screen = Screen::Nothing;
        } else if words.is_empty()
            || is_rule
            || line.ends_with(':')
            || line.starts_with("Last cached time")
        {
        } else if let Some(found) = header(&words) {
            screen = found;
        } else if let Some(last) = shown.last_mut() {
            let wrong =
                |problem| format!("line {}: {problem}: {:?}", number + 1, printable_line(line));
            add(&words, &screen, last).map_err(wrong)?;
        }
    }
    shown.retain(|poll| {
        poll.time_ns.is_some() || !poll.counters.is_empty() || !poll.watermarks.is_empty()
    });
    let times: Vec<_> = shown.iter().map(|poll| poll.time_ns).collect();
    if times.len() > 1 && times.contains(&None) {
        return Err(
            "has screens before the first time; print one before each poll: date -u +%FT%TZ"
                .to_owned(),
        );
    }
    if times.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err("has polls whose times do not increase".to_owned());
    }
    placed(shown, spec, pool)
}

/// The column of packets cut to their headers.
const TRIMMED: &str = "Trim/pkts";

fn header(words: &[&str]) -> Option<Screen> {
    match words {
        ["Port", "TxQ", columns @ ..]
            if columns.starts_with(&[
                "Counter/pkts",
                "Counter/bytes",
                "Drop/pkts",
                "Drop/bytes",
            ]) || columns.contains(&TRIMMED) =>
        {
            Some(Screen::Counters {
                columns: words.len(),
                trimmed: words.iter().position(|&word| word == TRIMMED),
                has_all: columns.first() == Some(&"Counter/pkts"),
            })
        }
        ["Port" | "Interface", queues @ ..] if queues.iter().all(|name| is_queue(name)) => {
            Some(Screen::Watermarks(queues.iter().map(|&name| name.to_owned()).collect()))
        }
        ["Pool", "Bytes"] => Some(Screen::Pools),
        ["Port" | "Interface" | "IFACE" | "Pool", ..] => Some(Screen::Other),
        _ => None,
    }
}

/// `UC3`, `MC10`, `ALL0`: unicast, multicast or both.
fn is_queue(name: &str) -> bool {
    class_of(name).is_some()
        || name.strip_prefix("MC").is_some_and(|rest| rest.parse::<u8>().is_ok())
}

/// The number of a queue that unicast packets take.
fn class_of(name: &str) -> Option<usize> {
    let number = name.strip_prefix("UC").or_else(|| name.strip_prefix("ALL"))?;
    number.parse::<u8>().ok().map(usize::from)
}

fn add(words: &[&str], screen: &Screen, shown: &mut Shown) -> Result<(), &'static str> {
    let number = |word: &str| word.replace(',', "").parse::<u64>().ok();
    let is_missing = |word: &str| word == "N/A";
    match (screen, words) {
        (Screen::Other, _) => Ok(()),
        (Screen::Counters { columns, trimmed, has_all }, [port, queue, ..])
            if is_queue(queue) && words.len() == *columns =>
        {
            let key = ((*port).to_owned(), (*queue).to_owned());
            if let Some(place) = trimmed.filter(|&place| !is_missing(words[place])) {
                let packets = number(words[place]).ok_or("expected whole numbers")?;
                shown.trimmed.insert(key.clone(), packets);
            }
            let [_, _, sent, sent_bytes, dropped, dropped_bytes, ..] = words else { return Ok(()) };
            if !has_all || [sent_bytes, dropped].into_iter().any(|word| is_missing(word)) {
                return Ok(());
            }
            let expected = "expected whole numbers";
            let reading = Reading {
                sent_bytes: number(sent_bytes).ok_or(expected)?,
                sent_packets: number(sent),
                dropped_packets: number(dropped).ok_or(expected)?,
                dropped_bytes: number(dropped_bytes),
                trimmed_packets: None,
            };
            shown.counters.insert(key, reading);
            Ok(())
        }
        (Screen::Watermarks(queues), [port, values @ ..]) if values.len() == queues.len() => {
            for (queue, value) in queues.iter().zip(values) {
                if !is_missing(value) {
                    let bytes = number(value).ok_or("expected whole numbers")?;
                    shown.watermarks.insert(((*port).to_owned(), queue.clone()), bytes);
                }
            }
            Ok(())
        }
        (Screen::Pools, [_, bytes]) if is_missing(bytes) => Ok(()),
        (Screen::Pools, [pool, bytes]) => {
            shown.pools.insert((*pool).to_owned(), number(bytes).ok_or("expected a whole number")?);
            Ok(())
        }
        _ => Err(
            "is neither a time (date -u +%FT%TZ) nor of show queue counters, show queue watermark or \
                  show buffer_pool watermark",
        ),
    }
}

/// The same by numbers: ports in the order of the numbers in their names, as `dropcast switch` has them.
fn placed(shown: Vec<Shown>, spec: &SwitchSpec, pool: Option<&str>) -> Result<Polls, String> {
    let named: BTreeSet<_> = shown.iter().flat_map(|poll| poll.counters.keys()).cloned().collect();
    let mut ports: Vec<&str> = named.iter().map(|(port, _)| port.as_str()).collect();
    ports.dedup();
    ports.sort_by_key(|name| number_in(name));
    if !ports.is_empty() && ports.len() != spec.ports() {
        return Err(format!(
            "has counters of {} ports, the switch description has {}: save show queue counters of all",
            ports.len(),
            spec.ports()
        ));
    }
    let mut queues: Vec<QueueId> = named
        .iter()
        .map(|(port, queue)| QueueId {
            port: ports.iter().position(|name| name == port).unwrap_or(0),
            port_name: port.clone(),
            queue_name: queue.clone(),
            class: class_of(queue).filter(|&class| class < usize::from(spec.queues_per_port)),
        })
        .collect();
    queues.sort_by(|one, other| {
        let key = |queue: &QueueId| (queue.port, number_in(&queue.queue_name).0);
        key(one).cmp(&key(other)).then_with(|| other.queue_name.cmp(&one.queue_name))
    });
    let names: BTreeSet<&str> =
        shown.iter().flat_map(|poll| poll.pools.keys()).map(String::as_str).collect();
    let pool = chosen(&names, pool)?.map(str::to_owned);
    let keys: Vec<_> =
        queues.iter().map(|id| (id.port_name.clone(), id.queue_name.clone())).collect();
    let polls = shown.iter().map(|poll| {
        let polled = |(queue, key): (usize, &(String, String))| {
            let trimmed_packets = poll.trimmed.get(key).copied();
            let counters = poll.counters.get(key);
            let polled = PolledQueue {
                queue,
                time_ns: poll.time_ns,
                counters: counters.map(|reading| Reading { trimmed_packets, ..*reading }),
                watermark_bytes: poll.watermarks.get(key).copied(),
                queue_bytes: None,
            };
            (polled.counters.is_some() || polled.watermark_bytes.is_some()).then_some(polled)
        };
        Poll {
            time_ns: poll.time_ns,
            queues: keys.iter().enumerate().filter_map(polled).collect(),
            pool_watermark_bytes: pool.as_ref().and_then(|pool| poll.pools.get(pool)).copied(),
        }
    });
    Ok(Polls { polls: polls.collect(), queues, stale_ns: REFRESH_NS, pool })
}

/// The egress pool, or the one that is asked for.
fn chosen<'a>(names: &BTreeSet<&'a str>, asked: Option<&str>) -> Result<Option<&'a str>, String> {
    let listed = || names.iter().copied().collect::<Vec<_>>().join(", ");
    if let Some(asked) = asked {
        if names.is_empty() {
            return Err(format!(
                "has no screens of pools, so no pool {asked:?}: save show buffer_pool watermark too, or name none"
            ));
        }
        let found = names.iter().copied().find(|name| *name == asked);
        return found.map(Some).ok_or_else(|| format!("has no pool {asked:?}, but {}", listed()));
    }
    let egress: Vec<&str> = names.iter().copied().filter(|name| name.contains("egress")).collect();
    match &egress[..] {
        [] => Ok(None),
        [pool] => Ok(Some(*pool)),
        _ => Err(format!(
            "has several egress pools ({}): say with pool which one the description is of",
            egress.join(", ")
        )),
    }
}

/// The number that a name ends with.
fn number_in(name: &str) -> (u64, &str) {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (name[name.len() - digits..].parse().unwrap_or(u64::MAX), name)
}
