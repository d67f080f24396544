//! A transport of one's own in the fabric, beside DCTCP: sixteen servers answer one at once.
//!
//! `cargo run --release -p dropcast-examples --bin own-transport`

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_fabric::{
    CongestionControl, Connection, Fabric, FabricConfig, Flow, FlowClass, FlowList,
};
use dropcast_fabric::{Feedback, Simulation, Transport, Unwatched, Window};
use dropcast_switch::PolicySpec;
use std::error::Error;

/// A window of two segments, whatever is lost or marked.
struct TwoSegments;

impl CongestionControl for TwoSegments {
    fn begin(&self, window: &mut Window) {
        window.cwnd_bytes = 2 * window.segment_bytes;
    }

    fn ack_received(&mut self, window: &mut Window, _: &Feedback<'_>) {
        window.cwnd_bytes = 2 * window.segment_bytes;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Answers begin whole, as in the Credence artifact: with windows of 10 segments none is lost here.
    let fabric = Fabric::try_from(FabricConfig::artifact())?;
    let answer = |from| Flow {
        start_ns: 0,
        from,
        to: 0,
        size_bytes: 60_000,
        class: FlowClass::Incast(0),
        connection: Connection::New,
        transport: Transport::Dctcp,
        queue: 1,
        spines: None,
    };
    let answers = FlowList::new((16..32).map(answer).collect());
    let policy: PolicySpec = "dt".parse()?;
    let simulation = || Simulation::new(&fabric, |_, site| policy.build(site), answers.clone());
    let dctcp = simulation()?.run(&mut Unwatched)?;
    let own = simulation()?.with_control(Transport::Dctcp, |_| Box::new(TwoSegments));
    let own = own.run(&mut Unwatched)?;
    for (name, outcome) in [("dctcp", dctcp), ("two segments", own)] {
        let (completed, dropped) = (outcome.completed, outcome.all_dropped());
        println!("{name}: {completed} flows, {dropped} drops, {} us", outcome.end_ns / 1_000);
    }
    Ok(())
}
