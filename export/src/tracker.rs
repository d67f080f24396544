//! The state machine that keeps a model's features, as code in C dialects: a switch computes with
//! it what the tracer computes from events.

use crate::checked::Checked;
use crate::ident::{identifier, plain};
use dropcast_features::{Feature, FeatureSet, Memory};

/// A C dialect.
pub(crate) struct Dialect<'a> {
    /// Prefix of functions and types.
    pub(crate) prefix: &'a str,
    /// Prefix of constants.
    pub(crate) constant_prefix: &'a str,
    /// The unsigned types of 32 and 64 bits, and the signed one of 32.
    pub(crate) types: [&'a str; 3],
    /// Declaration of inline functions.
    pub(crate) inline: &'a str,
    /// Declaration of other functions.
    pub(crate) outlined: &'a str,
    /// The time constant of the averages, ns.
    pub(crate) tau: &'a str,
    /// The declaration of the row to fill.
    pub(crate) row: &'a str,
    /// The values of that row.
    pub(crate) values: &'a str,
}

/// The averages' arithmetic; placeholders begin with `@`.
const AVERAGE: &str = include_str!("tracker/average.h");

/// The code that keeps the features of `model`, or a comment that says why there is none.
pub(crate) fn code(model: &Checked<'_>, dialect: &Dialect<'_>) -> String {
    match Tracker::new(model) {
        Ok(tracker) if tracker.classes != Classes::default() => dialect.spell(&tracker.functions()),
        Ok(tracker) => dialect.spell(&tracker.template(dialect)),
        Err(reason) => format!("/* No code to keep the features: {reason}. */\n"),
    }
}

/// Why there is no code to keep the features of `model`; `None` if there is.
pub(crate) fn unkept(model: &Checked<'_>) -> Option<String> {
    Tracker::new(model).err()
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

/// [`code`]'s `observe` for state of another form; nothing if there is no code.
pub(crate) fn observe(model: &Checked<'_>, dialect: &Dialect<'_>, form: &Form<'_>) -> String {
    Tracker::new(model)
        .map_or_else(|_| String::new(), |tracker| dialect.spell(&tracker.observe(dialect, form)))
}

/// How a function that observes finds the state.
pub(crate) struct Form<'a> {
    /// Its name.
    pub(crate) function: &'a str,
    /// A sentence about the parameters.
    pub(crate) about: &'a str,
    /// The parameters.
    pub(crate) parameters: &'a str,
    /// The names of the parameters.
    pub(crate) names: &'a [&'a str],
    /// A member of a level: of `queue`, `buffer`, or `one`, which is number `at` of all queues. Of
    /// `sum` while the others are scanned, and of `total` afterwards: what they add up to.
    pub(crate) member: fn(level: &str, member: &str) -> String,
    /// Declarations for a scan of all queues that are not empty.
    pub(crate) scan_variables: &'a str,
    /// A step of such a scan as a function of its own, with `@members`, `@work` and `@terms`; empty
    /// if it is none.
    pub(crate) step: &'a str,
    /// Begin and end of such a scan, with `@sums` and `@terms`.
    pub(crate) scan: &'a str,
}

