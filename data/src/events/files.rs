//! Packet events of several files, merged by time.

use super::captures::MergedCaptures;
use super::event_file::{EventFile, Parked};
use super::format::EventOptions;
use super::gate::Problem;
use super::ingress_rate::OverRate;
use super::reader::EventReader;
use super::rule_use::unmet;
use crate::capture::{MirrorClocks, Sight};
use crate::drop_reports::{DropJoin, DropReports, JoinPacket};
use crate::io::shown;
use crate::tables::BATCH_ROWS;
use crate::{DataError, EventBatch, InputNote, InputProvenance, SwitchSpec, SwitchSpecs};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::path::{Path, PathBuf};

/// Files that are open at once, at most. Each holds a batch of events in memory.
const MOST_OPEN: usize = 128;

/// Reads and checks the packet events of one file or several. Events of equal time come in the order
/// of the files. Each file must be sorted by time.
///
/// Of many files, each is opened when its first event is due and closed after its last: rotated captures follow
/// each other.
pub struct EventFiles {
    files: Vec<EventFile>,
    specs: SwitchSpecs,
    /// How many columns of the user's own each event has.
    own_columns: usize,
    /// The next event of each file: its time and the place of the file.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    captures: MergedCaptures,
    state: State,
    /// Files that are open.
    open: usize,
    /// Of switches that mirror to captures.
    clocks: MirrorClocks,
    /// Where reports of drops are joined.
    join: Option<Box<DropJoin>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotBegun,
    Reading,
    Done,
}

impl EventFiles {
    /// Opens the events at `paths`; `-` is standard input. Of several captures without rules for
    /// ports, the first is of port 0, the next of port 1, and so on.
    ///
    /// # Errors
    /// If there is no path, one is given twice, a file cannot be opened, or files describe different
    /// switches.
    pub fn open(paths: &[PathBuf], options: &EventOptions) -> Result<Self, DataError> {
        check_paths(paths)?;
        let (mut files, clocks) = (Vec::new(), MirrorClocks::default());
        for (place, path) in paths.iter().enumerate() {
            let port = if paths.len() > 1 { u16::try_from(place).ok() } else { options.port };
            let named = || switch_in_path(path).and_then(|switch| switch.parse().ok());
            let switch_id = options.switch_id.or_else(named);
            let options = EventOptions { port, switch_id, ..options.clone() };
            let mut file = EventFile::new(EventReader::open_among(path, options.clone(), &clocks)?);
            if paths.len() > MOST_OPEN {
                file.park(path, options)?;
            }
            files.push(file);
        }
        if files.len() > 1 {
            check_ports(&files)?;
        }
        let mut files = EventFiles { clocks, ..EventFiles::merge_files(files)? };
        if let Some(drops) = &options.drops {
            files.join_drops(drops)?;
        }
        Ok(files)
    }

    /// Joins reports of drops with the packets, which must be of captures.
    fn join_drops(&mut self, drops: &DropReports) -> Result<(), DataError> {
        let mut readers = self.files.iter().map(|file| &file.reader);
        if let Some(other) = readers.find(|reader| !reader.is_capture()) {
            let problem = "is no capture, so drop reports cannot be joined with its packets";
            let hint = "name its drops in its own columns (docs/events.md)";
            return Err(DataError::file(other.file(), problem, hint));
        }
        self.join = Some(Box::new(DropJoin::new(drops.clone())));
        Ok(())
    }

    /// What became of reports of drops, in a sentence. Complete once the iterator has ended.
    pub fn drops_remark(&self) -> Option<String> {
        self.join.as_ref().map(|join| join.remark())
    }

    /// Which ports captures are for by their order: the port and the file of each.
    pub fn ports_by_order(&self) -> Vec<(u16, String)> {
        let ports = self.files.iter().filter_map(|EventFile { reader, .. }| {
            let (_, port) = reader.one_port()?;
            Some((port, reader.file().to_owned()))
        });
        if self.files.len() > 1 { ports.collect() } else { Vec::new() }
    }

    /// Columns that hold nothing that is asked for: the names of those of each file that has some.
    pub fn unread_columns(&self) -> Vec<(&str, &[String])> {
        let unread =
            self.files.iter().map(|file| (file.reader.file(), file.reader.unread_columns()));
        unread.filter(|(_, columns)| !columns.is_empty()).collect()
    }

