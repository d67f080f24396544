//! Policies on a switch's own queues as code decide about every packet as those of `dropcast_switch` do.

mod fab;
mod in_dpdk;
mod in_verilog;
mod spare_tails;

use crate::decision::in_c::{CLANG, GCC, WARNINGS, fed};
use crate::decision::in_ebpf::{build_loader, run};
use crate::decision::in_rust::{build_program, succeed};
use crate::decision::record;
use crate::replay::{GXX, found};
use dropcast_data::SwitchSpec;
use dropcast_export::{EmittedFile, PolicyCode, PolicyEvent, PolicyPackets};
use dropcast_switch::policies::fab::FabParameters;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;
use dropcast_verify::Tool;
use std::fs;
use std::process::Command;

/// Eight words: 0 arrival or 1 departure, port, queue, bytes, low and high half of the time, and of the flow's hash.
type Record = [u32; 8];

fn records(packets: &PolicyPackets) -> Vec<Record> {
    let events = packets.events.iter();
    events
        .map(|event| {
            let &PolicyEvent { time_ns, port, queue, size_bytes, flow_hash, accepted } = event;
            let kind = u32::from(accepted.is_none());
            let [kind, port, queue, size_bytes, low, high] =
                record(kind, [port, queue], size_bytes, time_ns);
            [kind, port, queue, size_bytes, low, high, flow_hash as u32, (flow_hash >> 32) as u32]
        })
        .collect()
}

fn verdicts(packets: &PolicyPackets) -> Vec<u8> {
    packets.verdicts().map(u8::from).collect()
}

/// How the code of a policy is called in C.
fn subject(name: &str) -> String {
    let upper = name.to_uppercase();
    format!(
        "#include \"{name}_config.h\"\n#include \"{name}.h\"\n\
         #define SUBJECT_STATE {name}\n#define SUBJECT_QUEUES_PER_PORT {upper}_QUEUES_PER_PORT\n\
         #define SUBJECT_INIT {name}_init\n\
         #define SUBJECT_ARRIVAL(state, queue, size, flow, now) {name}_arrival(state, queue, size, flow, now)\n\
         #define SUBJECT_DEPARTURE(state, queue, size) {name}_departure(state, queue, size)\n"
    )
}

fn name_of(code: &PolicyCode) -> &'static str {
    match code {
        PolicyCode::SpareTails(_) => "dropcast_spare_tails",
        PolicyCode::Fab(_) => "dropcast_fab",
    }
}

/// The verdicts of the compiled header; none without the compiler.
fn compiled(
    tool: Tool,
    code: &PolicyCode,
    files: &[EmittedFile],
    records: &[Record],
    arguments: &[&str],
) -> Option<Vec<u8>> {
    let compiler = found(tool)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let (standard, file) =
        if tool.command == "g++" { ("-std=c++17", "main.cc") } else { ("-std=c99", "main.c") };
    fs::write(folder.path().join("subject.h"), subject(name_of(code))).expect("written");
    fs::write(folder.path().join(file), include_str!("policy_code/main.c")).expect("written");
    let mut command = compiler.in_folder(folder.path());
    let output = command
        .args([standard, "-O2"])
        .args(WARNINGS)
        .args([file, "-o", "decide"])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut program = Command::new(folder.path().join("decide"));
    Some(fed(program.args(arguments), records))
}

/// The verdicts of the XDP program; none if a tool is missing or the kernel does not permit it.
fn in_kernel(code: &PolicyCode, files: &[EmittedFile], records: &[Record]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let source = format!("{}.bpf.c", name_of(code));
    let mut compile = found(CLANG)?.in_folder(folder.path());
    compile.args(["-O2", "-g", "-ffreestanding", "-target", "bpf", "-mcpu=v3"]);
    compile.args(["-Wall", "-Wextra", "-Werror", "-c", &source, "-o", "program.bpf.o"]);
    let output = compile.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    build_loader(folder.path(), include_str!("policy_code/kernel.c"))?;
    run(folder.path(), records, &[])
}

