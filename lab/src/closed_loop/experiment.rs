//! What is compared, as a file says it.

use dropcast_fabric::{
    Fabric, FabricConfig, Incast, PoissonFlows, SizeBuckets, TrafficConfig, Transport,
};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_switch::PolicySpec;
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
    /// A file of flows, in place of `traffic`: CSV, HPCC's `flow.txt` or a connection matrix of htsim, `lab/notes/fabric.md`. Then runs differ
    /// in the paths of flows only.
    pub flow_list: Option<PathBuf>,
    /// The transport of flows of `flow_list` that name none; `dctcp` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_list_transport: Option<Transport>,
    /// The flows of `flow_list` take the paths that they take in the Credence artifact's ns-3, of
    /// whose run with this `randomSeed` they are; then all runs are alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns3_seed: Option<u32>,
    /// Flows outside incasts and collectives are also grouped by size, in buckets that end at these sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub size_buckets_bytes: Vec<u64>,
    /// The fabric.
    pub fabric: FabricConfig,
    /// The traffic.
    pub traffic: TrafficConfig,
}

/// What LQD and oracles are compared with unless others are named: tuned alphas, which every switch has; Reverie's filter; early
/// drops in bursts; and what chips do that push out packets.
pub(crate) fn usual_policies() -> Vec<NamedPolicy> {
    let alphas = [1, 2, 4, 8, 16, 32].map(|alpha| format!("dt:alpha={alpha}"));
    let others = ["fab:alpha=8", "reverie", "reserve", "lqd:end=head", "occamy"];
    let all = std::iter::once("complete-sharing").chain(alphas.iter().map(String::as_str));
    all.chain(others).map(|policy| policy.parse().expect("a policy")).collect()
}

/// LQD that pushes out tails.
pub(crate) fn lqd() -> NamedPolicy {
    PolicySpec::Lqd(Default::default()).into()
}

impl Default for Experiment {
    /// LQD, and what it must beat: tuned alphas, and chips that push out packets; once, without
    /// traffic.
    fn default() -> Self {
        Experiment {
            policies: std::iter::once(lqd()).chain(usual_policies()).collect(),
            runs: 1,
            flow_list: None,
            flow_list_transport: None,
            ns3_seed: None,
            size_buckets_bytes: Vec::new(),
            fabric: FabricConfig::default(),
            traffic: TrafficConfig::default(),
        }
    }
}

/// Longer labels are no names of folders.
const LONGEST_FOLDER: usize = 60;

/// A label with dashes for runs of all but letters, digits, `.`, `=` and `_`.
fn dashed(label: &str) -> String {
    let is_kept = |sign: char| sign.is_ascii_alphanumeric() || ".=_".contains(sign);
    let parts: Vec<&str> =
        label.split(|sign| !is_kept(sign)).filter(|part| !part.is_empty()).collect();
    parts.join("-").replace("=-", "=")
}

impl Experiment {
    /// The artifact's network, senders of Linux, websearch flows at 80% load and incasts of 75% of a leaf's buffer
    /// (Credence, section 4.1), short enough to end in seconds.
    pub fn websearch() -> Self {
        let flows = PoissonFlows { load: 0.8, ..PoissonFlows::default() };
        let incasts = Incast { burst: 0.75, per_server_hz: 30.0, ..Incast::default() };
        Experiment {
            runs: 5,
            fabric: FabricConfig { sample_interval_ns: 10_000, ..FabricConfig::default() },
            traffic: TrafficConfig {
                duration_ns: 20_000_000,
                flows: vec![flows],
                incasts: vec![incasts],
                ..TrafficConfig::default()
            },
            ..Experiment::default()
        }
    }

    /// Sets the seeds of fabric and traffic.
    pub fn set_seed(&mut self, seed: u64) {
        self.fabric.seed = seed;
        self.traffic.seed = seed;
    }

