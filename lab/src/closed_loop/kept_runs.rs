//! Finished runs in a file, so that a job that was stopped goes on and several machines share one.

use super::flow_times::{FlowGroup, FlowMeasure, OfFlows, TimesOfRun};
use dropcast_data::{DataError, sha256, sha256_file};
use dropcast_fabric::RunSummary;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs that are finished: a file with a line of JSON for each, added as it ends. A run that the file has is not repeated.
///
/// A run is known by all that determines it: fabric, traffic or flows, seeds, policy, model and the program's file. So a file may be
/// used for several experiments and maps, and files of several machines are joined by putting one after the other. Another
/// program (a new version) repeats all runs. No two jobs use one file at once.
#[derive(Debug)]
pub struct KeptRuns {
    path: PathBuf,
    /// Whether the file was made here.
    is_new: bool,
    program: String,
    known: Mutex<Known>,
    fleet: Option<Box<dyn Fleet>>,
}

/// Machines that simulate runs in place of this one.
pub trait Fleet: Debug + Send + Sync {
    /// Has the `runs` runs of a job simulated by [`simulate_share`](super::simulate_share), in as many parts as it likes, and
    /// hands over the lines that a part added to its file, as soon as it ends. What it leaves out is simulated here.
    ///
    /// # Errors
    /// Those of `ended`, or if the machines cannot be reached.
    fn simulate(
        &self,
        job: &str,
        runs: usize,
        ended: &mut dyn FnMut(&str) -> Result<(), PipelineError>,
    ) -> Result<(), PipelineError>;
}

#[derive(Debug)]
struct Known {
    runs: BTreeMap<String, KeptRun>,
    file: File,
    /// Of whole lines in the file.
    bytes: u64,
}

/// What a run came to.
#[derive(Clone, Debug)]
struct KeptRun {
    summary: RunSummary,
    /// If flow times were asked for when it ran.
    times: Option<TimesOfRun>,
    /// The line of the file, from 1, if it was there when it was opened.
    line: Option<u64>,
}

impl Known {
    /// Adds a run. Of a run that is there twice, flow times are not lost.
    ///
    /// # Errors
    /// If the run is there with another result; in words.
    fn insert(
        &mut self,
        Line { run, summary, times }: Line,
        line: Option<u64>,
    ) -> Result<(), String> {
        let times: Option<TimesOfRun> = times.map(|times| times.into_iter().collect());
        let Some(known) = self.runs.get_mut(&run) else {
            self.runs.insert(run, KeptRun { summary, times, line });
            return Ok(());
        };
        let differs = |own: &TimesOfRun| times.as_ref().is_some_and(|times| times != own);
        if known.summary != summary || known.times.as_ref().is_some_and(differs) {
            let which = match (known.line, line) {
                (Some(first), Some(second)) => format!("lines {first} and {second}"),
                (Some(line), None) | (None, Some(line)) => format!("line {line} and a new one"),
                (None, None) => "two new lines".to_owned(),
            };
            return Err(format!(
                "{which} are of the same run and differ: one of them is wrong; delete both, and the run is repeated"
            ));
        }
        known.times = known.times.take().or(times);
        Ok(())
    }
}

/// What stands between a line and the SHA-256 of all before it.
const HASH_BEGINS: &str = ",\"sha256\":\"";

impl Line {
    /// As text, with its own hash.
    fn hashed(&self) -> Result<String, PipelineError> {
        let text = encoded(self)?;
        let own = text.strip_suffix('}').unwrap_or(&text);
        Ok(format!("{own}{HASH_BEGINS}{}\"}}\n", sha256(own.as_bytes())))
    }

    /// Reads such a text; `None` if it has no hash, as those of versions that wrote none.
    ///
    /// # Errors
    /// If it is no finished run, or another than was written; in words.
    fn read(text: &str) -> Result<Option<Self>, String> {
        let no_run = |error: serde_json::Error| format!("is no finished run ({error})");
        let text = text.trim_end_matches('\n');
        let Some((own, hash)) = text.rsplit_once(HASH_BEGINS) else {
            return serde_json::from_str::<Line>(text).map(|_| None).map_err(no_run);
        };
        if hash.strip_suffix("\"}") != Some(&*sha256(own.as_bytes())) {
            return Err("was changed since it was written: its SHA-256 differs".to_owned());
        }
        serde_json::from_str(&format!("{own}}}")).map(Some).map_err(no_run)
    }
}

/// How a line of the file begins.
const LINE_BEGINS: &[u8] = b"{\"run\":";

/// No line is as long, in bytes: a summary has a few hundred numbers, flow times have as many for each class of flows.
const LONGEST_LINE: u64 = 1 << 20;

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// SHA-256 of what determines the run.
    run: String,
    summary: RunSummary,
    /// How long flows took, by class and measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Vec<((FlowGroup, FlowMeasure), OfFlows)>>,
}

