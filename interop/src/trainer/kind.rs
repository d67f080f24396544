//! Which other trainers there are.

use std::fmt;

/// Another crate's trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trainer {
    /// linfa-ensemble's random forest of linfa-trees, or linfa-trees alone.
    Linfa,
    /// smartcore's random forest.
    Smartcore,
}

impl Trainer {
    /// Every trainer.
    pub const ALL: [Trainer; 2] = [Trainer::Linfa, Trainer::Smartcore];

    /// Its name, and that of the cargo feature that it needs.
    pub fn name(self) -> &'static str {
        match self {
            Trainer::Linfa => "linfa",
            Trainer::Smartcore => "smartcore",
        }
    }
}

impl fmt::Display for Trainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
