//! What is to arrive at a work-conserving server, and when it will next be idle.
//!
//! A server takes work in order: a queue of the slotted model, a port in continuous time. With all arrivals known, the
//! end of its busy period is known too, also after some of its work was dropped. Of arrival `k`, at `t_k` with work
//! `w_k`, the *idle mark* is `v_k = t_k - (w_0 + .. + w_(k-1))`. A server that has been busy since an arrival with
//! mark `d` and has lost work `l` since is idle just before the first later arrival `k` with `v_k >= d - l`.

/// Children of a node.
const FAN_OUT: usize = 16;

/// Times and work are in one unit: slots, nanoseconds or picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct FutureArrivals {
    /// The marks of all arrivals, then the greatest of each [`FAN_OUT`] of the level below.
    levels: Vec<Vec<i64>>,
    /// Work of the arrivals before each, and of all.
    work_before: Vec<i64>,
}

impl FutureArrivals {
    /// The arrivals at one server: time and work, in order of time.
    pub(crate) fn new(arrivals: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let (mut marks, mut work_before, mut total) = (Vec::new(), vec![0], 0i64);
        for (time, work) in arrivals {
            marks.push(time.saturating_sub(total));
            total = total.saturating_add(work);
            work_before.push(total);
        }
        let mut levels = vec![marks];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let greatest = |nodes: &[i64]| nodes.iter().copied().max().unwrap_or(i64::MIN);
            let above = below.chunks(FAN_OUT).map(greatest).collect();
            levels.push(above);
        }
        FutureArrivals { levels, work_before }
    }

    /// The first arrival from `from` on whose mark is at least `mark`.
    fn first_at_least(&self, from: usize, mark: i64) -> Option<usize> {
        let (mut level, mut at) = (0, from);
        loop {
            let nodes = self.levels.get(level)?;
            let end = nodes.len().min((at / FAN_OUT + 1) * FAN_OUT);
            if let Some(found) = (at..end).find(|&node| nodes[node] >= mark) {
                at = found;
                break;
            }
            if end == nodes.len() {
                return None;
            }
            (level, at) = (level + 1, end / FAN_OUT);
        }
        while level > 0 {
            (level, at) = (level - 1, at * FAN_OUT);
            while self.levels[level][at] < mark {
                at += 1;
            }
        }
        Some(at)
    }

    /// The greatest mark of the arrivals in a range, if it has any.
    fn greatest(&self, from: usize, to: usize) -> Option<i64> {
        let (mut from, mut to, mut greatest) = (from, to, None);
        for nodes in &self.levels {
            if from >= to {
                break;
            }
            while from < to && !from.is_multiple_of(FAN_OUT) {
                greatest = greatest.max(Some(nodes[from]));
                from += 1;
            }
            while from < to && !to.is_multiple_of(FAN_OUT) {
                to -= 1;
                greatest = greatest.max(Some(nodes[to]));
            }
            (from, to) = (from / FAN_OUT, to / FAN_OUT);
        }
        greatest
    }
}

/// A server that has taken some of its arrivals.
#[derive(Clone, Debug)]
pub(crate) struct KnownServer {
    arrivals: FutureArrivals,
    /// The next arrival.
    next: usize,
    /// The idle mark of its busy period, less what was dropped in it.
    mark: i64,
    /// The arrival that will meet it idle, once asked for; as many as there are if none will.
    end: Option<usize>,
}

impl KnownServer {
    /// An idle server with these arrivals.
    pub(crate) fn new(arrivals: FutureArrivals) -> Self {
        KnownServer { arrivals, next: 0, mark: i64::MIN, end: None }
    }

    /// The next arrival comes. One that was not announced changes nothing.
    pub(crate) fn arrives(&mut self) {
        let Some(&mark) = self.arrivals.levels[0].get(self.next) else { return };
        self.next += 1;
        if mark >= self.mark {
            (self.mark, self.end) = (mark, None);
        }
    }

    /// Work that is not done yet was dropped.
    pub(crate) fn drops(&mut self, work: i64) {
        self.mark = self.mark.saturating_sub(work);
        self.end = None;
    }

    /// When it will next be idle if nothing is dropped any more. In the past if it is.
    pub(crate) fn idle_from(&mut self) -> i64 {
        let end = self.end();
        self.mark.saturating_add(self.arrivals.work_before[end])
    }

    /// Work that has arrived and will not be done by `now`.
    pub(crate) fn waiting(&self, now: i64) -> i64 {
        self.mark.saturating_add(self.arrivals.work_before[self.next]).saturating_sub(now).max(0)
    }

    /// How much can be dropped at `now` before [`idle_from`](Self::idle_from) changes by more than what is dropped:
    /// before an earlier arrival meets an idle server, or nothing waits.
    pub(crate) fn droppable(&mut self, now: i64) -> i64 {
        let end = self.end();
        let waiting = self.waiting(now);
        match self.arrivals.greatest(self.next, end) {
            Some(mark) => waiting.min(self.mark.saturating_sub(mark)),
            None => waiting,
        }
    }

    fn end(&mut self) -> usize {
        *self.end.get_or_insert_with(|| {
            let announced = self.arrivals.levels[0].len();
            self.arrivals.first_at_least(self.next, self.mark).unwrap_or(announced)
        })
    }
}