/// Part `number`, from 1, of `of` equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPart {
    number: NonZeroU32,
    of: NonZeroU32,
}

impl JobPart {
    /// Those of `tasks` that belong to this part.
    pub(crate) fn of<T>(self, tasks: Vec<T>) -> Vec<T> {
        let (first, step) = (self.number.get() as usize - 1, self.of.get() as usize);
        tasks.into_iter().skip(first).step_by(step).collect()
    }
}

/// A text that names no part.
#[derive(Debug, thiserror::Error)]
#[error("is {0:?}, expected a part and their number, such as 2/4")]
pub struct NotAPart(String);

impl FromStr for JobPart {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            let part = JobPart { number: number.parse().ok()?, of: of.parse().ok()? };
            (part.number <= part.of).then_some(part)
        });
        parsed.ok_or_else(|| NotAPart(text.to_owned()))
    }
}

impl KeptRuns {
    /// Opens a file, or makes it. Runs of another `program`, an executable or a library, do not count. A last line that was cut
    /// off is taken away, with a note; lines without a hash of themselves are not used, with a note.
    ///
    /// # Errors
    /// If a file cannot be read and written, another job uses it, it holds something else, a line was changed, or two lines of
    /// one run differ.
    pub fn open(
        path: &Path,
        program: &Path,
        progress: &dyn Progress,
    ) -> Result<Self, PipelineError> {
        let program = program_sha256(program)?;
        let file_name = || path.display().to_string();
        let io = |doing| move |source| DataError::Io { file: file_name(), doing, source };
        let is_new = !path.exists();
        let options = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = options.map_err(io("be opened"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let problem =
                    "another job adds its runs to it; wait, or keep these in another file";
                return Err(PipelineError::unfit(path.display(), problem));
            }
            Err(TryLockError::Error(error)) => return Err(io("be locked")(error).into()),
        }
        let mut known = Known { runs: BTreeMap::new(), file, bytes: 0 };
        let mut reader = BufReader::new(known.file.try_clone().map_err(io("be read"))?);
        let mut text = Vec::new();
        let mut unhashed = 0_u64;
        for number in 1_u64.. {
            text.clear();
            let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text);
            let read = read.map_err(io("be read"))? as u64;
            if read < LONGEST_LINE && text.last() != Some(&b'\n') {
                break;
            }
            let unfit = |problem: String| PipelineError::unfit(path.display(), problem);
            let line = str::from_utf8(&text).map_err(|_| "is no text".to_owned());
            let line = line.and_then(Line::read).map_err(|problem| {
                unfit(format!(
                    "line {number} {problem}; name a file of --keep, or delete the line, and its run is repeated"
                ))
            })?;
            match line {
                Some(line) => known.insert(line, Some(number)).map_err(unfit)?,
                None => unhashed += 1,
            }
            known.bytes += read;
        }
        if unhashed > 0 {
            progress.note(&format!(
                "{}: {unhashed} lines of an earlier version have no hash of themselves; their runs are repeated",
                path.display()
            ));
        }
        if !text.is_empty() {
            // A file of something else is left alone.
            if text.iter().zip(LINE_BEGINS).any(|(own, begins)| own != begins) {
                let problem = "its last line is no finished run; name a file of --keep";
                return Err(PipelineError::unfit(path.display(), problem));
            }
            known.file.set_len(known.bytes).map_err(io("be shortened"))?;
            let file = path.display();
            progress.note(&format!("{file}: the last line was cut off; its run is repeated"));
        }
        let (path, known) = (path.to_owned(), Mutex::new(known));
        Ok(KeptRuns { path, is_new, program, known, fleet: None })
    }

    /// Runs that are not known are asked of `fleet`, where many are at once.
    pub fn asking(mut self, fleet: Box<dyn Fleet>) -> Self {
        self.fleet = Some(fleet);
        self
    }

    /// Whom runs are asked of that are not known.
    pub(super) fn fleet(&self) -> Option<&dyn Fleet> {
        self.fleet.as_deref()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run with this key, if it is known.
    pub(super) fn get(&self, key: &str) -> Option<RunSummary> {
        self.known().runs.get(key).map(|run| run.summary.clone())
    }

    /// The run with this key and its flow times, if both are known.
    pub(super) fn get_with_times(&self, key: &str) -> Option<(RunSummary, TimesOfRun)> {
        let KeptRun { summary, times, .. } = self.known().runs.get(key).cloned()?;
        Some((summary, times?))
    }

    /// Adds the lines of another file.
    pub(super) fn add_lines(&self, lines: &str) -> Result<(), PipelineError> {
        for line in lines.lines() {
            let no_run = |problem| PipelineError::unfit("a part", format!("a line {problem}"));
            let line = Line::read(line).map_err(no_run)?;
            self.add_line(line.ok_or_else(|| no_run("has no hash of itself".to_owned()))?)?;
        }
        Ok(())
    }

    /// Adds a run.
    pub(super) fn add(
        &self,
        key: String,
        summary: &RunSummary,
        times: Option<&TimesOfRun>,
    ) -> Result<(), PipelineError> {
        let times = times.map(|times| times.clone().into_iter().collect());
        self.add_line(Line { run: key, summary: summary.clone(), times })
    }

    fn add_line(&self, line: Line) -> Result<(), PipelineError> {
        let text = line.hashed()?;
        let unfit = |problem| PipelineError::unfit(self.path.display(), problem);
        let mut known = self.known();
        // As a file has it: digits of a number that is read may differ in the last place.
        let as_read = Line::read(&text).map_err(unfit)?;
        known.insert(as_read.unwrap_or(line), None).map_err(unfit)?;
        known.file.write_all(text.as_bytes()).map_err(|source| {
            // Other threads may still add theirs: no half line stays before them.
            let _ = known.file.set_len(known.bytes);
            let file = self.path.display().to_string();
            DataError::Io { file, doing: "be written", source }
        })?;
        known.bytes += text.len() as u64;
        Ok(())
    }

    /// What determines a run, hashed.
    pub(super) fn key(&self, parts: &[String]) -> String {
        let all: Vec<&str> =
            std::iter::once(&*self.program).chain(parts.iter().map(String::as_str)).collect();
        sha256(all.join("\n").as_bytes())
    }
}

