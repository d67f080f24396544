//! The policy whose model is chosen in the loop.

use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_switch::{ModelKind, PolicySpec};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A policy that asks a forest, as its user names it without one: `credence`, `oracle:base=dt:alpha=8`. Its model and
/// vote threshold are chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChosenPolicy(NamedPolicy);

impl ChosenPolicy {
    /// What it is without a model: the base of an oracle; Credence and its kin accept whatever their thresholds allow.
    pub fn alone(&self) -> NamedPolicy {
        self.0.spec.base().map_or_else(|| self.0.clone(), |base| base.clone().into())
    }

    /// Whether [`alone`](Self::alone) is a policy of another name.
    pub fn has_base(&self) -> bool {
        self.0.spec.base().is_some()
    }

    /// What runs with a model of this name, or without one.
    pub(crate) fn with(&self, model: Option<&str>) -> NamedPolicy {
        let with_model = |name| self.0.spec.clone().with_model(name).into();
        model.map_or_else(|| self.alone(), with_model)
    }
}

/// Credence.
impl Default for ChosenPolicy {
    fn default() -> Self {
        ChosenPolicy(PolicySpec::Credence(Default::default()).into())
    }
}

impl FromStr for ChosenPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let policy: NamedPolicy = text.parse().map_err(|error| format!("{error}"))?;
        if policy.spec.model_kind() != Some(ModelKind::Oracle) {
            let expected = "credence, payback-credence, follow-max or oracle:base=dt:alpha=8";
            return Err(format!("{text} asks no forest, expected such as {expected}"));
        }
        match policy.spec.model() {
            Some(model) => {
                Err(format!("{text} names the model {model}, which is chosen here; leave it out"))
            }
            None => Ok(ChosenPolicy(policy)),
        }
    }
}

impl TryFrom<String> for ChosenPolicy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ChosenPolicy> for String {
    fn from(decision: ChosenPolicy) -> String {
        decision.0.label
    }
}

impl fmt::Display for ChosenPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_is_compared_with_its_base_and_credence_with_itself() {
        let alone =
            |text: &str| text.parse::<ChosenPolicy>().map(|decision| decision.alone().label);
        assert_eq!(alone("oracle:base=dt:alpha=8").as_deref(), Ok("dt:alpha=8"));
        assert_eq!(alone("credence").as_deref(), Ok("credence"));
        let with: ChosenPolicy = "oracle:base=dt:alpha=8".parse().unwrap();
        let with = with.with(Some("m")).spec;
        assert_eq!((with.model(), with.base().is_some()), (Some("m"), true));
        for wrong in ["dt:alpha=8", "ndt", "credence:model=m.json", "nothing"] {
            assert!(wrong.parse::<ChosenPolicy>().is_err(), "{wrong}");
        }
    }
}
