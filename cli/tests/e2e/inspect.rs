//! `inspect` on every kind of file.

use crate::room::Room;

const EVENTS: &str = "\
time_ns,port,size_bytes
0,0,1000
10,0,1000
20,1,1000
30,0,1000
";

const SWITCH: &str = "
ports = 2
line_rate_bps = 1_000_000
buffer_bytes = 2_000
base_rtt_ns = 1_000
";

#[test]
fn what_is_in_the_input() {
    let room = Room::with_a_run();
    room.write("events.csv", EVENTS);
    room.write(
        "artifact.csv",
        "queueLength,averageQueueLength,sharedOccupancy,averageOccupancy,drop\n0,0,0,0,0\n",
    );
    room.write("switch.toml", SWITCH);
    room.good("collect --events events.csv --switch switch.toml -o trace.parquet");
    let mut transcript = String::new();
    for file in ["events.csv", "artifact.csv", "runs/small/events.parquet", "trace.parquet"] {
        for format in ["text", "json"] {
            let said = room.dropcast(&format!("inspect {file} --format {format}"));
            assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said}");
            transcript.push_str(&format!("{said}\n"));
        }
    }
    insta::assert_snapshot!(transcript);
}

/// Their content depends on the trainer, so numbers are masked.
#[test]
fn what_is_in_the_output() {
    let room = Room::with_a_run();
    let mut transcript = String::new();
    for file in ["model.json", "tables/model.dct", "report.json"] {
        for format in ["text", "json"] {
            let said = room.dropcast(&format!("inspect runs/small/{file} --format {format}"));
            assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said}");
            transcript.push_str(&format!("{}\n", without_numbers(&said.to_string())));
        }
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn what_is_known_of_other_files() {
    let room = Room::with_a_run();
    room.write("empty", "");
    room.write("text", "In the beginning\n");
    room.write("json", "{\"a\": 1}");
    room.write("broken.json", "{\"a\": ");
    room.write("binary", [0xff, 0x00, 0x7f, 0x80]);
    let mut transcript = String::new();
    for file in [
        "empty",
        "text",
        "json",
        "broken.json",
        "binary",
        "missing",
        "runs",
        "runs/small/config.toml",
        "runs/small/switch.toml",
        "runs/small/report.html",
        "runs/small/tables/model.h",
    ] {
        let said = room.dropcast(&format!("inspect {file}"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&said.to_string());
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn events_are_checked_as_they_are_labelled() {
    let room = Room::new();
    room.write("switch.toml", SWITCH);
    room.write("events.csv", EVENTS);
    room.write("late.csv", "time_ns,port,size_bytes\n5,0,1000\n4,0,1000\n6,7,1000\n");
    room.write("runs/switch=3/log.csv", EVENTS);
    room.write("runs/switch=4/log.csv", "time_ns,port,size_bytes\n0,0,0\n");
    room.good("collect --events events.csv --switch switch.toml -o trace.parquet");
    let check =
        |files: &str| room.dropcast(&format!("inspect --check {files} --switch switch.toml"));
    let mut transcript = String::new();
    for files in ["events.csv", "*.csv", "runs", "trace.parquet", "trace.parquet events.csv"] {
        transcript.push_str(&format!("{}\n", check(files)));
    }
    room.write("own.csv", "time_ns,port,size_bytes,mine\n0,0,100,7\n1,0,100,x\n");
    room.write("kinds.csv", "time_ns,port,size_bytes,Kind\n0,0,100,-\n");
    let wide: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
    let zeros = ",0".repeat(wide.len());
    room.write("wide.csv", format!("time_ns,port,size_bytes,{}\n0,0,100{zeros}\n", wide.join(",")));
    room.write("heading.csv", "time_ns,port,size_bytes\n");
    room.write("moved/switch=3/log.csv", "time_ns,port,size_bytes,switch_id\n0,0,100,4\n");
    room.write("good/run=1/log.csv", EVENTS);
    room.good("collect --events good --switch switch.toml -o traces");
    assert!(room.good("inspect --check traces").starts_with("labelled trace: "));
    std::fs::remove_file(room.path("traces/run=1/switch=0/part-0.parquet")).unwrap();
    room.write("star.toml", SWITCH.to_owned() + "[ns3]\nnodes = [5]\n");
    let trace =
        "+ 2.1 /NodeList/2/DeviceList/1/$ns3::X/TxQueue/Enqueue ns3::PppHeader (x) (size=100)\n";
    room.write("star.tr", trace);
    room.write(
        "bare.csv",
        "queueLength,averageQueueLength,sharedOccupancy,averageOccupancy,drop\n0,0,0,0,0\n",
    );
    for typed in [
        "inspect --check star.tr --switch star.toml",
        "inspect --check bare.csv",
        "inspect events.csv late.csv",
        "inspect --check own.csv --switch switch.toml --own mine",
        "inspect --check own.csv --switch switch.toml --own lacking",
        "inspect --check own.csv --switch switch.toml",
        "inspect --check wide.csv --switch switch.toml",
        "collect --events kinds.csv --switch switch.toml -o kinds.parquet",
        "inspect --check trace.parquet --own lacking",
        "inspect own.csv --own mine",
        "inspect own.csv --switch switch.toml",
        "inspect own.csv --time-unit us",
        "inspect --check events.csv ./events.csv --switch switch.toml",
        "inspect --check trace.parquet ./trace.parquet",
        "inspect --check heading.csv --switch switch.toml",
        "inspect --check moved --switch switch.toml",
        "inspect --check traces",
        "inspect even*.csv",
    ] {
        transcript.push_str(&format!("{}\n", room.dropcast(typed)));
    }
    insta::assert_snapshot!(transcript);
}

/// Each number, with the space that aligns it, becomes `#`.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    let mut number = false;
    for character in text.chars() {
        let part = character.is_ascii_digit() || (number && character == '.');
        if part && !number {
            shown.truncate(shown.trim_end_matches(' ').len() + 1);
            shown.push('#');
        }
        if !part {
            shown.push(character);
        }
        number = part;
    }
    shown
}