    /// The folder of a policy's files: its name, or its label, with dashes for what has no place in names of files, if others
    /// have that name; a number behind its name if labels are long or alike in that.
    pub fn folder_of(&self, policy: &NamedPolicy) -> String {
        let name = policy.spec.name();
        let same = || self.policies.iter().filter(|other| other.spec.name() == name);
        let label = dashed(&policy.label);
        let alike = same().filter(|other| dashed(&other.label) == label).count();
        match same().map(|other| &other.label).position(|label| *label == policy.label) {
            _ if same().count() < 2 => name.to_owned(),
            _ if alike < 2 && label.len() <= LONGEST_FOLDER => label,
            None | Some(0) => name.to_owned(),
            Some(place) => format!("{name}-{}", place + 1),
        }
    }

    /// Reads an experiment from a TOML file.
    ///
    /// # Errors
    /// If it cannot be read or says something else, or no fabric or traffic is like that.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        let experiment: Experiment = read_settings(path)?;
        experiment.check_traffic().map_err(|error| error.in_file(path.display()))?;
        Ok(experiment)
    }

    /// The buckets of `size_buckets_bytes`.
    ///
    /// # Errors
    /// If the sizes do not ascend.
    pub fn size_buckets(&self) -> Result<SizeBuckets, PipelineError> {
        SizeBuckets::new(&self.size_buckets_bytes)
            .map_err(|problem| PipelineError::setting("size_buckets_bytes", problem))
    }

    /// Checks the fabric, the buckets of sizes, and that there is one source of traffic which fits the fabric.
    pub(super) fn check_traffic(&self) -> Result<(), PipelineError> {
        self.size_buckets()?;
        let fabric = Fabric::try_from(self.fabric.clone()).map_err(PipelineError::stated)?;
        let TrafficConfig { flows, incasts, collectives, .. } = &self.traffic;
        let has_traffic = !(flows.is_empty() && incasts.is_empty() && collectives.is_empty());
        match (has_traffic, &self.flow_list) {
            (true, Some(_)) => {
                let problem = "stands in place of [traffic]; leave one of them out";
                Err(PipelineError::setting("flow_list", problem))
            }
            (false, None) => {
                let problem = "is empty, expected [[traffic.flows]], [[traffic.incasts]] or \
                               [[traffic.collectives]], or a flow_list";
                Err(PipelineError::setting("traffic", problem))
            }
            (true, None) if self.ns3_seed.is_some() || self.flow_list_transport.is_some() => {
                let name = if self.ns3_seed.is_some() { "ns3_seed" } else { "flow_list_transport" };
                let problem = "is for the flows of a flow_list; name one, or leave it out";
                Err(PipelineError::setting(name, problem))
            }
            (true, None) => self.traffic.mix(&fabric).map(drop).map_err(PipelineError::stated),
            (false, Some(_)) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_policies_are_called_as_users_write_them() {
        let labels: Vec<String> = usual_policies().into_iter().map(String::from).collect();
        let written = [
            "complete-sharing",
            "dt:alpha=1",
            "dt:alpha=2",
            "dt:alpha=4",
            "dt:alpha=8",
            "dt:alpha=16",
            "dt:alpha=32",
            "fab:alpha=8",
            "reverie",
            "reserve",
            "lqd:end=head",
            "occamy",
        ];
        assert_eq!(labels, written);
        assert_eq!(lqd().label, "lqd");
    }

    #[test]
    fn folders_are_called_by_labels_where_names_are_alike() {
        let long = format!("expression:accept=queue < {} * free", "1".repeat(60));
        let texts = ["lqd", "dt", "dt:alpha=8", "dt:alpha=[8, 2]", "abm", "expression", &long];
        let policies: Vec<NamedPolicy> =
            texts.iter().map(|text| text.parse().expect("a policy")).collect();
        let experiment = Experiment { policies: policies.clone(), ..Experiment::default() };
        let folders: Vec<String> =
            policies.iter().map(|policy| experiment.folder_of(policy)).collect();
        let expected =
            ["lqd", "dt", "dt-alpha=8", "dt-alpha=8-2", "abm", "expression", "expression-2"];
        assert_eq!(folders, expected);
    }
}
