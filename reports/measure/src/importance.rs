//! Feature importance: Gini decrease and permutation loss.

use super::leaf_counts::LeafCounts;
use super::row_sample::Stratum;
use dropcast_data::random::{below, uniform};
use dropcast_forest::{Forest, ForestScorer, Node, ScoreHistogram};
use serde::{Deserialize, Serialize};

/// Seed of the sample and of the permutations.
const SEED: u64 = 1;
/// Permutations of each feature.
const REPETITIONS: u32 = 5;
/// Maximum sample size: transmitted, dropped.
const MOST_ROWS: [usize; 2] = [65_536, 16_384];

/// Importance of the model's features on these rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportanceSection {
    /// The rows that permutation losses were measured on.
    pub sample: SampleSection,
    /// Features, in the model's order.
    pub features: Vec<FeatureImportance>,
}

/// The rows that permutation losses were measured on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSection {
    /// Seed of the sample and of the permutations.
    pub seed: u64,
    /// Permutations of each feature.
    pub repetitions: u32,
    /// Sampled rows that LQD transmitted, at most 65,536, weighted to represent all such rows of
    /// the report.
    pub transmitted: u64,
    /// Sampled rows that LQD dropped, at most 16,384, weighted to represent all such rows of the
    /// report.
    pub dropped: u64,
    /// Average precision on the sample.
    pub average_precision: Option<f64>,
    /// F1 on the sample, at the model's vote threshold.
    pub f1: Option<f64>,
}

/// One feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureImportance {
    /// Its name.
    pub name: String,
    /// Splits by it in all trees.
    pub splits: u64,
    /// How much they lower the Gini impurity of the report's rows, mean over trees.
    pub gini_decrease: Option<f64>,
    /// `gini_decrease` as a share of that of all features.
    pub gini_share: Option<f64>,
    /// Average precision lost when its values are permuted.
    pub average_precision_loss: Option<Loss>,
    /// F1 lost when its values are permuted.
    pub f1_loss: Option<Loss>,
}

/// A loss over the repetitions; negative where the scores got better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Mean.
    pub mean: f64,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
}

/// How much the splits by each feature of a forest lower the Gini impurity of rows, given by columns, as a share of that of all
/// features; 0 if no split does.
pub fn gini_shares(forest: &Forest, columns: &[&[u32]], dropped: &[bool]) -> Vec<f64> {
    let mut leaves = LeafCounts::new(forest);
    leaves.add(forest, columns, dropped);
    shares(&leaves.gini_decrease(forest)).into_iter().map(Option::unwrap_or_default).collect()
}

/// Decreases as shares of their sum; undefined where that is 0.
fn shares(decreases: &[Option<f64>]) -> Vec<Option<f64>> {
    let all: f64 = decreases.iter().flatten().sum();
    let share =
        |decrease: &Option<f64>| decrease.filter(|_| all > 0.0).map(|decrease| decrease / all);
    decreases.iter().map(share).collect()
}

/// The sample that features are permuted on.
pub(crate) struct ImportanceSample {
    /// Transmitted, dropped.
    strata: [Stratum; 2],
}

impl ImportanceSample {
    /// For rows of `features` values.
    pub(crate) fn new(features: usize) -> Self {
        ImportanceSample { strata: MOST_ROWS.map(|most| Stratum::new(most, features)) }
    }

    /// Adds row `number` of run `run`, which is at `row` in these columns.
    pub(crate) fn add(
        &mut self,
        run: u64,
        number: u64,
        columns: &[&[u32]],
        row: usize,
        dropped: bool,
    ) {
        self.strata[usize::from(dropped)].add(SEED, (run, number), columns, row);
    }

