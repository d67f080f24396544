//! The figures of a sweep's page.

use crate::figure15::DEPTH;
use crate::numbers;
use crate::plot::{Axis, AxisScale, Draw, HeatFigure, Labels, LineFigure, Point, Series};
use crate::sweep_view::{
    MOST_COLOURED, Measure, OverSeeds, Recipe, Shape, part_name, recipe_name, recipe_number,
};
use dropcast_train::{FrontPart, SweepRow, SweepTable};

/// Maximum number of lines in a figure: the colours of the palette.
const MOST_LINES: usize = 6;

/// The quantity on the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    Trees,
    Depth,
}

/// A score against trees with a line per depth, or vice versa.
pub(crate) fn lines(
    recipe: &Recipe<'_>,
    part: FrontPart,
    measure: Measure,
    along: Along,
) -> LineFigure {
    let depths: Vec<u32> = recipe.depths().into_iter().map(u32::from).collect();
    let trees: Vec<u32> = recipe.trees().into_iter().map(u32::from).collect();
    let (across, each) = match along {
        Along::Trees => (trees, few(&depths)),
        Along::Depth => (depths, few(&trees)),
    };
    let line = |of: u32| {
        let point = |x: u32| {
            let (trees, depth) = if along == Along::Trees { (x, of) } else { (of, x) };
            let shape = recipe.shape(u16::try_from(trees).ok()?, u8::try_from(depth).ok()?)?;
            Some(point(f64::from(x), shape.score(part, measure)?))
        };
        let name = match (along, of) {
            (Along::Trees, _) => format!("depth {of}"),
            (Along::Depth, 1) => "1 tree".to_owned(),
            (Along::Depth, _) => format!("{of} trees"),
        };
        let points = across.iter().filter_map(|&x| point(x)).collect();
        Series { points, ..Series::new(name, Draw::Line, []) }
    };
    let (x, word) = match along {
        Along::Trees => (Axis::new("Trees").scale(AxisScale::Log2), "trees"),
        Along::Depth => (Axis::new("Depth (most splits from root to leaf)").whole(), "depth"),
    };
    let name = measure.name();
    let series: Vec<Series> =
        each.into_iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let (y, notes) = clipped(measure, series.iter().flat_map(|line| &line.points));
    LineFigure {
        title: titled(format!("{name} against {word}"), recipe),
        description: format!(
            "{name} on {} rows against {word}; mean over seeds, with bars from the lowest to the \
             highest.",
            part_name(part)
        ),
        x,
        y,
        series,
        notes,
    }
}

/// A score for every number of trees and depth.
pub(crate) fn heat(recipe: &Recipe<'_>, part: FrontPart, measure: Measure) -> HeatFigure {
    let (trees, depths) = (recipe.trees(), recipe.depths());
    let mean = |trees, depth| {
        Some(recipe.shape(trees, depth)?.score(part, measure)?.mean).filter(|mean| mean.is_finite())
    };
    let cells: Vec<Vec<Option<f64>>> = depths
        .iter()
        .map(|&depth| trees.iter().map(|&trees| mean(trees, depth)).collect())
        .collect();
    let points: Vec<Point> =
        cells.iter().flatten().flatten().map(|&mean| Point::new(0.0, mean)).collect();
    let range = clipped(measure, &points).0.range.filter(|_| measure == Measure::Eta);
    HeatFigure {
        title: titled(format!("{} by trees and depth", measure.name()), recipe),
        description: format!(
            "Mean {} over seeds on {} rows, for each number of trees and each depth; darker is \
             higher.",
            measure.name(),
            part_name(part)
        ),
        x: Axis::new("Trees"),
        y: Axis::new("Depth"),
        value: Axis { range, ..Axis::new(measure.name()) },
        decimals: if measure == Measure::Eta { 4 } else { 3 },
        columns: trees.iter().map(u16::to_string).collect(),
        rows: depths.iter().map(u8::to_string).collect(),
        cells,
        ..HeatFigure::default()
    }
}

