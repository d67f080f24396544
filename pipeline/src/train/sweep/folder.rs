//! The folder of a sweep: parts that are finished, and what becomes of them.

use crate::PipelineError;
use crate::files::{FolderLock, check_replaced, create_folder, spare_inputs};
use dropcast_data::{DataError, TableColumn, remove_old, sha256, write_atomic, write_table};
use dropcast_train::{SweepGroup, SweepPart, SweepRow, SweepScores, SweepTable, SweepTimings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Footer key of `rows.parquet`: the version of its columns.
const ROWS_KEY: &str = "dropcast.sweep";

/// What is found, beside the models.
const RESULTS: [&str; 4] = ["sweep.json", "report.html", "rows.parquet", "timings.json"];

/// The folder.
pub(super) struct SweepFolder {
    path: PathBuf,
    /// No other sweep works here.
    _lock: FolderLock,
}

/// What a part depends on. Its hash names the part's file, so that a part is found only by the
/// sweep that would make it again.
#[derive(Serialize)]
pub(super) struct PartKey<'a> {
    pub(super) tool: &'a str,
    pub(super) data: &'a [(u64, String)],
    pub(super) split: &'a dropcast_train::Split,
    pub(super) front: dropcast_train::FrontRule,
    pub(super) eta: bool,
    pub(super) group: &'a SweepGroup,
}

/// What a squeezed model depends on.
#[derive(Serialize)]
pub(super) struct BestKey<'a> {
    pub(super) tool: &'a str,
    pub(super) data: &'a [(u64, String)],
    pub(super) split: &'a dropcast_train::Split,
    pub(super) eta: bool,
    pub(super) budget: &'a dropcast_train::Budget,
    pub(super) setting: &'a dropcast_train::SweepSetting,
    pub(super) seed: u64,
}

/// What a part took, milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PartTimes {
    /// Growing its forests; an equal share of what was grown with them.
    pub(super) fit_ms: f64,
    /// Choosing votes and measuring.
    pub(super) measure_ms: f64,
}

impl SweepFolder {
    /// Makes the folder, or takes one that is there; one that holds a sweep only to go on with it.
    pub(super) fn open(path: &Path, resume: bool) -> Result<Self, PipelineError> {
        if path.exists() && !path.is_dir() {
            let error = DataError::File {
                file: path.display().to_string(),
                problem: "is no folder".to_owned(),
                hint: "name a folder for what is found".to_owned(),
            };
            return Err(error.into());
        }
        check_replaced(path, RESULTS)?;
        let is_new = !path.exists();
        let folder = SweepFolder {
            path: path.to_owned(),
            _lock: FolderLock::take(path.join(".lock"), path)?,
        };
        if !resume && !is_new {
            folder.refuse_what_is_there()?;
        }
        Ok(folder)
    }