const LEVELS: Form<'_> = Form {
    function: "observe",
    about: "shared are all n_shared queues
 * that draw on the shared buffer.",
    parameters: "const struct @prefixlevel *queue, const struct @prefixlevel *buffer,
    const struct @prefixlevel *shared, @u32 n_shared",
    names: &["queue", "buffer", "shared", "n_shared"],
    member: |level, member| match level {
        "one" => format!("shared[at].{member}"),
        "sum" | "total" => member.to_owned(),
        level => format!("{level}->{member}"),
    },
    scan_variables: "    @u32 at;\n",
    step: "",
    scan: "@sums@ahead\n    for (at = 0; at < n_shared; at++) {\n@terms    }\n",
};

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
            let known =
                column.name.parse().ok().filter(|&feature| expression(feature, &LEVELS).is_some());
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

    fn template(&self, dialect: &Dialect<'_>) -> String {
        let average = if self.averages { format!("{AVERAGE}\n") } else { String::new() };
        let project = if self.projection { PROJECT } else { NO_PROJECT };
        let arrivals = if self.projection { ARRIVALS } else { "" };
        [&average, &self.levels(), arrivals, project, &self.observe(dialect, &LEVELS)].concat()
    }

    /// What the whole decision takes from the prediction's file, where only it keeps the features.
    fn functions(&self) -> String {
        let average = if self.averages { format!("{AVERAGE}\n") } else { String::new() };
        let names: Vec<&str> = [(self.classes.all, CLASSED), (self.classes.cut, CUT)]
            .into_iter()
            .filter_map(|(is_there, name)| is_there.then_some(name))
            .collect();
        format!(
            "/* No code to keep the features: only the whole decision sums queues by length class, for {}
 * (dropcast export --switch). */
{average}{ARRIVALS}",
            names.join(", "),
        )
    }

    fn levels(&self) -> String {
        let (what, members, elapsed, update) = if self.averages {
            (", with their moving average", AVERAGE_MEMBERS, ELAPSED, AVERAGE_UPDATE)
        } else {
            ("", "", "", NO_UPDATE)
        };
        let projection = if self.projection { PROJECTION_MEMBERS } else { "" };
        format!(
            "\
/* The bytes in a queue, or in the whole shared buffer{what}. Begins as zeros.
 *
 * These are the queues of push-out Longest Queue Drop, run virtually beside the switch: they follow
 * its arrivals, departures and push-outs, not the switch's own. For a packet that arrives, first
 * @prefixobserve its features; if it is accepted, @prefixadd it to its queue and to the
 * buffer. When a packet departs or is pushed out, @prefixremove it from both. A queue that
 * does not draw on the shared buffer adds 0 bytes to the buffer, and removes 0 bytes from it. */
struct @prefixlevel {{
{members}{projection}{BYTES_MEMBER}}};

@inline void @prefixadd(struct @prefixlevel *level, @u32 size_bytes)
{{
    level->bytes += size_bytes;
}}

@inline void @prefixremove(struct @prefixlevel *level, @u32 size_bytes, @u64 now_ns)
{{
{elapsed}    level->bytes -= size_bytes < level->bytes ? size_bytes : level->bytes;
{update}}}

"
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

    fn observe(&self, dialect: &Dialect<'_>, form: &Form<'_>) -> String {
        let (step, scan) =
            if self.others { scan(&self.features, form) } else { Default::default() };
        let values: String =
            self.features.iter().map(|&feature| value(feature, dialect, form)).collect();
        let code = format!("{values}{scan}");
        let unused = |name: &&str| {
            let used =
                ["->", "[", ";"].iter().any(|after| code.contains(&format!("{name}{after}")));
            let index = code.contains(&format!("[{name}]"));
            if used || index { String::new() } else { format!("    (void){name};\n") }
        };
        format!(
            "\
{step}/* The features of a packet that arrives for queue, before it is added. {about} */
@inline void @prefix{function}(
    {parameters},
    {row})
{{
{scan}{unused}{values}}}
",
            about = form.about,
            function = form.function,
            parameters = form.parameters,
            row = dialect.row,
            unused = form.names.iter().map(unused).collect::<String>(),
        )
    }
}

const BYTES_MEMBER: &str = "    @u32 bytes;\n";

const AVERAGE_MEMBERS: &str = "    @u64 updated_ns;\n    @u32 average;\n";

const ELAPSED: &str = "    \
    const @u64 elapsed_ns = now_ns > level->updated_ns ? now_ns - level->updated_ns : 0u;

";

const AVERAGE_UPDATE: &str = "    \
    level->average = @prefixaverage(level->average, level->bytes, elapsed_ns);
    level->updated_ns = now_ns;
";

const NO_UPDATE: &str = "    (void)now_ns;\n";

const PROJECTION_MEMBERS: &str =
    "    @u64 heard_ns;\n    @u64 drain_bytes;\n    @u64 projected;\n    @u32 recent;\n";

/// `features/src/projection.rs`, in C.
const ARRIVALS: &str = "\
/* The expected bytes in a queue that now has bytes, after this many eighths of a base RTT (1, 2, 4, 8 or
 * 16), if arrivals keep the rate of the last one, in which recent bytes came. */
@inline @u64 @prefixexpected(@u32 bytes, @u32 recent, @u64 drain_bytes, @u32 eighths)
{
    const @u64 coming = bytes + eighths * (@u64)recent;
    const @u64 drained = drain_bytes / (16u / eighths);

    return bytes > 0 && coming > drained ? coming - drained : 0u;
}

/* The recent arrivals of a queue, elapsed_ns after its last event: older ones are forgotten, and
 * arrived_bytes are added. */
@inline @u32 @prefixrecent(@u32 recent, @u32 arrived_bytes, @u64 elapsed_ns)
{
    const @u64 window_ns = @window;

    elapsed_ns = elapsed_ns < window_ns ? elapsed_ns : window_ns;
    recent -= (@u32)(recent * elapsed_ns / window_ns);
    return arrived_bytes < 0xffffffffu - recent ? recent + arrived_bytes : 0xffffffffu;
}

";

const PROJECT: &str = "\
/* Where the queues are heading. For a queue that draws on the shared buffer, tell every arrival once
 * it has been accepted or rejected, with its size, and every departure and push-out once it has been
 * removed, with 0 bytes. drain_bytes is what the queue's port sends in two base RTTs (@tau ns each):
 * bits per second * 2 * @tau / 8000000000. */
@inline void @prefixproject(struct @prefixlevel *queue, struct @prefixlevel *buffer,
    @u32 arrived_bytes, @u64 drain_bytes, @u64 now_ns)
{
    const @u64 elapsed_ns = now_ns > queue->heard_ns ? now_ns - queue->heard_ns : 0u;
    @u64 projected;

    queue->heard_ns = now_ns;
    queue->drain_bytes = drain_bytes;
    queue->recent = @prefixrecent(queue->recent, arrived_bytes, elapsed_ns);
    projected = @prefixexpected(queue->bytes, queue->recent, drain_bytes, 16u);
    buffer->projected += projected - queue->projected;
    queue->projected = projected;
}

";

