//! Figure 14 of the Credence paper, drawn.

use crate::reproduce::fig14::{
    Fig14, Fig14Algorithm, Fig14Case, Fig14Row, PAPER, PAPER_BEATS_DT_AT, PAPER_RATIO_AT_1,
};
use dropcast_reports::plot::{Axis, LineFigure, Point, Series};
use dropcast_switch::PolicySpec;

/// The figure, with the paper's values beside ours.
pub fn figure(measured: &Fig14, case: &Fig14Case) -> LineFigure {
    let mut algorithms: Vec<&Fig14Algorithm> = Vec::new();
    for row in &measured.rows {
        if !algorithms.contains(&&row.algorithm) {
            algorithms.push(&row.algorithm);
        }
    }
    let points = |algorithm: &Fig14Algorithm| {
        let rows = measured.rows.iter().filter(|row| row.algorithm == *algorithm);
        let point = |row: &Fig14Row| {
            let ratio = row.ratio?;
            let interval = (ratio.min < ratio.max).then_some((ratio.min, ratio.max));
            let expectation = expectation(row.flip_probability, algorithm);
            Some(Point { interval, expectation, ..Point::new(row.flip_probability, ratio.mean) })
        };
        rows.filter_map(point).collect()
    };
    let series = algorithms.iter().map(|algorithm| Series {
        name: algorithm.to_string(),
        points: points(algorithm),
        ..Series::default()
    });
    let names: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
    LineFigure {
        title: "Throughput against the probability of false predictions".to_owned(),
        description: format!(
            "Packets transmitted by LQD divided by packets transmitted by each of {}, for probabilities of flipped \
             predictions from 0 to 1; lower is better.",
            names.join("; ")
        ),
        x: Axis::new("probability that a prediction is flipped").range(0.0, 1.0),
        y: Axis::new("packets transmitted, LQD / algorithm"),
        series: series.filter(|series| !series.points.is_empty()).collect(),
        notes: vec![
            format!(
                "Measured with {} ports, a buffer of {} packets and {} bursts per slot.",
                case.ports, case.buffer_packets, case.bursts_per_slot
            ),
            format!("Paper (Figure 14, parameters not given): {PAPER}."),
        ],
    }
}

/// The paper's value at a point.
fn expectation(flip_probability: f64, algorithm: &Fig14Algorithm) -> Option<String> {
    if !matches!(algorithm, Fig14Algorithm::Policy(PolicySpec::Credence(_))) {
        return None;
    }
    let says = if flip_probability == 0.0 {
        "1, exactly as LQD".to_owned()
    } else if flip_probability == PAPER_BEATS_DT_AT {
        "below DT".to_owned()
    } else if flip_probability == 1.0 {
        PAPER_RATIO_AT_1.to_string()
    } else {
        return None;
    };
    Some(format!("{says} (paper, Figure 14)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::fig14::{Fig14Options, measure};

    #[test]
    fn the_figure_has_the_papers_values_beside_ours() {
        // Every burst fills the buffer of 8 ports.
        let slots = (0..2_000_u16).map(|slot| vec![slot / 20 % 8; 8]).collect();
        let case = Fig14Case { ports: 8, buffer_packets: 40, bursts_per_slot: 0.05, slots };
        let measured = measure(&case, &Fig14Options::default()).expect("valid");
        let figure = figure(&measured, &case);
        let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names[..3], ["Credence", "Dynamic Thresholds", "Complete Sharing"]);
        let others = ["FollowLQD", "Credence, pays back", "FollowMax", "DT with alpha 8", "OPT"];
        assert_eq!(names[3..], others);
        let expected = figure
            .series
            .iter()
            .map(|series| series.points.iter().filter(|point| point.expectation.is_some()).count());
        assert_eq!(expected.collect::<Vec<_>>(), [3, 0, 0, 0, 0, 0, 0, 0]);
    }
}
