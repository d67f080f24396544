//! The features of an arriving packet, from virtual LQD or the switch's own queues. `docs/features.md` defines them; tests compare
//! them with those of `dropcast-features`.

use crate::NotReady;

/// The queues that features describe.
pub(crate) trait Queues {
    /// Bytes of a queue in the shared buffer.
    fn queue_bytes(&self, queue: usize) -> u32;
    /// Those of all queues.
    fn lengths(&self) -> impl Iterator<Item = u32>;
    /// The expected bytes in each queue, after this many eighths of a base RTT.
    fn expected(&self, eighths: u32) -> impl Iterator<Item = u64>;
    /// Bytes of all queues.
    fn occupancy_bytes(&self) -> u32;
    /// The moving average of a queue, and of the buffer.
    fn averages(&self, _queue: usize) -> [u32; 2] {
        [0; 2]
    }
    /// The level from the sums by length class, and from those on either side of the cut.
    fn classed(&self, _own: u32) -> [u64; 2] {
        [0; 2]
    }
}

/// What devices keep for a feature, besides the lengths of queues and the occupancy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeps {
    /// Moving averages of each queue and of the buffer.
    pub averages: bool,
    /// Recent arrivals of each queue.
    pub arrivals: bool,
    /// The sum of what is expected in all queues.
    pub total: bool,
    /// Sums of what is expected in queues by their length.
    pub classes: bool,
    /// Nothing, but all queues are looked at.
    pub scan: bool,
    /// Nothing, but it is at most the number of queues that hold packets times the length of the packet's.
    pub level: bool,
}

impl Keeps {
    /// What `self` or `other` keeps.
    #[must_use]
    pub fn or(self, other: Keeps) -> Keeps {
        Keeps {
            averages: self.averages || other.averages,
            arrivals: self.arrivals || other.arrivals,
            total: self.total || other.total,
            classes: self.classes || other.classes,
            scan: self.scan || other.scan,
            level: self.level || other.level,
        }
    }
}

/// The table of the features that devices have: the code in tables, a name, what is kept for it, and its value.
macro_rules! device_features {
    (
        $of:ident, of the packet $queue:ident, which has $own:ident bytes:
        $($code:literal $name:ident [$($kept:ident)*] $value:expr;)+
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Feature {
            $($name,)+
        }

        /// A row has at most this many values: more features are not known.
        pub(crate) const MOST_FEATURES: usize = [$($code),+].len();

        impl Feature {
            fn with_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Feature::$name),)+
                    _ => None,
                }
            }

            fn keeps(self) -> Keeps {
                match self {
                    $(Feature::$name => Keeps { $($kept: true,)* ..Keeps::default() },)+
                }
            }

            /// Its value for a packet that arrives for a queue, before it is added.
            fn observe(self, $of: &impl Queues, $queue: usize) -> u32 {
                let $own = $of.queue_bytes($queue);
                match self {
                    $(Feature::$name => $value,)+
                }
            }
        }
    };
}

device_features! {
    queues, of the packet queue, which has own bytes:
    0 QueueLength [] own;
    1 AvgQueueLength [averages] queues.averages(queue)[0];
    2 Occupancy [] queues.occupancy_bytes();
    3 AvgOccupancy [averages] queues.averages(queue)[1];
    4 LongestQueue [scan] longest(queues);
    5 Rank [scan] queues.lengths().filter(|&bytes| bytes > own).count() as u32;
    6 LongestGap [scan] longest(queues).saturating_sub(own);
    7 ProjectedOccupancy [arrivals total] saturated(queues.expected(16).sum());
    8 LevelOccupancy [scan level] level(queues.lengths().map(u64::from), own);
    9 LevelInQuarterRtt [scan arrivals level] level(queues.expected(2), own);
    10 LevelInOneRtt [scan arrivals level] level(queues.expected(8), own);
    11 LevelInTwoRtts [scan arrivals level] level(queues.expected(16), own);
    12 ClassedInQuarterRtt [arrivals classes level] saturated(queues.classed(own)[0]);
    13 CutInQuarterRtt [arrivals classes] saturated(queues.classed(own)[1]);
}

/// What devices keep for the feature with a code of tables; `None` if they do not have it.
pub fn keeps(feature_code: u8) -> Option<Keeps> {
    Feature::with_code(feature_code).map(Feature::keeps)
}

fn longest(queues: &impl Queues) -> u32 {
    queues.lengths().max().unwrap_or(0)
}

/// What all queues hold if each is cut down to `own`.
fn level(lengths: impl Iterator<Item = u64>, own: u32) -> u32 {
    saturated(lengths.map(|bytes| bytes.min(own.into())).sum())
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The features of a model, in the order of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    features: [Feature; MOST_FEATURES],
    length: usize,
}

impl Columns {
    /// The features with these codes.
    pub(crate) fn new(codes: &[u8]) -> Result<Self, NotReady> {
        let mut features = [Feature::QueueLength; MOST_FEATURES];
        for (at, &code) in codes.iter().enumerate() {
            let place = features.get_mut(at).ok_or(NotReady::UnknownFeature(code))?;
            *place = Feature::with_code(code).ok_or(NotReady::UnknownFeature(code))?;
        }
        Ok(Columns { features, length: codes.len() })
    }

    fn features(&self) -> &[Feature] {
        &self.features[..self.length]
    }

    /// What they keep.
    pub(crate) fn keeps(&self) -> Keeps {
        self.features().iter().fold(Keeps::default(), |all, of| all.or(of.keeps()))
    }

    /// The row of a packet that arrives for `queue`, before it is added.
    pub(crate) fn observe(&self, of: &impl Queues, queue: usize) -> [u32; MOST_FEATURES] {
        let mut row = [0; MOST_FEATURES];
        for (value, feature) in row.iter_mut().zip(self.features()) {
            *value = feature.observe(of, queue);
        }
        row
    }

    /// How many values a row has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}
