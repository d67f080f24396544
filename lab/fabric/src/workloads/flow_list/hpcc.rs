//! `flow.txt`, what the ns-3 of HPCC (Li et al., SIGCOMM 2019) and many after it reads: the number
//! of flows, then a line for each: sender, receiver, priority group, destination port, bytes,
//! start in seconds (`traffic_gen/README.md` of `alibaba-edu/High-Precision-Congestion-Control`). ConWeave's ns-3 (Song et
//! al., SIGCOMM 2023) leaves out the port.

use super::error::FlowListError;
use super::line::Line;
use crate::fabric::{Connection, Flow, FlowClass};
use crate::transport::Transport;

const FIELDS: [&str; 6] = ["src", "dst", "pg", "dport", "size_bytes", "start_seconds"];
const SECONDS: (&str, f64) = ("seconds", 1e9);

/// A reader of `flow.txt`.
pub(super) struct Hpcc {
    /// The line of the number of flows.
    line: usize,
    flows: usize,
}

impl Hpcc {
    /// Whether a list whose first line this is has this format: it is one whole number.
    pub(super) fn begins(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    }

    pub(super) fn new(first: &Line, most: usize) -> Result<Self, FlowListError> {
        match first.text.parse() {
            Ok(flows) if flows <= most => Ok(Hpcc { line: first.number, flows }),
            _ => {
                let problem = format!("is {} flows, expected at most {most}", first.text);
                Err(first.wrong(problem))
            }
        }
    }

    /// How many flows the first line says there are.
    pub(super) fn flows(&self) -> usize {
        self.flows
    }

    pub(super) fn flow(
        &self,
        line: &Line,
        transport: Transport,
        queue: u8,
    ) -> Result<Flow, FlowListError> {
        let cells: Vec<&str> = line.text.split_whitespace().collect();
        let (from, to, group, port, bytes, start) = match cells[..] {
            [from, to, group, port, bytes, start] => (from, to, group, port, bytes, start),
            [from, to, group, bytes, start] => (from, to, group, "0", bytes, start),
            _ => {
                let (count, fields) = (cells.len(), FIELDS.join(" "));
                let problem =
                    format!("has {count} fields, expected 6: {fields}, or 5 without dport");
                return Err(line.wrong(problem));
            }
        };
        line.number::<u64>(FIELDS[2], group)?;
        line.number::<u64>(FIELDS[3], port)?;
        Ok(Flow {
            start_ns: line.time_ns(FIELDS[5], start, SECONDS)?,
            from: line.number(FIELDS[0], from)?,
            to: line.number(FIELDS[1], to)?,
            size_bytes: line.number(FIELDS[4], bytes)?,
            class: FlowClass::Single,
            connection: Connection::Handshake,
            transport,
            queue,
            spines: None,
        })
    }

    /// The note about lines after the last flow; this is the first of them.
    pub(super) fn rest(&self, line: &Line) -> String {
        format!(
            "flow list: what follows from line {} is not read: line {} says {} flows, and ns-3 reads so many",
            line.number, self.line, self.flows
        )
    }

    pub(super) fn check_count(&self, found: usize) -> Result<(), FlowListError> {
        if found == self.flows {
            return Ok(());
        }
        let problem = format!("says {} flows, there are {found}; correct it", self.flows);
        Err(FlowListError::Line { line: self.line, problem })
    }
}
