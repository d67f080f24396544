//! A layout that forests of a bounded size share, so that a retrained one is entries only.

use std::fmt;
use std::str::FromStr;

/// The most trees and thresholds of forests that share a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedLayout {
    trees: u16,
    depth: u8,
    bits: u16,
    prefixes: u16,
}

/// Entries of a feature's table, unless given: one TCAM block of Tofino, and the default.
const PREFIXES: u16 = 513;

/// Trees of this depth have as many thresholds as a code has bits at most.
const MAX_DEPTH: u8 = 12;

/// The largest weight of a leaf.
const MAX_WEIGHT: u32 = u8::MAX as u32;

/// Half of the tables that P4Runtime's identifiers leave room for.
const MAX_TREES: u16 = 2_048;

impl FixedLayout {
    /// The largest score.
    pub(crate) fn max_score(self) -> u32 {
        MAX_WEIGHT * u32::from(self.trees)
    }

    /// Tables of trees.
    pub fn trees(self) -> usize {
        usize::from(self.trees)
    }

    /// Bits of a code: thresholds that a tree may have of one feature.
    pub fn bits(self) -> usize {
        usize::from(self.bits)
    }

    /// Leaves that a tree may have.
    pub fn leaves(self) -> usize {
        1 << self.depth
    }

    /// Prefixes that a feature may take, with the one that is the default.
    pub fn prefixes(self) -> usize {
        usize::from(self.prefixes)
    }
}

impl fmt::Display for FixedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FixedLayout { trees, depth, bits, prefixes } = self;
        write!(f, "trees={trees},depth={depth},bits={bits},prefixes={prefixes}")
    }
}

impl FromStr for FixedLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut trees, mut depth, mut bits, mut prefixes) = (None, None, None, None);
        for setting in text.split(',') {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let (place, most) = match name {
                "trees" => (&mut trees, MAX_TREES),
                "depth" => (&mut depth, u16::from(MAX_DEPTH)),
                "bits" => (&mut bits, (1 << MAX_DEPTH) - 1),
                "prefixes" => (&mut prefixes, u16::MAX),
                _ => {
                    return Err(format!(
                        "{name:?} is not a setting of a layout, expected trees, depth, bits or \
                         prefixes"
                    ));
                }
            };
            let number = value.parse::<u16>().ok().filter(|number| (1..=most).contains(number));
            let number =
                number.ok_or_else(|| format!("{name} is {value:?}, expected 1 to {most}"))?;
            if place.replace(number).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        let missing = |name: &str| format!("{name} is missing, as in trees=4,depth=4");
        let depth = depth.ok_or_else(|| missing("depth"))?;
        Ok(FixedLayout {
            trees: trees.ok_or_else(|| missing("trees"))?,
            depth: depth as u8,
            bits: bits.unwrap_or((1 << depth) - 1),
            prefixes: prefixes.unwrap_or(PREFIXES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_read_as_they_are_shown() {
        let layout: FixedLayout = "depth=4,trees=4".parse().expect("a layout");
        assert_eq!(layout.to_string(), "trees=4,depth=4,bits=15,prefixes=513");
        assert_eq!(layout.to_string().parse(), Ok(layout));
        assert_eq!((layout.trees(), layout.leaves(), layout.bits()), (4, 16, 15));
        for (text, problem) in [
            ("", "\"\" is not a setting of a layout, expected trees, depth, bits or prefixes"),
            ("trees=4", "depth is missing, as in trees=4,depth=4"),
            ("depth=4", "trees is missing, as in trees=4,depth=4"),
            ("trees=4,trees=5", "trees is given twice"),
            ("trees=0", "trees is \"0\", expected 1 to 2048"),
            ("depth=13", "depth is \"13\", expected 1 to 12"),
            ("bits", "bits is \"\", expected 1 to 4095"),
        ] {
            assert_eq!(text.parse::<FixedLayout>(), Err(problem.to_owned()), "{text}");
        }
    }
}
