//! Figure 15 of the Credence paper: prediction scores against the number of trees.

use dropcast_arrivals::LeafWorkload;
use dropcast_collect::Tracer;
use dropcast_data::{EventFiles, EventOptions};
use dropcast_features::FeatureSet;
use dropcast_forest::PartMetrics;
use dropcast_measure::ModelSource;
use dropcast_measure::measure::{ReportRows, measure};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::generate::{WorkloadSettings, generate};
use dropcast_pipeline::collect::{TraceFile, collect};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::{choose_split, train_on};
use dropcast_reports::figure15::DEPTH;
use dropcast_train::{Share, SplitBy, SplitSettings, VoteRule};
use std::path::{Path, PathBuf};

/// Numbers of trees that are measured, as in the paper's figure: 1 to 128.
pub const TREES: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// What is generated to measure on.
pub(super) const GENERATED: [&str; 2] = ["events.parquet", "trace.parquet"];

/// How rows are split and the vote threshold is chosen.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// What the figure calls it.
    pub name: &'static str,
    /// The settings; the number of trees varies.
    pub settings: TrainSettings,
}

/// The scores of one forest on its test rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig15Row {
    /// The recipe's name.
    pub recipe: &'static str,
    /// Number of trees.
    pub trees: u16,
    /// Scores on the test rows.
    pub metrics: PartMetrics,
    /// Exact eta in packets by replay of the test rows; none where they cannot be replayed.
    pub eta: Option<f64>,
}

/// The paper's recipe, and ours. Both train on the paper's four features, and inherit no default
/// of the command.
pub fn recipes(seed: u64) -> [Recipe; 2] {
    let settings = |by, vote| TrainSettings {
        max_depth: DEPTH,
        features: FeatureSet::paper4(),
        vote: Some(vote),
        split: SplitSettings {
            by,
            train_share: Some(0.6),
            validation_share: Some(0.0),
            ..SplitSettings::default()
        },
        seed,
        ..TrainSettings::default()
    };
    [
        Recipe {
            name: "paper: random split, vote 0.5",
            settings: settings(SplitBy::Random, VoteRule::Fixed(Share::HALF)),
        },
        Recipe {
            name: "ours: split by time, vote chosen for F1",
            settings: settings(SplitBy::Time, VoteRule::F1),
        },
    ]
}

/// The scores of the forests of a recipe on labelled traces, by number of trees.
///
/// # Errors
/// If a trace cannot be read or trained on.
fn measure_recipe(
    recipe: &Recipe,
    traces: &LabelledTraces,
    progress: &dyn Progress,
) -> Result<Vec<Fig15Row>, PipelineError> {
    let mut rows = Vec::new();
    let split = choose_split(traces, &recipe.settings.split.check()?, progress)?;
    for trees in TREES {
        let settings = TrainSettings { n_estimators: trees, seeds: 1, ..recipe.settings.clone() };
        let model = train_on(traces, &split, &settings, &Resources::default(), progress)?.model;
        let report = measure(
            &model,
            ModelSource::default(),
            traces,
            ReportRows::Unseen,
            &Default::default(),
            progress,
        )?;
        let eta = report.replay.and_then(|replay| replay.total.eta.packets);
        if let Some(metrics) = model.metrics.and_then(|metrics| metrics.test) {
            rows.push(Fig15Row { recipe: recipe.name, trees, metrics, eta });
        }
    }
    Ok(rows)
}

/// The scores of both recipes on the same labelled traces, which must not change meanwhile.
pub(super) fn measure_recipes(
    data: &[PathBuf],
    seed: u64,
    progress: &dyn Progress,
) -> Result<[(Recipe, Vec<Fig15Row>); 2], PipelineError> {
    let traces = LabelledTraces::open(data, &FeatureSet::paper4())?;
    let measure = |recipe: Recipe| -> Result<_, PipelineError> {
        let traces = traces.with_features(recipe.settings.features.clone());
        let rows = measure_recipe(&recipe, &traces, progress)?;
        Ok((recipe, rows))
    };
    let [paper, ours] = recipes(seed).map(measure);
    Ok([paper?, ours?])
}

/// The labelled trace of a generated workload, in a folder.
pub(super) fn generate_trace(
    folder: &Path,
    seed: u64,
    progress: &dyn Progress,
) -> Result<PathBuf, PipelineError> {
    let [events, trace] = GENERATED.map(|name| folder.join(name));
    let workload = LeafWorkload { seed, ..LeafWorkload::loaded() };
    generate(&WorkloadSettings::Leaf(workload), &events, progress)?;
    let reader = EventFiles::open(std::slice::from_ref(&events), &EventOptions::default())?;
    let specs = reader.specs().clone();
    let settings = TracerSettings::default();
    let most_waiting = Tracer::DEFAULT_MAX_WAITING_ROWS;
    let collected = collect::<TraceFile>(reader, specs, &settings, most_waiting, trace, progress)?;
    Ok(collected.trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::InputNote;
    use std::fs;
    use std::sync::Mutex;

    /// Counts stages, and puts another file in place of the trace after one of them.
    struct Swapping<'a> {
        at: usize,
        ended: Mutex<usize>,
        paths: [&'a Path; 2],
    }

    impl Progress for Swapping<'_> {
        fn begin(&self, _: &'static str) {}
        fn advance(&self, _: usize) {}
        fn estimate(&self, _: u64, _: u64) {}
        fn restart(&self) {}
        fn note(&self, _: &str) {}
        fn input_note(&self, _: Option<&Path>, _: InputNote, _: u64) {}
        fn end(&self, _: &str) {
            let mut ended = self.ended.lock().unwrap();
            *ended += 1;
            if *ended == self.at {
                fs::copy(self.paths[0], self.paths[1]).unwrap();
            }
        }
    }

    fn trace(folder: &Path, seed: u64) -> PathBuf {
        let [events, trace] =
            ["events", "trace"].map(|what| folder.join(format!("{what}-{seed}.parquet")));
        let workload = LeafWorkload {
            seed,
            servers: 4,
            uplinks: 2,
            buffer_bytes: 60_000,
            flow_rate: 1.0,
            incast_per_server_hz: 900.0,
            duration_ns: 8_000_000,
            ..LeafWorkload::loaded()
        };
        generate(
            &WorkloadSettings::Leaf(workload.clone()),
            &events,
            &dropcast_pipeline::progress::Silent,
        )
        .unwrap();
        let reader = EventFiles::open(&[events], &EventOptions::default()).unwrap();
        let specs = reader.specs().clone();
        let silent = &dropcast_pipeline::progress::Silent;
        let settings = TracerSettings::default();
        collect::<TraceFile>(reader, specs, &settings, 1 << 23, trace, silent).unwrap().trace
    }

    #[test]
    fn both_halves_are_of_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (trace(folder.path(), 1), trace(folder.path(), 2));
        let data = [folder.path().join("data.parquet")];
        fs::copy(&one, &data[0]).unwrap();
        let paths = [&*other, &*data[0]];
        let counting = Swapping { at: usize::MAX, ended: Mutex::new(0), paths };
        let measured = measure_recipes(&data, 1, &counting).unwrap();
        assert_eq!(measured.map(|(_, rows)| rows.len()), [TREES.len(); 2]);
        // Between the halves.
        let at = *counting.ended.lock().unwrap() / 2;
        let swapping = Swapping { at, ended: Mutex::new(0), paths };
        let error = measure_recipes(&data, 1, &swapping).unwrap_err();
        // A reading of the trace failed, and so its training.
        assert!(format!("{error:?}").contains("changed while it was read"), "{error:?}");
    }
}
