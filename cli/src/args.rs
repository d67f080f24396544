//! What can be said on the command line.

use crate::output::Format;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dropcast_export::Target;
use dropcast_features::FeatureSet;
use dropcast_pipeline::cross_validation::Folds;
use dropcast_pipeline::measure::ReportRows;
use dropcast_pipeline::model_per::ModelPer;
use dropcast_pipeline::settings::{TracerSettings, TrainSettings};
use dropcast_reports::ReportFormat;
use dropcast_simulate::BurstTraffic;
use std::path::PathBuf;

/// Drop-prediction oracles for shared-buffer switches.
///
/// Packet events become a labelled trace (what would push-out Longest Queue Drop have dropped?),
/// the trace trains a shallow random forest, and the forest is exported as integer tables for a
/// dataplane, with a report on how good it is. `dropcast run` does all of it.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Cli::try_parse()
    }
}

/// Reads the path of a file to write.
fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            return Err(
                "standard output is not supported here, name a file (./- for one of this name)",
            );
        }
        Ok(path)
    })
}

/// Reads the number of folds.
fn folds(text: &str) -> Result<Folds, &'static str> {
    match text {
        "runs" => Ok(Folds::Runs),
        _ => match text.parse() {
            Ok(folds) if folds >= 2 => Ok(Folds::Count(folds)),
            _ => Err("expected runs, or a number of folds from 2"),
        },
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Simulate(SimulateArgs),
    Collect(CollectArgs),
    Train(Box<TrainArgs>),
    Sweep(SweepArgs),
    Map(MapArgs),
    Import(ImportArgs),
    Rescale(RescaleArgs),
    Export(ExportArgs),
    Verify(VerifyArgs),
    Resources(ResourcesArgs),
    Report(ReportArgs),
    Inspect(InspectArgs),
    Reproduce(ReproduceArgs),
}

/// Run the whole pipeline: events, labelled trace, forest, tables, report.
///
/// Without --events, the arrivals of a leaf switch are generated (docs/workloads.md). Everything
/// goes into one folder, RUNS/NAME, together with a config.toml that reproduces it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast run
  dropcast run --events events.parquet --switch switch.toml --name mine
  dropcast run --config runs/mine/config.toml")]
