//! A forest as a filter over Dynamic Thresholds as code (`docs/filter.md`).

use crate::checked::Checked;
use crate::decision::{drain_bytes, harmless_level, misfit};
use crate::policy_code::{
    FILTERED, FRAME, Filtered, PolicyCodeError, c_array, c_constants, sources,
};
use crate::target::EmittedFile;
use crate::{Origin, c, ebpf, tracker};
use dropcast_data::SwitchSpec;
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_switch::policies::oracle::AnyOracle;
use dropcast_switch::{Live, PolicyModel};

/// What is the same for every switch and forest.
const SOURCES: [(&str, &str); 4] = [
    ("dropcast_filter.h", include_str!("filter/dropcast_filter.h")),
    FILTERED,
    ("dropcast_filter.bpf.c", include_str!("filter/dropcast_filter.bpf.c")),
    FRAME,
];

/// A forest that drops some of what Dynamic Thresholds accept, told from the switch's own queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Dynamic Thresholds' alpha by queue within a port; the last one serves all further queues.
    pub alpha: Vec<f64>,
    /// The share of predictions that must come true for them to be followed; all are followed if not given.
    pub gate: Option<f64>,
    /// What predicts.
    pub forest: Forest,
    /// Of the forest; it names no switch.
    pub origin: Origin,
}

impl Filter {
    fn filtered(&self) -> Filtered<'_> {
        Filtered { alpha: &self.alpha, gate: self.gate }
    }

    /// The forest, if the code can ask it at a switch.
    fn checked(&self, spec: &SwitchSpec) -> Result<Checked<'_>, PolicyCodeError> {
        let unfit = |problem: &dyn ToString| PolicyCodeError::Model(problem.to_string());
        let model = Checked::new(&self.forest, &self.origin).map_err(|error| unfit(&error))?;
        if let Some(problem) = misfit(&model, spec) {
            return Err(PolicyCodeError::Model(problem));
        }
        if let Some(name) = tracker::unkept_by_callers(&model).first() {
            let problem = format!("the code of a filter does not keep {name}; level4 is kept");
            return Err(PolicyCodeError::Model(problem));
        }
        Ok(Checked { prefix: "dropcast_filter_forest".to_owned(), ..model })
    }

    /// The code, the forest, and the switch's constants.
    ///
    /// # Errors
    /// If the switch, the forest or a parameter is not what the code can do.
    pub(crate) fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, PolicyCodeError> {
        let model = self.checked(spec)?;
        let mut defined = self.filtered().constants(spec)?.c_macros(spec);
        defined.push(("BASE_RTT_NS", format!("{}u", spec.base_rtt_ns)));
        let port = |queue| queue / usize::from(spec.queues_per_port);
        let drains = (0..spec.queues())
            .map(|queue| drain_bytes(spec.line_rate_bps[port(queue)], spec.base_rtt_ns));
        defined.push(("DRAIN_BYTES", c_array(drains)));
        let harmless = harmless_level(&model).map_or(0, |most| u64::from(most) + 1);
        defined.push(("HARMLESS_BYTES", format!("{harmless}u")));
        let config = c_constants("DROPCAST_FILTER", "dropcast_filter.h", &defined);
        let mut files =
            [sources(&SOURCES), sources(&[("dropcast_filter_config.h", &config)])].concat();
        for target in [c::TARGET, ebpf::TARGET] {
            let emitted =
                (target.emit)(&model).map_err(|error| PolicyCodeError::Model(error.to_string()))?;
            files.extend(emitted.into_iter().filter(|file| file.name.ends_with(".h")));
        }
        Ok(files)
    }

    /// The policy of the fabric and the replays.
    pub(crate) fn policy(&self, spec: &SwitchSpec) -> Result<AnyOracle, PolicyCodeError> {
        self.checked(spec)?;
        let features: FeatureSet = self
            .forest
            .features
            .join(",")
            .parse()
            .map_err(|error| PolicyCodeError::Model(format!("{error}")))?;
        let oracle =
            PolicyModel::Predictor(Box::new(Live { features, oracle: self.forest.clone() }));
        self.filtered().policy(spec, None, Some(oracle))
    }
}
