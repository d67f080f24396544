//! The Credence artifact's own labelled CSV (inet-tub/ns3-datacenter).

use crate::tables::{BATCH_ROWS, BadCell, CsvRow, CsvRows};
use crate::{DataError, LabelledBatch, RowPlace};

/// Our names of the artifact's feature columns.
const FEATURES: [(&str, &str); 4] = [
    ("queueLength", "queue_length"),
    ("averageQueueLength", "avg_queue_length"),
    ("sharedOccupancy", "occupancy"),
    ("averageOccupancy", "avg_occupancy"),
];

const LABEL: &str = "drop";

/// The rows of an artifact CSV.
pub(crate) struct ArtifactRows {
    file: String,
    rows: CsvRows,
    /// Places of the four features.
    places: Vec<usize>,
    /// Which of the four are requested, in that order.
    requested: Vec<usize>,
    label: usize,
    row: u64,
    all_zero: u64,
}

/// Whether a header is that of an artifact CSV.
pub(crate) fn is_artifact(header: &[String]) -> bool {
    let has = |name: &str| header.iter().any(|column| column == name);
    has(LABEL) && FEATURES.iter().any(|(name, _)| has(name))
}

impl ArtifactRows {
    /// The features every artifact CSV has.
    pub(crate) fn features() -> Vec<String> {
        FEATURES.iter().map(|(_, name)| (*name).to_owned()).collect()
    }

    pub(crate) fn start(file: &str, rows: CsvRows, features: &[String]) -> Result<Self, DataError> {
        let header = rows.header();
        let place = |column: &str| {
            let place = header.iter().position(|name| name == column);
            place.ok_or_else(|| DataError::MissingColumn {
                file: file.to_owned(),
                column: column.to_owned(),
                has: header.to_vec(),
                hint: "a labelled trace in text has the columns of the Credence artifact",
            })
        };
        let label = place(LABEL)?;
        let places = FEATURES.iter().map(|(column, _)| place(column)).collect::<Result<_, _>>()?;
        let request = |feature: &String| {
            let requested = FEATURES.iter().position(|(_, name)| name == feature);
            requested.ok_or_else(|| DataError::MissingFeature {
                file: file.to_owned(),
                feature: feature.clone(),
                has: Self::features(),
            })
        };
        let requested = features.iter().map(request).collect::<Result<_, _>>()?;
        let file = file.to_owned();
        Ok(ArtifactRows { file, places, requested, label, rows, row: 0, all_zero: 0 })
    }

    /// The next rows; `None` after the last.
    pub(crate) fn next_batch(&mut self) -> Result<Option<LabelledBatch>, DataError> {
        let mut features = vec![Vec::with_capacity(BATCH_ROWS); self.requested.len()];
        let mut drop = Vec::with_capacity(BATCH_ROWS);
        let expected = self.rows.header().len();
        while drop.len() < BATCH_ROWS {
            let Some(row) = self.rows.next_row()? else { break };
            match read_row(&row, expected, &self.places, self.label) {
                Ok((values, label)) => {
                    for (column, &requested) in features.iter_mut().zip(&self.requested) {
                        column.push(values[requested]);
                    }
                    drop.push(label);
                    self.all_zero += u64::from(values == [0; 4] && !label);
                    self.row += 1;
                }
                Err((field, bad)) => {
                    return Err(DataError::Row {
                        file: self.file.clone(),
                        row: self.row,
                        place: Some(RowPlace::Line(self.rows.line_number())),
                        field: field.to_owned(),
                        problem: bad.to_string(),
                    });
                }
            }
        }
        let batch = LabelledBatch { features, drop, ..LabelledBatch::default() };
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// Rows read so far.
    pub(crate) fn rows(&self) -> u64 {
        self.row
    }

    /// Rows read so far that are all zeros: packets without a tag, or packets that found the switch
    /// empty.
    pub(crate) fn all_zero(&self) -> u64 {
        self.all_zero
    }

    /// The hash of the file, known after the last row.
    pub(crate) fn hash(&self) -> Option<&str> {
        self.rows.hash()
    }
}

fn read_row(
    row: &CsvRow<'_>,
    expected: usize,
    places: &[usize],
    label: usize,
) -> Result<([u32; 4], bool), (&'static str, BadCell)> {
    if row.len() != expected {
        return Err(("fields", BadCell::FieldCount { got: row.len(), expected }));
    }
    let mut values = [0; 4];
    for (value, (&place, (name, _))) in values.iter_mut().zip(places.iter().zip(FEATURES)) {
        *value = row.read(place).map_err(|bad| (name, bad))?;
    }
    Ok((values, row.read(label).map_err(|bad| (LABEL, bad))?))
}
