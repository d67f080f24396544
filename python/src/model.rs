//! Models: predictions, exports, proofs, and what other tools trained.

use crate::settings::{Described, resources, text};
use crate::trace::Trace;
use crate::{errors, work};
use dropcast_data::Threads;
use dropcast_data::sha256;
use dropcast_export::Target;
use dropcast_features::FeatureSet;
use dropcast_forest::{ForestScorer, SwitchContext};
use dropcast_interop::{ArrayTree, ImportFormat, ImportTask, import, import_arrays};
use dropcast_measure::gini_shares;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::export::models::{ModelFile, import_file as read_forest};
use dropcast_pipeline::export::tool_measurements::resources_of;
use dropcast_pipeline::export::verification::{VerificationTask, verify as verify_exports};
use dropcast_pipeline::traces::{LabelledTrace, LabelledTraces, in_common};
use dropcast_reports::words::model::{constant_warning, forest_line, metrics_table};
use dropcast_reports::words::resources::resources_text;
use dropcast_train::{BatchSource, TrainedModel};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// Rows that a thread scores at once.
const SCORED_ROWS: usize = 1 << 17;

/// A model.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct Model(pub(crate) ModelFile);

impl Model {
    pub(crate) fn of(model: TrainedModel) -> Self {
        Model(ModelFile::in_memory("model", model))
    }

    /// Columns of rows, one per feature, and how many rows.
    fn columns<'a>(
        &self,
        py: Python<'_>,
        columns: &'a [PyReadonlyArray1<'_, u32>],
    ) -> PyResult<(Vec<&'a [u32]>, usize)> {
        let columns = columns.iter().map(|column| column.as_slice());
        let columns: Vec<&[u32]> = columns.collect::<Result<_, _>>()?;
        let rows = columns.first().map_or(0, |column| column.len());
        let features = self.0.model.features.len();
        if columns.len() != features || columns.iter().any(|column| column.len() != rows) {
            let message = format!("has {} columns, the model {features} features", columns.len());
            return Err(errors::exception(py, true, &format!("X: {message}")));
        }
        Ok((columns, rows))
    }
}

