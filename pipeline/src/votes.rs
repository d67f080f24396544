//! Vote thresholds of forests that are trained.

use crate::PipelineError;
use crate::replays::{PartReplay, Replays};
use dropcast_forest::Forest;
use dropcast_train::{Fitted, Part, VoteRule};

/// Gives forests the vote thresholds that `rule` chooses. If it replays, one pass serves all.
pub(crate) fn choose_votes(
    rule: VoteRule,
    replays: &Replays<'_>,
    fitted: &mut [Fitted],
) -> Result<(), PipelineError> {
    let forests: Vec<Forest> = fitted.iter().map(|fitted| fitted.model.forest.clone()).collect();
    let validates = fitted.iter().any(|fitted| fitted.validation_scores.totals() != (0, 0));
    let part = if validates { Part::Validation } else { Part::Train };
    let replay = PartReplay { replays, part, forests: forests.iter().collect() };
    Fitted::choose_votes(fitted, rule, &replay)
}
