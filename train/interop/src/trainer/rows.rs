//! Labelled rows in memory as floats, the input of other trainers.

use super::error::TrainerError;
use super::kind::TrainerCrate;
use dropcast_train::{BatchSource, FitTask, Part, TrainError, rows_of_part};

/// Most memory that another trainer may be expected to take.
const MOST_BYTES: usize = 4 << 30;

/// How many rows a trainer can take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Most rows that it can count.
    pub(super) most_rows: usize,
    /// Memory that it takes for each row, bytes, as counted from its source.
    pub(super) bytes_per_row: usize,
}

/// Training rows. Every 32-bit integer is an `f64`.
pub(super) struct FloatRows {
    /// Row after row.
    pub(super) values: Vec<f64>,
    pub(super) drop: Vec<bool>,
}

impl FloatRows {
    /// Reads the training rows, and stops where they become too many.
    pub(super) fn read<S: BatchSource + ?Sized>(
        trainer: TrainerCrate,
        limits: Limits,
        source: &S,
        task: &FitTask,
    ) -> Result<Self, TrainerError> {
        let features = task.features.len();
        if features == 0 {
            return Err(TrainError::NoFeatures.into());
        }
        let seed = task.params.get().seed;
        let mut rows = FloatRows { values: Vec::new(), drop: Vec::new() };
        for batch in rows_of_part(source, features, &task.split, seed, Part::Train)? {
            let batch = batch?.batch;
            let all = rows.drop.len() + batch.len();
            check_room(trainer, limits, all)?;
            for at in 0..batch.len() {
                rows.values.extend(batch.features.iter().map(|column| f64::from(column[at])));
            }
            rows.drop.extend(batch.drop);
        }
        rows.check(source)?;
        Ok(rows)
    }

    /// Refuses rows that no forest can be trained on, with the errors of our own trainer.
    fn check<S: BatchSource + ?Sized>(&self, source: &S) -> Result<(), TrainError> {
        let rows = self.drop.len() as u64;
        let drops = self.drop.iter().filter(|&&drop| drop).count() as u64;
        if rows == 0 {
            let all = source.batches().map_err(|error| TrainError::Source(Box::new(error)))?;
            let mut rows = 0;
            for batch in all {
                let batch = batch.map_err(|error| TrainError::Source(Box::new(error)))?;
                rows += batch.batch.len() as u64;
            }
            return Err(if rows == 0 {
                TrainError::NoRows
            } else {
                TrainError::NoTrainingRows { rows }
            });
        }
        match drops {
            0 => Err(TrainError::NoDrops { rows }),
            _ if drops == rows => Err(TrainError::NoAccepts { rows }),
            _ => Ok(()),
        }
    }
}

fn check_room(trainer: TrainerCrate, limits: Limits, rows: usize) -> Result<(), TrainerError> {
    let refuse = |why| Err(TrainerError::TooManyRows { trainer, rows, why });
    if rows > limits.most_rows {
        return refuse(format!(
            "it counts rows in f32, which is exact up to {} rows",
            limits.most_rows
        ));
    }
    if rows.saturating_mul(limits.bytes_per_row) > MOST_BYTES {
        let (each, most) = (limits.bytes_per_row, MOST_BYTES >> 30);
        return refuse(format!(
            "it takes about {each} bytes for each row, and the limit is {most} GiB"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_rows_are_refused_before_they_are_held() {
        let limits = Limits { most_rows: 1 << 24, bytes_per_row: 300 };
        let fault =
            |rows| check_room(TrainerCrate::Linfa, limits, rows).err().map(|e| e.to_string());
        assert_eq!(fault(10_000_000), None);
        assert!(fault(15_000_000).is_some_and(|fault| fault.contains("300 bytes")));
        assert!(fault((1 << 24) + 1).is_some_and(|fault| fault.contains("up to 16777216 rows")));
    }
}