    /// Rules for captures and devices of ns-3 that no packet met, in sentences. Complete once the iterator has
    /// ended.
    pub fn unmet_rules(&self) -> Vec<String> {
        unmet(self.files.iter().flat_map(|file| file.reader.rule_uses()).collect())
    }

    /// Merges events that are open.
    ///
    /// # Errors
    /// If there are none or too many, or they describe different switches.
    pub fn merge(readers: Vec<EventReader>) -> Result<Self, DataError> {
        EventFiles::merge_files(readers.into_iter().map(EventFile::new).collect())
    }

    fn merge_files(files: Vec<EventFile>) -> Result<Self, DataError> {
        let Some(EventFile { reader: first, .. }) = files.first() else { return Err(no_files()) };
        let specs = first.specs().clone();
        let others = files.iter().map(|file| &file.reader);
        if let Some(other) = others.into_iter().find(|reader| *reader.specs() != specs) {
            let problem = format!("describes other switches than {}", first.file());
            let hint = "give one switch description for all";
            return Err(DataError::file(other.file(), problem, hint));
        }
        let own_columns = first.own_columns();
        let captures = MergedCaptures::new(&specs);
        let open = files.iter().filter(|file| file.parked.is_none()).count();
        check_open(open, first.file())?;
        Ok(EventFiles {
            files,
            specs,
            own_columns,
            next: BinaryHeap::new(),
            captures,
            state: State::NotBegun,
            open,
            clocks: MirrorClocks::default(),
            join: None,
        })
    }

    /// The switches: those given, or those in the files.
    pub fn specs(&self) -> &SwitchSpecs {
        &self.specs
    }

    /// Whether some file can record push-outs, which are about packets that arrived before.
    pub fn may_push_out(&self) -> bool {
        self.files.iter().any(|file| file.reader.may_push_out())
    }

    /// Whether some file records which packets the real switch dropped, even if it dropped none.
    pub fn records_drops(&self) -> bool {
        self.join.is_some() || self.files.iter().any(|file| file.reader.records_drops())
    }

    /// Whether some file records which packets the real switch marked (ECN).
    pub fn records_marks(&self) -> bool {
        self.files.iter().any(|file| file.reader.records_marks())
    }

    /// What was wrong with rows that were skipped, file by file. Complete once the iterator has ended.
    pub fn problems(&self) -> Vec<Problem> {
        self.files.iter().flat_map(|file| file.reader.problems()).collect()
    }

    /// What was read of each file. Complete once the iterator has ended without an error.
    pub fn provenance(&self) -> Vec<InputProvenance> {
        let (drops, marks) = (self.records_drops(), self.records_marks());
        let first_capture = self.files.iter().position(|file| file.reader.is_capture());
        let of_all = self.notes_of_all_captures();
        let facts = self.captures.facts(first_capture);
        let of_file = |(place, EventFile { reader, .. }): (usize, &EventFile)| {
            let mut provenance = reader.provenance();
            // The others say what happened to their packets; of these nobody knows.
            let silent = [
                (InputNote::NoRealDrops, drops && self.join.is_none() && reader.lacks_drops()),
                (InputNote::NoEcnMarks, marks && !reader.records_marks()),
            ];
            for (note, _) in silent.into_iter().filter(|(_, is_silent)| *is_silent) {
                provenance.notes.insert(note, provenance.events);
            }
            if first_capture == Some(place) {
                provenance.notes.extend(of_all.iter().copied());
            }
            if reader.is_capture() {
                provenance.capture = Some(facts.get(&place).cloned().unwrap_or_default());
                if provenance.events == 0 && provenance.skipped.is_empty() {
                    provenance.notes.insert(InputNote::NoPackets, 1);
                }
            }
            if let Some((reason, packets)) =
                self.join.as_ref().and_then(|join| join.left_out(place))
            {
                provenance.events -= packets;
                provenance.skipped.insert(reason.to_owned(), packets);
            }
            provenance
        };
        let reports = self.join.iter().flat_map(|join| join.inputs());
        self.files.iter().enumerate().map(of_file).chain(reports).collect()
    }

