//! `dropcast reproduce fig14`.

use super::export::create_folder;
use super::reproduce::{print_written, write_figure};
use crate::args::Fig14Args;
use crate::output_file;
use crate::progress::Stage;
use dropcast_data::write_atomic;
use dropcast_pipeline::reproduce::fig14::{self, Fig14Case, Fig14Options, Fig14SweepRow};
use dropcast_simulate::{BurstTraffic, WorkloadError};

/// Ports, buffer in packets and bursts per slot of the cases in which Credence is held against
/// Dynamic Thresholds: the paper gives none of them, so each is varied.
const PORTS: [u16; 3] = [4, 16, 32];
const BUFFER_PER_PORT: [u32; 3] = [5, 10, 40];
/// Packets that arrive per slot, as a share of what all ports together send.
const LOADS: [f64; 4] = [0.02, 0.05, 0.2, 0.6];

pub(super) fn run(args: &Fig14Args) -> anyhow::Result<()> {
    let drawn = case(args, args.ports, args.buffer, args.bursts_per_slot)?;
    create_folder(&args.output)?;
    output_file::check_replaced(&args.output, ["fig14.csv", "fig14.svg", "fig14-cases.csv"])?;
    let options =
        Fig14Options { repetitions: args.repetitions, seed: args.seed, ..Fig14Options::default() };
    let stage = Stage::begin("fig14");
    let measured = fig14::measure(&drawn, &options)?;
    let figure = dropcast_reports::fig14::figure(&measured, &drawn);
    let [csv, svg] =
        write_figure(&figure, &args.output, "fig14", "flip_probability", "lqd_over_algorithm")?;
    let sweep = fig14::sweep(other_cases(args)?, &options)?;
    let cases = args.output.join("fig14-cases.csv");
    write_atomic(&cases, Fig14SweepRow::to_csv(&sweep).as_bytes())?;
    stage.end("one case drawn, others compared");
    print_written(&[csv, svg, cases])
}

/// The same question for other switches and burst rates.
fn other_cases(args: &Fig14Args) -> Result<Vec<Fig14Case>, WorkloadError> {
    let mut cases = Vec::new();
    for ports in PORTS {
        for per_port in BUFFER_PER_PORT {
            for load in LOADS {
                let buffer = u32::from(ports) * per_port;
                let bursts_per_slot = load * f64::from(ports) / f64::from(buffer);
                cases.push(case(args, ports, buffer, bursts_per_slot)?);
            }
        }
    }
    Ok(cases)
}

fn case(
    args: &Fig14Args,
    ports: u16,
    buffer_packets: u32,
    bursts_per_slot: f64,
) -> Result<Fig14Case, WorkloadError> {
    let traffic = BurstTraffic {
        ports,
        burst_packets: buffer_packets,
        bursts_per_slot,
        arrivals_per_slot: (!args.bursts_at_once).then_some(usize::from(ports)),
        slots: args.slots,
        seed: args.seed,
    };
    let slots = traffic.arrivals()?.collect();
    Ok(Fig14Case { ports, buffer_packets, bursts_per_slot, slots })
}
