//! The bursts that Smartbuf knows, `Main_map` of its Algorithm 1.

/// Peaks of bursts by gradient; gradients are unique.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    most: usize,
    /// By gradient.
    bursts: Vec<Burst>,
    /// Bursts learnt so far.
    learnt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    gradient: i64,
    peak_bytes: u32,
    learnt: u64,
}

impl Bursts {
    pub(super) fn new(most: usize) -> Self {
        Bursts { most, bursts: Vec::new(), learnt: 0 }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (i64, u32)> {
        self.bursts.iter().map(|burst| (burst.gradient, burst.peak_bytes))
    }

    /// Records a finished burst. Of bursts with the same gradient the highest peak is kept; the
    /// oldest burst makes room.
    pub(super) fn learn(&mut self, gradient: i64, peak_bytes: u32) {
        self.learnt += 1;
        let learnt = self.learnt;
        match self.bursts.binary_search_by_key(&gradient, |burst| burst.gradient) {
            Ok(at) => {
                let burst = &mut self.bursts[at];
                *burst = Burst { peak_bytes: burst.peak_bytes.max(peak_bytes), learnt, ..*burst };
            }
            Err(at) => self.bursts.insert(at, Burst { gradient, peak_bytes, learnt }),
        }
        if self.bursts.len() > self.most
            && let Some((oldest, _)) =
                self.bursts.iter().enumerate().min_by_key(|(_, burst)| burst.learnt)
        {
            self.bursts.remove(oldest);
        }
    }

    /// The mean peak of the `count` bursts with the smallest gradients not below `gradient`, or of
    /// fewer if there are fewer; `None` without any.
    pub(super) fn mean_peak_from(&self, gradient: i64, count: usize) -> Option<u32> {
        let first = self.bursts.partition_point(|burst| burst.gradient < gradient);
        let above = &self.bursts[first..];
        let nearest = &above[..count.min(above.len())];
        let sum: u64 = nearest.iter().map(|burst| u64::from(burst.peak_bytes)).sum();
        // A mean of 32-bit numbers.
        (!nearest.is_empty()).then(|| (sum / nearest.len() as u64) as u32)
    }
}
