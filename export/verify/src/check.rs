//! Checks a target on rows of many kinds.

use crate::compare::Expected;
use crate::{Built, Comparison, Evidence, Mismatch, VerifyError};
use dropcast_export::{RowKind, Vectors};
use dropcast_forest::Forest;
use serde::Serialize;

/// A running check of a target's programs.
pub struct TargetCheck {
    built: Built,
    programs: Vec<ProgramCheck>,
}

/// The result of one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramCheck {
    /// The program and its tool.
    pub program: String,
    /// How its answers are computed.
    pub evidence: Evidence,
    /// Rows compared, of all kinds.
    pub rows: u64,
    /// Rows whose score or decision differs from the forest's.
    pub mismatches: u64,
    /// The same by kind of row, in order of first occurrence.
    pub kinds: Vec<KindCheck>,
    /// The first mismatches, at most [`Comparison::SHOWN`].
    pub first_mismatches: Vec<Mismatch>,
    /// Nanoseconds per prediction, if measured.
    pub ns_per_prediction: Option<f64>,
}

/// The result for rows of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCheck {
    /// The kind.
    pub kind: &'static str,
    /// Rows compared.
    pub rows: u64,
    /// Rows whose score or decision differs from the forest's.
    pub mismatches: u64,
}

/// Rows per call of a program: bounds memory.
const CHUNK_ROWS: usize = 1 << 20;

impl TargetCheck {
    /// Starts a check of built programs.
    pub fn new(mut built: Built) -> Self {
        let programs = built.programs().iter().map(|program| ProgramCheck {
            program: program.name().to_owned(),
            evidence: program.evidence(),
            rows: 0,
            mismatches: 0,
            kinds: Vec::new(),
            first_mismatches: Vec::new(),
            ns_per_prediction: None,
        });
        TargetCheck { programs: programs.collect(), built }
    }

    /// Runs every program on the vectors of `forest`.
    ///
    /// # Errors
    /// If a program cannot be run, or does not answer every row.
    pub fn vectors(&mut self, forest: &Forest, vectors: &Vectors) -> Result<(), VerifyError> {
        let chunks = vectors.rows().chunks(CHUNK_ROWS).zip(vectors.kinds().chunks(CHUNK_ROWS));
        for (rows, kinds) in chunks {
            self.add(forest, rows, |row| kinds[row].into())?;
        }
        // Counted in the order of the rows; kinds have their own order.
        let place = |kind: &str| RowKind::ALL.iter().position(|&other| <&str>::from(other) == kind);
        for program in &mut self.programs {
            program.kinds.sort_by_key(|kind| place(kind.kind).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    /// Runs every program on rows of a trace.
    ///
    /// # Errors
    /// If a program cannot be run, or does not answer every row.
    pub fn trace(&mut self, forest: &Forest, rows: &[Vec<u32>]) -> Result<(), VerifyError> {
        rows.chunks(CHUNK_ROWS).try_for_each(|rows| self.add(forest, rows, |_| "trace"))
    }

    /// Measures the time of a prediction, for programs that can be timed; does nothing without
    /// rows.
    ///
    /// # Errors
    /// If a program cannot be run.
    pub fn time(&mut self, rows: &[Vec<u32>]) -> Result<(), VerifyError> {
        let programs = self.built.programs().iter_mut().filter(|_| !rows.is_empty());
        for (program, check) in programs.zip(&mut self.programs) {
            check.ns_per_prediction = program.time_ns(rows)?;
        }
        Ok(())
    }

    /// The results.
    pub fn finish(self) -> Vec<ProgramCheck> {
        self.programs
    }

    fn add(
        &mut self,
        forest: &Forest,
        rows: &[Vec<u32>],
        kind_of: impl Fn(usize) -> &'static str,
    ) -> Result<(), VerifyError> {
        let expected = Expected::new(forest, rows);
        for (program, check) in self.built.programs().iter_mut().zip(&mut self.programs) {
            let mismatches = expected.mismatches(program.as_mut())?;
            check.rows += rows.len() as u64;
            check.mismatches += mismatches.len() as u64;
            for row in 0..rows.len() {
                check.kind(kind_of(row)).rows += 1;
            }
            for (row, mismatch) in mismatches {
                check.kind(kind_of(row)).mismatches += 1;
                if check.first_mismatches.len() < Comparison::SHOWN {
                    check.first_mismatches.push(mismatch);
                }
            }
        }
        Ok(())
    }
}

impl ProgramCheck {
    /// Whether the emitted code was run and answered every row as the forest does.
    pub fn is_verified(&self) -> bool {
        self.evidence == Evidence::Executed && self.rows > 0 && self.mismatches == 0
    }

    fn kind(&mut self, kind: &'static str) -> &mut KindCheck {
        let at = self.kinds.iter().position(|other| other.kind == kind).unwrap_or_else(|| {
            self.kinds.push(KindCheck { kind, rows: 0, mismatches: 0 });
            self.kinds.len() - 1
        });
        &mut self.kinds[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answers, Program};
    use dropcast_forest::{Node, Tree};

    /// Gives preset answers; on demand one fewer than there are rows.
    struct Fake {
        evidence: Evidence,
        score: u32,
        forgets_one: bool,
    }

    impl Program for Fake {
        fn name(&self) -> &str {
            "fake"
        }

        fn evidence(&self) -> Evidence {
            self.evidence
        }

        fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
            let count = rows.len() - usize::from(self.forgets_one);
            Ok(Answers { scores: Some(vec![self.score; count]), drops: None })
        }
    }

    fn forest() -> Forest {
        let tree = Tree { nodes: vec![Node::Leaf { weight: 7 }] };
        Forest { features: vec!["q".to_owned()], vote_threshold: 7, trees: vec![tree] }
    }

    fn checked(fake: Fake) -> Result<ProgramCheck, VerifyError> {
        let forest = forest();
        let mut check = TargetCheck::new(Built::of_programs(vec![Box::new(fake)])?);
        check.vectors(&forest, &Vectors::new(&forest, 1, 10).expect("valid"))?;
        check.trace(&forest, &[vec![1], vec![2]])?;
        Ok(check.finish().remove(0))
    }

    #[test]
    fn only_what_was_executed_without_a_mismatch_is_verified() {
        let of = |evidence, score| {
            checked(Fake { evidence, score, forgets_one: false }).expect("it answers")
        };
        assert!(of(Evidence::Executed, 7).is_verified());
        assert!(!of(Evidence::ParsedBack, 7).is_verified());
        let wrong = of(Evidence::Executed, 8);
        assert!(!wrong.is_verified());
        assert_eq!((wrong.mismatches, wrong.first_mismatches.len()), (wrong.rows, 5));
        let kinds: Vec<&str> = wrong.kinds.iter().map(|kind| kind.kind).collect();
        assert_eq!(kinds.first(), Some(&"extreme"));
        assert_eq!(wrong.kinds.last(), Some(&KindCheck { kind: "trace", rows: 2, mismatches: 2 }));
    }

    #[test]
    fn an_answer_too_few_is_no_answer() {
        let fake = Fake { evidence: Evidence::Executed, score: 7, forgets_one: true };
        assert!(matches!(checked(fake), Err(VerifyError::BadAnswer { .. })));
    }

    #[test]
    fn nothing_asked_is_nothing_verified() {
        let fake = Fake { evidence: Evidence::Executed, score: 7, forgets_one: false };
        let built = Built::of_programs(vec![Box::new(fake)]).expect("a temporary folder");
        assert!(!TargetCheck::new(built).finish()[0].is_verified());
    }
}
