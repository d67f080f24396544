//! Rows with scores, and packets with verdicts: what one's own code of a model is checked with.

mod cases;
mod packets;
mod traffic;

pub use packets::{GoldenEvent, GoldenPackets};

use crate::checked::Checked;
use crate::decision;
use crate::target::{EmittedFile, Emitter};
use crate::vectors::Vectors;
use crate::{ExportError, Origin};
use cases::Case;
use dropcast_data::{SwitchSpec, Victim};
use dropcast_features::{Feature, FeatureMemory, FeatureSet};
use dropcast_forest::Forest;
use dropcast_switch::{CredencePolicy, Fit, LineRate, Live, Switch};
use traffic::Traffic;

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

impl GoldenPackets {
    /// What Credence decides about packets that arrive in bursts, and when these leave: its ports and virtual LQD's serve at
    /// line rate, predictions are always followed. Each verdict occurs, and each boundary from both sides.
    ///
    /// # Errors
    /// If the origin has a feature that dropcast does not compute or of flows, or something does not occur.
    pub fn new(forest: &Forest, origin: &Origin, switch: &SwitchSpec) -> Result<Self, ExportError> {
        let refuse = |problem| ExportError::Decision { target: TARGET.name, problem };
        let names: Vec<&str> = origin.columns.iter().map(|column| column.name.as_str()).collect();
        let features: FeatureSet =
            names.join(",").parse().map_err(|error| refuse(format!("{error}")))?;
        let of_flow = |feature: &&Feature| feature.memory() == FeatureMemory::Flows;
        if let Some(&feature) = features.features().iter().find(of_flow) {
            return Err(refuse(decision::no_decision_of_flows(feature)));
        }
        let live = Live { features, oracle: forest.clone() };
        let (victim, fit, service) = (Victim::default(), Fit::Exact, LineRate::new(switch));
        let policy = CredencePolicy::new(switch, victim, fit, service, live);
        let deciding = Switch::new(switch, fit, policy, LineRate::new(switch));
        let traffic = Traffic::new(switch, deciding, Case::all(forest, switch));
        traffic.run().map_err(|(packets, missing)| {
            let missing: Vec<String> =
                missing.iter().map(|case| format!("none {}", case.words())).collect();
            refuse(format!(
                "of {packets} packets that arrive in bursts {}, so that they would not check that",
                missing.join(", ")
            ))
        })
    }
}

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let file = |what: &str, text: String| EmittedFile {
        name: format!("{}_{what}.csv", model.prefix),
        bytes: text.into_bytes(),
    };
    let rows = Vectors::new(model.forest, SEED, RANDOM_ROWS)?;
    let mut files = vec![file("rows", rows.to_csv(model.forest))];
    if let Some(switch) = &model.origin.switch {
        decision::check(model, switch, TARGET.name)?;
        files.push(file(
            "packets",
            GoldenPackets::new(model.forest, model.origin, switch)?.to_csv(),
        ));
    }
    Ok(files)
}
