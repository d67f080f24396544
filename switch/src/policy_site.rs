//! Where a policy is built.

use crate::policies::ndt::network::Network;
use crate::{Fit, Predictor, Victim};
use dropcast_data::SwitchSpec;

/// The context a policy is built in: its switch and its other inputs.
pub struct PolicySite<'a> {
    /// The switch.
    pub spec: &'a SwitchSpec,
    /// When a packet fits, also into the virtual buffer of FollowLQD and Credence. Virtual queues
    /// are served at line rate.
    pub fit: Fit,
    /// Whom LQD pushes out, also virtually.
    pub victim: Victim,
    /// Seed of the policy's randomness.
    pub seed: u64,
    /// The content of the file that [`crate::PolicySpec::model`] names.
    pub model: Option<Model>,
}

impl<'a> PolicySite<'a> {
    /// A switch with the defaults of labels, and no model.
    pub fn new(spec: &'a SwitchSpec, seed: u64) -> Self {
        PolicySite { spec, fit: Fit::default(), victim: Victim::default(), seed, model: None }
    }
}

/// A trained model, read by the caller.
pub enum Model {
    /// An oracle, for Credence.
    Predictor(Box<dyn Predictor + Send>),
    /// A network, for NDT.
    Network(Network),
}
