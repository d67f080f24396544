//! `dropcast import`.

use crate::args::ImportArgs;
use dropcast_data::{read_switches, write_atomic};
use dropcast_forest::{Agreement, SwitchContext};
use dropcast_interop::{ImportTask, Imported as ImportedForest};
use dropcast_pipeline::export::models::import_file;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::traces::in_common;
use dropcast_reports::words::model::constant_warning;
use dropcast_terminal as output;
use dropcast_terminal::Failure;
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
    let ImportedForest { model, zero_elsewhere } = import_file(&args.file, task)?;
    let imported = Imported {
        format: model.imported.as_ref().map(|origin| origin.format.clone()),
        zero_elsewhere,
        agreement: model.imported.as_ref().map(|origin| origin.agreement),
        features: model.forest.features.clone(),
        trees: model.forest.trees.len(),
        depth: model.forest.depth(),
        vote_threshold: model.forest.vote_threshold,
        always: model.forest.constant().map(|drops| if drops { "drop" } else { "accept" }),
        warning: constant_warning(&model.forest),
    };
    write_atomic(&args.output, model.to_json().as_bytes())?;
    output::print(args.format, &imported, |imported| {
        format!("{}model: {}\n", imported.text(), output::shown(&args.output))
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
    /// Splits that send a missing value to another side than 0, where it is not recorded what was missing.
    zero_elsewhere: usize,
    /// Its prediction for every row, accept or drop; null if predictions differ between rows.
    always: Option<&'static str>,
    /// That it is so.
    #[serde(skip)]
    warning: Option<&'static str>,
}

impl Imported {
    fn text(&self) -> String {
        let Imported { format, features, trees, depth, .. } = self;
        let features = features.join(" ");
        let agreement = self.agreement.as_ref().map_or_else(String::new, agreement);
        let format = format.as_deref().unwrap_or("forest");
        let warning = self
            .warning
            .map_or_else(String::new, |text| format!("warning: {text}; see --threshold\n"));
        let missing = match self.zero_elsewhere {
            0 => String::new(),
            splits => format!(
                ", if no integer was missing when it was trained\nnote: it is not recorded what was; if 0 was (missing=0, \
                 sparse rows), {splits} of its splits decide 0 otherwise (docs/trainers.md)"
            ),
        };
        format!(
            "{format}: {trees} trees of depth {depth} on {features}\ndecisions: {agreement}{missing}\n{warning}"
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
