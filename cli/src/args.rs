//! What can be said on the command line.

mod collect;
mod counters;
mod headings;
mod output_path;
mod switch;

pub(crate) use collect::CollectArgs;
pub(crate) use counters::CountersArgs;
pub(crate) use switch::SwitchArgs;

use self::headings::under_heading;
use self::output_path::output_path;
use clap::{Args, Parser, Subcommand};
use dropcast_export::Target;
use dropcast_features::FeatureSet;
use dropcast_measure::condition::Condition;
use dropcast_measure::measure::ReportRows;
use dropcast_measure::verdict::AskedPolicies;
use dropcast_pipeline::collect::event_reading::EventReading;
use dropcast_pipeline::collect::generate::{Topology, WorkloadChanges};
use dropcast_pipeline::export::verification::VerificationTask;
use dropcast_pipeline::train::TrainTask;
use dropcast_pipeline::wall_clock::UtcOffset;
use dropcast_reports::ReportFormat;
use dropcast_run::task::RunTask;
use dropcast_terminal::OutputFormat;
use dropcast_terminal::shell_files::{CompletionsArgs, ManArgs};
use std::path::PathBuf;

/// The version, and the commit where the build knows it.
const VERSION: &str = env!("DROPCAST_VERSION");

/// Drop oracles for shared-buffer switches: from packet events to labels, a forest, tables for a dataplane, and a report.
#[derive(Debug, Parser)]
#[command(version = VERSION, propagate_version = true, help_template = main_help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Ask what a switch drops, and what would help",
        &["run", "report", "counters", "switch", "inspect"],
    ),
    (
        "Build an oracle",
        &[
            "simulate",
            "collect",
            "train",
            "sweep",
            "import",
            "rescale",
            "export",
            "verify",
            "resources",
        ],
    ),
    ("Shells", &["completions", "man", "help"]),
];

/// The help of the command as a whole: each command in its group.
fn main_help() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("dropcast"));
    let about = |name: &str| match commands.find_subcommand(name).and_then(|of| of.get_about()) {
        Some(about) => about.to_string(),
        None => "Print this message or the help of the given command".to_owned(),
    };
    let line = |name: &&str| format!("  {name:<12} {}\n", about(name));
    let group = |(heading, names): (&str, &[&str])| {
        format!("{heading}:\n{}\n", names.iter().map(line).collect::<String>())
    };
    let groups: String = GROUPS.into_iter().map(group).collect();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         Networks, maps of policies and the papers' figures: dropcast-lab --help"
    )
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Collect(Box<CollectArgs>),
    Train(Box<TrainArgs>),
    Sweep(SweepArgs),
    Import(ImportArgs),
    Rescale(RescaleArgs),
    Report(ReportArgs),
    Counters(CountersArgs),
    Switch(SwitchArgs),
    Inspect(InspectArgs),
    Export(ExportArgs),
    Verify(VerifyArgs),
    Resources(ResourcesArgs),
    Simulate(SimulateArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Run the whole pipeline: events, labelled trace, forest, tables, report.
///
/// Without --events, the arrivals of a leaf switch are generated (docs/workloads.md). Everything
/// goes into one folder, RUNS/NAME, together with a config.toml that reproduces it. Where LQD drops
/// nothing, the run ends with what every policy transmits: there is nothing to train on.
#[derive(Debug, Args)]
#[command(
    mut_args(under_heading),
    after_long_help = "\
Examples:
  dropcast run
  dropcast run --events events.parquet --switch switch.toml --name mine
  dropcast run --config runs/mine/config.toml"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) task: RunTask,
    /// Threads for training; they do not change the result.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
    /// Print every fact, not the answer alone.
    #[arg(long, conflicts_with = "format")]
    pub(crate) details: bool,
}

/// Generate packet arrivals that no sender reacts to (docs/workloads.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast simulate --seed 7 -o events.parquet
  dropcast simulate --topology leaf-spine --duration-ms 100 -o fabric-events.parquet")]
