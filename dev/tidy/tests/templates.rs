//! A template is copied by one command, and builds and works wherever that is.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packets for four ports, at four times the rate of each.
fn packets() -> String {
    let mut text = "time_ns,port,queue,size_bytes\n".to_owned();
    for nth in 0..4_000 {
        writeln!(text, "{},{},0,1500", nth / 16 * 1_200, nth % 4).expect("text");
    }
    text
}

#[test]
#[ignore = "slow"]
fn the_template_of_a_policy_builds_and_decides() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let folder = elsewhere.path().join("my-policy");
    let page = fs::read_to_string(root.join("docs/policies.md")).expect("a page");
    assert!(page.contains("    cp -r examples/policy my-policy\n"));
    let copied =
        Command::new("cp").arg("-r").arg(root.join("examples/policy")).arg(&folder).status();
    assert!(copied.expect("cp starts").success());
    // Elsewhere the paths are others, as its settings say. All other crates are as locked here.
    let settings = folder.join(".cargo/config.toml");
    let paths = fs::read_to_string(&settings).expect("settings").replace("\"../", "\"");
    let paths = paths.replace("path = \"", &format!("path = \"{}/", root.display()));
    fs::write(settings, paths).expect("written");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let cargo = std::env::var_os("CARGO").expect("cargo runs tests");
    let mut program = Command::new(cargo)
        .args(["run", "--quiet", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", elsewhere.path().join("target"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo starts");
    let mut input = program.stdin.take().expect("piped");
    input.write_all(packets().as_bytes()).expect("it reads");
    drop(input);
    let output = program.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    let bytes: Vec<u64> = printed
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .filter(|&bytes| bytes > 1)
        .collect();
    let [mine, dt, lqd] = bytes[..] else { panic!("{printed}") };
    assert!(mine == dt && mine < lqd && lqd < 4_000 * 1_500, "{printed}");
}
