//! A list of flows, and its formats.

use super::csv::Csv;
use super::error::FlowListError;
use super::hpcc::Hpcc;
use super::htsim::Htsim;
use super::line::Lines;
use crate::fabric::Flow;
use crate::fabric::Workload;
use crate::transport::Transport;
use dropcast_data::other_kind;
use std::io::BufRead;

/// Flows of a list, at most: all of them are in memory.
const MOST_FLOWS: usize = 50_000_000;

/// A fixed list of flows.
#[derive(Clone, Debug)]
pub struct FlowList {
    flows: std::vec::IntoIter<Flow>,
    note: Option<String>,
}

/// A reader of one format.
enum Format {
    Csv(Csv),
    Hpcc(Hpcc),
    Htsim(Htsim),
}

impl FlowList {
    /// These flows; sorted by start, ties as given.
    pub fn new(mut flows: Vec<Flow>) -> Self {
        flows.sort_by_key(|flow| flow.start_ns);
        FlowList { flows: flows.into_iter(), note: None }
    }

    /// Reads a list in one of three formats, which it is recognized by (`lab/notes/fabric.md`):
    ///
    /// - A table (CSV): a header and a line for each flow, columns `start_ns`, `src_host`,
    ///   `dst_host`, `size_bytes`; `incast` (0 or 1; 0 if absent), `transport` and `queue` (the
    ///   given ones if absent). Other columns are skipped. Incast flows with the same start,
    ///   receiver and size are answers to one request.
    /// - What HPCC's ns-3 reads (`flow.txt`): the number of flows, then for each sender, receiver,
    ///   priority group, port (or none, as in ConWeave's), bytes and seconds. As there, lines after that many are not read.
    /// - A connection matrix of htsim (`.cm`), without triggers and failures; starts are in
    ///   picoseconds.
    ///
    /// `check` is asked about each flow and says what is wrong with it, such as
    /// [`crate::Fabric::check_flow`].
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(
        text: impl BufRead,
        transport: Transport,
        queue: u8,
        check: impl Fn(&Flow) -> Result<(), String>,
    ) -> Result<Self, FlowListError> {
        let mut lines = Lines::new(text);
        let first = lines.next()?.unwrap_or_default();
        if let Some((problem, hint)) = other_kind(first.text.as_bytes()) {
            return Err(first.wrong(format!("{problem}; {hint}")));
        }
        let mut format = match first.text.as_str() {
            text if Hpcc::begins(text) => Format::Hpcc(Hpcc::new(&first, MOST_FLOWS)?),
            text if Htsim::begins(text) => Format::Htsim(Htsim::new(&first, MOST_FLOWS)?),
            _ => Format::Csv(Csv::new(&first.text)?),
        };
        let mut flows = Vec::new();
        let (mut note, mut rounded) = (None, 0_usize);
        while let Some(line) = lines.next()? {
            let flow = match &mut format {
                Format::Csv(csv) => Some(csv.flow(&line, transport, queue)?),
                Format::Hpcc(hpcc) if flows.len() == hpcc.flows() => {
                    note = Some(hpcc.rest(&line));
                    break;
                }
                Format::Hpcc(hpcc) => Some(hpcc.flow(&line, transport, queue)?),
                Format::Htsim(htsim) => htsim.flow(&line, transport, queue)?,
            };
            let Some(flow) = flow else { continue };
            rounded += usize::from(line.is_rounded.get());
            check(&flow).map_err(|problem| line.wrong(problem))?;
            if flows.len() == MOST_FLOWS {
                return Err(line.wrong(format!("is one too many, expected {MOST_FLOWS} flows")));
            }
            flows.push(flow);
        }
        match &format {
            Format::Csv(_) => {}
            Format::Hpcc(hpcc) => hpcc.check_count(flows.len())?,
            Format::Htsim(htsim) => htsim.check_count(flows.len())?,
        }
        let rounding = (rounded > 0)
            .then(|| format!("flow list: starts rounded to whole nanoseconds: {rounded}"));
        let notes: Vec<String> = note.into_iter().chain(rounding).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(FlowList { note, ..FlowList::new(flows) })
    }

    /// The remaining flows, in order of start.
    pub fn flows(&self) -> &[Flow] {
        self.flows.as_slice()
    }

    /// What of its text was not read, and which starts were rounded, if any.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

impl Workload for FlowList {
    fn next_flow(&mut self) -> Option<Flow> {
        self.flows.next()
    }
}
