//! Policies that the user asks for.

use crate::PipelineError;
use crate::named_policy::NamedPolicy;
use dropcast_replay::OwnPolicy;
use dropcast_switch::PolicySpec;
use std::fmt;

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

/// Policies that are replayed beside the others.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AskedPolicies {
    /// A policy to replay beside the others, such as abm or dt:alpha=8 (docs/policies.md). May be repeated.
    #[cfg_attr(feature = "clap", arg(id = "policy", long = "policy", value_name = "POLICY"))]
    pub policies: Vec<NamedPolicy>,
    /// Those of the caller's own, after these.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub own: Vec<NamedOwnPolicy>,
}

impl AskedPolicies {
    /// Refuses policies with a model of their own: a replay has the arrivals of a trace, and one model.
    ///
    /// # Errors
    /// For the first of them.
    pub fn check(&self) -> Result<(), PipelineError> {
        for NamedPolicy { label, spec } in &self.policies {
            let problem = match (spec, spec.model()) {
                (PolicySpec::Ndt(_), _) => {
                    "needs a network, which only runs in the fabric (`dropcast simulate --experiment`)".to_owned()
                }
                (_, Some(model)) => format!(
                    "names a model; a report replays Credence with its own (`--model {model}`), and every other policy \
                     with a model runs in the fabric (`dropcast simulate --experiment`)"
                ),
                _ => continue,
            };
            return Err(PipelineError::setting("policy", format!("{label}: {problem}")));
        }
        Ok(())
    }
}
