//! What is compared, as a file says it.

use crate::PipelineError;
use crate::files::read_settings;
use dropcast_simulate::{FabricConfig, TrafficConfig};
use dropcast_switch::{NameError, PolicySpec};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Policies to compare, in a fabric, under traffic. Every field has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// The policies, such as `"lqd"` or `"credence:model=model.json"`.
    pub policies: Vec<NamedPolicy>,
    /// Runs of each policy. Run `n`, from 0, adds `n` to the seeds of fabric and traffic.
    pub runs: u32,
    /// A CSV file of flows, in place of `traffic`; then runs differ in the paths of flows only.
    pub flow_list: Option<PathBuf>,
    /// The fabric.
    pub fabric: FabricConfig,
    /// The traffic.
    pub traffic: TrafficConfig,
}

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

impl Default for Experiment {
    /// The policies that need no oracle worth naming, once, without traffic.
    fn default() -> Self {
        let policies = ["lqd", "complete-sharing", "follow-lqd", "dt", "credence"];
        Experiment {
            policies: policies.map(|name| name.parse().expect("a known policy")).to_vec(),
            runs: 1,
            flow_list: None,
            fabric: FabricConfig::default(),
            traffic: TrafficConfig::default(),
        }
    }
}

impl Experiment {
    /// Reads an experiment from a TOML file.
    ///
    /// # Errors
    /// If it cannot be read or says something else.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        read_settings(path)
    }
}
