//! Figures 4 and 5 of the ABM paper, as CSV, pictures and a page.

use crate::reproduce::abm_equations::EquationPanel;
use dropcast_reports::plot::{Axis, LineFigure, Point, Series, Unit};
use std::fmt::Write as _;

/// One row per panel, curve and point: shares of the buffer by the equation and in the switch.
pub fn csv(panels: &[EquationPanel]) -> String {
    let mut out = "panel,curve,at,equation,switch\n".to_owned();
    for panel in panels {
        for curve in &panel.curves {
            for point in &curve.points {
                let (at, equation, switch) = (point.at, point.equation, point.switch);
                let _ = writeln!(out, "{},\"{}\",{at},{equation},{switch}", panel.name, curve.name);
            }
        }
    }
    out
}

/// What the switch does, a panel each.
pub fn figure(panel: &EquationPanel) -> LineFigure {
    let series = panel.curves.iter().map(|curve| Series {
        name: curve.name.clone(),
        points: curve.points.iter().map(|point| Point::new(point.at, point.switch)).collect(),
        ..Series::default()
    });
    LineFigure {
        title: panel.title.to_owned(),
        description: format!("Shares of the buffer by {}.", panel.of),
        x: Axis::new(panel.of),
        y: Axis::new("share of the buffer, %").unit(Unit::Percent),
        series: series.collect(),
        notes: vec![
            "A switch of 17 ports; alpha 0.5, 1 of the loss-sensitive priority.".to_owned(),
        ],
    }
}

/// A table for each panel.
pub fn page(panels: &[EquationPanel]) -> String {
    let mut out = String::new();
    for panel in panels {
        let _ = write!(
            out,
            "## {}\n\nIn the switch, and by the equation; {}.\n\n|",
            panel.title, panel.of
        );
        let points = panel.curves.first().map_or(&[][..], |curve| &curve.points);
        points.iter().for_each(|point| {
            let _ = write!(out, " | {}", point.at);
        });
        let _ = writeln!(out, " |\n|---|{}", "---|".repeat(points.len()));
        for curve in &panel.curves {
            let _ = write!(out, "| {} |", curve.name);
            for point in &curve.points {
                let [switch, equation] = [point.switch, point.equation].map(|share| share * 100.0);
                let _ = write!(out, " {switch:.1}% ({equation:.1}%) |");
            }
            out.push('\n');
        }
        out.push('\n');
    }
    out
}
