//! Progress on stderr: drawn on a terminal, a line now and then elsewhere.

use dropcast_data::{InputNote, printable_line};
use dropcast_pipeline::progress::Progress;
use dropcast_reports::words::input_notes::input_note_line;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Shows the current stage: its name, a count of rows, and a share of its work. Notes are always printed.
#[derive(Default)]
pub struct Terminal {
    stage: Arc<Mutex<Option<Stage>>>,
    /// Whether something reports long work where there is no terminal.
    ticks: OnceLock<()>,
}

struct Stage {
    bar: ProgressBar,
    name: &'static str,
    /// What is done, in percent.
    percent: Option<u64>,
    /// When the last line was written where there is no terminal.
    last_line: Instant,
}

/// Lines where there is no terminal are so far apart.
const LINES: Duration = Duration::from_secs(10);
/// Whether it is time for a line is looked at so often.
const TICK: Duration = Duration::from_secs(1);

impl Stage {
    /// Writes a line, if there is no terminal and it is time.
    fn write_line(&mut self) {
        if !self.bar.is_hidden() || self.last_line.elapsed() < LINES {
            return;
        }
        self.last_line = Instant::now();
        let rows = self.bar.position();
        let rows = (rows > 0).then(|| format!("{} rows", HumanCount(rows)));
        let percent = self.percent.map(|percent| format!("{percent} %"));
        let done: Vec<String> = rows.into_iter().chain(percent).collect();
        let (name, elapsed) = (self.name, self.bar.elapsed().as_secs());
        // Failed progress output is not an error.
        let done = if done.is_empty() { "at work".to_owned() } else { done.join(", ") };
        let _ = writeln!(std::io::stderr(), "  {name:10} {done}  ({elapsed} s)");
    }
}

impl Terminal {
    fn stage(&self) -> MutexGuard<'_, Option<Stage>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where there is no terminal, a line now and then also of work that counts nothing. Without a thread for it such work is
    /// silent.
    fn tick(&self) {
        let stage = Arc::downgrade(&self.stage);
        self.ticks.get_or_init(|| {
            let _ = std::thread::Builder::new().spawn(move || write_lines_until_dropped(&stage));
        });
    }
}

fn write_lines_until_dropped(stage: &Weak<Mutex<Option<Stage>>>) {
    loop {
        std::thread::sleep(TICK);
        let Some(stage) = stage.upgrade() else { return };
        if let Some(stage) = &mut *stage.lock().unwrap_or_else(PoisonError::into_inner) {
            stage.write_line();
        }
    }
}

impl Progress for Terminal {
    fn begin(&self, name: &'static str) {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {prefix:10} {human_pos} {msg}  {elapsed}")
        {
            bar.set_style(style);
        }
        bar.set_prefix(name);
        bar.set_message("rows");
        // It needs a thread; without one the bar moves when something is done.
        if !bar.is_hidden() && std::thread::Builder::new().spawn(|| {}).is_ok() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        if bar.is_hidden() {
            self.tick();
        }
        *self.stage() = Some(Stage { bar, name, percent: None, last_line: Instant::now() });
    }

    fn advance(&self, rows: usize) {
        if let Some(stage) = &mut *self.stage() {
            stage.bar.inc(rows as u64);
            stage.write_line();
        }
    }

    fn estimate(&self, done: u64, all: u64) {
        if let Some(stage) = &mut *self.stage() {
            let percent = 100 * done.min(all) / all.max(1);
            // Only some stages read rows.
            let rows = if stage.bar.position() > 0 { "rows, " } else { "" };
            stage.bar.set_message(format!("{rows}{percent} %"));
            stage.percent = Some(percent);
            stage.write_line();
        }
    }

    fn restart(&self) {
        if let Some(stage) = &*self.stage() {
            stage.bar.set_position(0);
        }
    }

    fn end(&self, done: &str) {
        let Some(Stage { bar, name, .. }) = self.stage().take() else { return };
        bar.finish_and_clear();
        if !bar.is_hidden() {
            let elapsed = bar.elapsed();
            // Failed progress output is not an error.
            let _ = writeln!(std::io::stderr(), "  {name:10} {done}  ({elapsed:.1?})");
        }
    }

    fn note(&self, note: &str) {
        let write = || {
            let _ = writeln!(std::io::stderr(), "note: {}", printable_line(note));
        };
        match &*self.stage() {
            Some(stage) => stage.bar.suspend(write),
            None => write(),
        }
    }

    fn input_note(&self, file: Option<&Path>, note: InputNote, rows: u64) {
        self.note(&input_note_line(file, note, rows));
    }
}
