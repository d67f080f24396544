//! The forest as an ONNX model, for machine-learning runtimes. `docs/onnx.md` describes it.

mod graph;
mod protobuf;

use crate::ExportError;
use crate::checked::Checked;
use crate::origin::Column;
use crate::target::{EmittedFile, Target};
use dropcast_forest::Node;
use graph::{Dimension, ElementType};
use protobuf::Message;

/// The ONNX model.
pub(crate) const TARGET: Target =
    Target { name: "onnx", about: "ONNX model, see docs/onnx.md", emit };

/// Version of the model format (2021), of the operators, and of those on trees: version 3 of the
/// latter is the first to know double precision.
const IR_VERSION: u64 = 7;
const OPERATORS: u64 = 13;
const ML_OPERATORS: u64 = 3;

/// The operators' domains.
const STANDARD: &str = "";
const ML: &str = "ai.onnx.ml";

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let bytes = onnx_model(model).into_bytes();
    Ok(vec![EmittedFile { name: format!("{}.onnx", model.prefix), bytes }])
}

fn onnx_model(model: &Checked<'_>) -> Message {
    Message::new()
        .number(1, IR_VERSION)
        .text(2, "dropcast")
        .text(3, &model.origin.tool_version)
        .text(6, "Would push-out Longest Queue Drop drop this packet?")
        .message(7, onnx_graph(model))
        .messages(8, [graph::operators(STANDARD, OPERATORS), graph::operators(ML, ML_OPERATORS)])
        .messages(14, properties(model))
}

/// Where the model comes from, and what only C code would have as constants.
fn properties(model: &Checked<'_>) -> Vec<Message> {
    let origin = model.origin;
    let feature = |column: &Column| format!("{} ({})", column.name, column.unit);
    let features: Vec<String> = origin.columns.iter().map(feature).collect();
    let mut properties = vec![
        graph::property("model_name", &origin.model_name),
        graph::property("model_sha256", &origin.model_sha256),
        graph::property("features", &features.join(", ")),
        graph::property("vote_threshold", &model.forest.vote_threshold.to_string()),
    ];
    if let Some(average_ns) = origin.average_ns {
        properties.push(graph::property("average_ns", &average_ns.to_string()));
    }
    properties
}

/// Integers in, integers out; floating point only where the operator on trees knows nothing else.
fn onnx_graph(model: &Checked<'_>) -> Message {
    let precision = Precision::of(model);
    let nodes = [
        cast("features", "x", precision.element_type()),
        graph::node(ML, "TreeEnsembleRegressor", &["x"], "sum", ensemble(model, precision)),
        cast("sum", "sums", ElementType::Int64),
        graph::node(STANDARD, "Reshape", &["sums", "one_per_row"], "score", []),
        graph::node(STANDARD, "Greater", &["score", "vote_threshold"], "drop", []),
    ];
    let vote = u64::from(model.forest.vote_threshold);
    let columns = Dimension::Of(model.forest.features.len());
    let rows = || Dimension::Any("rows");
    Message::new()
        .messages(1, nodes)
        .text(2, &model.prefix)
        .messages(
            5,
            [
                graph::one_integer("one_per_row", u64::MAX), // Reshape's -1: as many as there are
                graph::one_integer("vote_threshold", vote),
            ],
        )
        .messages(
            11,
            [graph::value(
                "features",
                "the packets' features, recorded before each is added to the buffer",
                ElementType::Uint32,
                [rows(), columns],
            )],
        )
        .messages(
            12,
            [
                graph::value("score", "sum of the leaves' weights", ElementType::Int64, [rows()]),
                graph::value("drop", "score > vote_threshold", ElementType::Bool, [rows()]),
            ],
        )
}

fn cast(from: &str, to: &str, element_type: ElementType) -> Message {
    graph::node(STANDARD, "Cast", &[from], to, [graph::int("to", element_type as u64)])
}

