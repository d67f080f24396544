//! The best model of each feature set, squeezed into the sweep's budget.

use super::folder::{BestKey, SweepFolder};
use super::settings::SweepSettings;
use super::swept_rows::{PartScores, SweptRows};
use crate::PipelineError;
use crate::progress::Progress;
use crate::resources::Resources;
use crate::table_cost::TableCost;
use crate::train::train_on;
use dropcast_train::{Budget, SweepBest, SweepRow, SweepTable};
use serde::{Deserialize, Serialize};

/// A squeezed model and what was measured on it. The folder keeps it, so that it is not squeezed
/// again when the sweep is resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SqueezedBest {
    best: SweepBest,
    /// The text of its `model.json`.
    model: String,
}

/// A sweep whose best models are squeezed.
pub(super) struct BestSqueezing<'a> {
    pub(super) settings: &'a SweepSettings,
    pub(super) budget: &'a Budget,
    pub(super) rows: &'a SweptRows,
    pub(super) folder: &'a SweepFolder,
    pub(super) resources: &'a Resources,
}

impl BestSqueezing<'_> {
    /// Puts squeezed models in place of the best of each feature set, in `table` and in `models`.
    pub(super) fn replace(
        &self,
        table: &mut SweepTable,
        models: &mut [(String, String)],
        progress: &dyn Progress,
    ) -> Result<(), PipelineError> {
        for best in &mut table.best {
            let row = &table.rows[best.row];
            let key = BestKey {
                tool: &table.tool,
                data: &self.rows.hashes(),
                split: self.rows.split(),
                eta: self.rows.eta,
                budget: self.budget,
                setting: &row.setting,
                seed: row.seed,
            };
            let squeezed = match self.folder.finished_best(&key)? {
                Some(squeezed) => squeezed,
                None => {
                    let squeezed = self.squeeze(row, best, progress)?;
                    self.folder.keep_best(&key, &squeezed)?;
                    squeezed
                }
            };
            // Its place may be another if the axes have changed since.
            let (row, file) = (best.row, best.model.clone());
            if let Some((_, text)) = models.iter_mut().find(|(name, _)| *name == file) {
                *text = squeezed.model;
            }
            *best = SweepBest { row, model: file, ..squeezed.best };
        }
        table.budget = Some(self.budget.clone());
        Ok(())
    }

    /// Trains the configuration of `row` within the budget, as
    /// [`train`](crate::train::train) does.
    fn squeeze(
        &self,
        row: &SweepRow,
        best: &SweepBest,
        progress: &dyn Progress,
    ) -> Result<SqueezedBest, PipelineError> {
        let settings = self.settings.train_settings(&row.setting, row.seed)?;
        let traces = self.rows.traces.with_features(settings.features.clone());
        let fitted = train_on(&traces, &self.rows.chosen, &settings, self.resources, progress)?;
        let by_vote = [vec![fitted]];
        let mut scores = self.rows.measure(&by_vote, &self.rows.replays(row.seed))?;
        let PartScores { train, validation, test } =
            scores.pop().expect("one forest has one threshold");
        let model = &by_vote[0][0].model;
        let best = SweepBest {
            vote_threshold: model.forest.vote_threshold,
            train,
            validation,
            test,
            size: TableCost::new(&model.features).size(&model.forest),
            ..best.clone()
        };
        Ok(SqueezedBest { best, model: model.to_json() })
    }
}
