//! Labelled traces by what they are for, and how they are divided.

use crate::PipelineError;
use crate::progress::{Progress, check};
use crate::settings::TrainSettings;
use crate::traces::kept_rows::Counted;
use crate::traces::{EPISODE_GAP_RTTS, LabelledTrace, LabelledTraces};
use dropcast_features::FeatureSet;
use dropcast_train::{BatchSource, ChosenSplit, Split, SplitChoice};
use std::path::PathBuf;

/// Traces by their role in training. `T` is a file, an open trace, or a fact about it.
#[derive(Clone, Debug)]
pub struct Roles<T> {
    /// Divided by the split; all of them train if there are others.
    pub data: Vec<T>,
    /// The vote threshold is chosen on them.
    pub validation: Vec<T>,
    /// The model is measured on them.
    pub test: Vec<T>,
}

impl<T> Roles<T> {
    /// Traces that the split divides.
    pub fn of(data: Vec<T>) -> Self {
        Roles { data, validation: Vec::new(), test: Vec::new() }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &T> + Clone {
        [&self.data, &self.validation, &self.test].into_iter().flatten()
    }

    /// Whether some traces are kept apart whole, so that none is divided.
    pub(crate) fn are_kept_apart(&self) -> bool {
        !self.validation.is_empty() || !self.test.is_empty()
    }

    /// Applies `of` to the traces of each role.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn map<U, E>(&self, of: impl Fn(&[T]) -> Result<Vec<U>, E>) -> Result<Roles<U>, E> {
        let Roles { data, validation, test } = self;
        Ok(Roles { data: of(data)?, validation: of(validation)?, test: of(test)? })
    }
}

/// An input of training: a file, or an open trace.
pub trait TrainInput: Clone {
    /// Opens traces with these features.
    ///
    /// # Errors
    /// If one cannot be opened.
    fn open_all(
        traces: &[Self],
        features: &FeatureSet,
    ) -> Result<Vec<LabelledTrace>, PipelineError>;

    /// Its file, if it is one.
    fn file(&self) -> Option<&PathBuf>;
}

impl TrainInput for PathBuf {
    fn open_all(
        paths: &[Self],
        features: &FeatureSet,
    ) -> Result<Vec<LabelledTrace>, PipelineError> {
        LabelledTrace::open_all(paths, &features.names())
    }

    fn file(&self) -> Option<&PathBuf> {
        Some(self)
    }
}

impl TrainInput for LabelledTrace {
    fn open_all(traces: &[Self], _: &FeatureSet) -> Result<Vec<LabelledTrace>, PipelineError> {
        Ok(traces.to_vec())
    }

    fn file(&self) -> Option<&PathBuf> {
        None
    }
}

impl<T: TrainInput> Roles<T> {
    /// Opens all of them, which must have these features.
    ///
    /// # Errors
    /// If a trace cannot be opened.
    pub fn open(&self, features: &FeatureSet) -> Result<Roles<LabelledTrace>, PipelineError> {
        self.map(|traces| T::open_all(traces, features))
    }
}

impl Roles<LabelledTrace> {
    /// All of them, and how they are divided: as the settings say, which must not where some are
    /// kept apart. Their rows are kept in memory if they take no more than `most_kept_bytes`
    /// ([`kept_bytes`](crate::resources::Resources::kept_bytes)).
    ///
    /// # Errors
    /// If a setting is wrong or rows cannot be read, and those of [`choose_split`].
    pub fn divided(
        self,
        settings: &TrainSettings,
        most_kept_bytes: usize,
        progress: &dyn Progress,
    ) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
        if self.are_kept_apart() {
            refuse_split(settings, ROLES_ARE_WHOLE)?;
        }
        self.divide(&settings.features, &settings.split.check()?, most_kept_bytes, progress)
    }

    /// All of them, and how they are divided: as [`choose_split`] says, unless some are kept apart.
    /// Their rows are kept in memory if they take no more than `most_kept_bytes`.
    ///
    /// # Errors
    /// If rows cannot be read, and those of [`LabelledTraces::new`] and [`choose_split`].
    pub(crate) fn divide(
        self,
        features: &FeatureSet,
        choice: &SplitChoice,
        most_kept_bytes: usize,
        progress: &dyn Progress,
    ) -> Result<(LabelledTraces, ChosenSplit), PipelineError> {
        let runs = |traces: &[LabelledTrace]| {
            let mut runs: Vec<u64> = traces.iter().map(|trace| trace.origin.run).collect();
            runs.sort_unstable();
            runs
        };
        let kept_apart = self
            .are_kept_apart()
            .then(|| Split::Runs { test: runs(&self.test), validation: runs(&self.validation) });
        let traces = [self.data, self.validation, self.test].concat();
        let mut traces = LabelledTraces::new(traces, features)?;
        if most_kept_bytes > 0 {
            traces.keep(most_kept_bytes, progress)?;
        }
        let chosen = match kept_apart {
            Some(split) => split.into(),
            None => choose_split(&traces, choice, progress)?,
        };
        Ok((traces, chosen))
    }
}

/// The split of traces: the one that is stated, or the first with drops in every part. Which one and
/// why is noted, if others were passed over, and if it cuts within an episode of drops.
///
/// # Errors
/// If the rows decide: if they cannot be read, or no split has drops in every part.
pub fn choose_split(
    traces: &LabelledTraces,
    choice: &SplitChoice,
    progress: &dyn Progress,
) -> Result<ChosenSplit, PipelineError> {
    // Times and labels alone are read, unless all is in memory.
    let without_features = traces.with_features(FeatureSet::none());
    let source = if traces.lent().is_some() { traces } else { &without_features };
    let chosen = choice.choose(&Counted { source, progress }, source.features().len());
    check(progress)?;
    let chosen = chosen.map_err(|error| traces.explain(error))?;
    if let Some(why) = chosen.why() {
        progress.note(&why);
    }
    let rtts_ns =
        traces.traces().iter().flat_map(|trace| trace.specs()).map(|spec| spec.base_rtt_ns);
    if let (Some(pause_ns), Some(rtt_ns)) = (chosen.shortest_pause_ns, rtts_ns.max())
        && pause_ns <= rtt_ns.saturating_mul(EPISODE_GAP_RTTS)
    {
        progress.note(&format!(
            "the split cuts within an episode of drops: LQD's drops on both sides of a cut are {pause_ns} ns apart, {:.3} \
             base RTTs, so the test rows are like those that train; a longer trace has longer pauses, or keep a trace \
             apart for testing",
            pause_ns as f64 / rtt_ns as f64
        ));
    }
    Ok(chosen)
}

/// Why no file is divided where some have roles.
pub(super) const ROLES_ARE_WHOLE: &str = "with files for validation or testing, files are kept apart whole and none is \
    divided; leave it out";

/// Refuses settings of the split where whole files are kept apart, for this reason.
pub(super) fn refuse_split(settings: &TrainSettings, why: &str) -> Result<(), PipelineError> {
    match settings.split.is_default() {
        true => Ok(()),
        false => Err(PipelineError::setting("split", why)),
    }
}
