//! Where events come from.

use crate::wall_clock::known_utc;
use dropcast_data::{DataError, EventBatch, EventFiles, EventReader, InputProvenance, OverRate};

/// Columns that a remark names, at most.
const MOST_SHOWN: usize = 16;
/// Links that bring too much that remarks name, at most.
const MOST_LINKS_SHOWN: usize = 4;

/// Where events come from.
pub trait Events: Iterator<Item = Result<EventBatch, DataError>> {
    /// Whether they can record push-outs, which are about packets that arrived before.
    fn may_push_out(&self) -> bool;

    /// Whether they record which packets the real switch dropped, even if it dropped none.
    fn records_drops(&self) -> bool {
        false
    }

    /// Whether they record which packets the real switch marked (ECN).
    fn records_marks(&self) -> bool {
        false
    }

    /// How they are read, where that is not plain: sentences.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is known once the iterator has ended: rules that no packet met, clocks that differ. Sentences.
    fn late_remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What was read of each input, once the iterator has ended.
    fn inputs(&self) -> Vec<InputProvenance>;
}

/// Events in memory.
pub(crate) struct Batches<I> {
    batches: I,
    read: InputProvenance,
}

impl<I: Iterator<Item = EventBatch>> Batches<I> {
    /// `name` is what errors call them.
    pub(crate) fn new(name: &str, batches: impl IntoIterator<IntoIter = I>) -> Self {
        let read = InputProvenance { name: name.to_owned(), ..InputProvenance::default() };
        Batches { batches: batches.into_iter(), read }
    }
}

impl<I: Iterator<Item = EventBatch>> Iterator for Batches<I> {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        self.read.events += batch.events.len() as u64;
        Some(Ok(batch))
    }
}

impl<I: Iterator<Item = EventBatch>> Events for Batches<I> {
    fn may_push_out(&self) -> bool {
        true
    }

    fn inputs(&self) -> Vec<InputProvenance> {
        vec![self.read.clone()]
    }
}

fn over_rate_words(over: &OverRate) -> String {
    let OverRate { link, line_rate_bps, packets, most_bytes, at_ns, file } = over;
    let when = known_utc(*at_ns).unwrap_or_else(|| format!("{at_ns} ns"));
    format!(
        "{file}: {packets} packets of {link} come in earlier than {line_rate_bps} bps allow, most at {when}, when {most_bytes} \
         bytes too many have come: clocks of captures differ, packets are there twice, the rules for ports are wrong, or \
         this capture holds several links of it (docs/pcap.md)"
    )
}

impl Events for EventReader {
    fn may_push_out(&self) -> bool {
        EventReader::may_push_out(self)
    }

    fn records_drops(&self) -> bool {
        EventReader::records_drops(self)
    }

    fn records_marks(&self) -> bool {
        EventReader::records_marks(self)
    }

    fn inputs(&self) -> Vec<InputProvenance> {
        vec![self.provenance()]
    }
}

impl Events for EventFiles {
    fn may_push_out(&self) -> bool {
        EventFiles::may_push_out(self)
    }

    fn records_drops(&self) -> bool {
        EventFiles::records_drops(self)
    }

    fn records_marks(&self) -> bool {
        EventFiles::records_marks(self)
    }

    fn remarks(&self) -> Vec<String> {
        let ports = self.ports_by_order();
        let ports: Vec<_> =
            ports.iter().map(|(port, file)| format!("{file} is port {port}")).collect();
        let by_order = (!ports.is_empty())
            .then(|| format!("by their order, {} (docs/pcap.md)", ports.join(", ")));
        let unread = self.unread_columns().into_iter().map(|(file, columns)| {
            let shown = &columns[..columns.len().min(MOST_SHOWN)];
            let more = match columns.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{file}: columns not used: {}{more} (docs/events.md)", shown.join(", "))
        });
        by_order.into_iter().chain(unread).collect()
    }

    fn late_remarks(&self) -> Vec<String> {
        let rules = EventFiles::unmet_rules(self);
        let (clocks, drops) = (EventFiles::clock_remark(self), EventFiles::drops_remark(self));
        let rates = EventFiles::links_over_rate(self);
        let rates = rates.iter().take(MOST_LINKS_SHOWN).map(over_rate_words);
        rules.into_iter().chain(clocks).chain(rates).chain(drops).collect()
    }

    fn inputs(&self) -> Vec<InputProvenance> {
        self.provenance()
    }
}
