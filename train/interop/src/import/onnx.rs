//! ONNX with one tree ensemble, as skl2onnx writes scikit-learn's trees, forests and boosted trees.

use super::foreign::{Foreign, LOGISTIC_BLUR, Reading, check_trees, refused, wrong};
use crate::ImportError;
use crate::threshold::{Comparison, Values};
use crate::values::{ForeignNode, Leaf, ValueForest, ValueTree};
use dropcast_onnx::{
    AttributeProto, DataType, GraphProto, Message, ModelProto, NodeProto, TensorProto,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(file: &[u8], reading: &Reading<'_>) -> Result<Foreign, ImportError> {
    let model = ModelProto::decode(file)
        .map_err(|error| wrong("the file", format!("is not ONNX: {error}")))?;
    let graph = model.graph.ok_or_else(|| wrong("the model", "has no graph".to_owned()))?;
    let ensemble = ensemble(&graph)?;
    let input = Input::find(&graph, ensemble)?;
    let attributes = Attributes(ensemble);
    let nodes = Nodes::read(&attributes)?;
    let outcome = Outcome::read(&attributes, nodes.trees().len(), reading.threshold)?;
    check_trees(nodes.trees().len())?;
    let features = match (input.columns, reading.features) {
        (Some(columns), _) => columns,
        (None, Some(features)) => features.len(),
        (None, None) => {
            let problem = "the file does not say how many columns there are; give their names";
            return Err(ImportError::Features(problem.to_owned()));
        }
    };
    let trees = nodes.trees().iter().enumerate();
    let trees = trees.map(|(at, &tree)| nodes.tree(at, tree, features, input.values, &outcome));
    let producer = [model.producer_name, model.producer_version].join(" ");
    Ok(Foreign {
        producer: (producer != " ").then(|| producer.trim().to_owned()),
        names: Vec::new(),
        features,
        zero_elsewhere: 0,
        forest: ValueForest {
            trees: trees.collect::<Result<_, _>>()?,
            base: outcome.base,
            threshold: outcome.threshold,
            sums: outcome.sums,
            blur: outcome.blur,
        },
    })
}

/// The graph's one tree ensemble, which must be fed by the input and be what predicts.
fn ensemble(graph: &GraphProto) -> Result<&NodeProto, ImportError> {
    let mut found = None;
    for node in &graph.node {
        match node.op_type.as_str() {
            "TreeEnsembleClassifier" | "TreeEnsembleRegressor" => {
                if found.replace(node).is_some() {
                    let why = "has more than one tree ensemble".to_owned();
                    return Err(refused("the graph", why));
                }
            }
            // They hand on what they get.
            "Identity" | "Cast" | "ZipMap" => {}
            other => {
                let why = format!("computes {other:?}; only a tree ensemble alone is imported");
                return Err(refused("the graph", why));
            }
        }
    }
    found.ok_or_else(|| refused("the graph", "has no tree ensemble that we know".to_owned()))
}

/// What rows look like to the ensemble.
struct Input {
    columns: Option<usize>,
    values: Values,
}

impl Input {
    fn find(graph: &GraphProto, ensemble: &NodeProto) -> Result<Self, ImportError> {
        let name = ensemble.input.first().map_or("", String::as_str);
        let input = graph.input.iter().find(|input| input.name == name).ok_or_else(|| {
            refused("the tree ensemble", "is not fed by the graph's input as it is".to_owned())
        })?;
        let tensor = input.r#type.as_ref().and_then(|value| value.tensor_type.as_ref());
        let tensor = tensor.ok_or_else(|| refused("the input", "is not a tensor".to_owned()))?;
        let values = match tensor.elem_type() {
            // Integers are compared with thresholds in f32.
            DataType::Float | DataType::Int32 | DataType::Int64 => Values::F32,
            DataType::Double => Values::F64,
            _ => {
                return Err(refused(
                    "the input",
                    format!("has elements of type {}, not numbers", tensor.elem_type),
                ));
            }
        };
        let columns = tensor.shape.as_ref().and_then(|shape| shape.dim.get(1));
        let columns = columns.and_then(|columns| usize::try_from(columns.dim_value).ok());
        Ok(Input { columns: columns.filter(|&columns| columns > 0), values })
    }
}

/// The attributes of the ensemble.
struct Attributes<'a>(&'a NodeProto);

