//! Emitted files with a mistake: programs built from them must disagree.

use crate::agreement::missing;
use crate::forests::example;
use dropcast_export::{EmittedFile, Target, Vectors, export};
use dropcast_verify::{Built, Comparison, VerifyError};

/// A mistake in a file that the example forest is exported to.
#[derive(Clone, Copy)]
pub(crate) struct Damage<'a> {
    pub(crate) target: &'a str,
    /// Ending of the file's name.
    pub(crate) file: &'a str,
    /// The replaced text, at its first occurrence.
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
}

impl Damage<'_> {
    /// The example's files with the mistake.
    ///
    /// # Panics
    /// If there is no such file or text.
    pub(crate) fn files(self) -> Vec<EmittedFile> {
        let (forest, origin) = example();
        let mut files = export(&forest, &origin, self.target()).expect("exportable");
        let file = files.iter_mut().find(|file| file.name.ends_with(self.file));
        let file = file.expect("such a file");
        let text = String::from_utf8(file.bytes.clone()).expect("ASCII");
        assert!(text.contains(self.from), "{}", self.from);
        file.bytes = text.replacen(self.from, self.to, 1).into_bytes();
        files
    }

    /// The programs built from them.
    pub(crate) fn built(self) -> Result<Built, VerifyError> {
        Built::from_files(&self.files(), 2, self.target())
    }

    /// Every program built from them, by name, compared with the forest on its vectors and
    /// `random_rows` more; none if a tool is missing, which is an error in CI.
    ///
    /// # Panics
    /// If one does not build or does not run, or if a tool is missing and `CI=true`.
    pub(crate) fn compared(self, random_rows: usize) -> Vec<(String, Comparison)> {
        let (forest, _) = example();
        let mut built = match self.built() {
            Ok(built) => built,
            Err(error @ VerifyError::MissingTool { .. }) => {
                missing(&error);
                return Vec::new();
            }
            Err(error) => panic!("{error}"),
        };
        let vectors = Vectors::new(&forest, 1, random_rows).expect("valid");
        let compare = |program: &mut Box<dyn dropcast_verify::Program>| {
            let mut comparison = Comparison::default();
            comparison.add(&forest, program.as_mut(), vectors.rows()).expect("it runs");
            (program.name().to_owned(), comparison)
        };
        built.programs().iter_mut().map(compare).collect()
    }

    /// Every program of the target must disagree with the forest.
    ///
    /// # Panics
    /// If one agrees, or as [`Damage::compared`].
    pub(crate) fn is_noticed(self, random_rows: usize) {
        for (name, comparison) in self.compared(random_rows) {
            assert!(comparison.mismatches > 0, "{}: {name}", self.to);
        }
    }

    fn target(self) -> Target {
        self.target.parse().expect("a target")
    }
}