    /// What captures show together, which is noted at the first.
    fn notes_of_all_captures(&self) -> Vec<(InputNote, u64)> {
        let sightings = self.captures.sightings();
        let notes = [
            (InputNote::NoBacklog, self.captures.packets_without_backlog()),
            (InputNote::Duplicates, Some(sightings.copies()).filter(|&copies| copies > 0)),
            (InputNote::Skew, sightings.early_acknowledgements().map(|(packets, _)| packets)),
            (InputNote::OverRate, Some(self.captures.over_rate()).filter(|&packets| packets > 0)),
        ];
        notes.into_iter().filter_map(|(note, rows)| Some((note, rows?))).collect()
    }

    /// By how much clocks of captures differ at least, in a sentence; none if nothing shows it. Complete once the iterator
    /// has ended.
    pub fn clock_remark(&self) -> Option<String> {
        self.captures.clock_remark(&self.names())
    }

    /// Links that bring more than their line rate allows, those by the most bytes first. Complete once the iterator has
    /// ended.
    pub fn links_over_rate(&self) -> Vec<OverRate> {
        self.captures.links_over_rate(&self.names())
    }

    fn names(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.reader.file()).collect()
    }

    fn next_batch(&mut self) -> Result<Option<EventBatch>, DataError> {
        loop {
            let mut packets = Vec::new();
            let merged = self.next_merged(&mut packets)?;
            let Some(join) = &mut self.join else { return Ok(merged) };
            let has_ended = merged.is_none();
            let mut events = Vec::new();
            for (event, (file, packet)) in
                merged.into_iter().flat_map(|batch| batch.events).zip(packets)
            {
                join.add(event, packet, file)?;
                events.extend(join.release(false));
            }
            // A packet may free several.
            while events.len() < BATCH_ROWS
                && let Some(event) = join.release(has_ended)
            {
                events.push(event);
            }
            if has_ended || !events.is_empty() {
                return Ok((!events.is_empty()).then_some(EventBatch::new(events)));
            }
        }
    }

    /// The next events in order of time. If reports of drops are joined, `packets` gets what distinguishes each from others.
    fn next_merged(
        &mut self,
        packets: &mut Vec<(usize, JoinPacket)>,
    ) -> Result<Option<EventBatch>, DataError> {
        let is_joined = self.join.is_some();
        if let [only] = &mut self.files[..] {
            let batch = only.reader.next().transpose()?;
            if only.reader.is_capture() {
                let mut sights = only.reader.take_sights().into_iter();
                let events = batch.iter().flat_map(|batch| &batch.events);
                events.for_each(|event| {
                    let sight = sights.next();
                    packets.extend(is_joined.then(|| (0, joinable(sight))));
                    self.captures.add(event, 0, sight);
                });
            }
            return Ok(batch);
        }
        if self.state == State::NotBegun {
            self.state = State::Reading;
            for place in 0..self.files.len() {
                match &self.files[place].parked {
                    Some(parked) => self.next.push(Reverse((parked.first_ns, place))),
                    None => self.look_ahead(place)?,
                }
            }
        }
        let mut batch = EventBatch::new(Vec::with_capacity(BATCH_ROWS));
        while batch.events.len() < BATCH_ROWS {
            let Some(Reverse((_, place))) = self.next.pop() else { break };
            if let Some(parked) = self.files[place].parked.take() {
                self.open_again(place, *parked)?;
                continue;
            }
            let file = &mut self.files[place];
            let Some(event) = file.events.next() else { continue };
            if file.reader.is_capture() {
                let sight = file.sights.next();
                packets.extend(is_joined.then(|| (place, joinable(sight))));
                self.captures.add(&event, place, sight);
            }
            batch.events.push(event);
            batch.own.extend(file.own.by_ref().take(self.own_columns));
            self.look_ahead(place)?;
        }
        Ok((!batch.events.is_empty()).then_some(batch))
    }

    /// Captures that are taken for the packets of one port each must be able to be that.
    fn check_captures(&mut self, has_ended: bool) -> Result<(), DataError> {
        if !self.captures.is_due(has_ended) {
            return Ok(());
        }
        let mut readers: Vec<_> = self.files.iter_mut().map(|file| &mut file.reader).collect();
        self.captures.check(&mut readers, has_ended)
    }

    /// Two files with the same bytes are one that was given twice; but captures whose place is their port may
    /// be equal.
    fn refuse_repeats(&self) -> Result<(), DataError> {
        let mut files: BTreeMap<String, &str> = BTreeMap::new();
        for EventFile { reader, .. } in self.files.iter().filter(|_| self.files.len() > 1) {
            let InputProvenance { sha256, events, .. } = reader.provenance();
            if events == 0 || reader.one_port().is_some() {
                continue;
            }
            if let Some(same) = files.insert(sha256, reader.file()) {
                let problem = format!("has the same rows as {same}");
                return Err(DataError::file(reader.file(), problem, "give them once"));
            }
        }
        Ok(())
    }

    /// Opens a file whose first event is due.
    fn open_again(&mut self, place: usize, parked: Parked) -> Result<(), DataError> {
        self.open += 1;
        check_open(self.open, self.files[place].reader.file())?;
        self.files[place].reader =
            EventReader::open_among(&parked.path, parked.options, &self.clocks)?;
        self.look_ahead(place)
    }
    /// Notes the time of the next event of a file.
    fn look_ahead(&mut self, place: usize) -> Result<(), DataError> {
        match self.files[place].next_ns()? {
            Some(time_ns) => self.next.push(Reverse((time_ns, place))),
            None => self.open -= 1,
        }
        Ok(())
    }
}

