//! Whether differences between runs are more than chance, alone and among many.

use super::bootstrap::LEAST_VALUES;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How probable a mean difference at least this far from 0 is by chance: the two-sided p-value of Student's
/// t-test of paired `differences`. Null for fewer than 5, which are too few.
pub fn p_value(differences: &[f64]) -> Option<f64> {
    let count = differences.len();
    if count < LEAST_VALUES {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / count as f64;
    let squares: f64 = differences.iter().map(|value| (value - mean).powi(2)).sum();
    let standard_error = (squares / (count - 1) as f64 / count as f64).sqrt();
    if standard_error == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let student = StudentsT::new(0.0, 1.0, (count - 1) as f64).ok()?;
    Some((2.0 * student.sf((mean / standard_error).abs())).min(1.0))
}

/// The largest p-value that is a discovery if at most the share `rate` of all discoveries among `p_values`
/// shall be false, in expectation (Benjamini and Hochberg, Controlling the False Discovery Rate, Journal of the
/// Royal Statistical Society B 1995, procedure 1). None if none is.
pub fn largest_discovery(p_values: &[f64], rate: f64) -> Option<f64> {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let allowed = |rank: usize| rate * rank as f64 / sorted.len() as f64;
    let ranked = sorted.iter().enumerate().rev();
    ranked.map(|(before, &p)| (before + 1, p)).find(|&(rank, p)| p <= allowed(rank)).map(|(_, p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_arrivals::{StreamPurpose, stream};
    use rand_distr::{Distribution, Normal};

    #[test]
    fn p_values_are_those_of_students_tables() {
        // t = 2.776445 at 4 degrees of freedom leaves 2.5% on either side (any table of the distribution).
        let wanted = 2.776_445 * (2.5_f64 / 5.0).sqrt();
        let values: Vec<f64> = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|value| value + wanted).to_vec();
        let p = p_value(&values).expect("5 values");
        assert!((p - 0.05).abs() < 1e-6, "{p}");
        let negative: Vec<f64> = values.iter().map(|value| -value).collect();
        assert_eq!(p_value(&negative), Some(p));
        assert_eq!(p_value(&values[..4]), None);
        assert_eq!(p_value(&[0.0; 5]), Some(1.0));
        assert_eq!(p_value(&[1.0; 5]), Some(0.0));
    }

    #[test]
    fn noise_is_rarely_beyond_a_p_value() {
        let normal = Normal::new(0.0, 1.0).expect("valid");
        let mut rng = stream(1, StreamPurpose::Bursts);
        let mut p = || {
            let values: Vec<f64> = (0..8).map(|_| normal.sample(&mut rng)).collect();
            p_value(&values).expect("8 values")
        };
        let beyond = (0..2_000).filter(|_| p() <= 0.05).count();
        // 5% of 2,000 are 100, with a standard deviation of 9.7.
        assert!((65..=135).contains(&beyond), "{beyond} of 2,000");
    }

    #[test]
    fn discoveries_are_those_of_the_paper() {
        // The example of Benjamini and Hochberg, section 4: 15 p-values, of which 4 are discoveries at 5%.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        assert_eq!(largest_discovery(&p_values, 0.05), Some(0.0095));
        assert_eq!(largest_discovery(&[], 0.05), None);
        assert_eq!(largest_discovery(&[0.2, 0.9], 0.05), None);
        // A later one makes earlier ones discoveries, too.
        assert_eq!(largest_discovery(&[0.04, 0.045], 0.05), Some(0.045));
    }
}