#[pymethods]
impl Model {
    /// Reads a `model.json`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        work::detached(py, || ModelFile::read(&path)).map(Model)
    }

    /// Reads the text of a `model.json`.
    #[staticmethod]
    fn of_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let model = TrainedModel::from_json(text);
        model.map(Model::of).map_err(|error| errors::argument(py, "model", &error))
    }

    /// The text of a `model.json`.
    fn to_json(&self) -> String {
        self.0.model.to_json()
    }

    #[getter]
    fn features(&self) -> Vec<String> {
        self.0.model.features.names()
    }

    #[getter]
    fn vote_threshold(&self) -> u32 {
        self.0.model.forest.vote_threshold
    }

    #[getter]
    fn trees(&self) -> usize {
        self.0.model.forest.trees.len()
    }

    #[getter]
    fn depth(&self) -> usize {
        self.0.model.forest.depth()
    }

    #[getter]
    fn sha256(&self) -> &str {
        &self.0.sha256
    }

    /// The forest in a line, and its metrics.
    fn text(&self) -> String {
        let model = &self.0.model;
        let metrics = model.metrics.as_ref().map_or_else(String::new, metrics_table);
        let features = model.features.names().join(" ");
        format!("model on {features}\n{}{metrics}", forest_line(model))
    }

    /// Scores of rows that are columns, one per feature.
    fn score_columns<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, u32>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let threads = resources(py, threads, None, None)?.threads();
        let (columns, rows) = self.columns(py, &columns)?;
        let scores = py.detach(|| {
            let scorer = ForestScorer::new(&self.0.model.forest);
            in_parts(&columns, rows, threads, |part| scorer.score_columns(part))
        });
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The mean over the trees of the share of drops in the leaf of rows that are columns, one per feature.
    fn mean_shares<'py>(
        &self,
        py: Python<'py>,
        shares: PyRef<'py, LeafShares>,
        columns: Vec<PyReadonlyArray1<'py, u32>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let threads = resources(py, threads, None, None)?.threads();
        let (columns, rows) = self.columns(py, &columns)?;
        let shares = &shares.0;
        let means = py.detach(|| in_parts(&columns, rows, threads, |part| shares.means(part)));
        Ok(PyArray1::from_vec(py, means))
    }

    /// How much the splits by each feature lower the Gini impurity of rows that are columns with these labels, as a share of that
    /// of all features.
    fn gini_shares<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, u32>>,
        drop: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (columns, rows) = self.columns(py, &columns)?;
        let drop = drop.as_slice()?;
        if drop.len() != rows {
            let message = format!("y: has {} labels, X {rows} rows", drop.len());
            return Err(errors::exception(py, true, &message));
        }
        let shares = py.detach(|| gini_shares(&self.0.model.forest, &columns, drop));
        Ok(PyArray1::from_vec(py, shares))
    }

    /// Scores of the rows of a trace, whose bytes are scaled to the model's buffer.
    fn score_trace<'py>(
        &self,
        py: Python<'py>,
        bar: &Bound<'py, PyAny>,
        trace: PyRef<'py, Trace>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (model, trace) = (&self.0.model, trace.trace.clone());
        let scores = work::run(py, bar, |progress| {
            progress.begin("score");
            let traces = LabelledTraces::for_model(vec![trace], model)?;
            let scorer = ForestScorer::new(&model.forest);
            let mut scores = Vec::new();
            for batch in traces.batches()? {
                if progress.is_cancelled() {
                    return Err(PipelineError::Cancelled);
                }
                let batch = batch?.batch;
                scores.extend(scorer.score_columns(&batch.features));
                progress.advance(batch.len());
            }
            Ok(scores)
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The files of an export: their names and contents.
    fn export_files(
        &self,
        py: Python<'_>,
        targets: Vec<String>,
        switch: Option<PathBuf>,
    ) -> PyResult<Vec<(String, Vec<u8>)>> {
        let targets = read_targets(py, &targets)?;
        let files = work::detached(py, || self.0.export_files(&targets, switch.as_deref()))?;
        Ok(files.into_iter().map(|file| (file.name, file.bytes)).collect())
    }

    /// Writes the files of an export; returns their paths.
    fn export(
        &self,
        py: Python<'_>,
        targets: Vec<String>,
        switch: Option<PathBuf>,
        folder: PathBuf,
    ) -> PyResult<Vec<PathBuf>> {
        let targets = read_targets(py, &targets)?;
        let written = work::detached(py, || self.0.export(&targets, switch.as_deref(), &folder))?;
        Ok(written.into_iter().map(|file| file.path).collect())
    }

    /// Builds, runs and compares exports. Returns what came of it as JSON, and why it is not
    /// verified.
    #[expect(clippy::too_many_arguments, reason = "those of the command")]
    fn verify(
        &self,
        py: Python<'_>,
        bar: &Bound<'_, PyAny>,
        targets: Vec<String>,
        rows: usize,
        trace: Option<PyRef<'_, Trace>>,
        seed: u64,
        time: bool,
    ) -> PyResult<(String, Vec<String>)> {
        let task = VerificationTask {
            targets: read_targets(py, &targets)?,
            random_rows: rows,
            seed,
            trace: trace.map(|trace| trace.trace.clone()),
            time,
            switch: None,
            files: None,
        };
        let file = &self.0;
        let found = work::run(py, bar, |progress| verify_exports(file, &task, progress))?;
        Ok((errors::to_json(py, &found)?, found.failures()))
    }

    /// What it takes as tables, as JSON and as text; with `measure` also what tools measure.
    fn resources(
        &self,
        py: Python<'_>,
        bar: &Bound<'_, PyAny>,
        measure: bool,
    ) -> PyResult<(String, String)> {
        let found = work::run(py, bar, |progress| resources_of(&self.0, measure, progress))?;
        Ok((errors::to_json(py, &found)?, resources_text(&found)))
    }

    /// The model with thresholds for a switch with another buffer.
    fn for_buffer(&self, py: Python<'_>, buffer_bytes: NonZeroU32) -> PyResult<Self> {
        work::detached(py, || self.0.for_buffer(buffer_bytes)).map(Model::of)
    }
}

/// What `work` finds of each row of columns, by parts of the rows on several threads.
fn in_parts<T: Clone + Send>(
    columns: &[&[u32]],
    rows: usize,
    threads: NonZeroUsize,
    work: impl Fn(&[&[u32]]) -> Vec<T> + Sync,
) -> Vec<T> {
    let parts: Vec<_> = (0..rows).step_by(SCORED_ROWS).collect();
    let parts = Threads::new(threads).map(parts, |from| {
        let to = rows.min(from + SCORED_ROWS);
        let part: Vec<&[u32]> = columns.iter().map(|&column| &column[from..to]).collect();
        work(&part)
    });
    parts.concat()
}

/// The shares of drops in the leaves of a model, which its file does not hold.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct LeafShares(pub(crate) dropcast_train::LeafShares);

#[pymethods]
impl LeafShares {
    #[new]
    fn of_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let shares = serde_json::from_str(text);
        shares.map(LeafShares).map_err(|error| errors::argument(py, "leaf_shares", &error))
    }

    /// By tree, its nodes and the shares of its leaves; the weight of a leaf is its number.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        errors::to_json(py, &self.0)
    }

    /// For pickles.
    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<(String,)> {
        Ok((self.to_json(py)?,))
    }
}