/// The same call for models without projection, so that the surrounding code need not change.
const NO_PROJECT: &str = "\
/* Does nothing: this model needs no projection. The call exists so that surrounding code fits
 * every model. */
@inline void @prefixproject(struct @prefixlevel *queue, struct @prefixlevel *buffer,
    @u32 arrived_bytes, @u64 drain_bytes, @u64 now_ns)
{
    (void)queue;
    (void)buffer;
    (void)arrived_bytes;
    (void)drain_bytes;
    (void)now_ns;
}

";

/// The loop over other queues, after a function for a step of it, with only what some feature
/// needs: compilers warn about the rest.
fn scan(features: &[Feature], form: &Form<'_>) -> (String, String) {
    let is_needed = |of: &[&str]| features.iter().any(|feature| of.contains(&feature.name()));
    let one = |member| (form.member)("one", member);
    let (bytes, own) = (one("bytes"), (form.member)("queue", "bytes"));
    let (mut sums, mut terms) = (Vec::new(), String::new());
    let sum = |name| (form.member)("sum", name);
    if is_needed(&["longest_queue", "longest_gap"]) {
        let longest = sum("longest");
        sums.push(("@u32", "longest"));
        terms += &format!("        {longest} = {bytes} > {longest} ? {bytes} : {longest};\n");
    }
    if is_needed(&["rank"]) {
        sums.push(("@u32", "rank"));
        terms += &format!("        {} += {bytes} > {own} ? 1u : 0u;\n", sum("rank"));
    }
    for level in FeatureSet::level4().features().iter().filter(|level| features.contains(level)) {
        sums.push(("@u64", level.name()));
        let name = sum(level.name());
        terms += &match level.memory() {
            Memory::ArrivalRates(horizon) => format!(
                "        ahead = @prefixexpected({bytes}, {recent}, {drain}, {eighths}u);
        {name} += ahead < {own} ? ahead : {own};\n",
                recent = one("recent"),
                drain = one("drain_bytes"),
                eighths = horizon.windows()
            ),
            _ => format!("        {name} += {bytes} < {own} ? {bytes} : {own};\n"),
        };
    }
    let looks_ahead = |&level: &Feature| is_level(level) && level.has_time_constant();
    let ahead = if features.iter().any(looks_ahead) { "    @u64 ahead;\n" } else { "" };
    let declared = |end: &str| -> String {
        sums.iter().map(|(of, name)| format!("    {of} {name}{end};\n")).collect()
    };
    let filled = |text: &str| {
        text.replace("@members", &declared(""))
            .replace("@sums", &declared(" = 0"))
            .replace("@ahead", ahead)
            .replace("@terms", &terms)
    };
    (filled(form.step), format!("{}{}", form.scan_variables, filled(form.scan)))
}

/// One value of the row.
fn value(feature: Feature, dialect: &Dialect<'_>, form: &Form<'_>) -> String {
    let value = expression(feature, form).unwrap_or_default();
    let name = identifier(feature.name()).to_ascii_uppercase();
    format!("    {}[{}FEATURE_{name}] = {value};\n", dialect.values, dialect.constant_prefix)
}

/// A feature as an expression of the state, if there is code that keeps it.
fn expression(feature: Feature, form: &Form<'_>) -> Option<String> {
    let saturated = |bytes: &str| format!("{bytes} < 0xffffffffu ? (@u32){bytes} : 0xffffffffu");
    let member = form.member;
    let own = member("queue", "bytes");
    Some(match feature.name() {
        "queue_length" => own,
        "avg_queue_length" => member("queue", "average"),
        "occupancy" => member("buffer", "bytes"),
        "avg_occupancy" => member("buffer", "average"),
        "longest_queue" => member("total", "longest"),
        "rank" => member("total", "rank"),
        "longest_gap" => {
            format!(
                "{longest} > {own} ? {longest} - {own} : 0u",
                longest = member("total", "longest")
            )
        }
        "projected_occupancy" => saturated(&member("buffer", "projected")),
        CLASSED => format!("@prefixclassed(state, {own})"),
        CUT => format!("@prefixnear_cut(state, {own})"),
        level if is_level(feature) => saturated(&member("total", level)),
        _ => return None,
    })
}

/// The feature from the sums of all length classes.
pub(crate) const CLASSED: &str = "classed_in_quarter_rtt";
/// The feature from the sums on either side of the cut.
pub(crate) const CUT: &str = "cut_in_quarter_rtt";

fn is_level(feature: Feature) -> bool {
    FeatureSet::level4().features().contains(&feature)
}

impl Dialect<'_> {
    /// Fills in this dialect's words.
    pub(crate) fn spell(&self, template: &str) -> String {
        let [u32_type, u64_type, i32_type] = self.types;
        template
            .replace("@prefix", self.prefix)
            .replace("@u32", u32_type)
            .replace("@u64", u64_type)
            .replace("@i32", i32_type)
            .replace("@inline", self.inline)
            .replace("@outlined", self.outlined)
            .replace("@window", &format!("({tau} / 8u > 0 ? {tau} / 8u : 1u)", tau = self.tau))
            .replace("@tau", self.tau)
    }
}
