//! Labelled rows from Parquet or Arrow IPC.

use super::arrow::TraceColumns;
use super::columns::{BASE_COLUMNS, ECN_MARK, FIRST_RTT, FLOW_HASH, REAL_DROP};
use super::footer::meta_in_footer;
use crate::switch::switches_in_footer;
use crate::tables::{BadCells, Cell, Table, TableBatches, read_column};
use crate::{
    ArrivalColumns, DataError, FlowColumns, LabelledBatch, Outcome, RowOrder, SwitchSpec,
    SwitchSpecs, TraceMeta,
};
use arrow_array::RecordBatch;
use std::collections::BTreeSet;

/// The labelled rows of a table.
pub(crate) struct TraceTable {
    file: String,
    batches: TableBatches,
    places: Places,
    /// Rows already read.
    row: u64,
    clock_ns: u64,
    /// Whether time may not go backwards.
    ordered: bool,
    switches: Option<SwitchesMet>,
}

/// The switches whose rows have been read: a replay keeps memory for each of their queues.
struct SwitchesMet {
    specs: SwitchSpecs,
    met: BTreeSet<u16>,
    last: Option<u16>,
    queues: usize,
}

impl SwitchesMet {
    /// Notes a switch. Says what is wrong if there are too many queues.
    fn meet(&mut self, switch_id: u16) -> Option<String> {
        if self.last.replace(switch_id) == Some(switch_id) || !self.met.insert(switch_id) {
            return None;
        }
        self.queues += self.specs.get(switch_id).map_or(0, SwitchSpec::queues);
        (self.queues > SwitchSpecs::MOST_QUEUES)
            .then(|| format!("is {switch_id}, which {}", SwitchSpecs::too_many(self.queues)))
    }
}

struct Places {
    arrivals: Option<ArrivalPlaces>,
    /// Name and place of each feature, in the requested order.
    features: Vec<(String, usize)>,
    label: LabelPlaces,
    real_drop: Option<usize>,
    ecn_mark: Option<usize>,
}

#[derive(Clone, Copy)]
struct ArrivalPlaces {
    time_ns: usize,
    switch_id: Option<usize>,
    port: usize,
    queue: Option<usize>,
    size_bytes: usize,
    flow_hash: Option<usize>,
    first_rtt: Option<usize>,
}

#[derive(Clone, Copy)]
enum LabelPlaces {
    Drop(usize),
    Outcome { outcome: usize, drop: Option<usize> },
}

/// The metadata of a labelled trace, or what its columns show if it has none.
pub(crate) fn meta_of(file: &str, table: &Table) -> Result<TraceMeta, DataError> {
    if let Some(meta) = meta_in_footer(file, table)? {
        return Ok(meta);
    }
    let order = match ArrivalPlaces::find(table) {
        Some(_) => RowOrder::Arrival,
        None => RowOrder::Departure,
    };
    let is_feature = |name: &&String| !BASE_COLUMNS.contains(&name.as_str());
    let features = table.columns().iter().filter(is_feature).cloned().collect();
    let switches = switches_in_footer(file, table)?;
    Ok(TraceMeta { switches, ..TraceMeta::unknown(order, features) })
}

impl TraceTable {
    pub(crate) fn start(
        file: &str,
        table: Table,
        meta: &TraceMeta,
        features: &[String],
    ) -> Result<Self, DataError> {
        // Labels first: a file without labels is no trace, even if it seems to have features.
        let label = LabelPlaces::find(file, &table)?;
        let features = find_features(file, &table, meta, features)?;
        let (real_drop, ecn_mark) = (table.find(REAL_DROP), table.find(ECN_MARK));
        let arrivals = ArrivalPlaces::find(&table);
        let places = Places { arrivals, features, label, real_drop, ecn_mark };
        table.require_integers(&places.all())?;
        let batches = table.read(places.all())?;
        let ordered = meta.order == RowOrder::Arrival;
        let met = |specs| SwitchesMet { specs, met: BTreeSet::new(), last: None, queues: 0 };
        let switches = meta.switches.clone().map(met);
        let file = file.to_owned();
        Ok(TraceTable { file, batches, places, row: 0, clock_ns: 0, ordered, switches })
    }

