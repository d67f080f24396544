//! Rows with scores, and packets with verdicts: what one's own code of a model is checked with.

mod cases;
mod traffic;

use crate::checked::Checked;
use crate::decision;
use crate::target::{EmittedFile, Emitter};
use crate::vectors::Vectors;
use crate::{ExportError, Origin};
use cases::Case;
use dropcast_data::{SwitchSpec, Victim};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_runtime::Verdict;
use dropcast_switch::{Credence, Fit, LineRate, Live, Switch};
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

/// A packet that arrives, or leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoldenEvent {
    /// When.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Of one that arrives: the decision about it. None: it leaves.
    pub verdict: Option<Verdict>,
}

/// Packets at a switch under Credence, in time order, on which code must decide alike: the same forest and switch give the
/// same packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenPackets {
    /// Arrivals and departures.
    pub events: Vec<GoldenEvent>,
}

impl GoldenPackets {
    /// What Credence decides about packets that arrive in bursts, and when these leave: its ports and virtual LQD's serve at
    /// line rate, predictions are always followed. Each verdict occurs, and each boundary from both sides.
    ///
    /// # Errors
    /// If the origin has a feature that dropcast does not compute, or something does not occur.
    pub fn new(forest: &Forest, origin: &Origin, switch: &SwitchSpec) -> Result<Self, ExportError> {
        let refuse = |problem| ExportError::Decision { target: TARGET.name, problem };
        let names: Vec<&str> = origin.columns.iter().map(|column| column.name.as_str()).collect();
        let features: FeatureSet =
            names.join(",").parse().map_err(|error| refuse(format!("{error}")))?;
        let live = Live { features, oracle: forest.clone() };
        let (victim, fit, service) = (Victim::default(), Fit::Exact, LineRate::new(switch));
        let policy = Credence::new(switch, victim, fit, service, live);
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

    /// As packet events (`docs/events.md`), with two more columns: why a packet that arrives is accepted or not, and whether, 0 or 1;
    /// nothing and 0 for those that leave.
    pub fn to_csv(&self) -> String {
        let mut text = "time_ns,kind,port,queue,size_bytes,reason,accepted\n".to_owned();
        for &GoldenEvent { time_ns, port, queue, size_bytes, verdict } in &self.events {
            let (kind, accepted) =
                (u8::from(verdict.is_none()), u8::from(verdict.is_some_and(Verdict::accepts)));
            let reason = verdict.map_or("", Verdict::name);
            text += &format!("{time_ns},{kind},{port},{queue},{size_bytes},{reason},{accepted}\n");
        }
        text
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
