//! The forest as an ONNX model, for machine-learning runtimes. `docs/dct.md` describes it.

mod graph;

use crate::ExportError;
use crate::checked::Checked;
use crate::origin::Column;
use crate::target::{EmittedFile, Emitter};
use dropcast_forest::Node;
use dropcast_onnx::{
    AttributeProto, DataType, GraphProto, Message, ModelProto, NodeProto, StringStringEntryProto,
    ValueInfoProto,
};

/// The ONNX model.
pub(crate) const TARGET: Emitter = Emitter {
    name: "onnx",
    about: "ONNX model, see docs/dct.md",
    decides: false,
    has_layouts: false,
    emit,
};

/// Versions of the model format (2021), the operators and the operators on trees; the last support
/// double precision from version 3 on.
const IR_VERSION: i64 = 7;
const OPERATORS: i64 = 13;
const ML_OPERATORS: i64 = 3;

/// The operators' domains.
const STANDARD: &str = "";
const ML: &str = "ai.onnx.ml";

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let bytes = onnx_model(model).encode_to_vec();
    Ok(vec![EmittedFile { name: format!("{}.onnx", model.prefix), bytes }])
}

fn onnx_model(model: &Checked<'_>) -> ModelProto {
    ModelProto {
        ir_version: IR_VERSION,
        producer_name: "dropcast".to_owned(),
        producer_version: model.origin.tool_version.clone(),
        doc_string: "Would push-out Longest Queue Drop drop this packet?".to_owned(),
        graph: Some(onnx_graph(model)),
        opset_import: vec![
            graph::operators(STANDARD, OPERATORS),
            graph::operators(ML, ML_OPERATORS),
        ],
        metadata_props: properties(model),
    }
}

/// The model's origin, and the constants that C headers have.
fn properties(model: &Checked<'_>) -> Vec<StringStringEntryProto> {
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

/// Integers in, integers out; floating point only where the operator on trees requires it.
fn onnx_graph(model: &Checked<'_>) -> GraphProto {
    let precision = Precision::needed_by(model);
    let columns = model.forest.features.len();
    GraphProto {
        node: vec![
            cast("features", "x", precision.element_type()),
            graph::node(ML, "TreeEnsembleRegressor", &["x"], "sum", ensemble(model, precision)),
            cast("sum", "sums", DataType::Int64),
            graph::node(STANDARD, "Reshape", &["sums", "one_per_row"], "score", vec![]),
            graph::node(STANDARD, "Greater", &["score", "vote_threshold"], "drop", vec![]),
        ],
        name: model.prefix.clone(),
        initializer: vec![
            graph::one_integer("one_per_row", -1), // for Reshape: inferred
            graph::one_integer("vote_threshold", model.forest.vote_threshold.into()),
        ],
        input: vec![graph::value(
            "features",
            "the packets' features, recorded before each is added to the buffer",
            DataType::Uint32,
            vec![graph::any_size("rows"), graph::size(columns)],
        )],
        output: vec![
            one_per_row("score", "sum of the leaves' weights", DataType::Int64),
            one_per_row("drop", "score > vote_threshold", DataType::Bool),
        ],
    }
}

fn one_per_row(name: &str, about: &str, element: DataType) -> ValueInfoProto {
    graph::value(name, about, element, vec![graph::any_size("rows")])
}

fn cast(from: &str, to: &str, element: DataType) -> NodeProto {
    let element = i32::from(element);
    graph::node(STANDARD, "Cast", &[from], to, vec![graph::int("to", element.into())])
}

/// The number type of comparisons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// 32 bits, which every runtime supports. Exact while all thresholds are below 2^24: values up
    /// to 2^24 are exact, and larger ones round to 2^24 or more, still above every threshold.
    Single,
    /// 64 bits, exact for every value.
    Double,
}

impl Precision {
    fn needed_by(model: &Checked<'_>) -> Self {
        match thresholds(model).max() {
            Some(threshold) if threshold >= 1 << f32::MANTISSA_DIGITS => Precision::Double,
            _ => Precision::Single,
        }
    }

    fn element_type(self) -> DataType {
        match self {
            Precision::Single => DataType::Float,
            Precision::Double => DataType::Double,
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

/// A node with its tree and index.
struct TreeNode<'a> {
    tree: i64,
    nth: i64,
    node: &'a Node,
}

fn nodes<'a>(model: &Checked<'a>) -> impl Iterator<Item = TreeNode<'a>> {
    model.forest.trees.iter().zip(0..).flat_map(|(tree, nth_tree)| {
        tree.nodes.iter().zip(0..).map(move |(node, nth)| TreeNode { tree: nth_tree, nth, node })
    })
}

/// The attributes of `TreeEnsembleRegressor`: parallel lists over the nodes of all trees, and over
/// their leaves. Unused entries of leaves in the former are 0.
fn ensemble(model: &Checked<'_>, precision: Precision) -> Vec<AttributeProto> {
    let all = |of: fn(&Node) -> i64| nodes(model).map(move |at| of(at.node));
    let leaves = || nodes(model).filter(|at| matches!(at.node, Node::Leaf { .. }));
    let mode = |at: TreeNode<'_>| match at.node {
        Node::Split { .. } => "BRANCH_LEQ",
        Node::Leaf { .. } => "LEAF",
    };
    let thresholds = all(|node| match *node {
        Node::Split { threshold, .. } => i64::from(threshold),
        Node::Leaf { .. } => 0,
    });
    let weights = leaves().map(|at| match *at.node {
        Node::Leaf { weight } => i64::from(weight),
        Node::Split { .. } => 0,
    });
    vec![
        graph::ints("nodes_treeids", nodes(model).map(|at| at.tree)),
        graph::ints("nodes_nodeids", nodes(model).map(|at| at.nth)),
        graph::strings("nodes_modes", nodes(model).map(mode)),
        graph::ints(
            "nodes_featureids",
            all(|node| match *node {
                Node::Split { feature, .. } => i64::from(feature),
                Node::Leaf { .. } => 0,
            }),
        ),
        reals("nodes_values", thresholds, precision),
        graph::ints(
            "nodes_truenodeids",
            all(|node| match *node {
                Node::Split { left, .. } => i64::from(left),
                Node::Leaf { .. } => 0,
            }),
        ),
        graph::ints(
            "nodes_falsenodeids",
            all(|node| match *node {
                Node::Split { right, .. } => i64::from(right),
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

/// A list of integers as floating-point numbers, all exact in this precision.
fn reals(name: &str, values: impl Iterator<Item = i64>, precision: Precision) -> AttributeProto {
    match precision {
        Precision::Single => graph::floats(name, values.map(|value| value as f32)),
        Precision::Double => {
            graph::doubles(&format!("{name}_as_tensor"), values.map(|value| value as f64))
        }
    }
}
