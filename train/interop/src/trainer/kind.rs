//! Which other trainers there are.

use std::fmt;

/// Another crate's trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrainerCrate {
    /// linfa-ensemble's random forest of linfa-trees, or linfa-trees alone.
    Linfa,
    /// smartcore's random forest.
    Smartcore,
}

impl TrainerCrate {
    /// Every trainer.
    pub const ALL: [TrainerCrate; 2] = [TrainerCrate::Linfa, TrainerCrate::Smartcore];

    /// Its name, and that of the cargo feature that it needs.
    pub fn name(self) -> &'static str {
        match self {
            TrainerCrate::Linfa => "linfa",
            TrainerCrate::Smartcore => "smartcore",
        }
    }
}

impl fmt::Display for TrainerCrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
