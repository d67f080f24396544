//! A folder to run `dropcast` in, and its output.

use crate::program;
use dropcast_data::{InputProvenance, LabelledBatch, TraceReader};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A temporary working directory: the paths that commands print are relative, and so always the
/// same.
pub(crate) struct Room(TempDir);

/// The output of a command.
#[derive(Debug)]
pub(crate) struct Said {
    typed: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Room {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Room(tempfile::tempdir().unwrap())
    }

    /// A folder with the files of a small generated run in `runs/small`: its `config.toml`, the
    /// `events.parquet`, `trace.parquet`, `model.json` and so on.
    pub(crate) fn with_a_run() -> Self {
        static RUN: OnceLock<Room> = OnceLock::new();
        let made = RUN.get_or_init(|| {
            let room = Room::new();
            // Its few episodes are no sure gain, so the default vote would predict no drop.
            room.write("small.toml", format!("{SMALL}\n[train]\nvote = 'f1'\n"));
            room.good("run --config small.toml");
            room
        });
        let room = Room::new();
        for (name, bytes) in made.files() {
            room.write(&name, bytes);
        }
        room
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders it is in.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file in it, however deep.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let paths = self.paths().into_iter().filter(|path| path.is_file());
        paths.map(|path| (self.name_of(&path), fs::read(path).unwrap())).collect()
    }

    /// Every folder in it, however deep.
    pub(crate) fn folders(&self) -> BTreeSet<String> {
        let paths = self.paths().into_iter().filter(|path| path.is_dir());
        paths.map(|path| self.name_of(&path)).collect()
    }

    fn paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.0.path().to_owned()];
        let mut next = 0;
        while next < paths.len() {
            if paths[next].is_dir() {
                let entries = fs::read_dir(&paths[next]).unwrap();
                paths.extend(entries.map(|entry| entry.unwrap().path()));
            }
            next += 1;
        }
        paths
    }

    /// Runs `dropcast` with arguments, separated by spaces.
    pub(crate) fn dropcast(&self, typed: &str) -> Said {
        self.dropcast_on(typed, b"")
    }

    /// As [`dropcast`](Self::dropcast), with something on standard input.
    pub(crate) fn dropcast_on(&self, typed: &str, stdin: &[u8]) -> Said {
        let mut child = self
            .command(typed.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // A command may end before it has read everything.
            scope.spawn(move || pipe.write_all(stdin).is_ok());
            child.wait_with_output().unwrap()
        });
        Said {
            typed: typed.to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: without_progress(&String::from_utf8(output.stderr).unwrap()),
        }
    }

    /// What a command says on stderr until it ends or, after `limit`, is killed.
    pub(crate) fn stderr_within(&self, typed: &str, limit: Duration) -> String {
        let mut command = self.command(typed.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stderr.take().unwrap();
        std::thread::scope(|scope| {
            let said = scope.spawn(move || {
                let mut said = String::new();
                pipe.read_to_string(&mut said).map(|_| said)
            });
            let began = Instant::now();
            while child.try_wait().unwrap().is_none() && began.elapsed() < limit {
                std::thread::sleep(Duration::from_millis(2));
            }
            // One that has ended cannot be killed.
            let _ = child.kill();
            child.wait().unwrap();
            said.join().unwrap().unwrap()
        })
    }

    /// Runs a command that must succeed; returns its stdout. A model may predict no drop: small traces have few episodes.
    pub(crate) fn good(&self, typed: &str) -> String {
        let said = self.dropcast(typed);
        let may_say = |line: &str| line.starts_with("note: the model never predicts a drop");
        assert!(said.code == Some(0) && said.stderr.lines().all(may_say), "{said}");
        said.stdout
    }

    /// Runs a command that must succeed and may say notes, but nothing else, on stderr; returns its stdout.
    pub(crate) fn good_with_notes(&self, typed: &str) -> String {
        let said = self.dropcast(typed);
        let only_notes = said.stderr.lines().all(|line| line.starts_with("note: "));
        assert!(said.code == Some(0) && only_notes, "{said}");
        said.stdout
    }

    /// A subcommand with arguments, in the folder, on a terminal of fixed width.
    pub(crate) fn command(&self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Command {
        let mut args = args.into_iter().peekable();
        let subcommand = args.peek().map(|first| first.as_ref().to_string_lossy().into_owned());
        let mut command = Command::new(program(&subcommand.unwrap_or_default()));
        command.args(args).current_dir(self.0.path()).env("COLUMNS", "100").stdin(Stdio::null());
        command
    }

    fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_owned()
    }
}

