//! A sweep arranged for its page: recipes, each over trees and depths.

use dropcast_features::FeatureSet;
use dropcast_train::{
    FrontMeasure, FrontPart, SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable,
};
use std::collections::BTreeSet;

/// Configurations that differ in trees and depth only.
pub(crate) struct Recipe<'a> {
    /// Its name on the page; empty if it is the only one.
    pub(crate) name: String,
    /// The settings that differ from those of other recipes.
    pub(crate) own_settings: String,
    pub(crate) shapes: Vec<Shape<'a>>,
}

/// A configuration with its forests, one for each seed.
pub(crate) struct Shape<'a> {
    pub(crate) summary: &'a SweepSummary,
    pub(crate) rows: Vec<&'a SweepRow>,
}

/// A score of a forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Precision,
    Recall,
    F1,
    Eta,
}

/// A score over the seeds of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OverSeeds {
    pub(crate) mean: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

impl Measure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Precision => "Precision",
            Measure::Recall => "Recall",
            Measure::F1 => "F1",
            Measure::Eta => "\u{3B7}",
        }
    }

    pub(crate) fn value(self, scores: &SweepScores) -> Option<f64> {
        match self {
            Measure::Precision => scores.precision,
            Measure::Recall => scores.recall,
            Measure::F1 => scores.f1,
            Measure::Eta => scores.eta_packets,
        }
    }
}

impl From<FrontMeasure> for Measure {
    fn from(measure: FrontMeasure) -> Self {
        match measure {
            FrontMeasure::EtaPackets => Measure::Eta,
            FrontMeasure::F1 => Measure::F1,
        }
    }
}

/// The name of a part in a sentence.
pub(crate) fn part_name(part: FrontPart) -> &'static str {
    match part {
        FrontPart::Train => "training",
        FrontPart::Validation => "validation",
        FrontPart::Test => "test",
    }
}

/// The part whose scores are shown: test rows if there are any, else validation rows.
pub(crate) fn shown_part(sweep: &SweepTable) -> FrontPart {
    let has = |part| sweep.rows.iter().any(|row| row.scores(part).is_some());
    let parts = [FrontPart::Test, FrontPart::Validation];
    parts.into_iter().find(|&part| has(part)).unwrap_or(FrontPart::Train)
}

/// The recipes in the order of the sweep.
pub(crate) fn recipes(sweep: &SweepTable) -> Vec<Recipe<'_>> {
    let varied = varied(sweep);
    let mut recipes: Vec<Recipe<'_>> = Vec::new();
    let mut rows = sweep.rows.iter().peekable();
    for summary in &sweep.summary {
        // A configuration's forests are adjacent, in the order of the summary.
        let mut own = Vec::new();
        while let Some(row) = rows.next_if(|row| row.setting == summary.setting) {
            own.push(row);
        }
        let shape = Shape { summary, rows: own };
        match recipes.iter_mut().find(|recipe| recipe.has(&summary.setting)) {
            Some(recipe) => recipe.shapes.push(shape),
            None => {
                let own_settings = own_settings(&summary.setting, varied);
                recipes.push(Recipe { name: String::new(), own_settings, shapes: vec![shape] });
            }
        }
    }
    if recipes.len() > 1 {
        for (recipe, number) in recipes.iter_mut().zip(1..) {
            let setting = recipe.shapes.first().map(|shape| &shape.summary.setting);
            let name = setting.map_or_else(String::new, |setting| short_name(setting, varied));
            let is_short = name.chars().count() <= LONGEST_NAME;
            recipe.name = if is_short { name } else { format!("recipe {number}") };
        }
    }
    recipes
}

