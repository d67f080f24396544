//! The state machine that keeps a model's features, as code in C dialects: a switch computes with
//! it what the tracer computes from events. The code is a header, configured by macros.

use crate::checked::Checked;
use crate::definitions::Definitions;
use crate::ident::{identifier, plain};
use dropcast_features::{Feature, FeatureSet, Memory};

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

/// The code that keeps the features of `model`, or a comment that says why there is none.
pub(crate) fn code(model: &Checked<'_>, dialect: &Dialect<'_>) -> String {
    let tracker = match Tracker::new(model) {
        Ok(tracker) => tracker,
        Err(reason) => return format!("/* No code to keep the features: {reason}. */\n"),
    };
    let mut defined = dialect.names();
    defined.define("SEPARATE", dialect.separate);
    defined.number("TAU_NS", model.average_ns);
    tracker.define(&mut defined, dialect);
    defined.flag("LEVELS", !tracker.classes.any());
    let average = if tracker.averages { AVERAGE } else { "" };
    [&tracker.unkept_by_callers(), &*defined.text(), "\n", average, FEATURES].concat()
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

/// Those of the features of `model` that only the whole decision keeps.
pub(crate) fn unkept_by_callers(model: &Checked<'_>) -> Vec<&'static str> {
    Tracker::new(model).map_or_else(|_| Vec::new(), |tracker| tracker.classed())
}

/// What a model's features need kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Which queues are not empty.
    pub(crate) others: bool,
    /// Moving averages of each queue and of the buffer.
    pub(crate) averages: bool,
    /// Recent arrivals of each queue.
    pub(crate) arrivals: bool,
    /// The sum of all queues' expected bytes.
    pub(crate) total: bool,
    /// Queues by length class.
    pub(crate) classes: Classes,
}

/// Which features from sums by length class there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    /// That from the sums of all classes.
    pub(crate) all: bool,
    /// That from the sums on either side of the cut.
    pub(crate) cut: bool,
}

impl Classes {
    /// Whether there are any.
    pub(crate) fn any(self) -> bool {
        self.all || self.cut
    }
}

/// What the features of `model` need kept; nothing if dropcast does not know.
pub(crate) fn kept(model: &Checked<'_>) -> Kept {
    Tracker::new(model).map_or_else(|_| Kept::default(), |tracker| tracker.kept())
}

/// The state to keep.
struct Tracker {
    /// The features, in the order of a row.
    features: Vec<Feature>,
    /// Whether there is an average.
    averages: bool,
    /// Whether the other queues' lengths matter.
    others: bool,
    /// Whether there is a projection.
    projection: bool,
    /// Sums by length class.
    classes: Classes,
}

impl Tracker {
    fn new(model: &Checked<'_>) -> Result<Self, String> {
        let mut features = Vec::new();
        for column in &model.origin.columns {
            let name = plain(&column.name);
            let unkept = || match column.name.parse::<Feature>() {
                _ if column.code == Feature::OWN_CODE => {
                    format!("{name} is not dropcast's: the caller supplies it")
                }
                Ok(_) => format!("there is no exported code that keeps {name}"),
                Err(_) => format!("dropcast does not know how {name} is kept"),
            };
            let known = column.name.parse().ok().filter(|&feature| is_kept(feature));
            features.push(known.ok_or_else(unkept)?);
        }
        let remembers =
            |is: fn(Memory) -> bool| features.iter().any(|feature: &Feature| is(feature.memory()));
        let averages = remembers(|memory| memory == Memory::MovingAverages);
        let has = |name: &str| features.iter().any(|feature| feature.name() == name);
        let classes = Classes { all: has(CLASSED), cut: has(CUT) };
        let projection =
            classes.any() || remembers(|memory| matches!(memory, Memory::ArrivalRates(_)));
        let others = features.iter().any(|&feature| {
            is_level(feature) || ["longest_queue", "rank", "longest_gap"].contains(&feature.name())
        });
        if (averages || projection) && model.average_ns == 0 {
            return Err("the model states no time constant of its features".to_owned());
        }
        Ok(Tracker { features, averages, others, projection, classes })
    }

    fn define(&self, defined: &mut Definitions, dialect: &Dialect<'_>) {
        defined.define("FUNCTION", dialect.function);
        defined.define("ROW", dialect.row);
        defined.define("VALUES(x)", dialect.values);
        for (place, feature) in self.features.iter().enumerate() {
            let name = identifier(feature.name()).to_ascii_uppercase();
            defined.define(format!("FEATURE_{name}"), place);
        }
        defined.flag("AVERAGES", self.averages);
        defined.flag("ARRIVALS", self.projection);
        defined.flag("SCANS", self.others);
    }

    /// Features from sums by length class, which only the whole decision keeps.
    fn classed(&self) -> Vec<&'static str> {
        [(self.classes.all, CLASSED), (self.classes.cut, CUT)]
            .into_iter()
            .filter_map(|(is_there, name)| is_there.then_some(name))
            .collect()
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

    fn kept(&self) -> Kept {
        let total = self.features.iter().any(|feature| feature.name() == "projected_occupancy");
        Kept {
            others: self.others,
            averages: self.averages,
            arrivals: self.projection,
            total,
            classes: self.classes,
        }
    }
}

/// Whether `dropcast_features.h`, or `dropcast_length_classes.h`, has the feature.
fn is_kept(feature: Feature) -> bool {
    let others = ["longest_queue", "rank", "longest_gap", "projected_occupancy", CLASSED, CUT];
    is_level(feature)
        || FeatureSet::paper4().features().contains(&feature)
        || others.contains(&feature.name())
}

/// The feature from the sums of all length classes.
pub(crate) const CLASSED: &str = "classed_in_quarter_rtt";
/// The feature from the sums on either side of the cut.
pub(crate) const CUT: &str = "cut_in_quarter_rtt";

fn is_level(feature: Feature) -> bool {
    FeatureSet::level4().features().contains(&feature)
}
