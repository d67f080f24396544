//! Tables of counters, as text with commas.

use super::polls::{Poll, Polls, QueueId, Reading};
use crate::wall_clock::ns_of_utc;
use dropcast_data::{SwitchSpec, nearly, printable_line};
use std::collections::BTreeMap;

/// The columns.
const FIELDS: [&str; 11] = [
    "time",
    "time_ns",
    "port",
    "queue",
    "sent_bytes",
    "sent_packets",
    "dropped_packets",
    "dropped_bytes",
    "watermark_bytes",
    "pool_watermark_bytes",
    "queue_bytes",
];
const REQUIRED: [&str; 4] = ["port", "queue", "sent_bytes", "dropped_packets"];

/// What a row is about.
struct Row {
    time_ns: u64,
    port: usize,
    queue: usize,
    reading: Reading,
    watermark_bytes: Option<u64>,
    pool_watermark_bytes: Option<u64>,
    queue_bytes: Option<u64>,
}

/// Reads a table: a row for each queue at each time, times in order. Errors name the line.
pub(super) fn read_csv(text: &str, spec: &SwitchSpec) -> Result<Polls, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("is empty")?;
    let names: Vec<&str> =
        header.trim_start_matches('\u{feff}').split(',').map(str::trim).collect();
    check_header(&names)?;
    let place = |field: &str| names.iter().position(|&name| name == field);
    let places = FIELDS.map(place);
    let mut places_of = BTreeMap::new();
    let mut polls = Polls::default();
    for (line, text) in lines {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let at = |problem: String| format!("line {}: {problem}", line + 1);
        if cells.len() != names.len() {
            return Err(at(format!("has {} fields, expected {}", cells.len(), names.len())));
        }
        let row = row(&cells, &places, spec).map_err(at)?;
        add(row, &mut polls, &mut places_of).map_err(at)?;
    }
    Ok(polls)
}

fn check_header(names: &[&str]) -> Result<(), String> {
    let has = |field: &str| names.contains(&field);
    if !has("time") && !has("time_ns") {
        return Err("has no column time or time_ns (docs/counters.md)".to_owned());
    }
    if let Some(absent) = REQUIRED.into_iter().find(|field| !has(field)) {
        return Err(format!("has no column {absent} (docs/counters.md)"));
    }
    match names.iter().find(|name| !FIELDS.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let near = nearly(name, &FIELDS)
                .map_or_else(String::new, |near| format!(", which may be {near}"));
            Err(format!(
                "has a column {:?} that is not known{near}; leave it out",
                printable_line(name)
            ))
        }
    }
}

fn row(
    cells: &[&str],
    places: &[Option<usize>; FIELDS.len()],
    spec: &SwitchSpec,
) -> Result<Row, String> {
    let text =
        |field: usize| places[field].map(|place| cells[place]).filter(|cell| !cell.is_empty());
    let number = |field: usize| {
        let wrong = |word: &str| {
            format!("{} is {:?}, expected a whole number", FIELDS[field], printable_line(word))
        };
        text(field).map(|word| word.parse::<u64>().map_err(|_| wrong(word))).transpose()
    };
    let needed = |field: usize| number(field)?.ok_or_else(|| format!("{} is empty", FIELDS[field]));
    let time_ns = match text(0) {
        None => needed(1)?,
        Some(word) => ns_of_utc(word).ok_or_else(|| {
            format!("time is {:?}, expected UTC such as 2026-11-24T13:05:07Z", printable_line(word))
        })?,
    };
    let below = |field: usize, most: usize| match needed(field)? {
        value if value < most as u64 => Ok(value as usize),
        value => Err(format!(
            "{} is {value}, the switch description has 0 to {}",
            FIELDS[field],
            most - 1
        )),
    };
    Ok(Row {
        time_ns,
        port: below(2, spec.ports())?,
        queue: below(3, usize::from(spec.queues_per_port))?,
        reading: Reading {
            sent_bytes: needed(4)?,
            sent_packets: number(5)?,
            dropped_packets: needed(6)?,
            dropped_bytes: number(7)?,
        },
        watermark_bytes: number(8)?,
        pool_watermark_bytes: number(9)?,
        queue_bytes: number(10)?,
    })
}

fn add(
    row: Row,
    polls: &mut Polls,
    places: &mut BTreeMap<(usize, usize), usize>,
) -> Result<(), String> {
    let place = *places.entry((row.port, row.queue)).or_insert_with(|| {
        polls.queues.push(QueueId {
            port: row.port,
            port_name: row.port.to_string(),
            queue_name: row.queue.to_string(),
            class: Some(row.queue),
        });
        polls.queues.len() - 1
    });
    let time = Some(row.time_ns);
    match polls.polls.last() {
        Some(last) if last.time_ns > time => {
            return Err("is earlier than the line before".to_owned());
        }
        Some(last) if last.time_ns == time => {}
        _ => polls.polls.push(Poll { time_ns: time, ..Poll::default() }),
    }
    let poll = polls.polls.last_mut().ok_or("has no poll")?;
    let most = poll.counters.len().max(place + 1);
    poll.counters.resize(most, None);
    poll.watermark_bytes.resize(most, None);
    poll.queue_bytes.resize(most, None);
    if poll.counters[place].is_some() {
        return Err(format!("has port {}, queue {} twice at this time", row.port, row.queue));
    }
    poll.counters[place] = Some(row.reading);
    poll.watermark_bytes[place] = row.watermark_bytes;
    poll.queue_bytes[place] = row.queue_bytes;
    poll.pool_watermark_bytes = poll.pool_watermark_bytes.max(row.pool_watermark_bytes);
    Ok(())
}
