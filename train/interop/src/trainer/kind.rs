//! Which other trainers there are.

/// Another crate's trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum TrainerCrate {
    /// linfa-ensemble's random forest of linfa-trees, or linfa-trees alone.
    Linfa,
    /// smartcore's random forest.
    Smartcore,
}

impl TrainerCrate {
    /// Every trainer.
    pub const ALL: &'static [TrainerCrate] = <TrainerCrate as strum::VariantArray>::VARIANTS;

    /// Its name, and that of the cargo feature that it needs.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
