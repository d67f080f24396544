//! `dropcast import`.

use crate::args::ImportArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_data::{read_switches, write_atomic};
use dropcast_forest::{Agreement, Forest, Node, SwitchContext, Tree};
use dropcast_interop::ImportTask;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::models::import_file;
use dropcast_pipeline::traces::in_common;
use serde::Serialize;

pub(crate) fn run(args: &ImportArgs) -> Result<(), Failure> {
    check_output(&args.output, [&args.file].into_iter().chain(&args.switch))?;
    let switch = match &args.switch {
        None => SwitchContext::default(),
        Some(path) => in_common(read_switches(path)?.all()),
    };
    let task = ImportTask {
        format: args.from,
        features: args.features.clone(),
        switch,
        threshold: args.threshold,
        allow_rounding: args.allow_rounding,
        ..ImportTask::default()
    };
    let model = import_file(&args.file, task)?;
    let imported = Imported {
        format: model.imported.as_ref().map(|origin| origin.format.clone()),
        agreement: model.imported.as_ref().map(|origin| origin.agreement),
        features: model.forest.features.clone(),
        trees: model.forest.trees.len(),
        depth: model.forest.depth(),
        vote_threshold: model.forest.vote_threshold,
        always: always(&model.forest),
    };
    write_atomic(&args.output, model.to_json().as_bytes())?;
    output::print(args.format, &imported, |imported| {
        format!("{}model: {}\n", imported.text(), args.output.display())
    })
}

/// What was imported.
#[derive(Debug, Serialize)]
struct Imported {
    format: Option<String>,
    features: Vec<String>,
    trees: usize,
    depth: usize,
    vote_threshold: u32,
    agreement: Option<Agreement>,
    /// Its prediction for every row; null if predictions differ between rows.
    always: Option<Prediction>,
}

/// A prediction for a packet.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Prediction {
    Accept,
    Drop,
}

/// The prediction of `forest` for every row, if its vote threshold is out of reach.
fn always(forest: &Forest) -> Option<Prediction> {
    let weights = |tree: &Tree| -> Vec<u32> {
        let weight = |node: &Node| match node {
            Node::Leaf { weight } => Some(u32::from(*weight)),
            Node::Split { .. } => None,
        };
        tree.nodes.iter().filter_map(weight).collect()
    };
    let (mut least, mut most) = (0, 0);
    for weights in forest.trees.iter().map(weights) {
        least += weights.iter().min().unwrap_or(&0);
        most += weights.iter().max().unwrap_or(&0);
    }
    match forest.vote_threshold {
        threshold if most <= threshold => Some(Prediction::Accept),
        threshold if least > threshold => Some(Prediction::Drop),
        _ => None,
    }
}

impl Imported {
    fn text(&self) -> String {
        let Imported { format, features, trees, depth, .. } = self;
        let features = features.join(" ");
        let agreement = self.agreement.as_ref().map_or_else(String::new, agreement);
        let format = format.as_deref().unwrap_or("forest");
        let warning = match self.always {
            None => "",
            Some(Prediction::Accept) => {
                "warning: it never predicts a drop, no score is above its threshold; see --threshold\n"
            }
            Some(Prediction::Drop) => {
                "warning: it always predicts a drop, every score is above its threshold; see --threshold\n"
            }
        };
        format!(
            "{format}: {trees} trees of depth {depth} on {features}\ndecisions: {agreement}\n{warning}"
        )
    }
}

fn agreement(agreement: &Agreement) -> String {
    let Agreement { combinations, differing, margin } = *agreement;
    match (combinations, differing) {
        (Some(all), Some(0)) => {
            format!("all as the original's, proven on all {all} combinations of leaves")
        }
        _ if agreement.is_proven() => "all as the original's, proven".to_owned(),
        (Some(all), Some(differing)) => format!(
            "{differing} of {all} combinations of leaves differ, where the original's score is up to {margin:.3e} from its threshold"
        ),
        _ => format!(
            "may differ where the original's score is up to {margin:.3e} from its threshold"
        ),
    }
}