/// Quality against ternary entries, with the Pareto front as steps. None if entries were not
/// counted.
pub(crate) fn front(sweep: &SweepTable, recipes: &[Recipe<'_>]) -> Option<LineFigure> {
    let (part, measure) = (sweep.front.part, Measure::from(sweep.front.measure));
    let point = |row: &SweepRow| {
        let entries = row.size.ternary_entries.filter(|&entries| entries > 0)?;
        let score = measure.value(row.scores(part)?)?;
        let label = Some(shape_name(row));
        Some(Point { label, ..Point::new(entries as f64, score) })
    };
    let mut best: Vec<Point> =
        sweep.rows.iter().filter(|row| row.pareto).filter_map(point).collect();
    best.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let drawn = if recipes.len() > 1 { recipes.len().min(MOST_COLOURED) } else { 0 };
    let mut others: Vec<Series> = recipes[..drawn]
        .iter()
        .map(|recipe| Series::new(recipe.name.clone(), Draw::Dots, []))
        .chain([Series::new("other forests", Draw::Dots, [])])
        .collect();
    for row in sweep.rows.iter().filter(|row| !row.pareto) {
        let Some(mut point) = point(row) else { continue };
        let recipe = recipe_name(recipes, &row.setting);
        point.label = point.label.map(|label| format!("{label} seed {} {recipe}", row.seed));
        let own = recipe_number(recipes, &row.setting).filter(|&at| at < drawn).unwrap_or(drawn);
        others[own].points.push(point);
    }
    // A recipe whose forests are all on the front keeps its colour, but the rest needs none.
    others.truncate(if others[drawn].points.is_empty() { drawn } else { drawn + 1 });
    // Labels go where no forest can be.
    let labels = if measure == Measure::Eta { Labels::BelowLeft } else { Labels::AboveLeft };
    let front = Series { points: best, labels, ..Series::new("Pareto front", Draw::Steps, []) };
    if front.points.is_empty() {
        return None;
    }
    let proposed = sweep.proposed.and_then(|at| point(sweep.rows.get(at)?));
    let points = proposed.into_iter().collect();
    let proposed = Series { points, ..Series::new("proposed", Draw::Marks, []) };
    let series: Vec<Series> = others.into_iter().chain([front]).collect();
    let (y, notes) = clipped(measure, series.iter().flat_map(|series| &series.points));
    Some(LineFigure {
        title: format!("{} against ternary entries", measure.name()),
        description: format!(
            "{} on {} rows against the number of ternary entries, for every forest of the sweep; \
             the steps are the Pareto front of the median seeds.",
            measure.name(),
            part_name(part)
        ),
        x: Axis::new("Ternary entries").scale(AxisScale::Log10),
        y,
        series: series.into_iter().chain([proposed]).collect(),
        notes,
    })
}

/// Scores against trees at the depth of the paper's Figure 15, and the values in the paper's text.
/// `None` if the sweep has no forest of that depth, or only one number of trees.
pub(crate) fn paper(recipe: &Recipe<'_>, part: FrontPart) -> Option<LineFigure> {
    let at_depth = |trees: &u16| recipe.shape(*trees, DEPTH);
    let trees: Vec<u16> = recipe.trees().into_iter().filter(|t| at_depth(t).is_some()).collect();
    if trees.len() < 2 {
        return None;
    }
    let line = |name: &str, of: &dyn Fn(&Shape<'_>) -> Option<OverSeeds>| {
        let over = |&trees: &u16| Some(point(f64::from(trees), of(at_depth(&trees)?)?));
        let points = trees.iter().filter_map(over).collect();
        Series { points, ..Series::new(name, Draw::Line, []) }
    };
    let said = crate::figure15::PAPER_AT_4_TREES.iter().filter(|(name, _)| *name != "accuracy");
    let said = said.map(|(name, value)| {
        let label = Some(format!("paper: {name} {value}"));
        Point { label, ..Point::new(4.0, *value) }
    });
    let paper = Series {
        labels: Labels::AboveRight,
        points: said.collect(),
        ..Series::new("the paper's text, 4 trees", Draw::Marks, [])
    };
    let mut series = vec![
        line("precision", &|shape| shape.score(part, Measure::Precision)),
        line("recall", &|shape| shape.score(part, Measure::Recall)),
        line("F1", &|shape| shape.score(part, Measure::F1)),
        line("1/\u{3B7}", &|shape| shape.score(part, Measure::Eta).map(inverse)),
    ];
    series.retain(|series| !series.points.is_empty());
    series.push(paper);
    Some(LineFigure {
        title: titled(format!("Scores against trees at depth {}", DEPTH), recipe),
        description: format!(
            "Precision, recall, F1 and the inverse of \u{3B7} on {} rows for forests of depth {}, \
             and what the Credence paper says of its own at 4 trees.",
            part_name(part),
            DEPTH
        ),
        x: Axis::new("Trees").scale(AxisScale::Log2),
        y: Axis::new("Score").range(0.0, 1.0),
        series,
        notes: Vec::new(),
    })
}

/// Trees and depth, for a label beside a point.
pub(crate) fn shape_name(row: &SweepRow) -> String {
    format!("{}\u{D7}{}", row.setting.trees, row.setting.max_depth)
}

fn axis(measure: Measure) -> Axis {
    match measure {
        Measure::Eta => Axis::new("\u{3B7} (packets; 1 with right predictions)"),
        other => Axis::new(other.name()).range(0.0, 1.0),
    }
}

/// The axis of a measure, and what it leaves out. That of eta ends where Tukey's outer fence does (three times the distance of the
/// quartiles beyond the upper one; "Exploratory Data Analysis", 1977), or a single bad forest would flatten all others.
fn clipped<'a>(
    measure: Measure,
    points: impl IntoIterator<Item = &'a Point>,
) -> (Axis, Vec<String>) {
    let axis = axis(measure);
    let mut values: Vec<f64> =
        points.into_iter().map(|point| point.y).filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let (Some(&low), Some(&most), Measure::Eta) = (values.first(), values.last(), measure) else {
        return (axis, Vec::new());
    };
    let [lower, upper] = [1, 3].map(|quarter| values[quarter * (values.len() - 1) / 4]);
    let inside = values.partition_point(|&value| value <= upper + 3.0 * (upper - lower));
    let (high, beyond) = (values[inside - 1], values.len() - inside);
    if beyond == 0 || high <= low {
        return (axis, Vec::new());
    }
    let margin = (high - low) / 20.0;
    let points =
        if beyond == 1 { "1 point lies".to_owned() } else { format!("{beyond} points lie") };
    let note = format!("{points} above the axis (arrows), up to {}.", numbers::short(most));
    (axis.range(low - margin, high + margin), vec![note])
}