/// Without the lines that show how far a long job is, as on a slow machine: `  name  42 %  (20 s)`.
pub(crate) fn without_progress(stderr: &str) -> String {
    let is_progress = |line: &&str| line.starts_with("  ") && line.trim_end().ends_with(" s)");
    stderr.split_inclusive('\n').filter(|line| !is_progress(line)).collect()
}

/// A command that must be refused.
#[track_caller]
pub(crate) fn refuse(room: &Room, typed: &str) -> String {
    let (files, folders) = (room.files(), room.folders());
    let said = room.dropcast(typed);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
    assert!(said.stderr.starts_with("error: "), "{said}");
    assert_eq!(said.stderr.matches("\nerror: ").count(), 0, "{said}");
    assert!(room.files().keys().eq(files.keys()) && room.folders() == folders, "left {said}");
    assert!(room.files() == files, "changed {said}");
    said.to_string()
}

/// All rows of a trace with all features, and its inputs.
pub(crate) fn rows(path: &Path) -> (Vec<LabelledBatch>, Vec<InputProvenance>) {
    let meta = TraceReader::open(path, &[]).unwrap().meta().clone();
    let reader = TraceReader::open(path, &meta.features).unwrap();
    (reader.map(Result::unwrap).collect(), meta.inputs)
}

/// Checks that each command that begins with `program` in texts, pages and folders of pages is understood.
pub(crate) fn check_shown(
    program: &str,
    room: &Room,
    texts: impl IntoIterator<Item = String>,
    pages: &[PathBuf],
) {
    let mut texts: Vec<String> = texts.into_iter().collect();
    for path in pages {
        let paths = match fs::read_dir(path) {
            Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![path.clone()],
        };
        let is_page = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "md");
        texts.extend(paths.iter().filter(is_page).map(|path| fs::read_to_string(path).unwrap()));
    }
    let shown: Vec<String> = texts.iter().flat_map(|text| commands_in(program, text)).collect();
    assert!(shown.len() >= 6, "{shown:?}");
    for command in shown {
        // What is not understood is said at once; what works may take minutes.
        let said = room.stderr_within(&command, Duration::from_secs(2));
        assert!(!said.contains("--help"), "{program}{command} is not understood: {said}");
    }
}

/// Arguments of the indented lines that are commands of a program, alone or at the end of a pipe.
fn commands_in(program: &str, text: &str) -> Vec<String> {
    let indented = text.lines().filter(|line| line.starts_with("  "));
    let commands = indented.filter_map(|line| {
        let last = line.rsplit(" | ").next()?.trim();
        let arguments = last.strip_prefix(program)?;
        let arguments = arguments.split(" #").next()?.split(" > ").next()?;
        Some(arguments.trim().to_owned())
    });
    commands.collect()
}

/// Reports a skipped check on the real stderr, because the test harness captures `eprintln!`.
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").expect("stderr is writable");
}

/// Full buffers and drops in every part of it, in a quarter of a second.
pub(crate) const SMALL: &str = "
name = 'small'
seed = 7

[workload]
load = 0.8
servers = 4
uplinks = 2
buffer_bytes = 60_000
flow_rate = 1.0
incast_per_server_hz = 300.0
outgoing_incast_per_server_hz = 100.0
duration_ns = 20_000_000
";

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = program(self.typed.split(' ').next().unwrap_or_default());
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(f, "$ {name} {}", self.typed)?;
        f.write_str(&self.stdout)?;
        for line in self.stderr.lines() {
            writeln!(f, "2> {line}")?;
        }
        match self.code {
            Some(code) => writeln!(f, "[{code}]"),
            None => writeln!(f, "[killed]"),
        }
    }
}
