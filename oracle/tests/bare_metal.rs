//! The crate builds where there is no operating system, no `std` and no allocator.

use std::io::Write;
use std::process::Command;

/// A Cortex-M4.
const TARGET: &str = "thumbv7em-none-eabi";

#[test]
fn builds_for_a_bare_metal_target() {
    let target_folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare-metal");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--lib", "--package", "dropcast-oracle"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target_folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, as it runs this test");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("can't find crate for `core`") {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!ci, "{TARGET} is not installed, and CI=true: rustup target add {TARGET}");
        writeln!(
            std::io::stderr(),
            "\n*** {TARGET} IS NOT INSTALLED: NOTHING WAS BUILT FOR IT ***\n"
        )
        .expect("stderr is writable");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(target_folder.join(TARGET).join("release/libdropcast_oracle.rlib").exists());
}