impl<'a> Attributes<'a> {
    fn get(&self, name: &str) -> Option<&'a AttributeProto> {
        self.0.attribute.iter().find(|attribute| attribute.name == name)
    }

    fn ints(&self, name: &str) -> &'a [i64] {
        self.get(name).map_or(&[], |attribute| &attribute.ints)
    }

    fn text(&self, name: &str, default: &'a str) -> &'a str {
        let text = self.get(name).map(|attribute| std::str::from_utf8(&attribute.s));
        text.map_or(default, |text| text.unwrap_or("?"))
    }

    /// Numbers in `f32`, or in `f64` under the same name and `_as_tensor`. `None` if neither is
    /// there.
    fn numbers(&self, name: &str) -> Result<Option<(Vec<f64>, Values)>, ImportError> {
        if let Some(AttributeProto { t: Some(tensor), .. }) = self.get(&format!("{name}_as_tensor"))
        {
            return numbers(tensor)
                .map(Some)
                .ok_or_else(|| wrong(name, "is not a tensor of floats".to_owned()));
        }
        let single = |numbers: &[f32]| numbers.iter().map(|&number| f64::from(number)).collect();
        Ok(self.get(name).map(|attribute| (single(&attribute.floats), Values::F32)))
    }
}

fn numbers(tensor: &TensorProto) -> Option<(Vec<f64>, Values)> {
    let raw = &tensor.raw_data;
    match tensor.data_type() {
        DataType::Double if raw.is_empty() => Some((tensor.double_data.clone(), Values::F64)),
        DataType::Double => {
            let (chunks, rest) = raw.as_chunks::<8>();
            let numbers = chunks.iter().map(|&bytes| f64::from_le_bytes(bytes));
            rest.is_empty().then(|| (numbers.collect(), Values::F64))
        }
        DataType::Float if raw.is_empty() => {
            Some((tensor.float_data.iter().map(|&x| f64::from(x)).collect(), Values::F32))
        }
        DataType::Float => {
            let (chunks, rest) = raw.as_chunks::<4>();
            let numbers = chunks.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
            rest.is_empty().then(|| (numbers.collect(), Values::F32))
        }
        _ => None,
    }
}

/// A node of the ensemble, as its attributes describe it.
#[derive(Clone, Copy)]
struct Branch<'a> {
    feature: i64,
    mode: &'a [u8],
    threshold: f64,
    yes: i64,
    no: i64,
}

/// The nodes, by tree and number.
struct Nodes<'a> {
    nodes: BTreeMap<(i64, i64), Branch<'a>>,
    trees: Vec<i64>,
}

