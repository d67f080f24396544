//! The crate builds without an operating system, `std` or an allocator, and another kind of
//! processor decides the same there.

mod scenario;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A Cortex-M4: 32 bits.
const TARGET: &str = "thumbv7em-none-eabi";

#[test]
fn decides_on_bare_metal_as_it_does_here() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare-metal");
    let Some(library) = library(&folder) else { return };
    let Some(firmware) = firmware(&folder, &library) else { return };
    // A machine with that processor, its console on standard output through semihosting.
    let mut machine = Command::new("qemu-system-arm");
    machine
        .args(["-M", "mps2-an386", "-display", "none", "-chardev", "stdio,id=console"])
        .args(["-semihosting-config", "enable=on,chardev=console", "-kernel"])
        .arg(&firmware);
    let Some(output) = run(&mut machine) else { return };
    let digest = scenario::run().expect("the table is one");
    let counts = digest.verdicts;
    assert!(counts.iter().all(|&count| count > 100), "every verdict is among them: {counts:?}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.trim(), format!("{:08x}", digest.hash));
}

/// Builds the library for the target.
fn library(folder: &Path) -> Option<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--release", "--locked", "--lib", "--package", "dropcast-runtime"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs, as it runs this test");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("can't find crate for `core`") {
        return missing(&format!("rustup target add {TARGET}"));
    }
    assert!(output.status.success(), "{said}");
    Some(folder.join(TARGET).join("release/libdropcast_runtime.rlib"))
}

/// Links the library, the scenario and a start routine into a firmware image.
fn firmware(folder: &Path, library: &Path) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bare_metal");
    run(Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "staticlib", "--target", TARGET])
        .args(["-O", "-C", "panic=abort", "--extern"])
        .arg(format!("dropcast_runtime={}", library.display()))
        .arg(sources.join("firmware.rs"))
        .arg("-o")
        .arg(folder.join("libfirmware.a")))?;
    run(Command::new("clang")
        .args([&format!("--target={TARGET}"), "-mcpu=cortex-m4", "-ffreestanding", "-O1"])
        .args(["-Wall", "-Wextra", "-Werror", "-c"])
        .arg(sources.join("start.c"))
        .arg("-o")
        .arg(folder.join("start.o")))?;
    let firmware = folder.join("firmware.elf");
    run(Command::new(linker())
        .args(["-flavor", "gnu", "-T"])
        .arg(sources.join("memory.ld"))
        .args([folder.join("start.o"), folder.join("libfirmware.a")])
        .arg("-o")
        .arg(&firmware))?;
    Some(firmware)
}

/// The linker that comes with rustc.
fn linker() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output();
    let folder = String::from_utf8(output.expect("rustc runs").stdout).expect("a path");
    Path::new(folder.trim()).with_file_name("bin").join("rust-lld")
}

/// Runs a command that must succeed; `None` if it is not installed.
fn run(command: &mut Command) -> Option<Output> {
    match command.output() {
        Err(_) => missing(&command.get_program().to_string_lossy()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
            Some(output)
        }
    }
}

/// Says, bypassing the test harness, that something was not tested; a failure in CI.
fn missing<T>(what: &str) -> Option<T> {
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "missing: {what}, and CI=true");
    writeln!(std::io::stderr(), "\n*** MISSING: {what}; NOTHING RAN ON BARE METAL ***\n")
        .expect("stderr is writable");
    None
}
