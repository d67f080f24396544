//! The byte table, read by `dropcast-oracle` itself: no tool is needed.

use crate::error::io_error;
use crate::{Answers, Emitted, Program, Runner, VerifyError};
use dropcast_oracle::Table;
use std::fs;

/// Runs `dct`.
pub(crate) const RUNNER: Dct = Dct;

pub(crate) struct Dct;

impl Runner for Dct {
    fn target(&self) -> &'static str {
        "dct"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let (path, _) = emitted.file("dct")?;
        let bytes = fs::read(&path).map_err(io_error(&path, "be read"))?;
        let table = Loaded { file: path.display().to_string(), bytes };
        table.table()?;
        Ok(vec![Box::new(table)])
    }
}

struct Loaded {
    file: String,
    bytes: Vec<u8>,
}

impl Loaded {
    fn table(&self) -> Result<Table<'_>, VerifyError> {
        Table::parse(&self.bytes).map_err(|error| VerifyError::BadFile {
            file: self.file.clone(),
            problem: error.to_string(),
        })
    }
}

impl Program for Loaded {
    fn name(&self) -> &str {
        concat!("dropcast-oracle ", env!("CARGO_PKG_VERSION"))
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let table = self.table()?;
        Ok(Answers {
            scores: Some(rows.iter().map(|row| table.score(row)).collect()),
            drops: Some(rows.iter().map(|row| table.predicts_drop(row)).collect()),
        })
    }
}
