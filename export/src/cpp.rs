//! A C++17 header that replaces the Credence artifact's per-packet call into Python, in ns-3 or any
//! other simulator. `docs/ns3.md` says how.

use crate::ExportError;
use crate::c::{branches, preamble};
use crate::checked::Checked;
use crate::decision::{self, DriverWords, Words};
use crate::ident::{identifier, plain};
use crate::target::{EmittedFile, Emitter};
use crate::tracker::{self, Dialect};
use dropcast_data::SwitchSpec;
use dropcast_features::{Feature, FeatureSet};

/// The C++ header.
pub(crate) const TARGET: Emitter = Emitter {
    name: "cpp",
    about: "C++17 header for ns-3, in place of the Credence artifact's Python call, see docs/ns3.md",
    decides: true,
    has_layouts: false,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let name = format!("{}.hpp", model.prefix);
    let mut files = vec![EmittedFile { name, bytes: header(model).into_bytes() }];
    if let Some(switch) = &model.origin.switch {
        let name = format!("{}_decision.hpp", model.prefix);
        let driver = DriverWords {
            file: "driver.cc",
            header: &name,
            around: ["", &format!("\n\nusing namespace {}_oracle;", model.prefix)],
            state: "decision",
            u64: "uint64_t",
            prefixes: ["", ""],
        };
        let driver = decision::driver(model, switch, &driver);
        files.push(EmittedFile { name, bytes: deciding(model, switch)?.into_bytes() });
        files.push(driver);
    }
    Ok(files)
}

/// The header of the whole decision.
fn deciding(model: &Checked<'_>, switch: &SwitchSpec) -> Result<String, ExportError> {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let file = format!("{name}_decision.hpp");
    let usage = format!(
        " * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model, in
 * namespace {name}_oracle: init makes a state, arrival decides about a packet that arrives, departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One thread for each state.
 *
{costs}",
        costs = decision::costs(model, switch, false),
    );
    let words = Words {
        target: TARGET.name,
        dialect: &DIALECT,
        row: "Row x{}",
        predicts: "predicts_drop(x)",
        is_bounded: false,
        constant: |name, value| format!("constexpr std::uint32_t {name} = {value};\n"),
    };
    let guard = format!("DROPCAST_{upper}_DECISION_HPP");
    Ok([
        preamble::about(model, &file, &usage),
        format!(
            "#ifndef {guard}\n#define {guard}\n\n#include \"{name}.hpp\"\n\n#include <stdint.h>\n#include <string.h>\n"
        ),
        format!("namespace {name}_oracle {{\n"),
        decision::code(model, switch, &words)?,
        format!("}} // namespace {name}_oracle\n\n#endif // {guard}\n"),
    ]
    .join("\n"))
}

fn header(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let usage = format!(
        " * {name}_oracle::predicts_drop answers whether the packet would be dropped, given its features,
 * recorded before it is added to the buffer.
"
    );
    let guard = format!("DROPCAST_{upper}_HPP");
    [
        preamble::about(model, &format!("{name}.hpp"), &usage),
        format!("#ifndef {guard}\n#define {guard}\n\n#include <array>\n#include <cstdint>\n\n#include <stdint.h>\n"),
        format!("namespace {name}_oracle {{\n"),
        constants(model),
        trees(model),
        decision(model),
        artifact_call(model),
        keeping(model),
        format!("}} // namespace {name}_oracle\n\n#endif // {guard}\n"),
    ]
    .join("\n")
}

