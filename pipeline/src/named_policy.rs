//! A policy as its user names it.

use dropcast_switch::{NameError, PolicySpec};
use serde::{Deserialize, Serialize};

/// A policy as its user names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamedPolicy {
    /// The name.
    pub label: String,
    /// The policy.
    pub spec: PolicySpec,
}

impl TryFrom<String> for NamedPolicy {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Ok(NamedPolicy { spec: text.parse()?, label: text })
    }
}

impl From<PolicySpec> for NamedPolicy {
    /// The policy under the name that is read as it.
    fn from(spec: PolicySpec) -> Self {
        NamedPolicy { label: spec.to_string(), spec }
    }
}

impl From<NamedPolicy> for String {
    fn from(policy: NamedPolicy) -> String {
        policy.label
    }
}

impl std::str::FromStr for NamedPolicy {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.to_owned().try_into()
    }
}
