//! An oracle inside another program: `dropcast-runtime` alone, which needs neither `std` nor an allocator, reads a
//! `.dct` table and predicts.
//!
//! `cargo run --release -p dropcast-examples --bin embed-oracle`

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_runtime::Table;

/// `dropcast export --target dct` wrote it (`data/samples/README.md`).
const TABLE: &[u8] = include_bytes!("../data/samples/leaf.dct");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Checks the length, the checksum and every column: predictions then never panic.
    let table = Table::parse(TABLE).map_err(|error| error.to_string())?;
    println!("{} features, vote threshold {}", table.feature_codes().len(), table.vote_threshold());
    // The features of level4: bytes in the buffer, now and in 1/4, 1 and 2 base round trips (docs/features.md).
    for full_bytes in [0, 250_000, 500_000, 750_000, 1_052_672] {
        let drops = table.predicts_drop(&[full_bytes; 4]);
        println!("{full_bytes} bytes: {}", if drops { "drop" } else { "accept" });
    }
    Ok(())
}