    /// Which columns its batches may have besides features and labels.
    pub(crate) fn columns(&self) -> TraceColumns {
        TraceColumns {
            arrivals: self.places.arrivals.is_some(),
            outcome: matches!(self.places.label, LabelPlaces::Outcome { .. }),
            real_drop: self.places.real_drop.is_some(),
            ecn_mark: self.places.ecn_mark.is_some(),
            flows: self.places.arrivals.is_some_and(|places| places.has_flows()),
        }
    }

    /// The number of the first row that is read.
    pub(crate) fn begin_at(&mut self, row: u64) {
        self.row = row;
    }

    /// The next rows; `None` after the last.
    pub(crate) fn next_batch(&mut self) -> Result<Option<LabelledBatch>, DataError> {
        let Some(batch) = self.batches.next_batch()? else { return Ok(None) };
        let mut bad = BadCells::default();
        let arrivals =
            self.places.arrivals.map(|places| self.read_arrivals(&batch, places, &mut bad));
        let features = self.places.features.iter();
        let features =
            features.map(|(name, place)| self.read(&batch, name, *place, &mut bad)).collect();
        let (drop, outcome) = self.read_label(&batch, &mut bad);
        let real_drop = self.places.real_drop;
        // Empty where no real drops were recorded.
        let recorded = real_drop.filter(|&place| {
            let column = self.batches.column(&batch, place);
            column.null_count() < column.len()
        });
        let real_drop = recorded.map(|place| self.read(&batch, REAL_DROP, place, &mut bad));
        let ecn_mark = self.places.ecn_mark;
        let ecn_mark = ecn_mark.map(|place| self.read(&batch, ECN_MARK, place, &mut bad));
        if let Some((row, (field, cell))) = bad.into_rows().next() {
            return Err(self.wrong(row, &field, cell.to_string()));
        }
        let batch = LabelledBatch { arrivals, features, drop, outcome, real_drop, ecn_mark };
        self.check(&batch)?;
        self.row += batch.len() as u64;
        Ok(Some(batch))
    }

    /// The hash of the input, after the last row.
    pub(crate) fn hash(&mut self) -> Result<String, DataError> {
        self.batches.hash()
    }

    /// Rows read so far, and those before the first that is read.
    pub(crate) fn rows(&self) -> u64 {
        self.row
    }

    fn read_arrivals(
        &self,
        batch: &RecordBatch,
        places: ArrivalPlaces,
        bad: &mut BadCells,
    ) -> ArrivalColumns {
        let flows = places.has_flows().then(|| FlowColumns {
            hash: self.read_or_zero(batch, FLOW_HASH, places.flow_hash, bad),
            first_rtt: self.read_or_zero(batch, FIRST_RTT, places.first_rtt, bad),
        });
        ArrivalColumns {
            time_ns: self.read(batch, "time_ns", places.time_ns, bad),
            switch_id: self.read_or_zero(batch, "switch_id", places.switch_id, bad),
            port: self.read(batch, "port", places.port, bad),
            queue: self.read_or_zero(batch, "queue", places.queue, bad),
            size_bytes: self.read(batch, "size_bytes", places.size_bytes, bad),
            flows,
        }
    }

    fn read_label(
        &self,
        batch: &RecordBatch,
        bad: &mut BadCells,
    ) -> (Vec<bool>, Option<Vec<Outcome>>) {
        match self.places.label {
            LabelPlaces::Drop(place) => (self.read(batch, "drop", place, bad), None),
            LabelPlaces::Outcome { outcome, drop } => {
                let outcome: Vec<Outcome> = self.read(batch, "outcome", outcome, bad);
                let drop = match drop {
                    Some(place) => self.read(batch, "drop", place, bad),
                    None => outcome.iter().map(|outcome| outcome.is_drop()).collect(),
                };
                (drop, Some(outcome))
            }
        }
    }

    fn read<T: Cell>(
        &self,
        batch: &RecordBatch,
        field: &str,
        place: usize,
        bad: &mut BadCells,
    ) -> Vec<T> {
        read_column(self.batches.column(batch, place), field, bad)
    }

    fn read_or_zero<T: Cell>(
        &self,
        batch: &RecordBatch,
        field: &str,
        place: Option<usize>,
        bad: &mut BadCells,
    ) -> Vec<T> {
        match place {
            Some(place) => self.read(batch, field, place, bad),
            None => vec![T::FILLER; batch.num_rows()],
        }
    }

