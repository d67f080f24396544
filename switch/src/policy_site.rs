//! Where a policy is built.

use crate::policies::ndt::network::Network;
use crate::{Fit, Predictor, Victim};
use dropcast_data::SwitchSpec;

/// Where a policy is built: its switch, and what else it depends on.
pub struct PolicySite<'a> {
    /// The switch.
    pub spec: &'a SwitchSpec,
    /// When a packet fits, also into the virtual buffer of FollowLQD and Credence. Virtual queues
    /// are served at line rate.
    pub fit: Fit,
    /// Whom LQD pushes out, also virtually.
    pub victim: Victim,
    /// What the policy's randomness is drawn from.
    pub seed: u64,
    /// What was read from the file that [`crate::PolicySpec::model`] names.
    pub model: Option<Model>,
}

impl<'a> PolicySite<'a> {
    /// A switch with the defaults of labels, and no model.
    pub fn new(spec: &'a SwitchSpec, seed: u64) -> Self {
        PolicySite { spec, fit: Fit::default(), victim: Victim::default(), seed, model: None }
    }
}

/// Something that was trained. Whoever may open files reads it.
pub enum Model {
    /// An oracle, for Credence.
    Predictor(Box<dyn Predictor + Send>),
    /// A network, for NDT.
    Network(Network),
}
