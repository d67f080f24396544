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
    /// The unsigned types of 32 and 64 bits.
    pub(crate) types: [&'a str; 2],
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
        Ok(tracker) => dialect.spell(&tracker.template(dialect)),
        Err(reason) => format!("/* No code to keep the features: {reason}. */\n"),
    }
}

/// Why there is no code to keep the features of `model`; `None` if there is.
pub(crate) fn unkept(model: &Checked<'_>) -> Option<String> {
    Tracker::new(model).err()
}

/// Size of `struct level`, bytes, where 64-bit integers are aligned to 8; 0 if there is none.
pub(crate) fn level_bytes(model: &Checked<'_>) -> usize {
    Tracker::new(model).map_or(0, |tracker| tracker.level_bytes())
}

/// `observe_listed`: [`code`]'s `observe` for a caller that lists the queues which are not empty; `u16`
/// indices. Nothing if there is no code.
pub(crate) fn observe_listed(model: &Checked<'_>, dialect: &Dialect<'_>, index: &str) -> String {
    let parameters =
        format!("const struct @prefixlevel *levels, const {index} *listed, @u32 n_listed");
    let others = Others {
        function: "observe_listed",
        about: "levels are all queues; those that
 * are not empty are the n_listed ones in listed.",
        parameters: &parameters,
        one: "levels[listed[at]]",
        count: "n_listed",
        names: &["levels", "listed", "n_listed"],
    };
    Tracker::new(model)
        .map_or_else(|_| String::new(), |tracker| dialect.spell(&tracker.observe(dialect, &others)))
}

/// How a function that observes is given the queues that draw on the shared buffer.
struct Others<'a> {
    /// Its name.
    function: &'a str,
    /// A sentence about the parameters.
    about: &'a str,
    /// The parameters.
    parameters: &'a str,
    /// Number `at` of the queues.
    one: &'a str,
    /// How many there are.
    count: &'a str,
    /// The names of the parameters.
    names: &'a [&'a str],
}

const ALL: Others<'_> = Others {
    function: "observe",
    about: "shared are all n_shared queues
 * that draw on the shared buffer.",
    parameters: "const struct @prefixlevel *shared, @u32 n_shared",
    one: "shared[at]",
    count: "n_shared",
    names: &["shared", "n_shared"],
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
}

impl Tracker {
    fn new(model: &Checked<'_>) -> Result<Self, String> {
        let mut features = Vec::new();
        for column in &model.origin.columns {
            let known = column.name.parse().ok().filter(|&feature| expression(feature).is_some());
            let unknown = || match column.code == Feature::OWN_CODE {
                true => {
                    format!("{} is not dropcast's: the caller supplies it", plain(&column.name))
                }
                false => format!("dropcast does not know how {} is kept", plain(&column.name)),
            };
            features.push(known.ok_or_else(unknown)?);
        }
        let remembers =
            |is: fn(Memory) -> bool| features.iter().any(|feature: &Feature| is(feature.memory()));
        let averages = remembers(|memory| memory == Memory::MovingAverages);
        let projection = remembers(|memory| matches!(memory, Memory::ArrivalRates(_)));
        let others = features.iter().any(|&feature| {
            is_level(feature) || ["longest_queue", "rank", "longest_gap"].contains(&feature.name())
        });
        if (averages || projection) && model.average_ns == 0 {
            return Err("the model states no time constant of its features".to_owned());
        }
        Ok(Tracker { features, averages, others, projection })
    }

    fn level_bytes(&self) -> usize {
        let groups = [(self.averages, AVERAGE_MEMBERS), (self.projection, PROJECTION_MEMBERS)];
        let kept = groups.into_iter().filter(|&(is_kept, _)| is_kept).map(|(_, members)| members);
        let (mut bytes, mut widest) = (0_usize, 4);
        for member in kept.chain([BYTES_MEMBER]).flat_map(str::lines) {
            let width = if member.contains("@u64") { 8 } else { 4 };
            bytes = bytes.next_multiple_of(width) + width;
            widest = widest.max(width);
        }
        bytes.next_multiple_of(widest)
    }