    fn check(&mut self, batch: &LabelledBatch) -> Result<(), DataError> {
        if let Some(outcome) = &batch.outcome {
            let unlike = |(&drop, outcome): (&bool, &Outcome)| drop != outcome.is_drop();
            if let Some(row) = batch.drop.iter().zip(outcome).position(unlike) {
                let problem = format!(
                    "is {}, but its outcome is {}; a packet is dropped unless its outcome is 1",
                    u8::from(batch.drop[row]),
                    outcome[row] as u8
                );
                return Err(self.wrong(row, "drop", problem));
            }
        }
        if let (Some(switches), Some(arrivals)) = (&mut self.switches, &batch.arrivals) {
            let mut met = arrivals.switch_id.iter().map(|&id| switches.meet(id));
            if let Some((row, Some(problem))) =
                met.by_ref().enumerate().find(|(_, problem)| problem.is_some())
            {
                return Err(self.wrong(row, "switch_id", problem));
            }
        }
        let times = batch.arrivals.as_ref().filter(|_| self.ordered);
        for (row, &time_ns) in times.iter().flat_map(|arrivals| &arrivals.time_ns).enumerate() {
            if time_ns < self.clock_ns {
                let before = self.clock_ns;
                let problem = format!(
                    "is {time_ns}, before the row above it at {before}; sort the rows by time"
                );
                return Err(self.wrong(row, "time_ns", problem));
            }
            self.clock_ns = time_ns;
        }
        Ok(())
    }

    fn wrong(&self, row_of_batch: usize, field: &str, problem: String) -> DataError {
        DataError::Row {
            file: self.file.clone(),
            row: self.row + row_of_batch as u64,
            place: None,
            field: field.to_owned(),
            problem,
        }
    }
}

fn find_features(
    file: &str,
    table: &Table,
    meta: &TraceMeta,
    features: &[String],
) -> Result<Vec<(String, usize)>, DataError> {
    let missing = |feature: &String| DataError::MissingFeature {
        file: file.to_owned(),
        feature: feature.clone(),
        has: meta.features.clone(),
    };
    let find = |feature: &String| {
        let place = table.find(feature).filter(|_| meta.features.contains(feature));
        place.map(|place| (feature.clone(), place)).ok_or_else(|| missing(feature))
    };
    features.iter().map(find).collect()
}

impl Places {
    fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.features.iter().map(|(_, place)| *place).collect();
        if let Some(arrivals) = &self.arrivals {
            all.extend([arrivals.time_ns, arrivals.port, arrivals.size_bytes]);
            let or_none =
                [arrivals.switch_id, arrivals.queue, arrivals.flow_hash, arrivals.first_rtt];
            all.extend(or_none.into_iter().flatten());
        }
        all.extend(self.real_drop.into_iter().chain(self.ecn_mark));
        match self.label {
            LabelPlaces::Drop(place) => all.push(place),
            LabelPlaces::Outcome { outcome, drop } => all.extend([outcome].into_iter().chain(drop)),
        }
        all
    }
}

impl ArrivalPlaces {
    fn find(table: &Table) -> Option<Self> {
        Some(ArrivalPlaces {
            time_ns: table.find("time_ns")?,
            switch_id: table.find("switch_id"),
            port: table.find("port")?,
            queue: table.find("queue"),
            size_bytes: table.find("size_bytes")?,
            flow_hash: table.find(FLOW_HASH),
            first_rtt: table.find(FIRST_RTT),
        })
    }

    fn has_flows(&self) -> bool {
        self.flow_hash.is_some() || self.first_rtt.is_some()
    }
}

impl LabelPlaces {
    fn find(file: &str, table: &Table) -> Result<Self, DataError> {
        match (table.find("outcome"), table.find("drop")) {
            (Some(outcome), drop) => Ok(LabelPlaces::Outcome { outcome, drop }),
            (None, Some(drop)) => Ok(LabelPlaces::Drop(drop)),
            (None, None) => Err(DataError::MissingColumn {
                file: file.to_owned(),
                column: "drop".to_owned(),
                has: table.columns().to_vec(),
                hint: "a labelled trace has drop or outcome; make one from events with `dropcast collect`",
            }),
        }
    }
}
