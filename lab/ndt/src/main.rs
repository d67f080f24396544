//! Trains NDT's network and compares it: `dropcast-ndt train`, `dropcast-ndt compare`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};
use dropcast_data::write_atomic;
use dropcast_fabric::Interval;
use dropcast_ndt::{PolicyFct, Scenario, Training, compare, train};
use dropcast_switch::policies::ndt::NdtNetwork;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// NDT, the Neural Dynamic Threshold (Wang et al., INFOCOM 2022): train its network in the simulated
/// switch, and compare it with the policies of its paper.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Search for the network with the shortest completion times; write it for `ndt:model=FILE`.
    Train(TrainArguments),
    /// Run a network and the paper's policies on traces that training did not see; print a table.
    Compare(CompareArguments),
}

#[derive(Args)]
struct TrainArguments {
    /// Where to write the network.
    #[arg(short, long, default_value = "ndt.json")]
    output: PathBuf,
    /// Generations of the evolution strategy.
    #[arg(long, default_value_t = Training::default().generations)]
    generations: usize,
    /// Traces that each network is tried on; as many others choose among generations.
    #[arg(long, default_value_t = Training::default().traces)]
    traces: u64,
    /// Standard deviation of the first generation's weights; 1 is the scale of a unit's inputs.
    #[arg(long, default_value_t = Training::default().step)]
    step: f64,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; all processors unless given. The result is the same.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
}

#[derive(Args)]
struct CompareArguments {
    /// The network.
    model: PathBuf,
    /// Unseen traces (the paper: 105).
    #[arg(long, default_value_t = 105)]
    traces: u64,
    /// Ports of the switch; 96 with --gbps 10 --buffer-bytes 6000000 is the paper's larger one.
    #[arg(long, default_value_t = Scenario::default().ports)]
    ports: u16,
    /// Rate of a port, Gbps.
    #[arg(long, default_value_t = 1)]
    gbps: u64,
    /// Shared buffer, bytes.
    #[arg(long, default_value_t = Scenario::default().buffer_bytes)]
    buffer_bytes: u32,
    /// Time in which a trace's flows start, milliseconds.
    #[arg(long, default_value_t = Scenario::default().duration_ns / 1_000_000)]
    duration_ms: u64,
    /// Threads; all processors unless given. The result is the same.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Print JSON, with each trace, instead of a table.
    #[arg(long)]
    json: bool,
}

/// Traces that training never saw.
const UNSEEN_SEED: u64 = 1_000;

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Train(args) => run_train(&args),
        Command::Compare(args) => run_compare(&args),
    }
}

fn run_train(args: &TrainArguments) -> Result<()> {
    ensure!(args.traces > 0, "--traces: is 0, expected at least 1");
    ensure!(args.step > 0.0 && args.step.is_finite(), "--step: is {}, expected above 0", args.step);
    let training = Training {
        generations: args.generations,
        step: args.step,
        traces: args.traces,
        seed: args.seed,
        ..Training::default()
    };
    println!("| generation | best seen | validation |\n|---|---|---|");
    let trained = train(&Scenario::default(), &training, threads(args.threads), |generation| {
        let dropcast_ndt::Generation { number, best, validation } = generation;
        println!("| {number} | {best:+.4} | {validation:+.4} |");
    });
    let json = serde_json::to_string(&trained.network).context("a network as JSON")?;
    write_atomic(&args.output, format!("{json}\n").as_bytes())?;
    println!("\n{}: ln(mean FCT / DT's) {:+.4}", args.output.display(), trained.validation);
    Ok(())
}

fn run_compare(args: &CompareArguments) -> Result<()> {
    let file = args.model.display().to_string();
    let text = std::fs::read_to_string(&args.model).with_context(|| file.clone())?;
    let network: NdtNetwork = serde_json::from_str(&text).with_context(|| file)?;
    ensure!(args.ports >= 2, "--ports: is {}, expected at least 2", args.ports);
    ensure!(args.gbps >= 1 && args.gbps <= 1_000, "--gbps: is {}, expected 1 to 1000", args.gbps);
    ensure!(args.buffer_bytes >= 10_000, "--buffer-bytes: expected at least 10000");
    let scenario = Scenario {
        ports: args.ports,
        rate_bps: args.gbps * 1_000_000_000,
        buffer_bytes: args.buffer_bytes,
        most_fan_in: args.ports - 1,
        duration_ns: args.duration_ms.min(60_000) * 1_000_000,
        seed: UNSEEN_SEED,
        ..Scenario::default()
    };
    let compared = compare(&scenario, &network, args.traces, threads(args.threads));
    if args.json {
        println!("{}", serde_json::to_string(&compared)?);
    } else {
        print_table(&compared);
    }
    Ok(())
}

fn print_table(compared: &[PolicyFct]) {
    println!("| policy | mean FCT beyond DT | 99th percentile beyond DT | traces better than DT |");
    println!("|---|---|---|---|");
    for row in compared {
        let better =
            row.better_than_dt.map_or("-".into(), |share| format!("{:.0}%", share * 100.0));
        let (mean, p99) = (percent(row.mean_beyond_dt), percent(row.p99_beyond_dt));
        println!("| {} | {mean} | {p99} | {better} |", row.policy);
    }
}

fn percent(interval: Option<Interval>) -> String {
    let Some(Interval { mean, bounds, .. }) = interval else { return "-".into() };
    let bounds =
        bounds.map(|(low, high)| format!(" ({:+.1} to {:+.1})", low * 100.0, high * 100.0));
    format!("{:+.1}%{}", mean * 100.0, bounds.unwrap_or_default())
}

fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    asked.unwrap_or_else(available)
}
