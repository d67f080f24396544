//! `dropcast-linux`: completion times by the kernel it runs on.
#![allow(clippy::print_stdout)]

use anyhow::{Context, Result};
use clap::Parser;
use dropcast_data::{EventBatch, EventWriter, write_atomic};
use dropcast_fabric::{Fabric, Flow, FlowClass};
use dropcast_linux::{Outcome, Settings, run};
use dropcast_switch::PolicySpec;
use std::fmt::Write as _;
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
    let outcome = run(&settings, &fabric, &flows, &policy, time_scale, arguments.events.is_some())?;
    write_atomic(&arguments.output, table(&fabric, &flows, &outcome)?.as_bytes())?;
    if let Some(path) = &arguments.events {
        let mut writer = EventWriter::create(path, &fabric.switch_specs())?;
        writer.write(&EventBatch::new(outcome.events))?;
        writer.finish()?;
    }
    let unfinished = outcome.flows.iter().filter(|(fct_ns, ..)| fct_ns.is_none()).count();
    println!(
        "{policy}: {} flows, {unfinished} unfinished; {:?}; {:?}",
        flows.len(),
        outcome.counts,
        outcome.kernel_counts
    );
    Ok(())
}

/// Completion times, as the fabric has them.
fn table(fabric: &Fabric, flows: &[Flow], outcome: &Outcome) -> Result<String> {
    let mut text = String::from(
        "flow_id,start_ns,from_server,to_server,size_bytes,class,group,fct_ns,ideal_fct_ns,slowdown,received_bytes,retransmissions\n",
    );
    for (id, (flow, (fct_ns, received_bytes, retransmissions))) in
        flows.iter().zip(&outcome.flows).enumerate()
    {
        let Flow { start_ns, from, to, size_bytes, .. } = flow;
        let (class, group) = match flow.class {
            FlowClass::Incast(number) => ("incast", number.to_string()),
            _ => ("single", String::new()),
        };
        let ideal_ns = fabric.ideal_fct_ns(flow);
        let fct = fct_ns.map_or_else(String::new, |ns| ns.to_string());
        let slowdown =
            fct_ns.map_or_else(String::new, |ns| (ns as f64 / ideal_ns as f64).to_string());
        writeln!(
            text,
            "{id},{start_ns},{from},{to},{size_bytes},{class},{group},{fct},{ideal_ns},{slowdown},{received_bytes},{retransmissions}"
        )?;
    }
    Ok(text)
}