impl<'a> Nodes<'a> {
    fn read(attributes: &Attributes<'a>) -> Result<Self, ImportError> {
        let ids = attributes.ints("nodes_nodeids");
        let column = |name: &'static str| {
            let column = attributes.ints(name);
            if column.len() == ids.len() {
                Ok(column)
            } else {
                Err(uneven(name, column.len(), ids.len()))
            }
        };
        let tree_ids = column("nodes_treeids")?;
        let feature_ids = column("nodes_featureids")?;
        let yes = column("nodes_truenodeids")?;
        let no = column("nodes_falsenodeids")?;
        let modes: &[Vec<u8>] =
            attributes.get("nodes_modes").map_or(&[], |attribute| &attribute.strings);
        let (values, _) = attributes.numbers("nodes_values")?.unwrap_or((Vec::new(), Values::F32));
        for (name, found) in [("nodes_modes", modes.len()), ("nodes_values", values.len())] {
            if found != ids.len() {
                return Err(uneven(name, found, ids.len()));
            }
        }
        let mut nodes = BTreeMap::new();
        for at in 0..ids.len() {
            let branch = Branch {
                feature: feature_ids[at],
                mode: &modes[at],
                threshold: values[at],
                yes: yes[at],
                no: no[at],
            };
            if nodes.insert((tree_ids[at], ids[at]), branch).is_some() {
                let at = format!("tree {}, node {}", tree_ids[at], ids[at]);
                return Err(wrong(&at, "is there twice".to_owned()));
            }
        }
        let trees: BTreeSet<i64> = tree_ids.iter().copied().collect();
        Ok(Nodes { nodes, trees: trees.into_iter().collect() })
    }

    /// The trees' numbers.
    fn trees(&self) -> &[i64] {
        &self.trees
    }

    /// The one node of a tree that is nobody's child.
    fn root(&self, tree: i64) -> Result<i64, ImportError> {
        let nodes = || self.nodes.range((tree, i64::MIN)..=(tree, i64::MAX));
        let children: BTreeSet<i64> = nodes()
            .filter(|(_, branch)| branch.mode != b"LEAF")
            .flat_map(|(_, branch)| [branch.yes, branch.no])
            .collect();
        let mut roots = nodes().map(|(&(_, node), _)| node).filter(|node| !children.contains(node));
        match (roots.next(), roots.next()) {
            (Some(root), None) => self.check_reached(tree, root).map(|()| root),
            _ => Err(wrong(&format!("tree {tree}"), "does not have exactly one root".to_owned())),
        }
    }

    /// Refuses nodes that the root does not lead to, such as those of a circle.
    fn check_reached(&self, tree: i64, root: i64) -> Result<(), ImportError> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![root]);
        while let Some(node) = open.pop() {
            // What is not there is refused when the tree is built.
            let Some(branch) = self.nodes.get(&(tree, node)) else { continue };
            if reached.insert(node) && branch.mode != b"LEAF" {
                open.extend([branch.yes, branch.no]);
            }
        }
        let mut nodes =
            self.nodes.range((tree, i64::MIN)..=(tree, i64::MAX)).map(|(&(_, node), _)| node);
        match nodes.find(|node| !reached.contains(node)) {
            None => Ok(()),
            Some(node) => {
                let at = format!("tree {tree}, node {node}");
                Err(wrong(&at, format!("is not reached from the root, node {root}")))
            }
        }
    }

    /// Tree number `at`, which the file calls `tree`.
    fn tree(
        &self,
        at: usize,
        tree: i64,
        features: usize,
        values: Values,
        outcome: &Outcome,
    ) -> Result<ValueTree, ImportError> {
        let number = |node: i64| usize::try_from(node).map_err(|_| format!("has child {node}"));
        let root =
            number(self.root(tree)?).map_err(|problem| wrong(&format!("tree {tree}"), problem))?;
        ValueTree::build(at, root, features, values, |node| {
            let id = i64::try_from(node).map_err(|_| "is not there")?;
            let branch = self.nodes.get(&(tree, id)).ok_or("is not there")?;
            let (comparison, swapped) = match branch.mode {
                b"LEAF" => {
                    let weight = outcome.weights.get(&(tree, id)).copied().unwrap_or(0.0);
                    return Ok(ForeignNode::Leaf(Leaf::new(weight)));
                }
                b"BRANCH_LEQ" => (Comparison::AtMost, false),
                b"BRANCH_LT" => (Comparison::Below, false),
                b"BRANCH_GT" => (Comparison::AtMost, true),
                b"BRANCH_GTE" => (Comparison::Below, true),
                other => {
                    let mode = String::from_utf8_lossy(other);
                    return Err(format!("has mode {mode:?}, which integer trees do not"));
                }
            };
            let (yes, no) = (number(branch.yes)?, number(branch.no)?);
            let (left, right) = if swapped { (no, yes) } else { (yes, no) };
            let feature = usize::try_from(branch.feature)
                .map_err(|_| format!("splits on feature {}", branch.feature))?;
            Ok(ForeignNode::Split { feature, threshold: branch.threshold, comparison, left, right })
        })
    }
}

/// What the leaves add up to, and what that means.
struct Outcome {
    /// By tree and node.
    weights: BTreeMap<(i64, i64), f64>,
    base: f64,
    threshold: f64,
    sums: Values,
    blur: f64,
}