    /// The section, given each feature's Gini decrease.
    pub(crate) fn section(
        mut self,
        forest: &Forest,
        decreases: &[Option<f64>],
    ) -> ImportanceSection {
        self.strata.iter_mut().for_each(Stratum::sort);
        let scorer = ForestScorer::new(forest);
        let base = self.scores(forest, &scorer, None);
        let shares = shares(decreases);
        let features = decreases.iter().zip(shares).enumerate().map(|(at, (&decrease, share))| {
            let splits = splits_by(forest, at);
            let losses = self.losses((forest, &scorer), at, splits, &base);
            FeatureImportance {
                name: forest.features[at].clone(),
                splits,
                gini_decrease: decrease,
                gini_share: share,
                average_precision_loss: losses.0,
                f1_loss: losses.1,
            }
        });
        ImportanceSection {
            sample: SampleSection {
                seed: SEED,
                repetitions: REPETITIONS,
                transmitted: self.strata[0].len() as u64,
                dropped: self.strata[1].len() as u64,
                average_precision: base.average_precision(),
                f1: base.f1(forest.vote_threshold),
            },
            features: features.collect(),
        }
    }

    /// Permutation loss of feature `at`: of average precision, of F1.
    fn losses(
        &self,
        (forest, scorer): (&Forest, &ForestScorer),
        at: usize,
        splits: u64,
        base: &Weighted,
    ) -> (Option<Loss>, Option<Loss>) {
        let tries = if splits == 0 { 0 } else { REPETITIONS };
        let drawn: Vec<Weighted> = (0..tries)
            .map(|repetition| self.scores(forest, scorer, Some((at, repetition))))
            .collect();
        let loss = |of: &dyn Fn(&Weighted) -> Option<f64>| {
            let base = of(base)?;
            let losses: Vec<f64> = drawn.iter().filter_map(|d| Some(base - of(d)?)).collect();
            Some(if losses.is_empty() { Loss::NONE } else { Loss::over(&losses) })
        };
        (loss(&Weighted::average_precision), loss(&|w: &Weighted| w.f1(forest.vote_threshold)))
    }

    /// Scores of the sample; with `(feature, repetition)`, that feature is permuted.
    fn scores(
        &self,
        forest: &Forest,
        scorer: &ForestScorer,
        anew: Option<(usize, u32)>,
    ) -> Weighted {
        let mut scores = ScoreHistogram::new(forest.trees.len());
        for (label, stratum) in self.strata.iter().enumerate() {
            let mut columns: Vec<&[u32]> =
                (0..forest.features.len()).map(|feature| stratum.column(feature)).collect();
            let drawn: Vec<u32>;
            if let Some((feature, repetition)) = anew {
                let key = |at| [feature as u64, u64::from(repetition), label as u64, at];
                let draw = |at| self.draw(uniform(SEED, &key(at)), feature);
                drawn = (0..stratum.len() as u64).map(draw).collect();
                columns[feature] = &drawn;
            }
            for score in scorer.score_columns(&columns) {
                scores.add(score, label == 1);
            }
        }
        Weighted { scores, weights: [self.strata[0].weight(), self.strata[1].weight()] }
    }

    /// A feature's value of a row drawn uniformly from all rows: first its label, by the numbers of
    /// rows, then a sampled row of that label.
    fn draw(&self, bits: u64, feature: usize) -> u32 {
        let seen = self.strata.each_ref().map(Stratum::seen);
        let row = below(bits, seen[0] + seen[1]);
        let (stratum, row) = match row.checked_sub(seen[0]) {
            None => (&self.strata[0], row),
            Some(row) => (&self.strata[1], row),
        };
        // Spreads the rows there were evenly over those that are kept.
        let kept = u128::from(row) * stratum.len() as u128 / u128::from(stratum.seen());
        stratum.column(feature)[kept as usize]
    }
}

fn splits_by(forest: &Forest, at: usize) -> u64 {
    let nodes = forest.trees.iter().flat_map(|tree| &tree.nodes);
    let is_by =
        |node: &&Node| matches!(node, Node::Split { feature, .. } if usize::from(*feature) == at);
    nodes.filter(is_by).count() as u64
}

impl Loss {
    /// Of a feature without splits.
    const NONE: Loss = Loss { mean: 0.0, min: 0.0, max: 0.0 };

