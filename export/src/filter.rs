//! A forest as a filter over Dynamic Thresholds as code (`docs/filter.md`).

use crate::checked::Checked;
use crate::decision::{harmless_level, misfit};
use crate::policy_code::{
    FILTERED, FRAME, Filtered, FilteredConstants, PolicyCodeError, c_constants, sources,
};
use crate::target::EmittedFile;
use crate::{Origin, c, dct, ebpf, tracker};
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

/// What the files of the forest are called.
const FOREST: &str = "dropcast_filter_forest";

/// A forest that drops some of what Dynamic Thresholds accept, told from the switch's own queues.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestFilter {
    /// Dynamic Thresholds' alpha by queue within a port; the last one serves all further queues.
    pub alpha: Vec<f64>,
    /// The share of predictions that must come true for them to be followed; all are followed if not given.
    pub gate: Option<f64>,
    /// What predicts.
    pub forest: Forest,
    /// Of the forest; it names no switch.
    pub origin: Origin,
}

impl ForestFilter {
    fn filtered(&self, spec: &SwitchSpec) -> Filtered<'_> {
        Filtered {
            alpha: &self.alpha,
            gate: self.gate,
            time_constant_ns: spec.base_rtt_ns,
            windows: 16,
        }
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
        Ok(Checked { prefix: FOREST.to_owned(), ..model })
    }

    /// The code, the forest, and the switch's constants; in Rust without moving averages.
    ///
    /// # Errors
    /// If the switch, the forest or a parameter is not what the code can do.
    pub(crate) fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, PolicyCodeError> {
        let model = self.checked(spec)?;
        let constants = self.filtered(spec).constants(spec)?;
        let mut defined = constants.c_macros(spec);
        defined.push(("BASE_RTT_NS", format!("{}u", spec.base_rtt_ns)));
        let harmless = harmless_level(&model).map_or(0, |most| u64::from(most) + 1);
        defined.push(("HARMLESS_BYTES", format!("{harmless}u")));
        let config = c_constants("DROPCAST_FILTER", "dropcast_filter.h", &defined);
        let mut files =
            [sources(&SOURCES), sources(&[("dropcast_filter_config.h", &config)])].concat();
        let mut endings = vec![(c::TARGET, ".h"), (ebpf::TARGET, ".bpf.h")];
        if !tracker::kept(&model).averages {
            let config = rust_config(spec, &constants);
            files.extend(sources(&[("dropcast_filter_config.rs", &config)]));
            endings.push((dct::TARGET, ".dct"));
        }
        for (target, ending) in endings {
            let emitted =
                (target.emit)(&model).map_err(|error| PolicyCodeError::Model(error.to_string()))?;
            files.extend(emitted.into_iter().filter(|file| file.name.ends_with(ending)));
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
        self.filtered(spec).policy(spec, None, Some(oracle))
    }
}

fn rust_config(spec: &SwitchSpec, constants: &FilteredConstants) -> String {
    format!(
        "\
//! A forest as a filter over Dynamic Thresholds for a switch, in Rust without std.

use dropcast_runtime::{{Filter, FilterConstants, FilterQueue, NotReady, Table, Trained, Waiting}};

/// The switch, and the filter's parameters.
{constants}
/// The forest.
pub static TABLE: &[u8] = include_bytes!(\"{FOREST}.dct\");

/// The filter with its memory.
pub type SwitchFilter =
    Filter<&'static [u32], [FilterQueue; {queues}], [Waiting; {queues}], Trained<Table<'static>>>;

/// An empty switch.
pub fn init() -> Result<SwitchFilter, NotReady> {{
    let table = Table::parse(TABLE).map_err(NotReady::BadTable)?;
    Filter::with_table(CONSTANTS, [FilterQueue::EMPTY; {queues}], [Waiting::NOTHING; {queues}], table)
}}
",
        constants = constants.in_rust(spec),
        queues = spec.queues(),
    )
}
