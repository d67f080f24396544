//! `dropcast-linux`: completion times by the kernel it runs on.
#![allow(clippy::print_stdout)]

use anyhow::{Context, Result};
use clap::Parser;
use dropcast_linux::{Settings, SwitchCounts, run};
use dropcast_switch::PolicySpec;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Sends a list of flows by Linux's own TCP, from network namespaces, through a simulated switch.
#[derive(Parser)]
struct Arguments {
    /// The file of settings (lab/notes/linux.md).
    settings: PathBuf,
    /// The policy, in place of the first one of the settings.
    #[arg(short, long)]
    policy: Option<PolicySpec>,
    /// Where to write completion times: CSV with the columns of the fabric's flows.
    #[arg(short, long, default_value = "flows.csv")]
    output: PathBuf,
    /// Where to write packet events at the switch.
    #[arg(long)]
    events: Option<PathBuf>,
    /// How many times slower than the network's the kernel's clock is. 1 in User-Mode Linux with time travel.
    #[arg(long, default_value = "200")]
    time_scale: NonZeroU64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (settings, fabric, flows) = Settings::read(&arguments.settings)?;
    let policy = arguments.policy.or_else(|| settings.policies.first().cloned());
    let policy = policy.context("there is no policy; name one with --policy")?;
    let time_scale = arguments.time_scale.get();
    let mut outcome =
        run(&settings, &fabric, &flows, &policy, time_scale, arguments.events.is_some())?;
    outcome.write(&arguments.output, arguments.events.as_deref(), &fabric.switch_specs())?;
    let unfinished = outcome.flows.iter().filter(|flow| flow.fct_ns.is_none()).count();
    let SwitchCounts { arrived, dropped, pushed_out, marked } = outcome.counts;
    println!("{policy}: {} flows, {unfinished} unfinished", flows.len());
    println!(
        "{arrived} packets at the switch: {dropped} dropped, {pushed_out} pushed out, {marked} marked"
    );
    for (name, count) in &outcome.kernel_counts {
        println!("kernel: {name} {count}");
    }
    Ok(())
}
