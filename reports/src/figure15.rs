//! Figure 15 of the Credence paper, beside which sweeps are shown.

/// Depth of every tree of the figure.
pub const DEPTH: u8 = 4;

/// What the paper says (section 4.1 and Figure 15), at 4 trees: the score, and its value.
pub const PAPER_AT_4_TREES: [(&str, f64); 5] =
    [("accuracy", 0.99), ("precision", 0.65), ("recall", 0.35), ("F1", 0.45), ("1/eta", 0.99)];