/// What reports of drops say of a packet.
fn joinable(sight: Option<(u32, Sight)>) -> JoinPacket {
    sight.map_or(JoinPacket::default(), |(_, Sight { ip_id, payload_bytes, tcp, .. })| {
        let sequence = tcp.map(|tcp| tcp.sequence.0);
        JoinPacket { ip_id, payload_bytes, sequence }
    })
}

/// What the folder `switch=N` nearest to a file says after the `=`, if it is in one.
pub fn switch_in_path(path: &Path) -> Option<&str> {
    let folders = path.parent()?;
    folders.iter().rev().find_map(|part| part.to_str()?.strip_prefix("switch="))
}

/// Captures without rules get their ports by their order only if they are alone, one for each port.
fn check_ports(files: &[EventFile]) -> Result<(), DataError> {
    let readers = files.iter().map(|file| &file.reader);
    let unruled: Vec<_> = readers.filter_map(|one| Some((one, one.one_port()?.0))).collect();
    let Some((first, switch_id)) = unruled.first() else { return Ok(()) };
    // A switch that is not described is an error at its first packet.
    let Some(ports) = first.specs().get(*switch_id).map(SwitchSpec::ports) else { return Ok(()) };
    if unruled.len() == files.len() && ports == files.len() {
        return Ok(());
    }
    let problem = if unruled.len() < files.len() {
        "is a capture among other events, so its place gives no port".to_owned()
    } else {
        format!("is one of {} captures, but the switch has {ports} ports", files.len())
    };
    let hint = "give one capture for each port, in order of the ports, or add [[capture.port]] to the switch \
                description (docs/pcap.md)";
    Err(DataError::file(first.file(), problem, hint))
}

fn no_files() -> DataError {
    DataError::file("events", "are no files", "name at least one")
}

/// Refuses no paths, and one that is there twice.
fn check_paths(paths: &[PathBuf]) -> Result<(), DataError> {
    if paths.is_empty() {
        return Err(no_files());
    }
    let mut seen = BTreeSet::new();
    match paths.iter().find(|path| !seen.insert(*path)) {
        Some(path) => Err(DataError::file(&shown(path), "is given twice", "give it once")),
        None => Ok(()),
    }
}

fn check_open(open: usize, file: &str) -> Result<(), DataError> {
    if open <= MOST_OPEN {
        return Ok(());
    }
    let problem = format!("is one of {open} files whose events are of the same time");
    let hint = format!("at most {MOST_OPEN} are read at once; merge some of them first (mergecap)");
    Err(DataError::file(file, problem, hint))
}

impl Iterator for EventFiles {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let mut batch = self.next_batch().transpose();
        if batch.is_none() {
            batch = self.refuse_repeats().err().map(Err);
        }
        if !matches!(batch, Some(Err(_)))
            && let Err(error) = self.check_captures(batch.is_none())
        {
            batch = Some(Err(error));
        }
        if !matches!(batch, Some(Ok(_))) {
            self.state = State::Done;
        }
        batch
    }
}
