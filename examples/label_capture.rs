//! Labels a capture: which packets would push-out LQD drop at a switch that is described in a file?
//!
//! `cargo run --release -p dropcast-examples --bin label-capture`
//!
//! The capture is of ports of 100 Mbit/s (`data/tests/samples/ns3-star.cc`); `star.toml` describes the switch with
//! half of that.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_collect::{Tracer, trace};
use dropcast_data::{CollectSettings, EventFiles, EventOptions, read_switch_file};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let switch = read_switch_file(Path::new("examples/star.toml"))?;
    let specs = switch.specs.clone();
    let options = EventOptions { specs: Some(specs), maps: switch.maps, ..Default::default() };
    let events = EventFiles::open(&["data/tests/samples/ns3-star-2-3.pcap.gz".into()], &options)?;

    let tracer =
        Tracer::new(switch.specs, CollectSettings::default(), "queue_length,occupancy".parse()?);
    println!("time_ns,port,queue_length,occupancy,drop");
    for batch in trace(tracer, events.map(|batch| batch.map_err(Box::<dyn Error>::from))) {
        let batch = batch?;
        let arrivals = batch.arrivals.as_ref().ok_or("events have times")?;
        for (row, drop) in batch.drop.iter().enumerate() {
            let (time_ns, port) = (arrivals.time_ns[row], arrivals.port[row]);
            let [queue, all] = [0, 1].map(|feature| batch.features[feature][row]);
            println!("{time_ns},{port},{queue},{all},{}", u8::from(*drop));
        }
    }
    Ok(())
}
