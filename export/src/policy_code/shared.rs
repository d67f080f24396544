//! What the code of policies has in common.

use super::error::PolicyCodeError;
use crate::target::EmittedFile;
use dropcast_data::SwitchSpec;

/// What the code's XDP programs share.
pub(crate) const FRAME: (&str, &str) = ("dropcast_frame.h", include_str!("dropcast_frame.h"));

/// Files that are the same for every switch.
pub(crate) fn sources(sources: &[(&str, &str)]) -> Vec<EmittedFile> {
    let file =
        |&(name, text): &(&str, &str)| EmittedFile { name: name.to_owned(), bytes: text.into() };
    sources.iter().map(file).collect()
}

/// Constants of a switch as macros of C, in a header of its own: `what` they are for.
pub(crate) fn c_constants(prefix: &str, what: &str, defined: &[(&str, String)]) -> String {
    let mut text = format!(
        "/* Constants of a switch for {what}. */\n#ifndef {prefix}_CONFIG_H\n#define {prefix}_CONFIG_H\n\n"
    );
    for (name, value) in defined {
        text += &format!("#define {prefix}_{name} {value}\n");
    }
    text + "\n#endif\n"
}

/// An array of C.
pub(crate) fn c_array(numbers: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let numbers: Vec<String> = numbers.map(|number| format!("{number}u")).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// Numbers of 32 bits in a vector of Verilog, the first one in the lowest bits.
pub(crate) fn verilog_words(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().rev().map(|number| format!("32'd{number}")).collect();
    format!("{{{}}}", words.join(", "))
}

/// What a port sends in two base RTTs.
pub(crate) fn drain_bytes(line_rate_bps: u64, base_rtt_ns: u64) -> u64 {
    let drained = u128::from(line_rate_bps) * u128::from(base_rtt_ns) / 4_000_000_000;
    u64::try_from(drained).unwrap_or(u64::MAX)
}

/// What each queue of a port may hold beside the shared buffer, bytes: all of it, `u32::MAX`, if it does not draw on that.
pub(crate) fn reserved_bytes(spec: &SwitchSpec) -> Vec<u32> {
    let of = |queue: usize| match spec.shared[queue] {
        true => spec.reserved_bytes_of(queue),
        false => u32::MAX,
    };
    (0..usize::from(spec.queues_per_port)).map(of).collect()
}

/// Alphas by queue within a port, in 128ths.
///
/// # Errors
/// If integers cannot hold an alpha.
pub(crate) fn alphas_in_128ths(
    spec: &SwitchSpec,
    alpha: impl Fn(usize) -> f64,
) -> Result<Vec<u32>, PolicyCodeError> {
    (0..usize::from(spec.queues_per_port)).map(|queue| in_128ths(alpha(queue))).collect()
}

/// `B/N`, rounded up: a queue that holds as much is long.
pub(crate) fn long_bytes(spec: &SwitchSpec) -> u64 {
    u64::from(spec.buffer_bytes).div_ceil(spec.ports() as u64)
}

/// An alpha in 128ths.
///
/// # Errors
/// If an integer cannot hold it.
pub(crate) fn in_128ths(alpha: f64) -> Result<u32, PolicyCodeError> {
    let scaled = alpha * 128.0;
    let is_whole = scaled.fract() == 0.0 && (1.0..=8_388_608.0).contains(&scaled);
    if is_whole { Ok(scaled as u32) } else { Err(PolicyCodeError::Alpha(alpha)) }
}
