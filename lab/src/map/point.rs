//! What was measured at one point, and what was found there.

use super::conditions::MapCondition;
use super::findings::{BOOTSTRAP_SEED, MapFinding};
use super::settings::{MapSettings, MeasureName, Subject};
use crate::closed_loop::{PairedRuns, PolicyRuns};
use dropcast_fabric::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

/// One point.
#[derive(Clone, Debug, Serialize)]
pub struct MapPoint {
    /// Where it is.
    pub condition: MapCondition,
    /// By policy, then by measure: the value of each run, and their mean; null where undefined.
    pub values: Vec<PolicyValues>,
    /// By measure.
    pub findings: Vec<MapFinding>,
}

/// What one policy came to at one point.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyValues {
    /// The policy's short name.
    pub policy: String,
    /// The policy, as the registry reads it (`docs/policies.md`).
    pub spec: String,
    /// By measure.
    pub measures: BTreeMap<String, MeasuredValues>,
}

/// One measure over runs.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredValues {
    /// Mean and 95% interval; null if it is undefined in all runs.
    pub mean: Option<Interval>,
    /// By run that is compared.
    pub runs: Vec<Option<f64>>,
}

impl MapPoint {
    pub(super) fn new(
        settings: &MapSettings,
        condition: MapCondition,
        comparison: &PairedRuns,
    ) -> Self {
        let values = |(subject, runs): (Subject, &PolicyRuns)| PolicyValues {
            policy: subject.name,
            spec: runs.policy.clone(),
            measures: settings.measures.iter().map(|own| measured(settings, runs, own)).collect(),
        };
        MapPoint {
            condition,
            values: settings.subjects().into_iter().zip(&comparison.policies).map(values).collect(),
            findings: settings
                .measures
                .iter()
                .map(|measure| MapFinding::new(settings, measure, comparison))
                .collect(),
        }
    }

    /// What was found in a measure.
    pub fn finding(&self, measure: &MeasureName) -> Option<&MapFinding> {
        self.findings.iter().find(|finding| finding.measure == *measure)
    }
}

fn measured(
    settings: &MapSettings,
    runs: &PolicyRuns,
    measure: &MeasureName,
) -> (String, MeasuredValues) {
    let name = measure.name();
    let mut runs = runs.metric(name);
    runs.truncate(settings.runs as usize);
    let values: Vec<f64> = runs.iter().copied().flatten().collect();
    let mean = Interval::bootstrap(&values, BOOTSTRAP_SEED);
    (name.to_owned(), MeasuredValues { mean, runs })
}
