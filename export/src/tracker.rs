//! The state machine that keeps a model's features, as code in C dialects: a switch computes with
//! it what the tracer computes from events. The code is a header, configured by macros.

use crate::checked::Checked;
use crate::definitions::Definitions;
use crate::ident::{identifier, plain};
use crate::origin::Column;
use dropcast_features::{Feature, FeatureMemory};
use dropcast_runtime::{Keeps, keeps};

/// A C dialect.
pub(crate) struct Dialect<'a> {
    /// Prefix of functions and types.
    pub(crate) prefix: &'a str,
    /// Prefix of constants.
    pub(crate) constant_prefix: &'a str,
    /// How the definition of a function begins.
    pub(crate) function: &'a str,
    /// The same for large functions.
    pub(crate) separate: &'a str,
    /// The type of a parameter that is a row.
    pub(crate) row: &'a str,
    /// The array of the values of a row `x`.
    pub(crate) values: &'a str,
}

impl Dialect<'_> {
    /// The names of a model's functions, types and constants. A model called `dropcast` has those of the headers.
    pub(crate) fn names(&self) -> Definitions {
        let mut names = Definitions::default();
        for (macro_name, prefix, plain) in
            [("NAME", self.prefix, "dropcast_"), ("CONSTANT", self.constant_prefix, "DROPCAST_")]
        {
            if prefix == plain {
                continue;
            }
            let pasted = if prefix.is_empty() { "" } else { "##" };
            names.define(format!("{macro_name}(name)"), format!("{prefix}{pasted}name"));
        }
        names
    }
}

const AVERAGE: &str = include_str!("tracker/dropcast_average.h");
const FEATURES: &str = include_str!("tracker/dropcast_features.h");
const FLOW: &str = include_str!("tracker/dropcast_flow.h");

/// The code that keeps the features of `model`, or a comment that says why there is none.
pub(crate) fn code(model: &Checked<'_>, dialect: &Dialect<'_>) -> String {
    let code = match of_flow(model) {
        Some(_) => code_of_flows(model, dialect),
        None => Tracker::new(model).map(|tracker| code_of_queues(model, &tracker, dialect)),
    };
    code.unwrap_or_else(|reason| format!("/* No code to keep the features: {reason}. */\n"))
}

/// The first feature of `model` that is of the packet's flow.
pub(crate) fn of_flow(model: &Checked<'_>) -> Option<Feature> {
    let mut features = model.origin.columns.iter().filter_map(|column| column.name.parse().ok());
    features.find(|feature: &Feature| feature.memory() == FeatureMemory::Flows)
}

/// The code for features of flows alone, or why there is none.
fn code_of_flows(model: &Checked<'_>, dialect: &Dialect<'_>) -> Result<String, String> {
    let mut features = Vec::new();
    for column in &model.origin.columns {
        match column.name.parse::<Feature>() {
            Ok(feature) if feature.memory() == FeatureMemory::Flows => features.push(feature),
            Ok(_) if column.code != Feature::OWN_CODE => {
                return Err("features of flows and of queues are not kept together".to_owned());
            }
            _ => return Err(unknown(column)),
        }
    }
    if model.average_ns == 0 {
        return Err("the model states no base RTT, by which bursts and messages end".to_owned());
    }
    let mut defined = dialect.names();
    defined.define("FUNCTION", dialect.function);
    define_row(&features, &mut defined, dialect);
    defined.number("BURST_NS", model.average_ns / 2);
    defined.number("MESSAGE_NS", 8 * u64::from(model.average_ns));
    Ok([&defined.text(), "\n", FLOW, &*defined.undefined()].concat())
}

fn code_of_queues(model: &Checked<'_>, tracker: &Tracker, dialect: &Dialect<'_>) -> String {
    let mut defined = dialect.names();
    defined.define("SEPARATE", dialect.separate);
    defined.number("TAU_NS", model.average_ns);
    tracker.define(&mut defined, dialect);
    defined.flag("LEVELS", !tracker.keeps.classes);
    let average = if tracker.keeps.averages { AVERAGE } else { "" };
    [&tracker.unkept_by_callers(), &*defined.text(), "\n", average, FEATURES, &*defined.undefined()]
        .concat()
}

