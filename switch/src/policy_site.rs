//! Where a policy is built.

use crate::ndt_network::NdtNetwork;
use crate::{AlwaysAccept, BuildError, Fit, Flipped, LineRate, Predictor, Victim};
use dropcast_data::SwitchSpec;

/// The context a policy is built in: its switch and its other inputs.
pub struct PolicySite<'a, S = LineRate> {
    /// The switch.
    pub spec: &'a SwitchSpec,
    /// When a packet fits, also into the virtual buffer of FollowLQD and Credence.
    pub fit: Fit,
    /// Serves virtual queues: of the switch's own time model, and paused as the switch is.
    pub service: S,
    /// Whom LQD pushes out, also virtually.
    pub victim: Victim,
    /// Seed of the policy's randomness.
    pub seed: u64,
    /// The content of the file that [`crate::PolicySpec::model`] names.
    pub model: Option<PolicyModel>,
}

impl<'a> PolicySite<'a> {
    /// A switch with the defaults of labels, served at line rate, and no model.
    pub fn new(spec: &'a SwitchSpec, seed: u64) -> Self {
        let (fit, victim) = (Fit::default(), Victim::default());
        PolicySite { spec, fit, service: LineRate::new(spec), victim, seed, model: None }
    }
}

impl<'a, S> PolicySite<'a, S> {
    /// The same site with virtual queues served by `service`.
    pub fn served_by<T>(self, service: T) -> PolicySite<'a, T> {
        let PolicySite { spec, fit, service: _, victim, seed, model } = self;
        PolicySite { spec, fit, service, victim, seed, model }
    }

    /// The oracle of a policy whose parameters name its file, or give none: then no drop is ever predicted.
    /// Predictions are flipped with `flip_probability`. Takes the model.
    pub(crate) fn predictor(
        &mut self,
        policy: &'static str,
        file: Option<&str>,
        flip_probability: f64,
    ) -> Result<Box<dyn Predictor + Send>, BuildError> {
        let predictor: Box<dyn Predictor + Send> = match (self.model.take(), file) {
            (Some(PolicyModel::Predictor(predictor)), _) => of_queues(predictor)?,
            (None, None) => Box::new(AlwaysAccept),
            _ => return Err(BuildError::NoModel { policy, expected: "drop oracle" }),
        };
        match flip_probability {
            0.0 => Ok(predictor),
            flips if (0.0..=1.0).contains(&flips) => {
                Ok(Box::new(Flipped::new(predictor, flips, self.seed)))
            }
            _ => Err(BuildError::parameter("flip_probability", "expected 0 to 1")),
        }
    }
}

/// Refuses a model of followers where LQD's drops are asked for.
pub(crate) fn of_queues(
    predictor: Box<dyn Predictor + Send>,
) -> Result<Box<dyn Predictor + Send>, BuildError> {
    if predictor.features().looks_at_flows() {
        let problem = "has features of flows, expected a drop oracle; ask it by the policy reserve";
        return Err(BuildError::parameter("model", problem));
    }
    Ok(predictor)
}

/// A trained model, read by the caller.
pub enum PolicyModel {
    /// An oracle, for Credence and its kin.
    Predictor(Box<dyn Predictor + Send>),
    /// A network, for NDT.
    Network(NdtNetwork),
}
