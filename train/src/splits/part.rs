//! What rows are for.

/// A switch of a run.
pub type RunSwitch = (u64, u16);

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The trees grow from it.
    Train,
    /// Vote thresholds, and whatever else is chosen among forests, are chosen on it. If a split
    /// has no validation rows, training rows serve.
    Validation,
    /// The model is measured on it.
    Test,
    /// It is left out, as a guard between the other parts.
    Gap,
}

/// What the rows of a switch are for in a split by switch.
pub(super) fn part_of_switch(switch: u16, test: &[u16], validation: &[u16]) -> Part {
    if test.contains(&switch) {
        Part::Test
    } else if validation.contains(&switch) {
        Part::Validation
    } else {
        Part::Train
    }
}
