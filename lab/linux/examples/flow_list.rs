//! Prints a list of flows for the testbed: answers of incasts over websearch's flows, in a fabric of one leaf.
//!
//!     cargo run --release -p dropcast-linux --example flow_list -- 1.5 20000 1 >b150-20us-s1.csv
//!
//! Arguments: the burst as a share of the buffer; the time over which the answers to a request start, nanoseconds; the seed; and, if
//! not equal answers over 35 ms, milliseconds, and the deviation of sizes by pair (0: equal).
#![allow(clippy::print_stdout)]

use anyhow::{Context, Result};
use dropcast_data::random::{below, uniform};
use dropcast_fabric::{
    AnswerSizes, Connections, Fabric, FabricConfig, FlowClass, FlowList, Incast, Pattern,
    PoissonFlows, TrafficConfig, Workload,
};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("expected a burst, a spread and a seed");
    let (burst, spread_ns, seed) = (next()?.parse()?, next()?.parse::<u64>()?, next()?.parse()?);
    let milliseconds: u64 = arguments.next().map_or(Ok(35), |text| text.parse())?;
    let deviation: f64 = arguments.next().map_or(Ok(0.0), |text| text.parse())?;
    let config = FabricConfig {
        leaves: 1,
        spines: 0,
        servers: 20,
        leaf_buffer_bytes: 260_000,
        ..FabricConfig::default()
    };
    let incasts = Incast {
        burst,
        sizes: if deviation > 0.0 { AnswerSizes::ByPair(deviation) } else { AnswerSizes::Equal },
        spread_ns: 0,
        per_server_hz: 75.0,
        pattern: Pattern::Random,
        connections: Connections::New,
        ..Incast::default()
    };
    let flows = PoissonFlows { load: 0.1, pattern: Pattern::Random, ..PoissonFlows::default() };
    let traffic = TrafficConfig {
        duration_ns: milliseconds * 1_000_000,
        seed,
        flows: vec![flows],
        incasts: vec![incasts],
        ..TrafficConfig::default()
    };
    let mut mix = traffic.mix(&Fabric::try_from(config)?)?;
    let mut flows: Vec<_> = std::iter::from_fn(|| mix.next_flow()).collect();
    for (place, flow) in (0..).zip(&mut flows) {
        if let FlowClass::Incast(_) = flow.class {
            flow.start_ns += below(uniform(seed, &[place]), spread_ns + 1);
        }
    }
    println!("start_ns,src_host,dst_host,size_bytes,incast");
    for flow in FlowList::new(flows).flows() {
        let incast = u8::from(flow.class != FlowClass::Single);
        println!("{},{},{},{},{incast}", flow.start_ns, flow.from, flow.to, flow.size_bytes);
    }
    Ok(())
}