/// Defines what code that keeps the features needs to know of them.
pub(crate) fn define(model: &Checked<'_>, defined: &mut Definitions, dialect: &Dialect<'_>) {
    if let Ok(tracker) = Tracker::new(model) {
        tracker.define(defined, dialect);
    }
}

/// Why there is no code to keep the features of `model`; `None` if there is.
pub(crate) fn unkept(model: &Checked<'_>) -> Option<String> {
    Tracker::new(model).err()
}

/// What the features of `model` need kept; nothing if dropcast does not know.
pub(crate) fn kept(model: &Checked<'_>) -> Keeps {
    Tracker::new(model).map_or_else(|_| Keeps::default(), |tracker| tracker.keeps)
}

/// Why a feature is not kept.
fn unknown(column: &Column) -> String {
    let name = plain(&column.name);
    match column.name.parse::<Feature>() {
        _ if column.code == Feature::OWN_CODE => {
            format!("{name} is not dropcast's: the caller supplies it")
        }
        Ok(_) => format!("there is no exported code that keeps {name}"),
        Err(_) => format!("dropcast does not know how {name} is kept"),
    }
}

/// Defines the row, and the place there of each feature.
fn define_row(features: &[Feature], defined: &mut Definitions, dialect: &Dialect<'_>) {
    defined.define("ROW", dialect.row);
    defined.define("VALUES(x)", dialect.values);
    for (place, feature) in features.iter().enumerate() {
        let name = identifier(feature.name()).to_ascii_uppercase();
        defined.define(format!("FEATURE_{name}"), place);
    }
}

/// The state to keep.
struct Tracker {
    /// The features, in the order of a row.
    features: Vec<Feature>,
    /// What they need.
    keeps: Keeps,
}

impl Tracker {
    fn new(model: &Checked<'_>) -> Result<Self, String> {
        let mut tracker = Tracker { features: Vec::new(), keeps: Keeps::default() };
        for column in &model.origin.columns {
            let feature = column.name.parse::<Feature>();
            let keeps = feature.as_ref().ok().and_then(|feature| keeps(feature.code()));
            let (Ok(feature), Some(keeps)) = (feature, keeps) else { return Err(unknown(column)) };
            tracker.features.push(feature);
            tracker.keeps = tracker.keeps.or(keeps);
        }
        let has_time_constant = tracker.keeps.averages || tracker.keeps.arrivals;
        if has_time_constant && model.average_ns == 0 {
            return Err("the model states no time constant of its features".to_owned());
        }
        Ok(tracker)
    }

    fn define(&self, defined: &mut Definitions, dialect: &Dialect<'_>) {
        defined.define("FUNCTION", dialect.function);
        define_row(&self.features, defined, dialect);
        defined.flag("AVERAGES", self.keeps.averages);
        defined.flag("ARRIVALS", self.keeps.arrivals);
        defined.flag("SCANS", self.keeps.scan);
    }

    /// Features from sums by length class, which only the whole decision keeps, in the order of codes.
    fn classed(&self) -> Vec<&'static str> {
        let is_classed = |feature: &Feature| keeps(feature.code()).is_some_and(|of| of.classes);
        let mut classed: Vec<Feature> = self.features.iter().copied().filter(is_classed).collect();
        classed.sort_unstable();
        classed.into_iter().map(Feature::name).collect()
    }

    /// A comment on features that only the whole decision keeps.
    fn unkept_by_callers(&self) -> String {
        let names = self.classed();
        if names.is_empty() {
            return String::new();
        }
        format!(
            "/* No code to keep the features: only the whole decision sums queues by length class, for {}
 * (dropcast export --switch). */\n",
            names.join(", "),
        )
    }
}
