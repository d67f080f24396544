//! The command's help, and that it is true.

use crate::room::Room;
use std::path::Path;
use std::time::Duration;

const COMMANDS: [&str; 63] = [
    "",
    "run",
    "simulate",
    "collect",
    "train",
    "refine",
    "import",
    "sweep",
    "map",
    "switch",
    "counters",
    "rescale",
    "export",
    "verify",
    "resources",
    "report",
    "inspect",
    "completions",
    "man",
    "reproduce",
    "reproduce fabric",
    "reproduce fig6",
    "reproduce fig7",
    "reproduce fig8",
    "reproduce fig9",
    "reproduce fig10",
    "reproduce fig11",
    "reproduce fig12",
    "reproduce fig13",
    "reproduce fig14",
    "reproduce fig15",
    "reproduce abm-fig4",
    "reproduce abm-fig5",
    "reproduce abm",
    "reproduce abm-fig6",
    "reproduce abm-fig7",
    "reproduce abm-fig8",
    "reproduce abm-fig9",
    "reproduce abm-fig10",
    "reproduce abm-fig11",
    "reproduce abm-fig12",
    "reproduce pred",
    "reproduce pred-settling",
    "reproduce pred-fig4",
    "reproduce pred-fig13",
    "reproduce pred-fig14",
    "reproduce pred-fig18",
    "reproduce pred-fig19",
    "reproduce pred-fig21",
    "reproduce pred-fig22",
    "reproduce pred-fig23",
    "reproduce pred-fig24",
    "reproduce pred-fig25",
    "reproduce pred-fig27",
    "reproduce smartbuf",
    "reproduce smartbuf-fig1",
    "reproduce smartbuf-fig2",
    "reproduce smartbuf-fig3",
    "reproduce smartbuf-fig4",
    "reproduce smartbuf-fig5",
    "reproduce smartbuf-fig6",
    "reproduce smartbuf-fig7",
    "reproduce smartbuf-fig8",
];

#[test]
fn help_of_every_command() {
    let room = Room::new();
    for command in COMMANDS {
        let name =
            if command.is_empty() { "dropcast".to_owned() } else { command.replace(' ', "-") };
        insta::assert_snapshot!(name, room.good(&format!("{command} --help")));
    }
}

/// The main help would list a command missing above.
#[test]
fn every_command_is_listed_above() {
    let room = Room::new();
    let check = |parent: &str| {
        let help = room.good(&format!("{parent} --help"));
        let (_, commands) = help.split_once("Commands:\n").unwrap();
        let commands = commands.split("\n\n").next().unwrap().lines();
        for line in commands.filter(|line| !line.starts_with("   ")) {
            let command = line.split_whitespace().next().unwrap();
            let name = format!("{parent} {command}");
            assert!(command == "help" || COMMANDS.contains(&name.trim()), "{name}");
        }
    };
    check("");
    check("reproduce");
}

#[test]
fn version() {
    let said = Room::new().good("--version");
    let rest = said.strip_prefix(concat!("dropcast ", env!("CARGO_PKG_VERSION"))).unwrap();
    // The commit is known where git is.
    let commit = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_commit = |text: &str| text.len() >= 7 && text.chars().all(|of| of.is_ascii_hexdigit());
    assert!(rest == "\n" || commit.is_some_and(is_commit), "{said}");
}

#[test]
fn misuse_is_told_how_to_use_it() {
    let room = Room::new();
    let mut transcript = String::new();
    for typed in [
        "",
        "reproduce",
        "label",
        "run --sed 1",
        "inspect",
        "train -o model.json",
        "simulate -o events.parquet --runs 3",
        "simulate -o events.parquet --duration-ms 5 --runs 3",
        "simulate -o events.parquet --load 0.5 --policy lqd",
        "simulate -o events.parquet --burst 1 --threads 1",
        "simulate -o events.parquet --topology leaf --record flows",
        "inspect trace.parquet --statistics --own mine",
        "report --data trace.parquet --rows all",
    ] {
        let said = room.dropcast(typed);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
    }
    insta::assert_snapshot!(transcript);
}

/// Every command in the help and the documents parses. A file named `runs` stops `run` early.
#[test]
fn commands_that_are_shown_are_understood() {
    let room = Room::new();
    room.write("runs", "");
    let mut shown: Vec<String> = Vec::new();
    for command in COMMANDS {
        shown.extend(commands_in(&room.good(&format!("{command} --help"))));
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = std::fs::read_dir(repository.join("docs")).unwrap();
    let documents = documents.map(|entry| entry.unwrap().path());
    for path in documents.chain([repository.join("README.md")]) {
        if path.extension().is_some_and(|extension| extension == "md") {
            shown.extend(commands_in(&std::fs::read_to_string(path).unwrap()));
        }
    }
    assert!(shown.len() >= 6, "{shown:?}");
    for command in shown {
        // What is not understood is said at once; what works may take minutes.
        let said = room.stderr_within(&command, Duration::from_secs(2));
        assert!(!said.contains("--help"), "{command} is not understood: {said}");
    }
}

/// Arguments of the indented lines that are `dropcast` commands, alone or at the end of a pipe.
fn commands_in(text: &str) -> Vec<String> {
    let indented = text.lines().filter(|line| line.starts_with("  "));
    let commands = indented.filter_map(|line| {
        let last = line.rsplit(" | ").next()?.trim();
        let arguments = last.strip_prefix("dropcast ")?;
        let arguments = arguments.split(" #").next()?.split(" > ").next()?;
        Some(arguments.trim().to_owned())
    });
    commands.collect()
}