fn read_targets(py: Python<'_>, names: &[String]) -> PyResult<Vec<Target>> {
    names.iter().map(|name| text(py, "target", name)).collect()
}

/// Names of the export targets.
#[pyfunction]
pub(crate) fn targets() -> Vec<&'static str> {
    Target::all().iter().map(|target| target.name()).collect()
}

/// Names of the features, or of those in a set.
#[pyfunction]
pub(crate) fn features(py: Python<'_>, names: Option<&str>) -> PyResult<Vec<String>> {
    let set = names.map_or_else(|| Ok(FeatureSet::all()), |names| text(py, "features", names))?;
    Ok(set.names())
}

/// What is given of a forest besides its nodes.
#[derive(FromPyObject)]
pub(crate) struct Import {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    features: Option<String>,
    #[pyo3(item)]
    switch: Option<Described>,
    #[pyo3(item)]
    threshold: Option<f64>,
    #[pyo3(item)]
    allow_rounding: bool,
}

impl Import {
    fn task(self, py: Python<'_>, format: Option<&str>) -> PyResult<ImportTask> {
        let format: Option<ImportFormat> =
            format.map(|name| text(py, "format", name)).transpose()?;
        let switch = self.switch.map(|switch| switch.switch(py)).transpose()?;
        let switch = switch.map(|file| in_common(file.specs.all()));
        Ok(ImportTask {
            format,
            features: self.features.map(|names| text(py, "features", &names)).transpose()?,
            switch: switch.unwrap_or_else(SwitchContext::default),
            threshold: self.threshold,
            allow_rounding: self.allow_rounding,
            name: self.name,
            sha256: String::new(),
        })
    }
}

/// A model, and a warning where it predicts the same for every packet.
type Imported = (Model, Option<&'static str>);

fn imported(model: TrainedModel) -> Imported {
    let warning = constant_warning(&model.forest);
    (Model::of(model), warning)
}

/// Imports a forest from the bytes that its tool writes.
#[pyfunction]
pub(crate) fn import_bytes(
    py: Python<'_>,
    bytes: &[u8],
    format: Option<&str>,
    task: Import,
) -> PyResult<Imported> {
    let task = ImportTask { sha256: sha256(bytes), ..task.task(py, format)? };
    let model = py.detach(|| import(bytes, &task)).map(|imported| imported.model);
    model.map(imported).map_err(|error| errors::argument(py, &task.name, &error))
}

/// Imports a forest from a file that its tool wrote.
#[pyfunction]
pub(crate) fn import_file(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    task: Import,
) -> PyResult<Imported> {
    let task = task.task(py, format)?;
    work::detached(py, || read_forest(&path, task)).map(|found| imported(found.model))
}

/// A tree as arrays: left, right, feature, threshold, margin.
type Arrays = (Vec<i64>, Vec<i64>, Vec<i64>, Vec<f64>, Vec<f64>);

/// Imports a classification forest from the arrays of its nodes. `text` is hashed as its content.
#[pyfunction]
pub(crate) fn import_trees(
    py: Python<'_>,
    trees: Vec<Arrays>,
    columns: usize,
    tool: &str,
    task: Import,
) -> PyResult<Imported> {
    let of = |(left, right, feature, threshold, margin)| ArrayTree {
        left,
        right,
        feature,
        threshold,
        margin,
    };
    let trees: Vec<ArrayTree> = trees.into_iter().map(of).collect();
    let hash = sha256(format!("{trees:?}").as_bytes());
    let task = ImportTask { sha256: hash, ..task.task(py, None)? };
    let model = py.detach(|| import_arrays(&trees, columns, tool, &task));
    model.map(imported).map_err(|error| errors::argument(py, &task.name, &error))
}

/// The traces of Python's objects.
pub(crate) fn traces_of(traces: &[PyRef<'_, Trace>]) -> Vec<LabelledTrace> {
    traces.iter().map(|trace| trace.trace.clone()).collect()
}
