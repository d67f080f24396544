//! Flows from a list.

use super::Workload;
use crate::fabric::{Flow, FlowClass};
use crate::transport::Transport;
use dropcast_data::nearly;
use std::io::BufRead;

/// The columns of a list's text form, in any order; the last three are optional.
const COLUMNS: [&str; 7] =
    ["start_ns", "src_host", "dst_host", "size_bytes", "incast", "transport", "queue"];
/// Required columns.
const REQUIRED: usize = 4;

/// A fixed list of flows.
#[derive(Clone, Debug)]
pub struct FlowList {
    flows: std::vec::IntoIter<Flow>,
}

/// What is wrong with a list of flows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowListError {
    /// It cannot be read.
    #[error("flow list: {0}")]
    Read(#[from] std::io::Error),
    /// The header lacks a column.
    #[error("flow list: there is no column {0:?} in the header")]
    NoColumn(&'static str),
    /// The header has a column twice, or one that is nearly known.
    #[error("flow list: column {name:?} {problem}")]
    Column {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A line has more or fewer cells than the header.
    #[error("flow list: line {line}: has {cells} cells, the header has {columns}")]
    Cells {
        /// The line, from 1.
        line: usize,
        /// Its cells.
        cells: usize,
        /// The header's.
        columns: usize,
    },
    /// A line is not a valid flow.
    #[error("flow list: line {line}: {column}: {problem}")]
    Field {
        /// Line number, from 1.
        line: usize,
        /// The column at fault.
        column: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
}

impl FlowList {
    /// These flows; sorted by start, ties as given.
    pub fn new(mut flows: Vec<Flow>) -> Self {
        flows.sort_by_key(|flow| flow.start_ns);
        FlowList { flows: flows.into_iter() }
    }

    /// Reads a list: a header and a line for each flow, columns `start_ns`, `src_host`, `dst_host`,
    /// `size_bytes`; `incast` (0 or 1; 0 if absent), `transport` and `queue` (the given ones if
    /// absent). Other columns are skipped. Incast flows with the same start, receiver and size are
    /// answers to one request.
    ///
    /// # Errors
    /// The first invalid line, with its column.
    pub fn from_csv(
        text: impl BufRead,
        transport: Transport,
        queue: u8,
    ) -> Result<Self, FlowListError> {
        let mut lines = text.lines();
        let header = lines.next().transpose()?.unwrap_or_default();
        let columns = Columns::locate(&header)?;
        let mut flows = Vec::new();
        let mut requests = Requests::default();
        for (index, line) in lines.enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let row = Row { columns: &columns, cells: line.split(',').collect(), line: index + 2 };
            let (line, cells, columns) = (row.line, row.cells.len(), columns.count);
            if cells != columns {
                return Err(FlowListError::Cells { line, cells, columns });
            }
            flows.push(row.flow(transport, queue, &mut requests)?);
        }
        Ok(FlowList::new(flows))
    }

    /// The remaining flows, in order of start.
    pub fn flows(&self) -> &[Flow] {
        self.flows.as_slice()
    }
}

impl Workload for FlowList {
    fn next_flow(&mut self) -> Option<Flow> {
        self.flows.next()
    }
}

/// Where the columns are.
struct Columns {
    places: [Option<usize>; COLUMNS.len()],
    /// Columns of the file, those that are skipped, too.
    count: usize,
}

impl Columns {
    fn locate(header: &str) -> Result<Self, FlowListError> {
        let names: Vec<&str> = header.trim().split(',').map(str::trim).collect();
        let wrong = |name: &str, problem: String| {
            Err(FlowListError::Column { name: name.to_owned(), problem })
        };
        for (place, name) in names.iter().enumerate() {
            if COLUMNS.contains(name) && names[..place].contains(name) {
                return wrong(name, "is in the header twice; leave one out".to_owned());
            }
            if let Some(near) = nearly(name, &COLUMNS) {
                return wrong(name, format!("is not read as {near}; rename it"));
            }
        }
        let places = COLUMNS.map(|column| names.iter().position(|name| *name == column));
        match places[..REQUIRED].iter().position(Option::is_none) {
            Some(missing) => Err(FlowListError::NoColumn(COLUMNS[missing])),
            None => Ok(Columns { places, count: names.len() }),
        }
    }
}

/// Numbers requests: the latest of each (start, receiver, size).
#[derive(Default)]
struct Requests {
    numbers: std::collections::BTreeMap<(u64, u16, u64), u32>,
}

struct Row<'a> {
    columns: &'a Columns,
    cells: Vec<&'a str>,
    line: usize,
}

impl Row<'_> {
    fn flow(
        &self,
        transport: Transport,
        queue: u8,
        requests: &mut Requests,
    ) -> Result<Flow, FlowListError> {
        let (start_ns, to, size_bytes) = (self.number(0)?, self.number(2)?, self.number(3)?);
        let class = match self.optional::<u8>(4)?.unwrap_or(0) {
            0 => FlowClass::Single,
            1 => {
                let next = requests.numbers.len() as u32;
                FlowClass::Incast(
                    *requests.numbers.entry((start_ns, to, size_bytes)).or_insert(next),
                )
            }
            other => return Err(self.wrong(4, format!("is {other}, expected 0 or 1"))),
        };
        let transport = match self.cell(5) {
            None | Some("") => transport,
            Some(name) => Transport::ALL
                .into_iter()
                .find(|transport| transport.name() == name)
                .ok_or_else(|| {
                    let names = Transport::ALL.map(Transport::name).join(", ");
                    self.wrong(5, format!("is {name:?}, expected one of {names}"))
                })?,
        };
        let queue = self.optional(6)?.unwrap_or(queue);
        let (from, spines) = (self.number(1)?, None);
        Ok(Flow { start_ns, from, to, size_bytes, class, transport, queue, spines })
    }

    fn cell(&self, column: usize) -> Option<&str> {
        let place = self.columns.places[column]?;
        Some(self.cells[place].trim())
    }

    fn number<T: std::str::FromStr>(&self, column: usize) -> Result<T, FlowListError> {
        let cell = self.cell(column).unwrap_or("");
        cell.parse().map_err(|_| {
            let bytes = size_of::<T>();
            self.wrong(column, format!("is {cell:?}, expected a whole number of {bytes} bytes"))
        })
    }

    fn optional<T: std::str::FromStr>(&self, column: usize) -> Result<Option<T>, FlowListError> {
        match self.cell(column) {
            None | Some("") => Ok(None),
            Some(_) => self.number(column).map(Some),
        }
    }

    fn wrong(&self, column: usize, problem: String) -> FlowListError {
        FlowListError::Field { line: self.line, column: COLUMNS[column], problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FlowList, FlowListError> {
        FlowList::from_csv(text.as_bytes(), Transport::Dctcp, 1)
    }

    #[test]
    fn flows_are_read_in_any_order_of_columns_and_sorted_by_start() {
        let list = read(
            "flow_id,dst_host,start_ns,src_host,size_bytes,incast,transport\n\
             0,3,50,16,700,1,\n1,3,50,17,700,1,cubic\n2,4,9,18,9000,0,\n3,4,50,18,700,1,\n",
        );
        let list = list.expect("valid");
        let flow = |start_ns, from, to, size_bytes, class, transport| Flow {
            start_ns,
            from,
            to,
            size_bytes,
            class,
            transport,
            queue: 1,
            spines: None,
        };
        let expected = [
            flow(9, 18, 4, 9000, FlowClass::Single, Transport::Dctcp),
            flow(50, 16, 3, 700, FlowClass::Incast(0), Transport::Dctcp),
            flow(50, 17, 3, 700, FlowClass::Incast(0), Transport::Cubic),
            flow(50, 18, 4, 700, FlowClass::Incast(1), Transport::Dctcp),
        ];
        assert_eq!(list.flows(), expected);
    }

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        let check = |text: &str, says: &str| {
            let error = read(text).expect_err(says).to_string();
            assert!(error.contains(says), "{error:?} should say {says:?}");
        };
        check("", "no column \"start_ns\"");
        check("start_ns,src_host,dst_host\n", "no column \"size_bytes\"");
        let required = "start_ns,src_host,dst_host,size_bytes";
        check(&format!("{required},Transport\n"), "\"Transport\" is not read as transport; rename");
        check(&format!("{required},size_bytes\n"), "\"size_bytes\" is in the header twice");
        let header = "start_ns,src_host,dst_host,size_bytes,incast,transport\n";
        check(&format!("{header}1,2,3,4,0,\n1,2,3,4,0\n"), "line 3: has 5 cells, the header has 6");
        check(&format!("{header}1,2,3,4,0,,\n"), "line 2: has 7 cells, the header has 6");
        check(&format!("{header}1,2,3,4,2,\n"), "line 2: incast: is 2");
        check(&format!("{header}1,2,3,4,0,\n\n1,2,x,4,0,\n"), "line 4: dst_host: is \"x\"");
        check(&format!("{header}1,2,70000,4,0,\n"), "dst_host: is \"70000\"");
        check(&format!("{header}1,2,3,,0,\n"), "size_bytes: is \"\"");
        check(
            &format!("{header}1,2,3,4,0,tahoe\n"),
            "transport: is \"tahoe\", expected one of dctcp",
        );
    }
}
