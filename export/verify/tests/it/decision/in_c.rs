//! The exported decision in the C family.

use crate::replay::{GXX, found};
use dropcast_data::SwitchSpec;
use dropcast_export::EmittedFile;
use dropcast_verify::{FoundTool, Tool};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A compiler of one of the languages.
pub(crate) struct Compiler {
    pub(crate) tool: Tool,
    pub(crate) target: &'static str,
    standard: &'static str,
    extension: &'static str,
}

pub(crate) const GCC: Tool =
    Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };
pub(crate) const CLANG: Tool =
    Tool { command: "clang", version_arguments: &["--version"], package: "clang" };
const CLANGXX: Tool =
    Tool { command: "clang++", version_arguments: &["--version"], package: "clang" };

pub(crate) const COMPILERS: [Compiler; 5] = [
    Compiler { tool: GCC, target: "c", standard: "-std=c99", extension: "c" },
    Compiler { tool: CLANG, target: "c", standard: "-std=c99", extension: "c" },
    Compiler { tool: GXX, target: "cpp", standard: "-std=c++17", extension: "cc" },
    Compiler { tool: CLANGXX, target: "cpp", standard: "-std=c++17", extension: "cc" },
    // The code for eBPF outside the kernel, which may not permit it.
    Compiler { tool: GCC, target: "ebpf", standard: "-std=gnu99", extension: "c" },
];

pub(crate) const WARNINGS: [&str; 6] =
    ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wsign-conversion"];

/// Prints one byte for each arrival, its verdict. Checks that `init` refuses other switches.
const MAIN: &str = include_str!("main.c");

/// What a program writes about records of so many words.
pub(crate) fn fed<const WORDS: usize>(program: &mut Command, records: &[[u32; WORDS]]) -> Vec<u8> {
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    let mut child =
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(&bytes));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{program:?}: {}", output.status);
    output.stdout
}

impl Compiler {
    /// The verdicts of the compiled decision; `None` without the compiler.
    pub(crate) fn decide(
        &self,
        files: &[EmittedFile],
        spec: &SwitchSpec,
        records: &[[u32; 6]],
        packets: Option<u32>,
        falls_back: bool,
    ) -> Option<Vec<u8>> {
        let compiler = found(self.tool)?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
        }
        self.compile(&compiler, folder.path(), spec, packets);
        let mut program = Command::new(folder.path().join("decide"));
        program.args(falls_back.then_some("fall back"));
        Some(fed(&mut program, records))
    }

    fn compile(&self, tool: &FoundTool, folder: &Path, spec: &SwitchSpec, packets: Option<u32>) {
        let packets = match self.target {
            "ebpf" => packets.map(u32::next_power_of_two),
            _ => packets,
        };
        let define = packets.map_or(String::new(), |n| format!("#define M_PACKETS {n}u\n"));
        let main = match self.target {
            "cpp" => in_cpp(MAIN),
            "ebpf" => in_ebpf_dialect(MAIN),
            _ => MAIN.to_owned(),
        };
        let rates: Vec<String> = spec.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
        let text = define + &main.replace("LINE_RATES", &rates.join(", "));
        let file = format!("decide.{}", self.extension);
        fs::write(folder.join(&file), text).expect("written");
        let mut command = tool.in_folder(folder);
        command.args([self.standard, "-O2"]).args(WARNINGS).args([&file, "-o", "decide"]);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The same program for the C++ header.
fn in_cpp(main: &str) -> String {
    main.replace(
        "#include \"m_decision.h\"",
        "#include \"m_decision.hpp\"\nusing namespace m_oracle;",
    )
    .replace("m_decision state", "m_oracle::decision state")
    .replace("m_decision.hpp", "M.hpp")
    .replace("m_oracle", "@")
    .replace("m_", "")
    .replace("M_", "")
    .replace('@', "m_oracle")
    .replace("M.hpp", "m_decision.hpp")
}

/// The same program for the header for eBPF.
fn in_ebpf_dialect(main: &str) -> String {
    main.replace(
        "#include \"m_decision.h\"",
        "#include <linux/types.h>\n#include <stdint.h>\n#include \"m_decision.bpf.h\"",
    )
    .replace("uint64_t", "__u64")
}
