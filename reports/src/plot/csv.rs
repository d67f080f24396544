//! The numbers of a figure as CSV.

use super::figure::LineFigure;
use crate::csv::field;
use std::fmt::Write as _;

impl LineFigure {
    /// One row per point: `series`, the two values under the names given, the ends of its interval
    /// and what was expected; a field is empty if the point has no such value. RFC 4180 with `\n`.
    pub fn to_csv(&self, x_name: &str, y_name: &str) -> String {
        let mut out = format!("series,{},{},low,high,expectation\n", field(x_name), field(y_name));
        for series in &self.series {
            for point in &series.points {
                let (low, high) = point.interval.unzip();
                let expectation = point.expectation.as_deref().unwrap_or_default();
                let number = |value: Option<f64>| {
                    value.filter(|v| v.is_finite()).map_or(String::new(), |v| v.to_string())
                };
                let _ = writeln!(
                    out,
                    "{},{},{},{},{},{}",
                    field(&series.name),
                    number(Some(point.x)),
                    number(Some(point.y)),
                    number(low),
                    number(high),
                    field(expectation)
                );
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::plot::{LineFigure, Point, Series};

    #[test]
    fn rows_carry_interval_and_expectation() {
        let mut series = Series { name: "Credence, live".to_owned(), ..Series::default() };
        series.points.push(Point {
            x: 0.5,
            y: 1.25,
            interval: Some((1.2, 1.3)),
            expectation: Some("\"below DT\"".to_owned()),
            ..Point::default()
        });
        series.points.push(Point::new(1.0, f64::NAN));
        let figure = LineFigure { series: vec![series], ..LineFigure::default() };
        assert_eq!(
            figure.to_csv("flips", "ratio"),
            "series,flips,ratio,low,high,expectation\n\
             \"Credence, live\",0.5,1.25,1.2,1.3,\"\"\"below DT\"\"\"\n\
             \"Credence, live\",1,,,,\n"
        );
    }
}
