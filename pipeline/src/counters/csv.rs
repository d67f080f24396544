//! Tables of counters, as text with commas.
//!
//! Not with the crate `csv`: it would split lines at commas, and all the rest would stay, as its errors name no column and it
//! takes any header. A quote that is not closed makes one cell of the rest of the file.

use super::polls::{Poll, PolledQueue, Polls, QueueId, Reading};
use crate::wall_clock::ns_of_utc;
use dropcast_data::{SwitchSpec, nearly, printable_line};
use std::collections::BTreeMap;

/// The columns.
const FIELDS: [&str; 12] = [
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
    "trimmed_packets",
];
const REQUIRED: [&str; 4] = ["port", "queue", "sent_bytes", "dropped_packets"];

/// What a row is about.
struct Row {
    port: usize,
    class: usize,
    polled: PolledQueue,
    time_ns: u64,
    pool_watermark_bytes: Option<u64>,
}

/// Rows in the order of the file.
#[derive(Default)]
struct Rows {
    queues: Vec<QueueId>,
    /// Places in `queues`, by port and class.
    places: BTreeMap<(usize, usize), usize>,
    polled: Vec<PolledQueue>,
    pool_watermark_bytes: Vec<Option<u64>>,
    /// Of each queue: the time of its last row.
    last_ns: Vec<u64>,
    /// Times between rows of the same queue.
    between_ns: Vec<u64>,
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
    let mut rows = Rows::default();
    for (line, text) in lines {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let at = |problem: String| format!("line {}: {problem}", line + 1);
        if cells.len() != names.len() {
            return Err(at(format!("has {} fields, expected {}", cells.len(), names.len())));
        }
        let row = row(&cells, &places, spec).map_err(at)?;
        rows.add(row).map_err(at)?;
    }
    Ok(rows.polls())
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
        port: below(2, spec.ports())?,
        class: below(3, usize::from(spec.queues_per_port))?,
        time_ns,
        polled: PolledQueue {
            queue: 0,
            time_ns: Some(time_ns),
            counters: Some(Reading {
                sent_bytes: needed(4)?,
                sent_packets: number(5)?,
                dropped_packets: needed(6)?,
                dropped_bytes: number(7)?,
                trimmed_packets: number(11)?,
            }),
            watermark_bytes: number(8)?,
            queue_bytes: number(10)?,
        },
        pool_watermark_bytes: number(9)?,
    })
}

impl Rows {
    fn add(&mut self, row: Row) -> Result<(), String> {
        if self.polled.last().is_some_and(|last| last.time_ns > row.polled.time_ns) {
            return Err("is earlier than the line before".to_owned());
        }
        let new = self.queues.len();
        let place = *self.places.entry((row.port, row.class)).or_insert(new);
        if place == new {
            self.queues.push(QueueId {
                port: row.port,
                port_name: row.port.to_string(),
                queue_name: row.class.to_string(),
                class: Some(row.class),
            });
            self.last_ns.push(row.time_ns);
        } else {
            let between_ns = row.time_ns - self.last_ns[place];
            if between_ns == 0 {
                return Err(format!(
                    "has port {}, queue {} twice at this time",
                    row.port, row.class
                ));
            }
            self.between_ns.push(between_ns);
            self.last_ns[place] = row.time_ns;
        }
        self.polled.push(PolledQueue { queue: place, ..row.polled });
        self.pool_watermark_bytes.push(row.pool_watermark_bytes);
        Ok(())
    }

    /// Rows may have a time each. A poll ends where a queue comes again, and before a pause of more than half of the usual
    /// time between rows of a queue.
    fn polls(mut self) -> Polls {
        let middle = self.between_ns.len() / 2;
        let usual_ns = match self.between_ns.is_empty() {
            true => None,
            false => Some(*self.between_ns.select_nth_unstable(middle).1),
        };
        let mut polls = Polls { queues: self.queues, ..Polls::default() };
        let mut poll_of = vec![usize::MAX; polls.queues.len()];
        let mut begin = 0;
        for end in 1..=self.polled.len() {
            poll_of[self.polled[end - 1].queue] = polls.polls.len();
            let is_last = self.polled.get(end).is_none_or(|next| {
                let pause_ns = next.time_ns.zip(self.polled[end - 1].time_ns);
                let pause_ns = pause_ns.map_or(0, |(next, now)| next - now);
                poll_of[next.queue] == polls.polls.len()
                    || usual_ns.is_some_and(|usual_ns| pause_ns > usual_ns / 2)
            });
            if !is_last {
                continue;
            }
            let mut poll = Poll {
                time_ns: self.polled[end - 1].time_ns,
                queues: self.polled[begin..end].to_vec(),
                pool_watermark_bytes: self.pool_watermark_bytes[begin..end]
                    .iter()
                    .copied()
                    .max()
                    .flatten(),
            };
            let span_ns = poll.span_ns();
            polls.stale_ns = polls.stale_ns.max(span_ns);
            // Each row has the peak since another: one that is missing may have had the largest.
            if span_ns > 0 && poll.queues.len() < polls.queues.len() {
                poll.pool_watermark_bytes = None;
            }
            polls.polls.push(poll);
            begin = end;
        }
        polls
    }
}
