//! The paper's ambiguities as values: a claim is decided under each reading.

/// Which packet LQD drops when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victims {
    /// Algorithm 1, lines 24 to 27: the highest threshold is lowered *before* the arriving
    /// packet's is raised.
    Tail,
    /// The literature's LQD: the arriving packet counts in its own queue first.
    Arrival,
}

/// Which of several longest queues (highest thresholds) loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The lowest port.
    Low,
    /// The highest port.
    High,
    /// The arriving packet's queue if it is one of them, else the lowest port.
    Own,
    /// The lowest port other than the arriving packet's queue.
    Other,
}

impl Ties {
    /// Among tied queues the one with the largest rank loses.
    fn rank(self, j: usize, arriving: usize) -> usize {
        let low = usize::MAX - 1 - j;
        match self {
            Ties::Low => low,
            Ties::High => j,
            Ties::Own => {
                if j == arriving {
                    usize::MAX
                } else {
                    low
                }
            }
            Ties::Other => {
                if j == arriving {
                    0
                } else {
                    low
                }
            }
        }
    }

    /// Index of the highest value when a packet arrives for queue `arriving`.
    pub(crate) fn highest<T: Copy + Ord>(self, values: &[T], arriving: usize) -> usize {
        let rank = |&j: &usize| (values[j], self.rank(j, arriving));
        (0..values.len()).max_by_key(rank).expect("a switch has a port")
    }
}

/// The meaning of `B/N` in the safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// A fraction: `q * N < B`.
    Fraction,
    /// An integer, rounded down: `q < floor(B/N)`.
    Floor,
}

impl Share {
    /// Whether `packets` are fewer than `B/N`.
    pub(crate) fn is_above(self, packets: u32, ports: u32, buffer: u32) -> bool {
        match self {
            Share::Fraction => packets * ports < buffer,
            Share::Floor => packets < buffer / ports,
        }
    }
}

/// In which order the packets of a slot may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any.
    Any,
    /// Ports in ascending order.
    ByPort,
}

/// One reading of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) victims: Victims,
    pub(crate) ties: Ties,
    pub(crate) share: Share,
    pub(crate) order: Order,
}

impl Reading {
    /// How the crate's switches read it.
    pub(crate) const CRATE: Reading = Reading {
        victims: Victims::Tail,
        ties: Ties::Low,
        share: Share::Fraction,
        order: Order::Any,
    };

    /// Every victim with every tie rule; `B/N` a fraction, any order.
    pub(crate) fn lqds() -> impl Iterator<Item = Reading> {
        let victims = [Victims::Tail, Victims::Arrival];
        let ties = [Ties::Low, Ties::High, Ties::Own, Ties::Other];
        victims
            .into_iter()
            .flat_map(move |victims| ties.map(|ties| Reading { victims, ties, ..Reading::CRATE }))
    }

    /// Each of [`Self::lqds`] with `B/N` as a fraction and rounded down.
    pub(crate) fn lqds_and_shares() -> impl Iterator<Item = Reading> {
        Reading::lqds().flat_map(|reading| {
            [Share::Fraction, Share::Floor].map(|share| Reading { share, ..reading })
        })
    }
}
