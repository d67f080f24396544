//! `.cm`, connection matrices of htsim (`ConnectionMatrix` of `sim/datacenter` of
//! `Broadcom/csg-htsim`): "Nodes N", "Connections M", then a line for each flow,
//! "FROM->TO id ID start PICOSECONDS size BYTES prio PRIORITY", where only start and size are
//! needed, in any order. `#` begins a comment.

use super::error::FlowListError;
use super::line::Line;
use crate::fabric::{Connection, Flow, FlowClass};
use crate::transport::Transport;

const PICOSECONDS: (&str, f64) = ("picoseconds", 1e-3);
/// What a header may say.
const NODES: &str = "Nodes";
const CONNECTIONS: &str = "Connections";
const TRIGGERS: &str = "Triggers";
const FAILURES: &str = "Failures";
/// Flows that wait for others.
const WAITING: [&str; 3] = ["trigger", "send_done_trigger", "recv_done_trigger"];

/// A reader of connection matrices.
pub(super) struct Htsim {
    /// Hosts, and the line that says how many.
    nodes: Option<(u64, usize)>,
    /// Flows, and the line that says how many.
    connections: Option<(u64, usize)>,
    most: usize,
}

impl Htsim {
    /// Whether a list whose first line this is has this format.
    pub(super) fn begins(text: &str) -> bool {
        let word = text.split_whitespace().next().unwrap_or_default();
        let is_header = [NODES, CONNECTIONS, TRIGGERS, FAILURES].contains(&word);
        is_header || word.starts_with('#') || word.contains("->")
    }

    pub(super) fn new(first: &Line, most: usize) -> Result<Self, FlowListError> {
        let mut htsim = Htsim { nodes: None, connections: None, most };
        match htsim.flow(first, Transport::default(), 0)? {
            Some(_) => Err(htsim.no_header(first)),
            None => Ok(htsim),
        }
    }

    /// The flow of a line; none if it is part of the header or a comment.
    pub(super) fn flow(
        &mut self,
        line: &Line,
        transport: Transport,
        queue: u8,
    ) -> Result<Option<Flow>, FlowListError> {
        let mut words = line.text.split_whitespace();
        let first = words.next().unwrap_or_default();
        if first.starts_with('#') {
            return Ok(None);
        }
        if let Some((from, to)) = first.split_once("->") {
            return self.connection(line, (from, to), words, transport, queue).map(Some);
        }
        let number = words.next().unwrap_or_default();
        if words.next().is_some() {
            return Err(unknown(line, first));
        }
        match first {
            NODES => place(&mut self.nodes, line, NODES, number)?,
            CONNECTIONS => {
                place(&mut self.connections, line, CONNECTIONS, number)?;
                let most = self.most as u64;
                if let Some((flows, _)) = self.connections.filter(|(flows, _)| *flows > most) {
                    let problem = format!("is {flows}, expected at most {most}");
                    return Err(line.field(CONNECTIONS, problem));
                }
            }
            TRIGGERS if number != "0" => return Err(waits(line)),
            FAILURES if number != "0" => return Err(fails(line)),
            TRIGGERS | FAILURES => {}
            _ => return Err(unknown(line, first)),
        }
        Ok(None)
    }

    fn connection<'a>(
        &self,
        line: &Line,
        (from, to): (&str, &str),
        mut words: impl Iterator<Item = &'a str>,
        transport: Transport,
        queue: u8,
    ) -> Result<Flow, FlowListError> {
        let (Some((nodes, _)), Some(_)) = (self.nodes, self.connections) else {
            return Err(self.no_header(line));
        };
        let (from, to) = (line.number("from", from)?, line.number("to", to)?);
        for (end, host) in [("from", from), ("to", to)] {
            if u64::from(host) >= nodes {
                let problem = format!("is {host}, there are {nodes} nodes, from 0");
                return Err(line.field(end, problem));
            }
        }
        let (mut start_ns, mut size_bytes) = (None, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_default();
            match word {
                "start" => {
                    let start = value();
                    if start.contains('.') {
                        let problem = format!(
                            "is {start}, and picoseconds have no fraction: starts look like microseconds, as htsim \
                             saves them; multiply them by 1,000,000"
                        );
                        return Err(line.field("start", problem));
                    }
                    start_ns = Some(line.time_ns("start", start, PICOSECONDS)?);
                }
                "size" => size_bytes = Some(line.number("size", value())?),
                "id" => drop(line.number::<u64>("id", value())?),
                "prio" => drop(line.number::<u64>("prio", value())?),
                waiting if WAITING.contains(&waiting) => return Err(waits(line)),
                other => return Err(unknown(line, other)),
            }
        }
        let missing = |what: &str| line.wrong(format!("has no {what}, which every flow needs"));
        Ok(Flow {
            start_ns: start_ns.ok_or_else(|| missing("start"))?,
            from,
            to,
            size_bytes: size_bytes.ok_or_else(|| missing("size"))?,
            class: FlowClass::Single,
            connection: Connection::Handshake,
            transport,
            queue,
            spines: None,
        })
    }

    fn no_header(&self, line: &Line) -> FlowListError {
        let missing = if self.nodes.is_none() { NODES } else { CONNECTIONS };
        line.wrong(format!("is a flow, and no line before says how many \"{missing}\" there are"))
    }

    pub(super) fn check_count(&self, found: usize) -> Result<(), FlowListError> {
        let Some((flows, line)) = self.connections else {
            let problem = format!("no line says how many \"{CONNECTIONS}\" there are");
            return Err(FlowListError::Line { line: 1, problem });
        };
        if flows == found as u64 {
            return Ok(());
        }
        let problem = format!("says {flows} connections, there are {found}; correct it");
        Err(FlowListError::Line { line, problem })
    }
}

fn place(
    count: &mut Option<(u64, usize)>,
    line: &Line,
    what: &'static str,
    text: &str,
) -> Result<(), FlowListError> {
    if let Some((_, first)) = count {
        return Err(line.wrong(format!("says how many \"{what}\" there are, as line {first} does")));
    }
    *count = Some((line.number(what, text)?, line.number));
    Ok(())
}

fn waits(line: &Line) -> FlowListError {
    line.wrong(
        "has flows that wait for others (triggers), which are not read; give each flow a start, \
         or describe the traffic by [[traffic.collectives]]",
    )
}

fn fails(line: &Line) -> FlowListError {
    line.wrong("has failing links, which are not read; leave them out")
}

fn unknown(line: &Line, word: &str) -> FlowListError {
    match word {
        "trigger" => waits(line),
        "failure" => fails(line),
        _ => {
            let known = "Nodes N, Connections N, and flows FROM->TO with id, start, size and prio";
            line.wrong(format!("{word:?} is not read, expected {known}"))
        }
    }
}
