//! Settings as the command line has them: the words, defaults and messages are the command's own.
//!
//! They come as words, not as tables for serde: signatures and help are made from the command's arguments, values such as
//! `cost:1:9` are words in any case, and serde's errors name neither the setting nor what it expects, so that going straight to
//! the struct would add a second parser of tables and keep this one for the commands' other arguments.

use crate::{errors, work};
use clap::error::ContextKind;
use clap::{Arg, ArgAction, Command};
use dropcast_data::{SwitchFile, read_switch_file, read_switches};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::resources::{MemoryLimit, Resources};
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_train::SplitSettings;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::any::TypeId;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Reads `--name=value` settings of one of the command's groups of arguments.
pub(crate) fn parse<T: clap::Args>(py: Python<'_>, settings: Vec<String>) -> PyResult<T> {
    read(py, T::augment_args(plain_command()), settings)
}

/// Reads the name of a subcommand and its settings.
pub(crate) fn parse_subcommand<T: clap::Subcommand>(
    py: Python<'_>,
    settings: Vec<String>,
) -> PyResult<T> {
    let command = plain_command().disable_help_subcommand(true);
    read(py, T::augment_subcommands(command), settings)
}

fn plain_command() -> Command {
    Command::new("dropcast").no_binary_name(true).disable_help_flag(true)
}

fn read<T: clap::FromArgMatches>(
    py: Python<'_>,
    command: Command,
    settings: Vec<String>,
) -> PyResult<T> {
    let read = command.try_get_matches_from(settings).and_then(|found| T::from_arg_matches(&found));
    read.map_err(|error| errors::exception(py, true, &in_words(&error)))
}

/// What is wrong, with the setting's name in Python, `vote: "f2" is unknown, expected f1, credence`, for clap's `invalid value
/// 'f2' for '--vote <RULE>'`.
fn in_words(error: &clap::Error) -> String {
    let text = dropcast_terminal::argument_message(error);
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.trim_start_matches("error: ").trim();
    let of = |kind| error.get(kind).map(ToString::to_string);
    let (Some(argument), Some(value)) =
        (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue))
    else {
        return text.to_owned();
    };
    let Some((_, why)) = text.split_once(&format!("for '{argument}'")) else {
        return text.to_owned();
    };
    let flag = argument.split([' ', '=']).next().unwrap_or_default();
    let name = flag.trim_start_matches('-').replace('-', "_");
    let why = why.trim_start_matches(':').trim();
    // A setting that is True is a flag.
    if why.starts_with("but none was supplied") {
        return format!("{name}: is True, expected a value");
    }
    match why.strip_prefix("[possible values: ").and_then(|known| known.split_once(']')) {
        Some((known, _)) => format!("{name}: {value:?} is unknown, expected {known}"),
        None => format!("{name}: {value:?}: {why}"),
    }
}

/// Reads one word of an enumeration.
pub(crate) fn word<T: clap::ValueEnum>(py: Python<'_>, name: &str, text: &str) -> PyResult<T> {
    T::from_str(text, false).map_err(|_| {
        let known: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()))
            .collect();
        let message = format!("{name}: {text:?} is unknown, expected {}", known.join(", "));
        errors::exception(py, true, &message)
    })
}

/// Reads something that is written as text.
pub(crate) fn text<T: std::str::FromStr>(py: Python<'_>, name: &str, text: &str) -> PyResult<T>
where
    T::Err: std::error::Error,
{
    text.parse().map_err(|error: T::Err| errors::argument(py, name, &error))
}

/// Threads and memory; what does not fit goes to a temporary file beside `beside`.
pub(crate) fn resources(
    py: Python<'_>,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    beside: Option<PathBuf>,
) -> PyResult<Resources> {
    let none = || errors::exception(py, true, "threads: is 0, expected at least 1");
    let threads = threads.map(|count| NonZeroUsize::new(count).ok_or_else(none)).transpose()?;
    let beside = beside.unwrap_or_else(|| std::env::temp_dir().join("dropcast"));
    let memory = memory_limit.map(|mib| MemoryLimit { mib, beside });
    Ok(Resources { threads, memory })
}

/// What is described by a file, or by JSON with the same fields.
#[derive(FromPyObject)]
pub(crate) enum Described {
    Path(PathBuf),
    #[pyo3(transparent)]
    Json(Json),
}

/// A text as JSON.
#[derive(FromPyObject)]
pub(crate) struct Json {
    #[pyo3(item)]
    json: String,
}

impl Described {
    /// Reads the file, or the JSON, which errors call `name`.
    pub(crate) fn read<T: DeserializeOwned + Send, E: Into<PipelineError> + Send>(
        &self,
        py: Python<'_>,
        name: &str,
        file: impl FnOnce(&Path) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        match self {
            Described::Path(path) => work::detached(py, || file(path)),
            Described::Json(Json { json }) => {
                serde_json::from_str(json).map_err(|error| errors::argument(py, name, &error))
            }
        }
    }

    /// Reads a description of switches.
    pub(crate) fn switch(&self, py: Python<'_>) -> PyResult<SwitchFile> {
        match self {
            Described::Path(path) => work::detached(py, || read_switch_file(path)),
            Described::Json(_) => {
                let specs = self.read(py, "switch", read_switches)?;
                Ok(SwitchFile { specs, maps: Default::default() })
            }
        }
    }
}

/// Runs the program with these arguments, the first of which is its name: `dropcast`, or `dropcast-lab`. Returns its
/// exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    let is_lab = arguments.first().is_some_and(|name| name == "dropcast-lab");
    py.detach(|| match is_lab {
        true => dropcast_lab::command::run_command(arguments),
        false => dropcast_cli::run_command(arguments),
    })
}