    fn template(&self, dialect: &Dialect<'_>) -> String {
        let average = if self.averages { format!("{AVERAGE}\n") } else { String::new() };
        let project = if self.projection { PROJECT } else { NO_PROJECT };
        [&average, &self.levels(), project, &self.observe(dialect, &ALL)].concat()
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

    fn observe(&self, dialect: &Dialect<'_>, others: &Others<'_>) -> String {
        let scan = if self.others { scan(&self.features, others) } else { String::new() };
        let values: String = self.features.iter().map(|&feature| value(feature, dialect)).collect();
        let code = format!("{values}{scan}");
        let unused = |name: &&str| {
            let used =
                ["->", "[", ";"].iter().any(|after| code.contains(&format!("{name}{after}")));
            if used { String::new() } else { format!("    (void){name};\n") }
        };
        let parameters = ["queue", "buffer"].iter().chain(others.names);
        format!(
            "\
/* The features of a packet that arrives for queue, before it is added. {about} */
@inline void @prefix{function}(
    const struct @prefixlevel *queue, const struct @prefixlevel *buffer,
    {parameters},
    {row})
{{
{scan}{unused}{values}}}
",
            about = others.about,
            function = others.function,
            parameters = others.parameters,
            row = dialect.row,
            unused = parameters.map(unused).collect::<String>(),
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
const PROJECT: &str = "\
/* The expected bytes in a queue after this many eighths of a base RTT (1, 2, 4, 8 or 16), if
 * arrivals keep the rate of the last one. */
@inline @u64 @prefixexpected(const struct @prefixlevel *queue, @u32 eighths)
{
    const @u64 coming = queue->bytes + eighths * (@u64)queue->recent;
    const @u64 drained = queue->drain_bytes / (16u / eighths);

    return queue->bytes > 0 && coming > drained ? coming - drained : 0u;
}

/* Where the queues are heading. For a queue that draws on the shared buffer, tell every arrival once
 * it has been accepted or rejected, with its size, and every departure and push-out once it has been
 * removed, with 0 bytes. drain_bytes is what the queue's port sends in two base RTTs (@tau ns each):
 * bits per second * 2 * @tau / 8000000000. */
@inline void @prefixproject(struct @prefixlevel *queue, struct @prefixlevel *buffer,
    @u32 arrived_bytes, @u64 drain_bytes, @u64 now_ns)
{
    const @u64 window_ns = @window;
    @u64 elapsed_ns = now_ns > queue->heard_ns ? now_ns - queue->heard_ns : 0u, projected;

    elapsed_ns = elapsed_ns < window_ns ? elapsed_ns : window_ns;
    queue->heard_ns = now_ns;
    queue->drain_bytes = drain_bytes;
    queue->recent -= (@u32)(queue->recent * elapsed_ns / window_ns);
    queue->recent = arrived_bytes < 0xffffffffu - queue->recent ? queue->recent + arrived_bytes
                                                                 : 0xffffffffu;
    projected = @prefixexpected(queue, 16u);
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

/// The loop over other queues, with only what some feature needs: compilers warn about the rest.
fn scan(features: &[Feature], others: &Others<'_>) -> String {
    let one = others.one;
    let is_needed = |of: &[&str]| features.iter().any(|feature| of.contains(&feature.name()));
    let (mut counts, mut levels, mut body) = (String::new(), String::new(), String::new());
    if is_needed(&["longest_queue", "longest_gap"]) {
        counts += ", longest = 0";
        body += &format!("        longest = {one}.bytes > longest ? {one}.bytes : longest;\n");
    }
    if is_needed(&["rank"]) {
        counts += ", rank = 0";
        body += &format!("        rank += {one}.bytes > queue->bytes ? 1u : 0u;\n");
    }
    for level in FeatureSet::level4().features().iter().filter(|level| features.contains(level)) {
        let name = level.name();
        levels += &format!("    @u64 {name} = 0;\n");
        body += &match level.memory() {
            Memory::Nothing | Memory::MovingAverages => format!(
                "        {name} += {one}.bytes < queue->bytes ? {one}.bytes : queue->bytes;\n"
            ),
            Memory::ArrivalRates(horizon) => format!(
                "        ahead = @prefixexpected(&{one}, {eighths}u);
        {name} += ahead < queue->bytes ? ahead : queue->bytes;\n",
                eighths = horizon.windows()
            ),
        };
    }
    if features.iter().any(|&level| is_level(level) && level.has_time_constant()) {
        levels += "    @u64 ahead;\n";
    }
    let count = others.count;
    format!(
        "    @u32 at{counts};\n{levels}\n    for (at = 0; at < {count}; at++) {{\n{body}    }}\n"
    )
}

/// One value of the row.
fn value(feature: Feature, dialect: &Dialect<'_>) -> String {
    let value = expression(feature).unwrap_or_default();
    let name = identifier(feature.name()).to_ascii_uppercase();
    format!("    {}[{}FEATURE_{name}] = {value};\n", dialect.values, dialect.constant_prefix)
}

/// A feature as an expression of the state, if there is code that keeps it.
fn expression(feature: Feature) -> Option<String> {
    let saturated = |bytes: &str| format!("{bytes} < 0xffffffffu ? (@u32){bytes} : 0xffffffffu");
    Some(match feature.name() {
        "queue_length" => "queue->bytes".to_owned(),
        "avg_queue_length" => "queue->average".to_owned(),
        "occupancy" => "buffer->bytes".to_owned(),
        "avg_occupancy" => "buffer->average".to_owned(),
        "longest_queue" => "longest".to_owned(),
        "rank" => "rank".to_owned(),
        "longest_gap" => "longest > queue->bytes ? longest - queue->bytes : 0u".to_owned(),
        "projected_occupancy" => saturated("buffer->projected"),
        level if is_level(feature) => saturated(level),
        _ => return None,
    })
}

fn is_level(feature: Feature) -> bool {
    FeatureSet::level4().features().contains(&feature)
}

impl Dialect<'_> {
    /// Fills in this dialect's words.
    pub(crate) fn spell(&self, template: &str) -> String {
        let [u32_type, u64_type] = self.types;
        template
            .replace("@prefix", self.prefix)
            .replace("@u32", u32_type)
            .replace("@u64", u64_type)
            .replace("@inline", self.inline)
            .replace("@outlined", self.outlined)
            .replace("@window", &format!("({tau} / 8u > 0 ? {tau} / 8u : 1u)", tau = self.tau))
            .replace("@tau", self.tau)
    }
}