    /// Refuses inputs that are among what a sweep writes.
    pub(super) fn spare<'a>(
        path: &Path,
        inputs: impl Iterator<Item = &'a PathBuf> + Clone,
    ) -> Result<(), PipelineError> {
        RESULTS.iter().try_for_each(|name| spare_inputs(&path.join(name), inputs.clone()))
    }

    /// Where something may be put aside while the sweep runs: beside its own files.
    pub(super) fn scratch(&self) -> PathBuf {
        self.path.join("rows")
    }

    fn parts(&self) -> PathBuf {
        self.path.join("parts")
    }

    fn models(&self) -> PathBuf {
        self.path.join("models")
    }

    /// Refuses a sweep that is there, whole or in parts, and files that would be replaced by one's.
    fn refuse_what_is_there(&self) -> Result<(), DataError> {
        let holds_a_sweep = self.path.join("sweep.json").exists()
            || !files(&self.parts(), is_part)?.is_empty()
            || !files(&self.models(), is_model)?.is_empty();
        let other = RESULTS.into_iter().find(|name| self.path.join(name).exists());
        let (problem, hint) = match other {
            _ if holds_a_sweep => (
                "holds a sweep".to_owned(),
                "resume it (parts that no longer fit are trained again), or choose another folder",
            ),
            Some(name) => (format!("holds another {name}"), "choose another folder"),
            None => return Ok(()),
        };
        let file = self.path.display().to_string();
        Err(DataError::File { file, problem, hint: hint.to_owned() })
    }

    fn part_path(&self, key: &impl Serialize) -> Result<PathBuf, PipelineError> {
        let hash = sha256(serde_json::to_string(key).map_err(encode)?.as_bytes());
        Ok(self.parts().join(&hash[..32]))
    }

    /// A finished part of `key`, and what it took if that is known.
    pub(super) fn finished(
        &self,
        key: &PartKey<'_>,
    ) -> Result<Option<(SweepPart, Option<PartTimes>)>, PipelineError> {
        let path = self.part_path(key)?;
        // What is no part of this group is made again.
        let part: Option<SweepPart> = read_sealed(&path.with_extension("json"));
        let part = part.filter(|part| part.check(key.group).is_ok());
        let time = std::fs::read_to_string(path.with_extension("ms")).ok();
        let times = time.and_then(|text| serde_json::from_str(&text).ok());
        Ok(part.map(|part| (part, times)))
    }

    /// Keeps a part. Its time is written first: a part that is there is complete.
    pub(super) fn keep(
        &self,
        key: &PartKey<'_>,
        part: &SweepPart,
        times: &PartTimes,
    ) -> Result<(), PipelineError> {
        create_folder(&self.parts())?;
        let path = self.part_path(key)?;
        write_atomic(
            &path.with_extension("ms"),
            serde_json::to_string(times).map_err(encode)?.as_bytes(),
        )?;
        write_sealed(&path.with_extension("json"), part)
    }

    /// The squeezed model of `key`, if it is finished.
    pub(super) fn finished_best<T: DeserializeOwned>(
        &self,
        key: &BestKey<'_>,
    ) -> Result<Option<T>, PipelineError> {
        let path = self.part_path(key)?.with_extension("json");
        Ok(read_sealed(&path))
    }

    /// Keeps a squeezed model.
    pub(super) fn keep_best(
        &self,
        key: &BestKey<'_>,
        squeezed: &impl Serialize,
    ) -> Result<(), PipelineError> {
        create_folder(&self.parts())?;
        write_sealed(&self.part_path(key)?.with_extension("json"), squeezed)
    }

    /// Writes what the sweep found, `sweep.json` last; `page` shows it. What an earlier sweep found is removed
    /// before, its tables first: no table names a model that is not there, or another one.
    pub(super) fn finish(
        &self,
        table: &SweepTable,
        models: &[(String, String)],
        timings: &SweepTimings,
        page: &str,
    ) -> Result<(), PipelineError> {
        create_folder(&self.models())?;
        let tables = RESULTS.map(|name| self.path.join(name));
        tables.iter().try_for_each(|old| remove_old(old))?;
        for old in files(&self.models(), is_model)? {
            std::fs::remove_file(&old).map_err(io_error(&old, "be removed"))?;
        }
        for (name, text) in models {
            write_atomic(&self.path.join(name), text.as_bytes())?;
        }
        write_atomic(&self.path.join("timings.json"), pretty(timings)?.as_bytes())?;
        let footer = (ROWS_KEY, table.format_version.to_string());
        write_table(&self.path.join("rows.parquet"), columns(&table.rows), footer)?;
        write_atomic(&self.path.join("report.html"), page.as_bytes())?;
        Ok(write_atomic(&self.path.join("sweep.json"), pretty(table)?.as_bytes())?)
    }
}

/// Writes a value, and below it the hash of its line.
fn write_sealed(path: &Path, value: &impl Serialize) -> Result<(), PipelineError> {
    let line = serde_json::to_string(value).map_err(encode)?;
    let hash = sha256(line.as_bytes());
    Ok(write_atomic(path, format!("{line}\n{hash}\n").as_bytes())?)
}

/// A value that was written so and has not changed since.
fn read_sealed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = std::fs::read_to_string(path).ok()?;
    let (line, hash) = text.strip_suffix('\n')?.split_once('\n')?;
    if sha256(line.as_bytes()) != hash {
        return None;
    }
    serde_json::from_str(line).ok()
}

fn pretty(value: &impl Serialize) -> Result<String, PipelineError> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value).map_err(encode)?))
}

fn encode(error: serde_json::Error) -> PipelineError {
    PipelineError::Encode { what: "a part of the sweep", problem: error.to_string() }
}