/// What features and thresholds are compared in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// 32 bits: what every runtime has. Exact while all thresholds are below 2^24. A value up to
    /// 2^24 is itself; a larger one rounds to 2^24 or more, which is still above every threshold.
    Single,
    /// 64 bits, in which every value is itself.
    Double,
}

impl Precision {
    fn of(model: &Checked<'_>) -> Self {
        match thresholds(model).max() {
            Some(threshold) if threshold >= 1 << f32::MANTISSA_DIGITS => Precision::Double,
            _ => Precision::Single,
        }
    }

    fn element_type(self) -> ElementType {
        match self {
            Precision::Single => ElementType::Float,
            Precision::Double => ElementType::Double,
        }
    }
}

/// The thresholds of all splits.
fn thresholds(model: &Checked<'_>) -> impl Iterator<Item = u32> {
    nodes(model).filter_map(|at| match *at.node {
        Node::Split { threshold, .. } => Some(threshold),
        Node::Leaf { .. } => None,
    })
}

/// A node, and where it is.
struct Place<'a> {
    tree: u64,
    nth: u64,
    node: &'a Node,
}

fn nodes<'a>(model: &Checked<'a>) -> impl Iterator<Item = Place<'a>> {
    model.forest.trees.iter().zip(0..).flat_map(|(tree, nth_tree)| {
        tree.nodes.iter().zip(0..).map(move |(node, nth)| Place { tree: nth_tree, nth, node })
    })
}

/// The attributes of `TreeEnsembleRegressor`: parallel lists over the nodes of all trees, and over
/// their leaves. In a leaf's places of the former, 0 stands for nothing.
fn ensemble(model: &Checked<'_>, precision: Precision) -> Vec<Message> {
    let all = |of: fn(&Node) -> u64| nodes(model).map(move |at| of(at.node));
    let leaves = || nodes(model).filter(|at| matches!(at.node, Node::Leaf { .. }));
    let mode = |at: Place<'_>| match at.node {
        Node::Split { .. } => "BRANCH_LEQ",
        Node::Leaf { .. } => "LEAF",
    };
    let thresholds = all(|node| match *node {
        Node::Split { threshold, .. } => u64::from(threshold),
        Node::Leaf { .. } => 0,
    });
    let weights = leaves().map(|at| match *at.node {
        Node::Leaf { weight } => u64::from(weight),
        Node::Split { .. } => 0,
    });
    vec![
        graph::ints("nodes_treeids", nodes(model).map(|at| at.tree)),
        graph::ints("nodes_nodeids", nodes(model).map(|at| at.nth)),
        graph::strings("nodes_modes", nodes(model).map(mode)),
        graph::ints(
            "nodes_featureids",
            all(|node| match *node {
                Node::Split { feature, .. } => u64::from(feature),
                Node::Leaf { .. } => 0,
            }),
        ),
        reals("nodes_values", thresholds, precision),
        graph::ints(
            "nodes_truenodeids",
            all(|node| match *node {
                Node::Split { left, .. } => u64::from(left),
                Node::Leaf { .. } => 0,
            }),
        ),
        graph::ints(
            "nodes_falsenodeids",
            all(|node| match *node {
                Node::Split { right, .. } => u64::from(right),
                Node::Leaf { .. } => 0,
            }),
        ),
        graph::ints("target_treeids", leaves().map(|at| at.tree)),
        graph::ints("target_nodeids", leaves().map(|at| at.nth)),
        graph::ints("target_ids", leaves().map(|_| 0)),
        reals("target_weights", weights, precision),
        graph::int("n_targets", 1),
        graph::string("aggregate_function", "SUM"),
        graph::string("post_transform", "NONE"),
    ]
}

/// A list of integers, none of which the precision rounds, as floating-point numbers.
fn reals(name: &str, values: impl Iterator<Item = u64>, precision: Precision) -> Message {
    match precision {
        Precision::Single => graph::floats(name, values.map(|value| value as f32)),
        Precision::Double => {
            let name = format!("{name}_as_tensor");
            graph::tensor(&name, graph::doubles(&name, values.map(|value| value as f64).collect()))
        }
    }
}