pub(crate) struct SimulateArgs {
    /// The switches to simulate.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) topology: Topology,
    /// Workload settings, the fields of docs/workloads.md.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) workload: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) changes: WorkloadChanges,
    /// File for the events: Parquet, Arrow IPC for names in .arrow, or - for an Arrow IPC stream to
    /// standard output.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Train a forest on labelled traces.
///
/// Parameters have scikit-learn's names and meanings. The model is measured on the rows that the
/// split keeps for testing, or on --test files.
#[derive(Clone, Debug, Args)]
#[command(
    mut_args(under_heading),
    after_long_help = "\
Examples:
  dropcast train --data trace.parquet --n-estimators 4 --max-depth 4 -o model.json
  dropcast train --data trace.parquet --validation-share 0.2 --vote eta -o model.json
  dropcast train --data trace.parquet --n-estimators 8 --budget ternary-entries=256 -o model.json
  dropcast train --data one.parquet two.parquet --cross-validate runs -o model.json"
)]
pub(crate) struct TrainArgs {
    /// Labelled traces: ours (docs/trace.md) or the Credence artifact's CSV.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Labelled traces to test on; then all of --data trains.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub(crate) test: Vec<PathBuf>,
    /// Labelled traces to choose the vote threshold on; then all of --data trains.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub(crate) validation: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) task: TrainTask,
    /// Threads; they do not change the model.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory for binned rows, MiB; further rows go to a temporary file beside the model, which
    /// every pass reads. The model is the same. The counts of --budget and --refit-leaves are not
    /// limited (docs/training.md).
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_limit: Option<u64>,
    /// File for the model.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// Format of the metrics.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Import a forest of ONNX, LightGBM or XGBoost (docs/trainers.md).
///
/// Splits become integer comparisons that send every 32-bit value the same way. Leaves become 8-bit
/// weights; the forest is refused unless every decision provably equals the original's.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast import forest.onnx --features paper4 --switch leaf.toml -o model.json
  dropcast import boosted.txt -o model.json
  dropcast import dump.txt --features paper4 --threshold 0.5108 -o model.json")]
pub(crate) struct ImportArgs {
    /// The forest: ONNX as skl2onnx writes it, LightGBM's text model or JSON dump, XGBoost's JSON
    /// model, or its dump as text or JSON.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Format of the file: onnx, lightgbm or xgboost; detected from its content by default.
    #[arg(long, value_name = "onnx|lightgbm|xgboost")]
    pub(crate) from: Option<dropcast_interop::ImportFormat>,
    /// The features it was trained on, in the order of its columns, if the file lacks their names:
    /// paper4, or names separated by commas.
    #[arg(long, value_name = "NAME,...")]
    pub(crate) features: Option<FeatureSet>,
    /// Switch description (docs/switch.md) of the switch it was trained for.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// The score above which it predicts a drop, before any logistic function; by default where it
    /// predicts class 1, or a value above one half. XGBoost's dumps need it: see docs/trainers.md.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// Accept a forest even if some decisions may differ from the original's.
    #[arg(long)]
    pub(crate) allow_rounding: bool,
    /// File for the model.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Train every combination of settings, and compare them (docs/sweep.md).
///
/// Writes a row for each forest (sweep.json, rows.parquet), the Pareto-optimal models (models/),
/// and durations (timings.json).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example, sweep.toml:
  data = [\"trace.parquet\"]
  eta = true
  [split]
  by = \"time\"
  [axes]
  trees = [1, 4, 16]
  max_depth = [2, 4]
  votes = [\"f1\", \"eta\"]

  dropcast sweep sweep.toml -o runs/sweep")]
pub(crate) struct SweepArgs {
    /// The sweep's configuration.
    #[arg(value_name = "SWEEP.toml")]
    pub(crate) config: PathBuf,
    /// Folder for the results; by default runs/ and the name of the file. A folder that holds a
    /// sweep is refused without --resume.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Resume an interrupted sweep in this folder; parts that no longer fit are trained again.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Threads; they do not change the results.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory for binned rows, MiB; further rows go to a temporary file in the folder, which every
    /// pass reads. The results are the same.
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_limit: Option<u64>,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Scale a model to a switch with another buffer (docs/features.md).
///
/// The new model decides on that switch's features, in its own bytes, exactly as the model does on
/// the same features scaled to its buffer: for exports, which do not scale features. `report` and
/// `train` scale the rows of traces automatically.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  dropcast rescale model.json --buffer-bytes 210532 -o spine.json")]
pub(crate) struct RescaleArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Shared buffer of the other switch.
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer_bytes: std::num::NonZeroU32,
    /// File for the rescaled model.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Write a model as tables or code for a dataplane.
#[derive(Debug, Args)]
#[command(after_long_help = targets())]
pub(crate) struct ExportArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// One or more of the targets below. With a layout, as in p4:trees=4,depth=4, the program is the
    /// same for every model that fits it, and a retrained one is entries only (docs/p4.md).
    #[arg(long, required = true, num_args = 1.., value_name = "TARGET")]
    pub(crate) target: Vec<Target>,
    #[arg(long, value_name = "FILE.toml", help = exported_switch())]
    pub(crate) switch: Option<PathBuf>,
    /// Folder for the files.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Format of the summary.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// What a switch is for.
fn exported_switch() -> String {
    format!(
        "Switch description (docs/switch.md): {} also export the whole decision for this switch \
         (docs/decision.md); other targets are refused with it",
        Target::deciding()
    )
}

/// The list of export targets.
fn targets() -> String {
    let line = |target: &Target| format!("  {:8} {}\n", target.name(), target.about());
    let lines: String = Target::all().iter().map(line).collect();
    format!(
        "Targets:\n{lines}\nExamples:\n  dropcast export model.json --target c p4 -o tables\n  \
             dropcast export model.json --target c --switch leaf.toml -o decision"
    )
}

/// Run a model's exports with this machine's tools and compare every answer.
///
/// Or compare your own code's verdicts with those of the model's whole decision (docs/verify.md).
///
/// The rows distinguish a forest from any other that differs in one place: both sides of every
/// threshold, every leaf, 0 and the largest value, exact vote ties; then random ones, and the rows
/// of a trace. The model is not verified, and the exit code is 1, if there is a mismatch, a missing
/// tool, or a target without a runner.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast verify model.json --target c dct
  dropcast verify model.json --target c --trace trace.parquet --time
  dropcast verify model.json --target verilog --switch leaf.toml
  dropcast verify model.json --switch leaf.toml --verdicts mine.txt")]
pub(crate) struct VerifyArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Switch description that `dropcast export` was given: the whole decision is asked about packets, too (in Verilog it is linted).
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// What your code decided about the exported packets, such as `model_packets.csv` of the target `vectors`: for each packet
    /// that arrives a line with 1 (accepted) or 0.
    #[arg(
        long,
        value_name = "FILE",
        requires = "switch",
        conflicts_with_all = ["target", "files", "rows", "trace", "seed", "time"]
    )]
    pub(crate) verdicts: Option<PathBuf>,
    /// Targets to build and run, as of `dropcast export`.
    #[arg(long, required_unless_present = "verdicts", num_args = 1.., value_name = "TARGET")]
    pub(crate) target: Vec<Target>,
    /// Folder of the exported files; without it they are exported anew.
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
    /// Random rows.
    #[arg(long, value_name = "N", default_value_t = VerificationTask::RANDOM_ROWS)]
    pub(crate) rows: usize,
    /// A labelled trace whose rows are also predicted.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Seed of the random rows.
    #[arg(long, default_value_t = VerificationTask::SEED)]
    pub(crate) seed: u64,
    /// Measure the time of one prediction on the rows of the trace, in order.
    #[arg(long, requires = "trace")]
    pub(crate) time: bool,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Print the size of a model as match-action tables.
///
/// Entries, TCAM and SRAM bits, stages. Ranges are cut into the fewest prefixes, compared with naive prefixes and the encodings of
/// Flowrest, Planter and NetBeacon (docs/resources.md). These are logical estimates: what the
/// tables hold, not where a vendor's compiler places them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast resources model.json --format json
  dropcast resources model.json --measure")]
pub(crate) struct ResourcesArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Also measure with the tools of this machine: the Verilog's lookup tables and flip-flops
    /// (Yosys), the eBPF program's instructions (clang), the C header's time for a prediction (a C
    /// compiler). Takes seconds, for large forests minutes. A failed measurement is reported on
    /// standard error and stays null.
    #[arg(long)]
    pub(crate) measure: bool,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}

/// Say what a switch should do, and what a model is worth (docs/report.md).
///
/// Without --model: what every policy transmits, and what an oracle could be worth.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast report --data trace.parquet
  dropcast report --data trace.parquet --policy abm --policy edt
  dropcast report --data trace.parquet --model model.json --format html -o report.html")]
pub(crate) struct ReportArgs {
    /// The model.
    #[arg(long)]
    pub(crate) model: Option<PathBuf>,
    /// Labelled traces.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Which rows: of a trace that the model was trained on, only its test rows.
    #[arg(long, value_enum, default_value_t, requires = "model")]
    pub(crate) rows: ReportRows,
    #[command(flatten)]
    pub(crate) asked: AskedPolicies,
    /// Exit with 1 if this holds of the report, such as untrusted or 'switch_drops > 0'. May be repeated (docs/report.md).
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Also write what the one --policy decides about each packet of the one trace, as CSV (docs/report.md).
    #[arg(long, requires = "policy", value_name = "PATH", value_parser = output_path())]
    pub(crate) decisions: Option<PathBuf>,
    /// Difference of your clock to UTC, such as +02:00, for times of day in texts, pages and plots. JSON has UTC.
    #[arg(
        long,
        value_name = "+HH:MM",
        default_value = "+00:00",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) utc_offset: UtcOffset,
    /// Format: text, the answer; details, every fact as text; json, everything for programs; html, a page with plots; line,
    /// for logs; prometheus, gauges for monitoring.
    #[arg(long, value_name = "json|html|text|details|line|prometheus", default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// The same as --format details.
    #[arg(long, conflicts_with = "format")]
    pub(crate) details: bool,
    /// File for the report; by default standard output.
    #[arg(short, long, value_name = "PATH", value_parser = output_path())]
    pub(crate) output: Option<PathBuf>,
}

/// Print what a file of events, a trace, model, table or report holds.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The file. With --check several, as for collect, or a folder.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// Read all events or labelled rows, and list each kind of bad row: how many there are, and the
    /// first. Exit code 1 if there are any.
    #[arg(long, conflicts_with = "statistics")]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) reading: EventReading,
    /// With --check, also read this integer column: a feature of your own. May be repeated.
    #[arg(long = "own", value_name = "NAME", requires = "check", conflicts_with = "statistics")]
    pub(crate) own_features: Vec<String>,
    /// For a labelled trace in Parquet, also print statistics of each feature, in rows that LQD
    /// accepted and in rows that it dropped.
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
}
