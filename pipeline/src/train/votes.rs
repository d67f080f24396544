//! Vote thresholds of forests that are trained.

use super::replays::{ForestsReplay, Replays};
use crate::PipelineError;
use dropcast_forest::Forest;
use dropcast_train::{Fitted, VoteRule};

/// Gives forests the vote thresholds that `rule` chooses. If it replays, each pass over a part serves all.
pub(crate) fn choose_votes(
    rule: VoteRule,
    replays: &Replays<'_>,
    fitted: &mut [Fitted],
) -> Result<(), PipelineError> {
    let forests: Vec<Forest> = fitted.iter().map(|fitted| fitted.model.forest.clone()).collect();
    let replay = ForestsReplay { replays, forests: forests.iter().collect() };
    Fitted::choose_votes(fitted, rule, &replay)
}
