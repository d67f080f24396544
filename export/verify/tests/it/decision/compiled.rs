//! What is exported compiles, in the programs of the manual, too.

use super::in_c::{COMPILERS, GCC, WARNINGS};
use super::{Model, any_switch, sample, write_files};
use crate::replay::{GXX, found};
use dropcast_data::SwitchSpec;
use dropcast_export::{Origin, export};
use std::fs;

/// The state takes the bytes that the header states.
#[test]
fn the_state_is_as_large_as_the_header_says() {
    let Some(gcc) = found(GCC) else { return };
    for seed in 0..18 {
        let (spec, _) = any_switch(seed);
        for features in ["occupancy", "paper4", "level4", "paper4,level4", "cut1", "class1,paper4"]
        {
            let model = Model::random(&spec, features, seed);
            let folder = tempfile::tempdir().expect("a temporary folder");
            write_files(folder.path(), &model, "c");
            let header = fs::read_to_string(folder.path().join("m_decision.h")).expect("written");
            let (before, _) = header.split_once(" in all.").expect("the size is stated");
            let bytes: usize = before
                .rsplit(' ')
                .next()
                .and_then(|word| word.parse().ok())
                .expect("a number of bytes");
            let check = format!(
                "#include \"m_decision.h\"\ntypedef char same[sizeof(struct m_decision) == {bytes} ? 1 : -1];\n"
            );
            fs::write(folder.path().join("size.c"), check).expect("written");
            let mut command = gcc.in_folder(folder.path());
            let output = command.args(["-fsyntax-only", "size.c"]).output().expect("it starts");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{features}, {spec:?}: {error}");
        }
    }
}

/// docs/runtime.md, at the switch of the sample.
#[test]
fn the_pages_program_compiles() {
    let page = include_str!("../../../../../docs/runtime.md");
    let (_, rest) = page.split_once("```c\n").expect("a program");
    let (program, _) = rest.split_once("```").expect("it ends");
    let model = Model::random(&sample().spec, "level4", 1);
    for compiler in &COMPILERS[..2] {
        let Some(tool) = found(compiler.tool) else { continue };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let origin = Origin { model_name: "example".to_owned(), ..model.origin() };
        for file in export(&model.forest, &origin, "c".parse().expect("a target")).expect("fine") {
            fs::write(folder.path().join(file.name), file.bytes).expect("written");
        }
        fs::write(folder.path().join("program.c"), program).expect("written");
        let mut command = tool.in_folder(folder.path());
        command.args(["-std=c99", "-O2", "-c"]).args(WARNINGS).arg("program.c");
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// docs/htsim.md, at a switch with one queue for each port.
#[test]
fn the_htsim_class_compiles() {
    let class = include_str!("../../../../../docs/programs/credence_buffer.h");
    let spec = SwitchSpec::uniform(4, 10_000_000_000, 60_000, 25_200);
    let model = Model::random(&spec, "level4", 1);
    let origin = Origin { model_name: "example".to_owned(), ..model.origin() };
    let Some(gxx) = found(GXX) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in export(&model.forest, &origin, "cpp".parse().expect("a target")).expect("fine") {
        fs::write(folder.path().join(file.name), file.bytes).expect("written");
    }
    fs::write(folder.path().join("class.cc"), class).expect("written");
    let mut command = gxx.in_folder(folder.path());
    command.args(["-std=c++17", "-O2", "-c"]).args(WARNINGS).arg("class.cc");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