/// A job that ends before its first run leaves no file.
impl Drop for KeptRuns {
    fn drop(&mut self) {
        if self.is_new && self.known().bytes == 0 {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The SHA-256 of a program's file when this process first asked: a task of a cluster asks for each of its parts.
fn program_sha256(program: &Path) -> Result<String, PipelineError> {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known.get(program) {
        return Ok(hash.clone());
    }
    let hash = sha256_file(program)?;
    known.insert(program.to_owned(), hash.clone());
    Ok(hash)
}

/// As JSON.
pub(super) fn encoded(value: &impl Serialize) -> Result<String, PipelineError> {
    serde_json::to_string(value)
        .map_err(|error| PipelineError::Encode { what: "a run", problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_pipeline::progress::Silent;

    fn times(slowdown: f64) -> TimesOfRun {
        let text = format!("{{\"flows\":1,\"at_shares\":{:?}}}", [slowdown; 103]);
        let of: OfFlows = serde_json::from_str(&text).expect("flow times");
        let kind = serde_json::from_str("{\"kind\":\"short\"}").expect("a group");
        BTreeMap::from([((kind, FlowMeasure::Slowdown), of)])
    }

    #[test]
    fn lines_that_changed_or_contradict_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.jsonl");
        let program = std::env::current_exe().expect("a program");
        let open = || KeptRuns::open(&path, &program, &Silent);
        let line = |bps: f64, times: Option<f64>| {
            let summary = RunSummary { goodput_bps: Some(bps), ..RunSummary::default() };
            let times = times.map(|times| self::times(times).into_iter().collect());
            Line { run: "a".repeat(64), summary, times }.hashed().expect("JSON")
        };
        let write = |lines: &[String]| std::fs::write(&path, lines.concat()).expect("written");
        let refused = |lines: &[String]| {
            write(lines);
            open().map(|_| ()).expect_err("it is wrong").to_string()
        };
        // What is written is read.
        write(&[line(7.0, None), line(7.0, Some(1.5)), line(7.0, None)]);
        let key = "a".repeat(64);
        let (summary, own) = open().expect("sound").get_with_times(&key).expect("both");
        assert_eq!((summary.goodput_bps, own), (Some(7.0), times(1.5)));
        // A changed digit of any field.
        for (digit, other) in
            [("\"goodput_bps\":7", "\"goodput_bps\":8"), ("1.5", "1.6"), ("aaa", "aba")]
        {
            let said = refused(&[line(7.0, Some(1.5)).replacen(digit, other, 1)]);
            assert!(said.contains("line 1 was changed since it was written"), "{said}");
        }
        // Two results of one run, in summaries and in flow times.
        for others in [line(8.0, None), line(7.0, Some(1.6))] {
            let said = refused(&[line(7.0, Some(1.5)), line(7.0, None), others]);
            assert!(said.contains("lines 1 and 3 are of the same run and differ"), "{said}");
        }
        // Lines without a hash are not used.
        let unhashed =
            line(7.0, None).split_once(HASH_BEGINS).expect("a hash").0.to_owned() + "}\n";
        write(&[unhashed]);
        let kept = open().expect("of an earlier version");
        assert!(kept.get(&key).is_none());
        // A part that contradicts.
        kept.add_lines(&line(7.0, None)).expect("new");
        let said = kept.add_lines(&line(8.0, None)).expect_err("another").to_string();
        assert!(said.contains("are of the same run and differ"), "{said}");
        assert!(kept.add_lines(&line(7.0, None).replace("bps\":7", "bps\":9")).is_err());
    }
}
