//! Rows with scores, and packets with verdicts: what one's own code of a model is checked with.

use crate::checked::Checked;
use crate::decision;
use crate::policy_code::{PolicyPackets, decided};
use crate::rule::Rule;
use crate::target::{EmittedFile, Emitter};
use crate::vectors::Vectors;
use crate::{ExportError, Origin};
use dropcast_data::{SwitchSpec, Victim};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_switch::{Credence, Fit, LineRate, Live};

/// Rows and packets.
pub(crate) const TARGET: Emitter = Emitter {
    name: "vectors",
    about: "rows with scores and decisions as CSV, to check your own code; with --switch packets with verdicts",
    decides: true,
    has_layouts: false,
    emit,
};

const SEED: u64 = 1;
const RANDOM_ROWS: usize = 10_000;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let file = |what: &str, text: String| EmittedFile {
        name: format!("{}_{what}.csv", model.prefix),
        bytes: text.into_bytes(),
    };
    let rows = Vectors::new(model.forest, SEED, RANDOM_ROWS)?;
    let mut files = vec![file("rows", rows.to_csv(model.forest))];
    if let Some(switch) = &model.origin.switch {
        decision::check(model, switch, TARGET.name)?;
        files.push(file("packets", credence_packets(model.forest, model.origin, switch)?.to_csv()));
    }
    Ok(files)
}

/// What Credence with a forest decides about 20,000 packets that arrive in bursts, and when these leave: its ports and virtual LQD's serve at
/// line rate, predictions are always followed.
///
/// # Errors
/// If the origin has a feature that dropcast does not compute.
pub fn credence_packets(
    forest: &Forest,
    origin: &Origin,
    switch: &SwitchSpec,
) -> Result<PolicyPackets, ExportError> {
    let names: Vec<&str> = origin.columns.iter().map(|column| column.name.as_str()).collect();
    let features: FeatureSet = names.join(",").parse().map_err(|error| ExportError::Decision {
        target: TARGET.name,
        problem: format!("{error}"),
    })?;
    let live = Live { features, oracle: forest.clone() };
    let (victim, fit, service) = (Victim::default(), Fit::Exact, LineRate::new(switch));
    let policy = Credence::new(switch, victim, fit, service, live);
    Ok(decided(policy, switch, Rule::golden(switch)))
}
