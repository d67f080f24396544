//! Progress on stderr; nothing where that is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// A stage of the pipeline under way: a spinner with a name and a count of rows.
pub(crate) struct Stage {
    bar: ProgressBar,
    name: &'static str,
}

impl Stage {
    /// Begins a stage.
    pub(crate) fn begin(name: &'static str) -> Self {
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
        bar.enable_steady_tick(Duration::from_millis(100));
        Stage { bar, name }
    }

    /// `rows` more are done.
    pub(crate) fn advance(&self, rows: usize) {
        self.bar.inc(rows as u64);
    }

    /// The rows are read once more, and counted anew.
    pub(crate) fn restart(&self) {
        self.bar.set_position(0);
    }

    /// Ends the stage, leaving a line that says what it did.
    pub(crate) fn end(self, what: &str) {
        self.bar.finish_and_clear();
        if !self.bar.is_hidden() {
            let elapsed = self.bar.elapsed();
            // Progress is worth no error.
            let _ = writeln!(std::io::stderr(), "  {:10} {what}  ({elapsed:.1?})", self.name);
        }
    }
}