/// The name of a setting's recipe.
pub(crate) fn recipe_name<'r>(recipes: &'r [Recipe<'_>], setting: &SweepSetting) -> &'r str {
    let own = recipe_number(recipes, setting).and_then(|at| recipes.get(at));
    own.map_or("", |recipe| recipe.name.as_str())
}

/// The place of a setting's recipe, which gives its colour.
pub(crate) fn recipe_number(recipes: &[Recipe<'_>], setting: &SweepSetting) -> Option<usize> {
    recipes.iter().position(|recipe| recipe.has(setting))
}

/// Recipes that have a colour of their own.
pub(crate) const MOST_COLOURED: usize = 5;

fn same_recipe(a: &SweepSetting, b: &SweepSetting) -> bool {
    let b = SweepSetting { trees: a.trees, max_depth: a.max_depth, ..b.clone() };
    *a == b
}

/// Number of [`values`].
const SETTINGS: usize = 7;

/// A setting's values by name, without trees and depth.
fn values(setting: &SweepSetting) -> [(&'static str, String); SETTINGS] {
    [
        ("features", setting.features.join(", ")),
        ("bins", setting.max_bins.to_string()),
        ("max features", String::from(setting.max_features)),
        ("criterion", setting.criterion.to_string()),
        ("class weight", setting.class_weight.to_string()),
        ("min samples leaf", setting.min_samples_leaf.to_string()),
        ("vote", setting.vote.to_string()),
    ]
}

/// Longer names of recipes are replaced by a number.
const LONGEST_NAME: usize = 44;

/// What is special about a setting, in few words.
fn short_name(setting: &SweepSetting, varied: [bool; SETTINGS]) -> String {
    let set = FeatureSet::try_from(setting.features.clone()).ok();
    let features = set.as_ref().and_then(FeatureSet::name);
    let words = [
        features.map_or_else(|| setting.features.join(", "), str::to_owned),
        format!("{} bins", setting.max_bins),
        format!("{} drawn", String::from(setting.max_features)),
        setting.criterion.to_string(),
        format!("weights {}", setting.class_weight),
        format!("leaves of {}", setting.min_samples_leaf),
        format!("vote {}", setting.vote),
    ];
    let own = words.into_iter().zip(varied).filter(|(_, varied)| *varied);
    own.map(|(word, _)| word).collect::<Vec<_>>().join(", ")
}

/// Which of [`values`] differ within the sweep.
fn varied(sweep: &SweepTable) -> [bool; SETTINGS] {
    let mut seen: [BTreeSet<String>; SETTINGS] = Default::default();
    for summary in &sweep.summary {
        for (seen, (_, value)) in seen.iter_mut().zip(values(&summary.setting)) {
            seen.insert(value);
        }
    }
    seen.map(|seen| seen.len() > 1)
}

fn own_settings(setting: &SweepSetting, varied: [bool; SETTINGS]) -> String {
    let own = values(setting).into_iter().zip(varied).filter(|(_, varied)| *varied);
    let texts = own.map(|((name, value), _)| format!("{name} {value}"));
    texts.collect::<Vec<_>>().join("; ")
}

impl<'a> Recipe<'a> {
    /// Whether a setting belongs to this recipe: it differs at most in trees and depth.
    fn has(&self, setting: &SweepSetting) -> bool {
        self.shapes.first().is_some_and(|shape| same_recipe(&shape.summary.setting, setting))
    }

    pub(crate) fn trees(&self) -> Vec<u16> {
        let trees: BTreeSet<u16> = self.settings().map(|setting| setting.trees).collect();
        trees.into_iter().collect()
    }

    pub(crate) fn depths(&self) -> Vec<u8> {
        let depths: BTreeSet<u8> = self.settings().map(|setting| setting.max_depth).collect();
        depths.into_iter().collect()
    }

    pub(crate) fn shape(&self, trees: u16, depth: u8) -> Option<&Shape<'a>> {
        let is_it = |setting: &SweepSetting| setting.trees == trees && setting.max_depth == depth;
        self.shapes.iter().find(|shape| is_it(&shape.summary.setting))
    }

    fn settings(&self) -> impl Iterator<Item = &'a SweepSetting> {
        self.shapes.iter().map(|shape| &shape.summary.setting)
    }
}

impl Shape<'_> {
    /// A score over the seeds; `None` if it is undefined for a seed.
    pub(crate) fn score(&self, part: FrontPart, measure: Measure) -> Option<OverSeeds> {
        let of = |row: &&SweepRow| measure.value(row.scores(part)?);
        let scores: Vec<f64> = self.rows.iter().map(of).collect::<Option<_>>()?;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        (!scores.is_empty()).then(|| OverSeeds {
            mean,
            lowest: scores.iter().copied().fold(f64::INFINITY, f64::min),
            highest: scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}