fn constants(model: &Checked<'_>) -> String {
    let columns = model.origin.columns.iter().enumerate();
    let features: String = columns
        .map(|(at, column)| {
            format!(
                "    FEATURE_{} = {at}, // {}; unit: {}\n",
                identifier(&column.name).to_ascii_uppercase(),
                plain(&column.definition),
                plain(&column.unit),
            )
        })
        .collect();
    let average = match model.average_ns {
        0 => String::new(),
        average_ns => format!("constexpr std::uint32_t AVERAGE_NS = {average_ns};\n"),
    };
    let mut switch = String::new();
    if let Some(bytes) = model.origin.buffer_bytes {
        switch += &format!(
            "// The switch that the model is for: do not use it on another.\n\
             constexpr std::uint32_t BUFFER_BYTES = {bytes};\n"
        );
    }
    if let Some(ports) = model.origin.ports {
        switch += &format!("constexpr std::uint32_t PORTS = {ports};\n");
    }
    format!(
        "\
enum Feature {{
{features}}};

constexpr int N_FEATURES = {n_features};
// A drop is predicted if and only if the score is larger.
constexpr std::uint32_t VOTE_THRESHOLD = {vote};
{average}{switch}constexpr const char *MODEL_SHA256 = \"{sha256}\";

// The features of a packet, in the order of Feature.
using Row = std::array<std::uint32_t, N_FEATURES>;
",
        n_features = model.forest.features.len(),
        vote = model.forest.vote_threshold,
        sha256 = plain(&model.origin.model_sha256),
    )
}

fn trees(model: &Checked<'_>) -> String {
    let tree = |(number, tree): (usize, &dropcast_forest::Tree)| {
        let x = if branches::looks_at_row(tree) { "x" } else { "" };
        let body = branches::body(model, tree, "");
        format!("constexpr std::uint32_t tree_{number}(const Row &{x})\n{{\n{body}}}\n")
    };
    model.forest.trees.iter().enumerate().map(tree).collect::<Vec<_>>().join("\n")
}

fn decision(model: &Checked<'_>) -> String {
    let calls: String = (0..model.forest.trees.len())
        .map(|number| format!("    sum += tree_{number}(x);\n"))
        .collect();
    format!(
        "\
constexpr std::uint32_t score(const Row &x)
{{
    std::uint32_t sum = 0;

{calls}    return sum;
}}

// A tie accepts.
constexpr bool predicts_drop(const Row &x)
{{
    return score(x) > VOTE_THRESHOLD;
}}
"
    )
}

/// The call with the artifact's arguments, if the model needs no others.
fn artifact_call(model: &Checked<'_>) -> String {
    let mut values = String::new();
    for column in &model.origin.columns {
        let Some(argument) = argument(&column.name) else {
            return format!(
                "// No predicts_drop with the four arguments of the Credence artifact: the model needs {}.\n",
                plain(&column.name)
            );
        };
        let feature = identifier(&column.name).to_ascii_uppercase();
        values += &format!("    x[FEATURE_{feature}] = {argument};\n");
    }
    let parameter = |feature: &Feature| {
        let name = argument(feature.name()).unwrap_or_default();
        let used = values.contains(&format!(" = {name};"));
        format!("    {}std::uint32_t {name}", if used { "" } else { "[[maybe_unused]] " })
    };
    let parameters: Vec<String> = FeatureSet::paper4().features().iter().map(parameter).collect();
    format!(
        "\
// The four arguments that the Credence artifact calls getPrediction with, in bytes.
constexpr bool predicts_drop(
{}
)
{{
    Row x{{}};
{values}    return predicts_drop(x);
}}
",
        parameters.join(",\n")
    )
}

/// The artifact's name of a feature.
fn argument(feature: &str) -> Option<&'static str> {
    let names = ["queueLength", "averageQueueLength", "sharedOccupancy", "averageOccupancy"];
    let at = FeatureSet::paper4().features().iter().position(|paper| paper.name() == feature)?;
    Some(names[at])
}

/// The code that keeps the features.
fn keeping(model: &Checked<'_>) -> String {
    tracker::code(model, &DIALECT)
}

const DIALECT: Dialect<'_> = Dialect {
    prefix: "",
    constant_prefix: "",
    function: "inline",
    separate: "inline",
    row: "Row &",
    values: "(x)",
};
