//! What is worth knowing about the rows of an input.

use serde::{Deserialize, Serialize};

/// Why rows of an input are worth knowing about, although they are used (`docs/trace.md`). In the order of their names: files
/// list them so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum InputNote {
    /// Rows of an artifact CSV that are all zeros.
    AllZero,
    /// Drop reports that fit several packets.
    AmbiguousReport,
    /// Packets before the end of a capture that is cut off.
    CutOff,
    /// Rows in order of departure.
    DepartureOrder,
    /// Packets of captures that are copies of one shortly before. Of all captures together, at the first.
    Duplicates,
    /// Packets that were taken out of ERSPAN.
    Erspan,
    /// Packets whose time is that at which the switch mirrored them.
    MirrorTime,
    /// Dropped packets that the switch counts, and no report names.
    MissingReports,
    /// Packets of captures in which hardly one waits: they seem to be from behind the buffer. Of all captures together, at the
    /// first.
    NoBacklog,
    /// Packets of an input that cannot record ECN marks, beside others that can.
    NoEcnMarks,
    /// A capture without packets.
    NoPackets,
    /// Packets of an input that cannot record real drops, beside others that can.
    NoRealDrops,
    /// Packets of links on which more arrives than their line rate allows. Of all captures together, at the first.
    OverRate,
    /// A file without events.
    PassedOver,
    /// Packets that came after a later one of their file, and were put in order.
    Reordered,
    /// Rows whose time is not exactly that of the input.
    RoundedTime,
    /// Rows of ns-3 whose times have at most six digits.
    SixDigitTime,
    /// Acknowledgements that come before their data. Of all captures together, at the first.
    Skew,
    /// Rows of a labelled trace whose switches nothing describes, so that their ports and sizes are not checked.
    UnknownSwitches,
    /// Push-outs whose packet is not known.
    UnmatchedPushOut,
    /// Packets that carry the time at which the switch mirrored them, which was not used.
    UnusedMirrorTime,
    /// Written by a later version.
    #[serde(other)]
    Unknown,
}

impl InputNote {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether its rows are of all inputs together, although one of several has the note.
    pub fn is_of_all_inputs(self) -> bool {
        matches!(
            self,
            InputNote::Duplicates
                | InputNote::NoBacklog
                | InputNote::OverRate
                | InputNote::Skew
                | InputNote::UnmatchedPushOut
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use strum::VariantArray;

    #[test]
    fn files_have_the_names_in_order_and_may_be_of_a_later_version() {
        let known: BTreeMap<InputNote, u64> =
            InputNote::VARIANTS.iter().copied().zip(0..21).collect();
        let named: BTreeMap<&str, u64> =
            InputNote::VARIANTS.iter().map(|note| note.name()).zip(0..21).collect();
        let text = serde_json::to_string(&known).expect("JSON");
        assert_eq!(text, serde_json::to_string(&named).expect("JSON"));
        assert_eq!(
            serde_json::from_str::<BTreeMap<InputNote, u64>>(&text).expect("its own"),
            known
        );
        let later: BTreeMap<InputNote, u64> =
            serde_json::from_str(r#"{"odd":7}"#).expect("a later version's");
        assert_eq!(later, [(InputNote::Unknown, 7)].into());
    }
}
