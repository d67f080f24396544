//! Randomness: one seed, one independent stream per purpose.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The purpose of a stream. The numbers determine what a seed produces: never reuse one.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum StreamPurpose {
    /// Flows from the uplinks to the servers.
    Incoming = 0,
    /// Flows from the servers to the uplinks.
    Outgoing = 1,
    /// Flows between servers of the rack.
    RackLocal = 2,
    /// Requests of this rack's servers, answered through the uplinks.
    Incast = 3,
    /// Requests of servers elsewhere, answered by this rack's servers.
    OutgoingIncast = 4,
    /// The slotted model's bursts.
    Bursts = 5,
    /// Flows between leaves of a fabric.
    FabricFlows = 6,
    /// Requests of a fabric's servers.
    FabricIncasts = 7,
    /// Flows and requests of a closed-loop workload, a stream for each source.
    ClosedLoop = 8,
    /// Resampling for confidence intervals.
    Bootstrap = 9,
}

/// The generator of a stream. ChaCha: the same on every machine, and streams of one seed do not
/// overlap, so changing one source does not affect the draws of others.
pub fn stream(seed: u64, stream: StreamPurpose) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream as u64);
    rng
}

/// The generator of one of several streams for the same purpose.
pub fn numbered_stream(seed: u64, of: StreamPurpose, number: u32) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(of as u64 | (u64::from(number) + 1) << 32);
    rng
}
