//! Vote thresholds of forests that are trained.

use crate::PipelineError;
use crate::replays::Replays;
use dropcast_forest::Forest;
use dropcast_replay::VoteChoice;
use dropcast_train::{Fitted, Part, VoteError, VoteRule};

/// Gives a forest the vote threshold that `rule` chooses without a replay.
pub(crate) fn choose_vote(rule: VoteRule, fitted: &mut Fitted) -> Result<(), VoteError> {
    let (ports, trees) = (fitted.model.switch.ports, fitted.model.forest.trees.len());
    let chosen = rule.choose(fitted.vote_scores(), trees, ports)?;
    fitted.set_vote(rule, chosen.threshold);
    Ok(())
}

/// Gives forests the vote thresholds that `rule` chooses. If it replays, one pass serves all.
pub(crate) fn choose_votes(
    rule: VoteRule,
    replays: &Replays<'_>,
    fitted: &mut [Fitted],
) -> Result<(), PipelineError> {
    let Some(first) = fitted.first() else { return Ok(()) };
    let ports = first.model.switch.ports;
    let scores: Vec<_> = fitted.iter().map(Fitted::vote_scores).collect();
    let Some(choice) = VoteChoice::new(rule, &scores, ports) else {
        return Ok(fitted.iter_mut().try_for_each(|fitted| choose_vote(rule, fitted))?);
    };
    let validates = first.validation_scores.totals() != (0, 0);
    let part = if validates { Part::Validation } else { Part::Train };
    let forests: Vec<&Forest> = fitted.iter().map(|fitted| &fitted.model.forest).collect();
    let sent = replays.replay(part, &forests, choice.lanes())?;
    for (fitted, chosen) in fitted.iter_mut().zip(choice.choose(&sent.lanes)) {
        if let Some(chosen) = chosen {
            fitted.set_vote(rule, chosen.threshold);
        }
    }
    Ok(())
}
