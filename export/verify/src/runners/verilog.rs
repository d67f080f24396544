//! The Verilog pipeline, simulated in its testbench; and the whole decision, linted.

mod synthesis;

pub use synthesis::{LogicCells, synthesise};

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, FoundTool, Program, Tool, VerifyError};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const ICARUS: Tool = Tool { command: "iverilog", version_arguments: &["-V"], package: "iverilog" };

const VERILATOR: Tool =
    Tool { command: "verilator", version_arguments: &["--version"], package: "verilator" };

/// Modules beyond this many bytes are simulated by Verilator, if installed: it compiles for half a
/// minute, while Icarus Verilog, an interpreter, would take most of a millisecond per row.
const LARGE_BYTES: u64 = 128 << 10;

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let sources = Sources::find(emitted)?;
    let (icarus, verilator) = (ICARUS.find(), VERILATOR.find());
    if let Ok(verilator) = &verilator {
        lint(&sources, verilator)?;
    }
    let linted = linted_decision(emitted, &verilator)?;
    let simulation = match (icarus, verilator) {
        (_, Ok(verilator)) if sources.bytes()? >= LARGE_BYTES => verilated(&sources, &verilator),
        (Ok(icarus), _) => interpreted(&sources, &icarus),
        (Err(_), Ok(verilator)) => verilated(&sources, &verilator),
        (Err(missing), Err(_)) => Err(missing),
    };
    let mut simulation = simulation?;
    simulation.name += &linted;
    Ok(vec![Box::new(simulation)])
}

/// The names of the module and its testbench, each in its own file.
struct Sources {
    folder: PathBuf,
    module: String,
    testbench: String,
}

impl Sources {
    fn find(emitted: &Emitted<'_>) -> Result<Self, VerifyError> {
        let (_, name) = emitted.file_ending("_predictor_tb.v")?;
        let (folder, module) = (emitted.folder.to_owned(), format!("{name}_predictor"));
        Ok(Sources { folder, testbench: format!("{module}_tb"), module })
    }

    /// The files of both.
    fn files(&self) -> [String; 2] {
        [&self.module, &self.testbench].map(|name| format!("{name}.v"))
    }

    fn bytes(&self) -> Result<u64, VerifyError> {
        let path = self.folder.join(format!("{}.v", self.module));
        let metadata = fs::metadata(&path).map_err(io_error(&path, "be read"))?;
        Ok(metadata.len())
    }
}

/// Lints the sources; a warning is an error.
fn lint(sources: &Sources, verilator: &FoundTool) -> Result<(), VerifyError> {
    let mut command = verilator.in_folder(&sources.folder);
    command.args(["--lint-only", "--timing", "-Wall", "--top-module", &sources.testbench]);
    run(command.args(sources.files()), "linting the Verilog").map(drop)
}

/// Lints the module of the whole decision, if there is one, as it is shipped: alone and with its own parameters. Says so in words that
/// go behind a simulator's name.
fn linted_decision(
    emitted: &Emitted<'_>,
    verilator: &Result<FoundTool, VerifyError>,
) -> Result<String, VerifyError> {
    let (_, name) = emitted.file_ending("_predictor.v")?;
    let [predictor, decision] = ["predictor", "decision"].map(|part| format!("{name}_{part}.v"));
    let is_there = |part: &&str| emitted.files.iter().any(|file| file == part);
    if !is_there(&&*decision) {
        return Ok(String::new());
    }
    let Ok(verilator) = verilator else {
        return Ok(format!("; {decision} NOT linted: verilator is not installed"));
    };
    let mut command = verilator.in_folder(emitted.folder);
    command.args(["--lint-only", "-Wall", "--top-module", &format!("{name}_decision")]);
    let parts = [&*predictor, "dropcast_average.v", "dropcast_decision.v", &decision];
    command.args(parts.into_iter().filter(is_there));
    run(&mut command, "linting the Verilog of the decision")?;
    Ok(format!("; {decision} linted by {}", verilator.version()))
}

/// Translated to C++ and compiled.
fn verilated(sources: &Sources, verilator: &FoundTool) -> Result<Simulation, VerifyError> {
    let mut command = verilator.in_folder(&sources.folder);
    command.args([
        "--binary",
        "--timing",
        "-CFLAGS",
        "-O1",
        "-Mdir",
        "verilated",
        "-o",
        "simulate",
    ]);
    command.args(["--top-module", &sources.testbench]).args(sources.files());
    run(&mut command, "compiling the Verilog")?;
    Ok(Simulation {
        name: verilator.version().to_owned(),
        command: vec![sources.folder.join("verilated/simulate").display().to_string()],
        folder: sources.folder.clone(),
    })
}

/// Compiled to the byte code of Icarus Verilog's `vvp`.
fn interpreted(sources: &Sources, icarus: &FoundTool) -> Result<Simulation, VerifyError> {
    let mut command = icarus.in_folder(&sources.folder);
    command.args(["-g2001", "-Wall", "-s", &sources.testbench, "-o", "simulate.vvp"]);
    run(command.args(sources.files()), "compiling the Verilog")?;
    Ok(Simulation {
        name: icarus.version().to_owned(),
        command: ["vvp", "-n", "simulate.vvp"].map(str::to_owned).to_vec(),
        folder: sources.folder.clone(),
    })
}

/// A compiled testbench.
struct Simulation {
    name: String,
    command: Vec<String>,
    folder: PathBuf,
}

impl Program for Simulation {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let [input, output] = ["rows.hex", "predictions"].map(|name| self.folder.join(name));
        let line = |row: &Vec<u32>| {
            row.iter().map(|value| format!("{value:x} ")).collect::<String>() + "\n"
        };
        let text: String = rows.iter().map(line).collect();
        fs::write(&input, text).map_err(io_error(&input, "be written"))?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(&self.folder);
        command.args(["+rows=rows.hex", "+predictions=predictions"]);
        let printed = run(&mut command, "simulating")?;
        let printed = String::from_utf8_lossy(&printed);
        if let Some(error) = printed.lines().find(|line| line.contains("ERROR")) {
            return Err(self.bad_answer(error));
        }
        let answers = fs::read_to_string(&output).map_err(io_error(&output, "be read"))?;
        read(&answers).ok_or_else(|| self.bad_answer("its output is not scores and decisions"))
    }
}

impl Simulation {
    fn bad_answer(&self, problem: &str) -> VerifyError {
        VerifyError::BadAnswer { program: self.name.clone(), problem: problem.to_owned() }
    }
}

/// Lines of a score and a decision, 0 or 1.
fn read(text: &str) -> Option<Answers> {
    let (mut scores, mut drops) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (score, drop) = line.split_once(' ')?;
        scores.push(score.parse().ok()?);
        drops.push(match drop {
            "0" => false,
            "1" => true,
            _ => return None,
        });
    }
    Some(Answers { scores: Some(scores), drops: Some(drops) })
}
