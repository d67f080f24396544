//! Long work: without the interpreter's lock, with progress, and stopped by Ctrl-C.

use crate::errors;
use dropcast_data::InputNote;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::input_notes::input_note_line;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often the interpreter is asked for signals and gets progress.
const TICK: Duration = Duration::from_millis(50);

/// The stack of the thread that works: as much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// What the interpreter has not received yet.
#[derive(Default)]
struct News {
    stage: Option<&'static str>,
    rows: u64,
    steps: Option<(u64, u64)>,
    ended: Option<String>,
    notes: Vec<String>,
}

/// Progress that is fetched from time to time.
#[derive(Default)]
struct Fetched {
    news: Mutex<News>,
    is_cancelled: AtomicBool,
}

impl Fetched {
    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes it to a `dropcast._progress.Bar`.
    fn pass_to(&self, bar: &Bound<'_, PyAny>) -> PyResult<()> {
        let (stage, rows, steps, ended, notes) = {
            let mut news = self.news();
            let (ended, notes) = (news.ended.take(), std::mem::take(&mut news.notes));
            (news.stage, news.rows, news.steps, ended, notes)
        };
        for note in notes {
            bar.call_method1("note", (note,))?;
        }
        if let Some(stage) = stage {
            bar.call_method1("update", (stage, rows, steps))?;
        }
        if let Some(ended) = ended {
            bar.call_method1("end", (ended,))?;
        }
        Ok(())
    }
}

impl Progress for Fetched {
    fn begin(&self, stage: &'static str) {
        let mut news = self.news();
        *news =
            News { stage: Some(stage), notes: std::mem::take(&mut news.notes), ..News::default() };
    }

    fn advance(&self, rows: usize) {
        self.news().rows += rows as u64;
    }

    fn estimate(&self, done: u64, all: u64) {
        self.news().steps = Some((done, all));
    }

    fn restart(&self) {
        self.news().rows = 0;
    }

    fn end(&self, done: &str) {
        self.news().ended = Some(done.to_owned());
    }

    fn note(&self, note: &str) {
        self.news().notes.push(note.to_owned());
    }

    fn input_note(&self, file: Option<&Path>, note: InputNote, rows: u64) {
        self.note(&input_note_line(file, note, rows));
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Does `work` on another thread, shows on `bar` how far it is and stops it on a signal.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bar: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn Progress) -> Result<T, PipelineError> + Send,
) -> PyResult<T> {
    let fetched = Fetched::default();
    let progress = &fetched;
    let (done, signal) = thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("dropcast".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || work(progress));
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => return (None, Err(PyErr::from(error))),
        };
        let mut signal = Ok(());
        while !worker.is_finished() {
            py.detach(|| wait(&worker));
            let passed = py.check_signals().and_then(|()| progress.pass_to(bar));
            if let Err(error) = passed {
                progress.is_cancelled.store(true, Ordering::Relaxed);
                signal = signal.and(Err(error));
            }
        }
        (Some(py.detach(|| worker.join())), signal)
    });
    let closed = fetched.pass_to(bar).and_then(|()| bar.call_method0("close").map(drop));
    signal?;
    match done {
        Some(Ok(Ok(value))) => closed.map(|()| value),
        Some(Ok(Err(error))) => Err(errors::pipeline(py, &error)),
        _ => Err(errors::exception(
            py,
            false,
            "this is a bug in dropcast, please report it with the lines above",
        )),
    }
}

/// Does `work` that is short, or cannot be stopped, without the interpreter's lock.
pub(crate) fn detached<T: Send, E: Into<PipelineError> + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| errors::pipeline(py, &error.into()))
}

/// Waits for a tick, or until the work is done.
fn wait<T>(worker: &thread::ScopedJoinHandle<'_, T>) {
    // Short work is not kept waiting.
    let mut slept = Duration::from_micros(50);
    let mut waited = Duration::ZERO;
    while waited < TICK && !worker.is_finished() {
        thread::sleep(slept);
        waited += slept;
        slept = (slept * 2).min(Duration::from_millis(5));
    }
}