/// The verdicts of a program in Rust around the exported file.
fn in_rust(program: &str, files: &[EmittedFile], packets: &PolicyPackets) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for file in files {
        fs::write(path.join(&file.name), &file.bytes).expect("written");
    }
    fs::write(path.join("packets.csv"), packets.to_csv()).expect("written");
    fs::write(path.join("main.rs"), program).expect("written");
    build_program(path);
    let mut program = Command::new(path.join("decide"));
    program.stdin(fs::File::open(path.join("packets.csv")).expect("written"));
    let printed = String::from_utf8(succeed(&mut program)).expect("text");
    printed.lines().map(|line| line.parse().expect("a verdict")).collect()
}

/// The code in C, C++ and the kernel decides as the policy does about each of these packets.
fn agree(code: &PolicyCode, files: &[EmittedFile], packets: &PolicyPackets, tools: &[Tool]) {
    let (records, expected) = (records(packets), verdicts(packets));
    if tools.len() > 1 {
        let in_kernel = in_kernel(code, files, &records);
        assert!(in_kernel.is_none_or(|verdicts| verdicts == expected), "{code:?}");
    }
    for &tool in tools {
        let Some(verdicts) = compiled(tool, code, files, &records, &[]) else { continue };
        assert_eq!(verdicts.len(), expected.len());
        let first = verdicts.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
        assert_eq!(first, None, "{}: {code:?}", tool.command);
    }
}

/// A part of a file, and one that is wrong in its place.
type Change<'a> = (&'a str, &'a str);

/// Those of `changes` to a header that no packet tells from the right one.
fn unseen<'a>(
    code: &PolicyCode,
    files: &[EmittedFile],
    packets: &PolicyPackets,
    changes: &[Change<'a>],
) -> Vec<Change<'a>> {
    let records = records(packets);
    unseen_in(".h", files, packets, changes, &|files| compiled(GCC, code, files, &records, &[]))
}

/// Those of `changes` to the one file that has the part and ends with `ending` that no packet tells from the right one, as `decide`
/// runs the files.
fn unseen_in<'a>(
    ending: &str,
    files: &[EmittedFile],
    packets: &PolicyPackets,
    changes: &[Change<'a>],
    decide: &dyn Fn(&[EmittedFile]) -> Option<Vec<u8>>,
) -> Vec<Change<'a>> {
    let expected = verdicts(packets);
    assert!(decide(files).is_none_or(|verdicts| verdicts == expected));
    let is_unseen = |&&(one, other): &&Change<'_>| {
        let mut files = files.to_vec();
        let mut changed = 0;
        for file in files.iter_mut().filter(|file| file.name.ends_with(ending)) {
            let text = String::from_utf8(std::mem::take(&mut file.bytes)).expect("text");
            changed += text.matches(one).count();
            file.bytes = text.replace(one, other).into_bytes();
        }
        assert_eq!(changed, 1, "{one}");
        decide(&files).is_some_and(|verdicts| verdicts == expected)
    };
    changes.iter().filter(is_unseen).copied().collect()
}

const TOOLS: [Tool; 3] = [GCC, CLANG, GXX];

/// Tables of 8, 16 and 32 bytes, which compilers would keep apart from others, where libbpf does not look.
#[test]
fn the_kernel_takes_the_policies_of_few_queues() {
    for ports in [2, 4, 8] {
        let spec = SwitchSpec::uniform(ports, 8_000_000_000, 60_000, 8_000);
        for code in [
            PolicyCode::SpareTails(SpareTailsParameters::default()),
            PolicyCode::Fab(FabParameters::default()),
        ] {
            let packets = code.golden(&spec).expect("a switch that it knows");
            let files = code.files(&spec).expect("a switch that it knows");
            let in_kernel = in_kernel(&code, &files, &records(&packets));
            assert!(in_kernel.is_none_or(|told| told == verdicts(&packets)), "{ports}: {code:?}");
        }
    }
}