impl Outcome {
    fn read(
        attributes: &Attributes<'_>,
        trees: usize,
        threshold: Option<f64>,
    ) -> Result<Self, ImportError> {
        let is_classifier = attributes.0.op_type == "TreeEnsembleClassifier";
        let kind = if is_classifier { "class" } else { "target" };
        let column = |name: &str| attributes.ints(&format!("{kind}_{name}"));
        let (numbers, sums) = attributes
            .numbers(&format!("{kind}_weights"))?
            .ok_or_else(|| wrong(kind, "has no weights".to_owned()))?;
        let (tree_ids, node_ids, ids) = (column("treeids"), column("nodeids"), column("ids"));
        for (name, found) in
            [("treeids", tree_ids.len()), ("nodeids", node_ids.len()), ("ids", ids.len())]
        {
            if found != numbers.len() {
                return Err(uneven(&format!("{kind}_{name}"), found, numbers.len()));
            }
        }
        let base = attributes.numbers("base_values")?.map_or(Vec::new(), |(base, _)| base);
        let base = match base.as_slice() {
            [] => 0.0,
            [base] if base.is_finite() => *base,
            _ => return Err(refused("base_values", "are more than one number".to_owned())),
        };
        if is_classifier {
            check_classes(attributes, ids)?;
        } else {
            check_targets(attributes, ids)?;
        }
        let mut weights = BTreeMap::new();
        for ((&tree, &node), &weight) in tree_ids.iter().zip(node_ids).zip(&numbers) {
            if weights.insert((tree, node), weight).is_some() {
                return Err(wrong(
                    &format!("tree {tree}, node {node}"),
                    "has two weights".to_owned(),
                ));
            }
        }
        let outcome =
            Outcome { weights, base, threshold: threshold.unwrap_or(0.5), sums, blur: 0.0 };
        match threshold {
            None if is_classifier => outcome.classify(attributes),
            Some(_) if is_classifier => Ok(outcome),
            _ => outcome.regress(attributes, trees),
        }
    }

    /// As onnxruntime does for two classes: if no weight is below 0 they are shares, and the second
    /// class wins above one half; else they are margins, and it wins above 0.
    fn classify(self, attributes: &Attributes<'_>) -> Result<Self, ImportError> {
        let are_shares = self.weights.values().all(|&weight| weight >= 0.0);
        match attributes.text("post_transform", "NONE") {
            "NONE" if are_shares => Ok(self),
            "NONE" => Ok(Outcome { threshold: 0.0, ..self }),
            "LOGISTIC" if !are_shares => {
                Ok(Outcome { threshold: 0.0, blur: LOGISTIC_BLUR, ..self })
            }
            "LOGISTIC" => Err(refused(
                "post_transform",
                "is LOGISTIC of weights none of which is below 0, which runtimes decide differently; import what the training tool saved".to_owned(),
            )),
            other => Err(refused("post_transform", format!("is {other}, which is not imported"))),
        }
    }

    fn regress(self, attributes: &Attributes<'_>, trees: usize) -> Result<Self, ImportError> {
        let post = attributes.text("post_transform", "NONE");
        if post != "NONE" {
            return Err(refused("post_transform", format!("is {post}, which is not imported")));
        }
        match attributes.text("aggregate_function", "SUM") {
            "SUM" => Ok(self),
            "AVERAGE" => {
                let trees = trees as f64;
                let threshold = (self.threshold - self.base) * trees;
                // The quotient and the sum with the base are rounded too.
                let size = trees * (self.base.abs() + self.threshold.abs());
                Ok(Outcome {
                    base: 0.0,
                    threshold,
                    blur: 4.0 * f64::from(f32::EPSILON) * size,
                    ..self
                })
            }
            other => Err(refused("aggregate_function", format!("is {other}; scores must be sums"))),
        }
    }
}

/// Two classes, 0 and 1, with weights of one of them.
fn check_classes(attributes: &Attributes<'_>, ids: &[i64]) -> Result<(), ImportError> {
    let labels = attributes.ints("classlabels_int64s");
    let names: &[Vec<u8>] =
        attributes.get("classlabels_strings").map_or(&[], |attribute| &attribute.strings);
    if labels != [0, 1] {
        let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let why =
            format!("are {labels:?}{names:?}; import forests with classes 0 (accept) and 1 (drop)");
        return Err(refused("the classes", why));
    }
    let classes: BTreeSet<i64> = ids.iter().copied().collect();
    let is_plain = classes.iter().eq([&0])
        || (classes.iter().eq([&1]) && attributes.get("base_values").is_none());
    if is_plain {
        return Ok(());
    }
    Err(refused(
        "class_ids",
        "give weights to both classes, which runtimes decide differently; skl2onnx writes those of one".to_owned(),
    ))
}

fn check_targets(attributes: &Attributes<'_>, ids: &[i64]) -> Result<(), ImportError> {
    let targets = attributes.get("n_targets").map_or(1, |attribute| attribute.i);
    if targets == 1 && ids.iter().all(|&id| id == 0) {
        return Ok(());
    }
    Err(refused("n_targets", format!("is {targets}; forests with one output are imported")))
}

fn uneven(name: &str, found: usize, expected: usize) -> ImportError {
    wrong(name, format!("has {found} values, expected {expected}"))
}