/// Every command with its arguments and defaults, as JSON: the package's functions are held to it. A function that is of
/// both programs has the arguments of both.
#[pyfunction]
pub(crate) fn commands() -> String {
    let [mut all, lab] =
        [dropcast_cli::command(), dropcast_lab::command::command()].map(|mut program| {
            program.build();
            subcommands(&program)
        });
    for (name, command) in lab {
        all.entry(name).and_modify(|known| add_arguments(known, &command)).or_insert(command);
    }
    Value::Object(all).to_string()
}

/// The names of settings that several functions take, as JSON: how packets are labelled, how forests are trained and rows
/// divided, and the latter alone.
#[pyfunction]
pub(crate) fn settings_names() -> String {
    fn names<T: clap::Args>() -> Vec<String> {
        let command = T::augment_args(plain_command());
        command.get_arguments().filter_map(Arg::get_long).map(|of| of.replace('-', "_")).collect()
    }
    json!({
        "labels": names::<TracerSettings>(),
        "train": names::<TrainSettings>(),
        "split": names::<SplitSettings>(),
    })
    .to_string()
}

/// Adds the arguments of a command that another of its name lacks.
fn add_arguments(known: &mut Value, more: &Value) {
    let Some(arguments) = known["arguments"].as_array_mut() else { return };
    for argument in more["arguments"].as_array().into_iter().flatten() {
        if arguments.iter().all(|of| of["name"] != argument["name"]) {
            arguments.push(argument.clone());
        }
    }
}

fn subcommands(command: &Command) -> serde_json::Map<String, Value> {
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    commands.map(|command| (command.get_name().to_owned(), described(command))).collect()
}

fn described(command: &Command) -> Value {
    let texts = |values: &[clap::builder::OsStr]| -> Vec<String> {
        values.iter().map(|value| value.to_string_lossy().into_owned()).collect()
    };
    let known = ["help", "version"];
    let arguments = command.get_arguments().filter(|of| !known.contains(&of.get_id().as_str()));
    let arguments = arguments.filter(|of| !of.is_hide_set());
    let arguments = arguments.map(|of| {
        let choices = of.get_possible_values();
        json!({
            "name": of.get_long().unwrap_or(of.get_id().as_str()),
            "is_flag": matches!(of.get_action(), ArgAction::SetTrue),
            "is_required": of.is_required_set(),
            "is_many": of.get_num_args().is_some_and(|count| count.max_values() > 1),
            "type": type_name(of),
            "values": of.get_value_names().and_then(|names| names.first()).map(ToString::to_string),
            "default": texts(of.get_default_values()),
            "choices": choices.iter().map(|value| value.get_name()).collect::<Vec<_>>(),
            "help": of.get_help().map(ToString::to_string),
        })
    });
    json!({
        "about": command.get_long_about().or(command.get_about()).map(ToString::to_string),
        "arguments": arguments.collect::<Vec<_>>(),
        "subcommands": subcommands(command),
    })
}

/// Python's name of the type of an argument's values.
fn type_name(argument: &Arg) -> &'static str {
    let of = argument.get_value_parser().type_id();
    let whole = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<NonZeroUsize>(),
    ];
    match () {
        () if whole.iter().any(|number| of == *number) => "int",
        () if of == TypeId::of::<f64>() => "float",
        () => "str",
    }
}
