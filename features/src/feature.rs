//! A handle to a feature.

use crate::cost::FeatureWork;
use crate::descriptor::{Arrival, Descriptor};
use crate::history::FeatureMemory;
use crate::list::LIST;
use crate::own;
use crate::unknown::UnknownFeature;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A feature: an input of a prediction. Its value is recorded when a packet arrives, before the
/// packet is added.
#[derive(Clone, Copy)]
pub struct Feature(&'static Descriptor);

impl Feature {
    /// Every feature, in the order of trace columns.
    pub const ALL: [Feature; LIST.len()] = {
        let mut all = [Feature(LIST[0]); LIST.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = Feature(LIST[place]);
            place += 1;
        }
        all
    };

    pub(crate) fn described_by(descriptor: &'static Descriptor) -> Self {
        Feature(descriptor)
    }

    /// The feature with this [`code`](Self::code).
    pub fn with_code(code: u8) -> Option<Self> {
        Feature::ALL.into_iter().find(|feature| feature.code() == code)
    }

    /// The code of every feature of the user's own.
    pub const OWN_CODE: u8 = own::CODE;

    /// A feature of the user's own: an integer column of the input. None if `name` is not letters,
    /// digits and `_`, beginning with a letter, or is a known feature or set.
    pub fn own(name: &str) -> Option<Self> {
        own::described(name).map(Feature)
    }

    /// Whether it is of the user's own: dropcast reads it and cannot compute it.
    pub fn is_own(self) -> bool {
        self.0.code == Feature::OWN_CODE
    }

    /// How a list of features names it: its name, and `own:` before it if it is of the user's own.
    pub fn spelled(self) -> String {
        if self.is_own() {
            format!("{}{}", own::PREFIX, self.name())
        } else {
            self.name().to_owned()
        }
    }

    /// Its number in exported tables, which never changes; [`Feature::OWN_CODE`] if it is of the user's own.
    pub fn code(self) -> u8 {
        self.0.code
    }

    /// Its name, in trace columns and `model.json`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Unit of its values.
    pub fn unit(self) -> &'static str {
        self.0.unit
    }

    /// One sentence that defines it.
    pub fn definition(self) -> &'static str {
        self.0.definition
    }

    /// Whether its values double when the buffer and all queues double. Values of a switch with
    /// another buffer are then scaled (`docs/features.md`, "Other buffers").
    pub fn scales_with_buffer(self) -> bool {
        self.0.scales_with_buffer
    }

    /// Whether LQD is more inclined to drop a packet the higher it is, all else equal: queue lengths, occupancies and
    /// levels. Averages may lag behind, and of lengths of other queues that is not known.
    pub fn rises(self) -> bool {
        self.0.rises
    }

    /// The memory of past packets that it needs.
    pub fn memory(self) -> FeatureMemory {
        self.0.memory
    }

    /// Whether its value depends on the base RTT: the time constant of averages and projections.
    pub fn has_time_constant(self) -> bool {
        self.0.memory != FeatureMemory::Nothing
    }

    /// The parts of its cost.
    pub(crate) fn parts(self) -> &'static [FeatureWork] {
        self.0.parts
    }

    #[inline]
    pub(crate) fn observe(self, packet: &Arrival<'_>) -> u32 {
        (self.0.observe)(packet)
    }
}

/// Reads a name, or `own:` and a name.
impl FromStr for Feature {
    type Err = UnknownFeature;

    fn from_str(name: &str) -> Result<Self, UnknownFeature> {
        if let Some(own) = name.strip_prefix(own::PREFIX) {
            return Feature::own(own).ok_or_else(|| UnknownFeature(name.to_owned()));
        }
        let named = Feature::ALL.into_iter().find(|feature| feature.name() == name);
        named.ok_or_else(|| UnknownFeature(name.to_owned()))
    }
}

impl PartialEq for Feature {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code() && self.name() == other.name()
    }
}

impl Eq for Feature {}

/// In the order of trace columns; those of the user's own come last.
impl Ord for Feature {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.code(), self.name()).cmp(&(other.code(), other.name()))
    }
}

impl PartialOrd for Feature {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled())
    }
}

impl fmt::Debug for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