    fn over(losses: &[f64]) -> Self {
        Loss {
            mean: losses.iter().sum::<f64>() / losses.len() as f64,
            min: losses.iter().copied().fold(f64::INFINITY, f64::min),
            max: losses.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Scores of a sample, with the weight of a row of each label.
struct Weighted {
    scores: ScoreHistogram,
    weights: [f64; 2],
}

impl Weighted {
    fn average_precision(&self) -> Option<f64> {
        let [of_accept, of_drop] = self.weights;
        let (_, drops) = self.scores.totals();
        let (mut tp, mut fp, mut area) = (0.0, 0.0, 0.0);
        for (&accepted, &dropped) in self.scores.accepts().iter().zip(self.scores.drops()).rev() {
            tp += dropped as f64 * of_drop;
            fp += accepted as f64 * of_accept;
            if dropped > 0 {
                area += dropped as f64 / drops as f64 * (tp / (tp + fp));
            }
        }
        (drops > 0).then_some(area)
    }

    fn f1(&self, vote_threshold: u32) -> Option<f64> {
        let confusion = self.scores.confusion(vote_threshold);
        let [of_accept, of_drop] = self.weights;
        let hits = 2.0 * confusion.tp as f64 * of_drop;
        let all = hits + confusion.fp as f64 * of_accept + confusion.fn_ as f64 * of_drop;
        (all > 0.0).then(|| hits / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_forest::Tree;

    /// Drops are what feature 0 exceeds 9 in; feature 1 is looked at in vain, feature 2 never.
    fn forest() -> Forest {
        let split =
            |feature, threshold, left, right| Node::Split { feature, threshold, left, right };
        let leaf = |weight| Node::Leaf { weight };
        let nodes = vec![split(0, 9, 1, 2), leaf(0), split(1, 4, 3, 4), leaf(200), leaf(200)];
        Forest {
            features: ["a", "b", "c"].map(str::to_owned).to_vec(),
            vote_threshold: 100,
            trees: vec![Tree { nodes }],
        }
    }

    fn sample(rows: u64) -> ImportanceSample {
        let mut sample = ImportanceSample::new(3);
        for row in 0..rows {
            let a = (row % 12) as u32;
            sample.add(0, row, &[&[a], &[(row % 7) as u32], &[row as u32]], 0, a > 9);
        }
        sample
    }

    #[test]
    fn a_feature_is_worth_what_is_lost_without_it() {
        let section = sample(12_000).section(&forest(), &[Some(0.3), Some(0.0), Some(0.0)]);
        assert_eq!((section.sample.transmitted, section.sample.dropped), (10_000, 2_000));
        assert_eq!((section.sample.average_precision, section.sample.f1), (Some(1.0), Some(1.0)));
        let [a, b, c] = &section.features[..] else { panic!("three features") };
        assert_eq!((a.splits, b.splits, c.splits), (1, 1, 0));
        // By chance a sixth is found, and a sixth of what is found is right.
        let (by_a, f1) = (a.average_precision_loss.unwrap(), a.f1_loss.unwrap());
        assert!((f1.mean - 5.0 / 6.0).abs() < 0.01, "{f1:?}");
        assert!((by_a.mean - 5.0 / 6.0).abs() < 0.01, "{by_a:?}");
        assert!(by_a.min < by_a.mean && by_a.mean < by_a.max);
        assert_eq!(b.average_precision_loss, Some(Loss::NONE));
        assert_eq!(c.f1_loss, Some(Loss::NONE));
        assert_eq!((a.gini_share, c.gini_share), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn a_sample_weighs_as_much_as_the_rows_it_stands_for() {
        let few = sample(60_000).section(&forest(), &[None; 3]);
        let many = sample(600_000).section(&forest(), &[None; 3]);
        assert_eq!((many.sample.transmitted, many.sample.dropped), (65_536, 16_384));
        let loss = |section: &ImportanceSection| section.features[0].f1_loss.unwrap().mean;
        assert!((loss(&few) - loss(&many)).abs() < 0.01);
        assert_eq!(many.features[0].gini_share, None);
    }

    #[test]
    fn without_drops_nothing_is_lost_or_defined() {
        let mut sample = ImportanceSample::new(3);
        sample.add(0, 0, &[&[1], &[2], &[3]], 0, false);
        let section = sample.section(&forest(), &[Some(0.0); 3]);
        assert_eq!(section.features[0].average_precision_loss, None);
        assert_eq!(section.features[0].f1_loss, None);
        assert_eq!(section.features[0].gini_share, None);
        let none = ImportanceSample::new(3).section(&forest(), &[None; 3]);
        assert_eq!(none.sample.f1, None);
    }
}
