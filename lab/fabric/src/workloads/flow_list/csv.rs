//! A table of flows.
//!
//! Not with the crate `csv`: lists of all formats come in the same bounded [lines](super::line), and it sets no limit to a record.

use super::error::FlowListError;
use super::line::Line;
use crate::fabric::{Flow, FlowClass};
use crate::transport::Transport;
use dropcast_data::nearly;

/// The columns of a list's text form, in any order; the last three are optional.
const COLUMNS: [&str; 7] =
    ["start_ns", "src_host", "dst_host", "size_bytes", "incast", "transport", "queue"];
/// Required columns.
const REQUIRED: usize = 4;

/// A reader of tables.
pub(super) struct Csv {
    columns: Columns,
    requests: Requests,
}

impl Csv {
    pub(super) fn new(header: &str) -> Result<Self, FlowListError> {
        Ok(Csv { columns: Columns::locate(header)?, requests: Requests::default() })
    }

    pub(super) fn flow(
        &mut self,
        line: &Line,
        transport: Transport,
        queue: u8,
    ) -> Result<Flow, FlowListError> {
        let columns = &self.columns;
        let row = Row { columns, cells: line.text.split(',').collect(), line };
        let (line, cells, columns) = (line.number, row.cells.len(), columns.count);
        if cells != columns {
            return Err(FlowListError::Cells { line, cells, columns });
        }
        row.flow(transport, queue, &mut self.requests)
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
    line: &'a Line,
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
            Some(name) => name.parse().map_err(|_| {
                let names = Transport::NAMES.join(", ");
                self.wrong(5, format!("is {name:?}, expected one of {names}"))
            })?,
        };
        let queue = self.optional(6)?.unwrap_or(queue);
        let connection = class.connection();
        let (from, spines) = (self.number(1)?, None);
        Ok(Flow { start_ns, from, to, size_bytes, class, connection, transport, queue, spines })
    }

    fn cell(&self, column: usize) -> Option<&str> {
        let place = self.columns.places[column]?;
        Some(self.cells[place].trim())
    }

    fn number<T: std::str::FromStr>(&self, column: usize) -> Result<T, FlowListError> {
        self.line.number(COLUMNS[column], self.cell(column).unwrap_or(""))
    }

    fn optional<T: std::str::FromStr>(&self, column: usize) -> Result<Option<T>, FlowListError> {
        match self.cell(column) {
            None | Some("") => Ok(None),
            Some(_) => self.number(column).map(Some),
        }
    }

    fn wrong(&self, column: usize, problem: String) -> FlowListError {
        self.line.field(COLUMNS[column], problem)
    }
}
