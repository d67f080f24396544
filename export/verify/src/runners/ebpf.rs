//! eBPF: compiled with clang, run by the interpreter rbpf, and by the kernel if permitted.

pub(crate) mod kernel;
pub(crate) mod link;

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, Evidence, Program, Tool, VerifyError};
use kernel::Kernel;
use link::Linked;
use rbpf::EbpfVmMbuff;
use std::fs;

const CLANG: Tool = Tool { command: "clang", version_arguments: &["--version"], package: "clang" };

/// As `docs/ebpf.md` says.
const FLAGS: [&str; 8] = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror"];

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let (_, prefix) = emitted.file("bpf.c")?;
    let clang = CLANG.find()?;
    let object = format!("{prefix}.bpf.o");
    let mut command = clang.in_folder(emitted.folder);
    command.args(FLAGS).args(["-c", &format!("{prefix}.bpf.c"), "-o", &object]);
    run(&mut command, "compiling for eBPF")?;
    let path = emitted.folder.join(&object);
    let bytes = fs::read(&path).map_err(io_error(&path, "be read"))?;
    let linked = Linked::new(&bytes, &format!("{prefix}_check"))
        .map_err(|problem| VerifyError::BadFile { file: path.display().to_string(), problem })?;
    Ok(match Kernel::new(emitted.folder, &object, emitted.features)? {
        Ok(kernel) => vec![Box::new(Interpreted::new(linked, None)), Box::new(kernel)],
        Err(refusal) => vec![Box::new(Interpreted::new(linked, Some(&refusal)))],
    })
}

/// The program in rbpf: whole, or tree by tree if it is longer than rbpf's jumps.
struct Interpreted {
    name: String,
    instructions: usize,
    programs: Vec<Vec<u8>>,
    whole: bool,
}

/// rbpf counts instructions in signed 16 bits.
const MOST_INSTRUCTIONS: usize = i16::MAX as usize;

impl Interpreted {
    fn new(linked: Linked, kernel_refusal: Option<&str>) -> Self {
        let instructions = linked.code.len() / 8;
        let whole = instructions <= MOST_INSTRUCTIONS;
        let form = if whole { "" } else { ", tree by tree as it is longer than 32,767" };
        let refusal = match kernel_refusal {
            Some(why) => format!("; NOT run in the kernel: {why}"),
            None => String::new(),
        };
        let name = format!("rbpf 0.4, {instructions} instructions{form}{refusal}");
        let programs = if whole { vec![linked.code] } else { linked.trees };
        Interpreted { name, instructions, programs, whole }
    }

    fn bad(&self, problem: impl ToString) -> VerifyError {
        VerifyError::BadAnswer { program: self.name.clone(), problem: problem.to_string() }
    }
}

impl Program for Interpreted {
    fn name(&self) -> &str {
        &self.name
    }

    fn evidence(&self) -> Evidence {
        Evidence::Executed
    }

    fn instructions(&self) -> Option<u64> {
        Some(self.instructions as u64)
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let rows: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let mut answers = vec![0_u64; rows.len()];
        for program in &self.programs {
            let machine = EbpfVmMbuff::new(Some(program)).map_err(|error| self.bad(error))?;
            for (row, answer) in rows.iter().zip(&mut answers) {
                *answer += machine.execute_program(row, &[]).map_err(|error| self.bad(error))?;
            }
        }
        let scores = answers.iter().map(|answer| (answer & 0x7FFF_FFFF) as u32).collect();
        // A single tree has no vote threshold, so there are only scores.
        let drops = answers.iter().map(|answer| answer >> 31 == 1).collect();
        Ok(Answers { scores: Some(scores), drops: self.whole.then_some(drops) })
    }
}
