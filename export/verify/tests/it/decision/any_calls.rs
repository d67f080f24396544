//! Calls outside of the contract: queues that do not exist, packets that never arrived, clocks that go back, in any order. Defined,
//! bounded and counted alike in C and in Rust, and clean under sanitizers.

use super::arrivals::any_switch;
use super::in_c::{GCC, fed};
use super::in_rust::{Owned, beside_the_pool, constants, table_of};
use super::{Model, files_of};
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_runtime::{Credence, Table};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::process::Command;

const ARRIVAL: u32 = 0;
const DEPARTURE: u32 = 1;
const CATCH_UP: u32 = 2;
const FALL_BACK: u32 = 3;
const INIT: u32 = 4;

/// What a state is called with. Most calls have a queue that exists and a size that fits; a few have anything.
fn calls(spec: &SwitchSpec, seed: u64) -> Vec<[u32; 6]> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (ports, queues) = (spec.ports() as u32, u32::from(spec.queues_per_port));
    let mut now_ns: u64 = 0;
    let mut calls = vec![[INIT, 0, 0, 0, 0, 0]];
    for _ in 0..20_000 {
        let mut below = |of: u32| match random.random_ratio(1, 200) {
            true => random.random(),
            false => random.random_range(0..of),
        };
        let [port, queue, size_bytes] = [below(ports), below(queues), below(2_000)];
        let kind = match random.random_range(0..1_000) {
            0 => INIT,
            1..3 => FALL_BACK,
            3..20 => CATCH_UP,
            // More leave than ever arrived.
            20..400 => DEPARTURE,
            _ => ARRIVAL,
        };
        now_ns = match random.random_range(0..2_000) {
            0 => now_ns / 2,
            1 => u64::MAX - u64::from(random.random::<u32>()),
            2 => random.random(),
            _ => now_ns.saturating_add(random.random_range(0..300)),
        };
        calls.push([kind, port, queue, size_bytes, now_ns as u32, (now_ns >> 32) as u32]);
        // A clock at the end of time would hide all that follows.
        now_ns = if now_ns > 1 << 50 { random.random_range(0..1 << 40) } else { now_ns };
    }
    calls
}

/// As the C program prints them.
fn in_rust(model: &Model, calls: &[[u32; 6]]) -> Vec<u8> {
    let spec = &beside_the_pool(&model.spec);
    let table = table_of(spec, &model.features, &model.forest);
    let table = Table::parse(&table).expect("a table");
    let mut printed = Vec::new();
    let mut counted = [0, 0];
    for calls in calls.chunk_by(|_, next| next[0] != INIT) {
        let mut memory = Owned::new(spec, 65_535);
        let mut credence =
            Credence::with_table(constants(spec), memory.borrowed(), table).expect("it is ready");
        for &[kind, port, queue, size_bytes, low, high] in &calls[1..] {
            let now_ns = u64::from(low) | u64::from(high) << 32;
            match kind {
                ARRIVAL => printed.push(credence.arrival(port, queue, size_bytes, now_ns) as u8),
                DEPARTURE => credence.departure(port, queue, size_bytes, now_ns),
                CATCH_UP => drop(credence.catch_up(now_ns, size_bytes & 0xffff)),
                _ => credence.fall_back(size_bytes & 1 == 1),
            }
            assert!(credence.occupancy_bytes() <= spec.buffer_bytes);
        }
        counted = [credence.unmatched(), credence.stepped_back()];
    }
    printed.extend(counted.iter().flat_map(|count| count.to_ne_bytes()));
    printed
}

#[test]
fn any_calls_are_defined_and_counted() {
    let Some(gcc) = found(GCC) else { return };
    let beside = |seed, shared: &[bool]| {
        let spec = any_switch(seed).0;
        SwitchSpec { reserved_bytes: vec![700; shared.len()], shared: shared.to_vec(), ..spec }
    };
    for (seed, spec, features) in [
        (1, SwitchSpec::uniform(4, 10_000_000_000, 60_000, 25_200), "level4"),
        (2, any_switch(4).0, "paper4,longest_gap"),
        (3, beside(8, &[true, false, true]), "level4,rank"),
        (4, beside(2, &[false, true, true]), "occupancy"),
    ] {
        let model = Model::random(&spec, features, seed);
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files_of(&model, "c") {
            fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
        }
        let rates: Vec<String> = spec.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
        let program = include_str!("any_calls.c").replace("LINE_RATES", &rates.join(", "));
        fs::write(folder.path().join("any_calls.c"), program).expect("written");
        let mut compiler = gcc.in_folder(folder.path());
        compiler.args(["-std=c99", "-O1", "-g", "-fsanitize=address,undefined"]);
        compiler.args(["-fno-sanitize-recover=all", "any_calls.c", "-o", "any_calls"]);
        let output = compiler.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let calls = calls(&spec, seed);
        let printed = fed(&mut Command::new(folder.path().join("any_calls")), &calls);
        let expected = in_rust(&model, &calls);
        let differs = printed.iter().zip(&expected).position(|(in_c, in_rust)| in_c != in_rust);
        assert_eq!(differs, None, "{features}, {spec:?}");
        assert_eq!(printed.len(), expected.len());
    }
}