pub(crate) struct RunArgs {
    /// Settings of the run; what is said on the command line goes before them.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Packet events (docs/events.md) instead of generated ones.
    #[arg(long, value_name = "PATH")]
    pub(crate) events: Option<PathBuf>,
    /// Switch description (docs/switch.md), if the events do not bring one.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// The column that holds a field of the events. May be repeated.
    #[arg(long = "column", value_name = "FIELD=COLUMN")]
    pub(crate) columns: Vec<String>,
    /// Name of the run, and of its folder.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Replace an earlier run of this name that had other settings.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Folder of all runs.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub(crate) runs: PathBuf,
    /// Seed of everything random.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Threads for training; the result is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Generate the arrivals of a leaf switch, or of all switches of a fabric, as event Parquet
/// (docs/workloads.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast simulate --seed 7 -o events.parquet
  dropcast simulate --topology leaf-spine --duration-ms 100 -o fabric-events.parquet")]
pub(crate) struct SimulateArgs {
    /// Which switches.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) topology: Topology,
    /// Workload settings, the fields of docs/workloads.md.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) workload: Option<PathBuf>,
    /// Seed of everything random.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Length of the trace, milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) duration_ms: Option<u64>,
    /// Load of the flows, as a share of the rate of the links between leaves and spines; of a leaf
    /// alone, of those towards the servers.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) load: Option<f64>,
    /// Payload of an incast, as a share of the buffer.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) burst: Option<f64>,
    /// Where the events go.
    #[arg(short, long, value_name = "OUT.parquet", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Which switches are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topology {
    /// One leaf.
    #[default]
    Leaf,
    /// Leaves and spines, with the same flows.
    LeafSpine,
}

/// Label packet events: run Longest Queue Drop virtually beside whatever the real switch did.
///
/// Writes one row per arrival, in order of arrival: its features, and whether LQD would have
/// dropped it (docs/trace.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast collect --events events.parquet --switch leaf.toml -o trace.parquet
  zcat events.gz | dropcast collect --events - --switch leaf.toml --column time_ns=ts -o t.parquet")]
pub(crate) struct CollectArgs {
    /// Packet events, Parquet or CSV (docs/events.md); - for standard input.
    #[arg(long, value_name = "PATH")]
    pub(crate) events: PathBuf,
    /// Switch description (docs/switch.md), if the events do not bring one.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// The column that holds a field of the event. May be repeated.
    #[arg(long = "column", value_name = "FIELD=COLUMN")]
    pub(crate) columns: Vec<String>,
    /// What to do with a row that is wrong.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) on_bad_row: BadRows,
    #[command(flatten)]
    pub(crate) settings: TracerSettings,
    /// Rows that may wait for a label before the trace is refused; each takes about 60 bytes.
    #[arg(long, value_name = "N", default_value_t = dropcast_collect::Tracer::DEFAULT_MAX_WAITING_ROWS)]
    pub(crate) max_waiting_rows: usize,
    /// Where the labelled trace goes.
    #[arg(short, long, value_name = "OUT.parquet", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// What to do with a row that is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BadRows {
    /// Stop with an error that names it.
    #[default]
    Fail,
    /// Leave it out and count it.
    Skip,
}

/// Train a forest on labelled traces.
///
/// Parameters have scikit-learn's names and meanings. The model is measured on the rows that the
/// split keeps for testing, or on --test files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast train --data trace.parquet --n-estimators 4 --max-depth 4 -o model.json
  dropcast train --data trace.parquet --validation-share 0.2 --vote eta -o model.json
  dropcast train --data trace.parquet --n-estimators 8 --budget ternary-entries=256 -o model.json
  dropcast train --data one.parquet two.parquet --cross-validate runs -o model.json")]
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
    /// Train once for each fold of the runs (files of --data) and test on that, then on all runs
    /// for the model: runs, to leave one out at a time, or a number of folds.
    #[arg(long, value_name = "runs|FOLDS", value_parser = folds, conflicts_with_all = ["test", "validation", "model_per"])]
    pub(crate) cross_validate: Option<Folds>,
    /// Which switches share a model. Models of one switch or role are named after the one of all:
    /// MODEL.switch-3.json, MODEL.leaf.json.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model_per: ModelPer,
    #[command(flatten)]
    pub(crate) settings: TrainSettings,
    /// Threads; the model is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory for binned rows, MiB; those beyond it go to a temporary file beside the model, and
    /// every pass reads them from there. The model is the same. What --budget and --refit-leaves
    /// count is not limited (docs/training.md).
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_limit: Option<u64>,
    /// Where the model goes.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// How the metrics are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Import a forest that was trained elsewhere: ONNX, LightGBM or XGBoost (docs/trainers.md).
///
/// Splits become integer comparisons that send every 32-bit value the same way. Leaves become 8-bit
/// weights; that every row is still decided as by the original is proven, or the forest is refused.
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
    /// Format of the file: onnx, lightgbm or xgboost; told from its content unless given.
    #[arg(long, value_name = "onnx|lightgbm|xgboost")]
    pub(crate) from: Option<dropcast_interop::Format>,
    /// The features that it was trained on, in the order of its columns, unless the file has their
    /// names: paper4, or names separated by commas.
    #[arg(long, value_name = "NAME,...")]
    pub(crate) features: Option<FeatureSet>,
    /// Switch description (docs/switch.md) of the switch that it was trained for.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) switch: Option<PathBuf>,
    /// Its score above which a packet is dropped, before any logistic function; unless given, where
    /// it predicts class 1, or a value above one half. XGBoost's dumps need it: see docs/trainers.md.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// Accept a forest of which not every decision is proven to stay the same.
    #[arg(long)]
    pub(crate) allow_rounding: bool,
    /// Where the model goes.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Train every combination of settings, and compare them (docs/sweep.md).
///
/// Writes a row for each forest (sweep.json, rows.parquet), the models that no other is better and
/// smaller than (models/), and how long they took (timings.json).
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
    /// What to sweep.
    #[arg(value_name = "SWEEP.toml")]
    pub(crate) config: PathBuf,
    /// Folder for what is found; runs/ and the name of the file unless given. One that holds a
    /// sweep is refused without --resume.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Go on where an earlier sweep of this folder was interrupted; parts that no longer fit are
    /// trained again.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Threads; what is found is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Memory for binned rows, MiB; those beyond it go to a temporary file in the folder, and every
    /// pass reads them from there. What is found is the same.
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_limit: Option<u64>,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Find where an oracle pays: compare policies in the fabric over many conditions
/// (docs/where-an-oracle-pays.md).
///
/// At each point LQD, Complete Sharing, FollowLQD, Credence that always accepts and Credence with
/// each oracle carry the same flows. The summary tells where LQD is better than both policies that
/// need no oracle, beyond the paired 95% interval; what share of that each oracle gets; and where one
/// does harm. Writes map.csv, map.json and a map of each measure as SVG.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example, map.toml:
  runs = 8
  [[grids]]
  name = \"load-and-buffer\"
  load = [0.4, 0.8]
  buffer_kb = [1.3, 2.6, 5.2]
  transports = [\"dctcp\", \"cubic\", \"0.9 dctcp + 0.1 unresponsive\"]

  dropcast map map.toml -o runs/map")]
pub(crate) struct MapArgs {
    /// The points, policies and oracles.
    #[arg(value_name = "MAP.toml")]
    pub(crate) config: PathBuf,
    /// Folder for what is found; runs/ and the name of the file unless given.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Threads; what is found is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Scale a model's thresholds to a switch with another buffer (docs/features.md).
///
/// The new model decides on that switch's features, in its own bytes, exactly as the model does on the
/// same features scaled to its buffer: for export, where nothing scales features. `report` and `train`
/// scale the rows of traces by themselves.
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
    /// Where the rescaled model goes.
    #[arg(short, long, value_name = "MODEL.json", value_parser = output_path())]
    pub(crate) output: PathBuf,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Write a model as tables or code for a dataplane.
#[derive(Debug, Args)]
#[command(after_long_help = targets())]
pub(crate) struct ExportArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// What to write, one or more of the targets below.
    #[arg(long, required = true, num_args = 1.., value_name = "TARGET")]
    pub(crate) target: Vec<Target>,
    /// Folder for the files.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// What a model can be exported to.
fn targets() -> String {
    let line = |target: &Target| format!("  {:8} {}\n", target.name(), target.about());
    let lines: String = Target::all().iter().map(line).collect();
    format!("Targets:\n{lines}\nExample:\n  dropcast export model.json --target c p4 -o tables")
}

/// Build what a model is exported to with the tools of this machine, run it, and compare every
/// answer with the model's (docs/verify.md).
///
/// The rows are those that tell a forest from any other that differs in one place: both sides of
/// every threshold, every leaf, 0 and the largest value, exact vote ties; then random ones, and the
/// rows of a trace. One mismatch, a tool that is missing, or a target that nothing here can execute:
/// the model is not verified, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast verify model.json --target c dct
  dropcast verify model.json --target c --trace trace.parquet --time")]
pub(crate) struct VerifyArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// What to build and run; the targets of `dropcast export`.
    #[arg(long, required = true, num_args = 1.., value_name = "TARGET")]
    pub(crate) target: Vec<Target>,
    /// Random rows.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) rows: usize,
    /// A labelled trace whose rows are predicted, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Seed of the random rows.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure how long one prediction takes on the rows of the trace, in their order.
    #[arg(long, requires = "trace")]
    pub(crate) time: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Tell what a model takes as match-action tables: entries, TCAM and SRAM bits, stages.
///
/// Ranges are cut into the fewest prefixes; beside it, the naive way and the encodings of Flowrest,
/// Planter and NetBeacon (docs/resources.md). These are logical estimates: what the tables hold, not
/// where a vendor's compiler places them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropcast resources model.json --format json
  dropcast resources model.json --measure")]
pub(crate) struct ResourcesArgs {
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Also have the tools of this machine measure: Yosys the Verilog's lookup tables and flip-flops,
    /// clang the eBPF program's instructions, a C compiler the header's time for a prediction. Takes
    /// seconds, for large forests minutes. What a tool cannot tell is said on standard error and
    /// stays null.
    #[arg(long)]
    pub(crate) measure: bool,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Measure a model on labelled traces: scores, eta, and what Credence would gain (docs/report.md).
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The model.
    #[arg(long)]
    pub(crate) model: PathBuf,
    /// Labelled traces.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Which rows: of a trace that the model was trained on, only those it was not.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) rows: ReportRows,
    /// What to write: text, a summary; json, everything for programs; html, a page with plots.
    #[arg(long, value_name = "json|html|text", default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Where it goes; standard output unless given.
    #[arg(short, long, value_name = "PATH", value_parser = output_path())]
    pub(crate) output: Option<PathBuf>,
}

/// Tell what a file is and what is in it: events, traces, models, tables, reports.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Of a labelled trace in Parquet, also: what values each feature has, in rows that LQD accepted
    /// and in rows that it dropped. Needs the cargo feature polars (docs/trainers.md).
    #[arg(long)]
    pub(crate) statistics: bool,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Make a figure of the Credence paper again: numbers as CSV, picture as SVG.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    #[command(subcommand)]
    pub(crate) figure: Figure,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Figure {
    /// Figure 6: slowdowns and occupancy against load, bursts of 50% of the buffer.
    Fig6(FabricFigureArgs),
    /// Figure 7: slowdowns and occupancy against burst, load 40%.
    Fig7(FabricFigureArgs),
    /// Figure 8: figure 7 with PowerTCP.
    Fig8(FabricFigureArgs),
    /// Figure 9: slowdowns and occupancy against the base RTT.
    Fig9(FabricFigureArgs),
    /// Figure 10: slowdowns and occupancy against the probability of flipped predictions.
    Fig10(FabricFigureArgs),
    /// Figure 11: distributions of slowdowns by burst.
    Fig11(FabricFigureArgs),
    /// Figure 12: distributions of slowdowns by load.
    Fig12(FabricFigureArgs),
    /// Figure 13: figure 11 with PowerTCP.
    Fig13(FabricFigureArgs),
    Fig14(Fig14Args),
    Fig15(Fig15Args),
}

/// How a figure of policies in the fabric is measured (docs/figures-closed-loop.md).
///
/// Oracles are trained first, on LQD in the artifact's fabric: websearch at 80%, bursts of 75%.
#[derive(Debug, Args)]
pub(crate) struct FabricFigureArgs {
    /// How large the fabric is.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scale: FigureScale,
    /// Runs of each policy at each point, with other seeds; 3, or 1 at the paper's scale.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Flows start in this time; 50 ms, or 100 at the paper's scale.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) duration_ms: Option<u64>,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for FIGURE.csv, FIGURE.md and the panels as SVG; runs/FIGURE unless given.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// How large a fabric is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureScale {
    /// 32 servers, 2 leaves, 4 spines: a minute or two.
    #[default]
    Small,
    /// 256 servers, 16 leaves, 4 spines.
    Paper,
}

/// Figure 14: throughput of LQD over throughput of Credence, as predictions are flipped.
#[derive(Debug, Args)]
pub(crate) struct Fig14Args {
    /// Output ports N.
    #[arg(long, default_value_t = BurstTraffic::default().ports)]
    pub(crate) ports: u16,
    /// Buffer B, packets.
    #[arg(long, default_value_t = BurstTraffic::default().burst_packets)]
    pub(crate) buffer: u32,
    /// Full-buffer bursts per slot. The paper does not say; by default the curve ends near its 2.9.
    #[arg(long, default_value_t = BurstTraffic::default().bursts_per_slot, allow_negative_numbers = true)]
    pub(crate) bursts_per_slot: f64,
    /// Let a whole burst arrive in one slot, instead of at most N packets in each.
    #[arg(long)]
    pub(crate) bursts_at_once: bool,
    /// Slots.
    #[arg(long, default_value_t = BurstTraffic::default().slots)]
    pub(crate) slots: u64,
    /// How often predictions are flipped anew for each probability.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for fig14.csv, fig14.svg and, of other ports, buffers and burst rates,
    /// fig14-cases.csv.
    #[arg(short, long, default_value = "runs/fig14", value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// Figure 15: prediction scores against the number of trees, depth 4.
#[derive(Debug, Args)]
pub(crate) struct Fig15Args {
    /// Labelled traces; generated unless given.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for fig15-paper and fig15-ours, each .csv and .svg, and for what is generated.
    #[arg(short, long, default_value = "runs/fig15", value_name = "DIR")]
    pub(crate) output: PathBuf,
}