/// Files of a folder, if it is there, whose names are such.
fn files(folder: &Path, is_such: fn(&str) -> bool) -> Result<Vec<PathBuf>, DataError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io_error(folder, "be read"))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io_error(folder, "be read"))?;
        if entry.file_name().to_str().is_some_and(is_such) {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// Whether a file of `parts/` is a finished part.
fn is_part(name: &str) -> bool {
    let hash = name.strip_suffix(".json");
    hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a file of `models/` is a row's, or the best of a feature set.
fn is_model(name: &str) -> bool {
    if name.starts_with("best-") && name.ends_with(".json") {
        return true;
    }
    let row = name.strip_prefix("row-").and_then(|name| name.strip_suffix(".json"));
    row.is_some_and(|row| row.len() == 5 && row.bytes().all(|byte| byte.is_ascii_digit()))
}

fn io_error(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> DataError {
    move |source| DataError::Io { file: path.display().to_string(), doing, source }
}

/// The rows as columns: the fields of `sweep.json`, a part's scores as `PART_SCORE`.
fn columns(rows: &[SweepRow]) -> Vec<(&'static str, TableColumn)> {
    let text =
        |of: &dyn Fn(&SweepRow) -> Option<String>| TableColumn::Text(rows.iter().map(of).collect());
    let integer =
        |of: &dyn Fn(&SweepRow) -> Option<u64>| TableColumn::Integer(rows.iter().map(of).collect());
    let mut columns = vec![
        ("features", text(&|row| Some(row.setting.features.join(",")))),
        ("trees", integer(&|row| Some(row.setting.trees.into()))),
        ("max_depth", integer(&|row| Some(row.setting.max_depth.into()))),
        ("max_bins", integer(&|row| Some(row.setting.max_bins.into()))),
        ("max_features", text(&|row| Some(row.setting.max_features.into()))),
        ("criterion", text(&|row| Some(row.setting.criterion.to_string()))),
        ("class_weight", text(&|row| Some(row.setting.class_weight.to_string()))),
        ("min_samples_leaf", integer(&|row| Some(row.setting.min_samples_leaf.into()))),
        ("vote", text(&|row| Some(row.setting.vote.to_string()))),
        ("seed", integer(&|row| Some(row.seed))),
        ("vote_threshold", integer(&|row| Some(row.vote_threshold.into()))),
    ];
    let train = |row: &SweepRow| Some(row.train);
    columns.extend(scores(rows, TRAIN, &train));
    columns.extend(scores(rows, VALIDATION, &|row| row.validation));
    columns.extend(scores(rows, TEST, &|row| row.test));
    columns.extend([
        ("dct_bytes", integer(&|row| row.size.dct_bytes)),
        ("ternary_entries", integer(&|row| row.size.ternary_entries)),
        ("thresholds", integer(&|row| Some(row.size.thresholds))),
        ("pareto", TableColumn::Flag(rows.iter().map(|row| row.pareto).collect())),
        ("model", text(&|row| row.model.clone())),
    ]);
    columns
}

macro_rules! names {
    ($part:literal) => {
        [
            concat!($part, "_precision"),
            concat!($part, "_recall"),
            concat!($part, "_f1"),
            concat!($part, "_average_precision"),
            concat!($part, "_eta_packets"),
            concat!($part, "_eta_bound"),
        ]
    };
}

const TRAIN: [&str; 6] = names!("train");
const VALIDATION: [&str; 6] = names!("validation");
const TEST: [&str; 6] = names!("test");

/// A score of a part.
type Score = fn(&SweepScores) -> Option<f64>;

fn scores(
    rows: &[SweepRow],
    names: [&'static str; 6],
    part: &dyn Fn(&SweepRow) -> Option<SweepScores>,
) -> [(&'static str, TableColumn); 6] {
    let of: [Score; 6] = [
        |scores| scores.precision,
        |scores| scores.recall,
        |scores| scores.f1,
        |scores| scores.average_precision,
        |scores| scores.eta_packets,
        |scores| scores.eta_bound,
    ];
    std::array::from_fn(|nth| {
        let values = rows.iter().map(|row| part(row).as_ref().and_then(of[nth]));
        (names[nth], TableColumn::Number(values.collect()))
    })
}