fn titled(title: String, recipe: &Recipe<'_>) -> String {
    if recipe.name.is_empty() { title } else { format!("{title} ({})", recipe.name) }
}

fn point(x: f64, over: OverSeeds) -> Point {
    let interval = (over.lowest < over.highest).then_some((over.lowest, over.highest));
    Point { interval, ..Point::new(x, over.mean) }
}

/// The inverse of a score that is at least 1.
fn inverse(over: OverSeeds) -> OverSeeds {
    OverSeeds {
        mean: over.mean.recip(),
        lowest: over.highest.recip(),
        highest: over.lowest.recip(),
    }
}

/// At most [`MOST_LINES`] of the values, evenly spaced, with both ends.
fn few(values: &[u32]) -> Vec<u32> {
    if values.len() <= MOST_LINES {
        return values.to_vec();
    }
    let place = |at: usize| (at * (values.len() - 1) + (MOST_LINES - 1) / 2) / (MOST_LINES - 1);
    (0..MOST_LINES).map(|at| values[place(at)]).collect()
}

/// A caption sentence about what a figure leaves out.
pub(crate) fn left_out(all: usize, what: &str) -> String {
    let more = all.saturating_sub(MOST_LINES);
    if more == 0 {
        return String::new();
    }
    format!(" {} more {what} are in the table of all forests.", numbers::count(more as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_forest_does_not_flatten_the_axis_of_eta() {
        let of = |values: &[f64], measure| {
            let points: Vec<Point> = values.iter().map(|&value| Point::new(1.0, value)).collect();
            clipped(measure, &points)
        };
        let usual = [1.0, 1.01, 1.012, 1.015, 1.02, f64::NAN];
        assert_eq!(of(&usual, Measure::Eta), (axis(Measure::Eta), Vec::new()));
        let (bad, note) = of(&[1.0, 1.01, 1.012, 1.015, 1.02, 7.5], Measure::Eta);
        let (low, high) = bad.range.expect("it is clipped");
        assert!((low - 0.999).abs() < 1e-9 && (high - 1.021).abs() < 1e-9, "{low} {high}");
        assert_eq!(note, ["1 point lies above the axis (arrows), up to 7.5."]);
        let same = [1.0, 1.0, 1.0, 1.0, 2.0];
        assert_eq!(of(&same, Measure::Eta).0.range, None, "nothing but the outlier would be seen");
        assert_eq!(of(&[0.1, 0.9, 0.9, 0.9, 0.91], Measure::F1).0.range, Some((0.0, 1.0)));
        assert_eq!(of(&[], Measure::Eta).1, Vec::<String>::new());
    }
}
