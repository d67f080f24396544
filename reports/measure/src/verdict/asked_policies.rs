//! Policies that the user asks for.

use dropcast_pipeline::PipelineError;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::oracle_file::{OraclesByName, read_for_switch};
use dropcast_replay::OwnPolicy;
use dropcast_switch::ModelKind;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A policy of the caller's own.
#[derive(Clone)]
pub struct NamedOwnPolicy {
    /// What reports call it.
    pub label: String,
    /// Makes it.
    pub policy: OwnPolicy,
}

impl fmt::Debug for NamedOwnPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedOwnPolicy").field(&self.label).finish()
    }
}

/// Policies that are replayed beside the others, and when one of all is worth a change.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AskedPolicies {
    /// A policy to replay beside the others, such as abm or dt:alpha=8 (docs/policies.md). May be repeated.
    #[cfg_attr(feature = "clap", arg(id = "policy", long = "policy", value_name = "POLICY"))]
    pub policies: Vec<NamedPolicy>,
    /// What share of the lost bytes a policy has to save to be worth a change: 0 to 1 [default: 0.05].
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE"))]
    pub least_gain: Option<f64>,
    /// Those of the caller's own, after these.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub own: Vec<NamedOwnPolicy>,
    /// The oracles that policies name, once they are read.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub oracles: OraclesByName,
}

/// [`AskedPolicies::least_gain`] by default.
pub const LEAST_GAIN: f64 = 0.05;

impl AskedPolicies {
    /// Reads the oracles that policies name.
    ///
    /// # Errors
    /// If one cannot be read or asks for features of the user's own, a policy needs a network, or the least gain is no share.
    pub fn with_oracles(&self) -> Result<Self, PipelineError> {
        let mut asked = self.clone();
        if self.least_gain.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(PipelineError::setting("least_gain", "expected a share, 0 to 1"));
        }
        for NamedPolicy { label, spec } in &self.policies {
            if spec.model_kind() == Some(ModelKind::Network) {
                let problem =
                    "needs a network, which only runs in the fabric (`dropcast-lab simulate`)";
                return Err(PipelineError::setting("policy", format!("{label}: {problem}")));
            }
            let Some(name) = spec.model() else { continue };
            if !asked.oracles.contains_key(name) {
                let oracle = Arc::new(read_for_switch(Path::new(name))?.executed());
                asked.oracles.insert(name.to_owned(), oracle);
            }
        }
        Ok(asked)
    }
}
