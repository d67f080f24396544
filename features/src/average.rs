//! Moving averages of queue length and occupancy, as the Credence authors' switch keeps them.

/// An integer moving average, updated when bytes leave.
///
/// On each update at time `now` with value `x`: `avg = trunc(g*x + (1-g)*avg)` with
/// `g = min(dt, tau)/tau`, `dt` the time since the last update. Starts at 0, as if updated at
/// time 0. Source: the public ns-3 code of Credence (NSDI '24); the paper's section 4.1 names the
/// features, tau is the base round-trip time.
///
/// The arithmetic is IEEE double precision in the order written above, as in the reference:
/// truncation makes the last bit visible. Exact rational arithmetic gives other integers where `g*x
/// + (1-g)*x` rounds just below `x`.
///
/// `dropcast-runtime` has it a second time, in integers, for devices without floating point. Both stay:
/// the reference's arithmetic, this one, is the definition, and a test there compares the integers with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovingAverage {
    value: u32,
    updated_ns: u64,
}

impl MovingAverage {
    /// The current average.
    #[inline]
    pub fn value(self) -> u32 {
        self.value
    }

    /// Updates the average with the value `x`, which holds from `now_ns` on.
    #[inline(always)]
    pub fn update(&mut self, x: u32, now_ns: u64, tau_ns: u64) {
        let dt_ns = now_ns.saturating_sub(self.updated_ns).min(tau_ns);
        let g = to_f64(dt_ns) / to_f64(tau_ns);
        self.value = (g * f64::from(x) + (1.0 - g) * f64::from(self.value)) as u32;
        self.updated_ns = now_ns;
    }
}

/// Signed integers are converted in one instruction, unsigned ones are not.
#[inline]
fn to_f64(time_ns: u64) -> f64 {
    match i64::try_from(time_ns) {
        Ok(signed) => signed as f64,
        Err(_) => unsigned_to_f64(time_ns),
    }
}

/// Kept apart, or the compiler converts every time as an unsigned one.
#[cold]
#[inline(never)]
fn unsigned_to_f64(time_ns: u64) -> f64 {
    time_ns as f64
}

/// The averages of one switch: one per queue, one for the occupancy.
#[derive(Clone, Debug)]
pub(crate) struct Averages {
    tau_ns: u64,
    occupancy: MovingAverage,
    queues: Vec<MovingAverage>,
}

impl Averages {
    /// Averages of a switch with `queues` queues, time constant `tau_ns` (the base RTT).
    pub(crate) fn new(queues: usize, tau_ns: u64) -> Self {
        Averages {
            tau_ns,
            occupancy: MovingAverage::default(),
            queues: vec![MovingAverage::default(); queues],
        }
    }

    /// A packet left `queue` (departed or was pushed out) at `now_ns`; `queue_bytes` remain in the
    /// queue and `occupancy_bytes` in the buffer.
    #[inline(always)]
    pub(crate) fn removed(
        &mut self,
        queue: usize,
        queue_bytes: u32,
        occupancy_bytes: u32,
        now_ns: u64,
    ) {
        self.queues[queue].update(queue_bytes, now_ns, self.tau_ns);
        self.occupancy.update(occupancy_bytes, now_ns, self.tau_ns);
    }

    /// The average length of `queue`, bytes.
    #[inline]
    pub(crate) fn queue_bytes(&self, queue: usize) -> u32 {
        self.queues[queue].value()
    }

    /// The average occupancy, bytes.
    #[inline]
    pub(crate) fn occupancy_bytes(&self) -> u32 {
        self.occupancy.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_after_tau_forgets_the_past_and_one_before_mixes() {
        let mut average = MovingAverage::default();
        average.update(1000, 250, 1000);
        assert_eq!(average.value(), 250);
        average.update(2000, 5000, 1000);
        assert_eq!(average.value(), 2000);
        average.update(9, 5000, 1000);
        assert_eq!(average.value(), 2000, "no time has passed");
        average.update(0, 5001, 1000);
        assert_eq!(average.value(), 1998);
    }
}
