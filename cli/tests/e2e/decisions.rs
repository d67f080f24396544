//! `report --decisions`: what a policy decides about each packet.

use crate::room::Room;

/// The last column, in order of arrival.
fn accepted(csv: &str) -> Vec<&str> {
    let rows = csv.lines().skip(1).filter(|row| row.split(',').nth(1) == Some("0"));
    rows.map(|row| row.rsplit_once(',').expect("a column").1).collect()
}

fn text(room: &Room, name: &str) -> String {
    String::from_utf8(room.read(name)).expect("text")
}

/// The packets that exports have verdicts of, as a trace of one's own.
#[test]
fn decisions_are_those_that_are_exported_to_check_code_with() {
    let room = Room::with_a_run();
    room.write("leaf.toml", room.read("runs/small/switch.toml"));
    room.write("model.json", room.read("runs/small/model.json"));
    room.good_with_notes("export model.json --target vectors --switch leaf.toml -o golden");
    let golden = text(&room, "golden/model_packets.csv");
    room.write("packets.csv", &golden);
    room.good_with_notes(
        "collect --events packets.csv --switch leaf.toml --departures line-rate -o trace.parquet",
    );
    let report = "report --data trace.parquet --policy credence:model=model.json";
    let with = room.good(&format!("{report} --decisions decisions.csv"));
    assert_eq!(room.good(report), with, "the report is as without");
    let decisions = text(&room, "decisions.csv");
    assert_eq!(accepted(&decisions), accepted(&golden));
    assert!(accepted(&decisions).contains(&"0"));
    // They are what verify reads, and one that is another is found.
    let verdicts: String = accepted(&decisions).join("\n") + "\n";
    room.write("verdicts.txt", &verdicts);
    room.good("verify model.json --switch leaf.toml --verdicts verdicts.txt");
    room.write("verdicts.txt", verdicts.replacen('1', "0", 1));
    let said = room.dropcast("verify model.json --switch leaf.toml --verdicts verdicts.txt");
    assert_eq!(said.code, Some(1), "{said}");
    // And packet events.
    room.good_with_notes(
        "collect --events decisions.csv --switch leaf.toml --departures line-rate -o again.parquet",
    );
    let measures = |trace: &str| {
        let line = room.good(&format!("report --data {trace} --format line"));
        line.strip_prefix(&format!("trace={trace} ")).expect("its name").to_owned()
    };
    assert_eq!(measures("again.parquet"), measures("trace.parquet"));
}

/// Complete Sharing, packet by packet: a slow second writing for one queue a port.
#[test]
fn complete_sharing_accepts_what_fits() {
    let room = Room::new();
    room.write(
        "leaf.toml",
        "ports = 3\nline_rate_bps = 8_000_000_000\nbuffer_bytes = 9_000\nbase_rtt_ns = 10_000\n",
    );
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let (mut time_ns, mut packets) = (0, Vec::new());
    for _ in 0..3_000 {
        time_ns += random(400);
        packets.push((time_ns, random(3) as usize, 64 + random(1_437)));
    }
    let rows: String =
        packets.iter().map(|(time, port, size)| format!("{time},{port},{size}\n")).collect();
    room.write("events.csv", format!("time_ns,port,size_bytes\n{rows}"));
    room.good("collect --events events.csv --switch leaf.toml -o trace.parquet");
    let report = |policy: &str| {
        room.good(&format!(
            "report --data trace.parquet --policy {policy} --decisions decisions.csv"
        ));
        text(&room, "decisions.csv")
    };
    let decisions = report("complete-sharing");
    // A byte takes a nanosecond; a packet leaves the buffer when its transmission begins.
    let (mut leaves, mut free_ns): (Vec<(u64, u64)>, [u64; 3]) = (Vec::new(), [0; 3]);
    let expected = packets.iter().map(|&(time_ns, port, size)| {
        let held: u64 =
            leaves.iter().filter(|(at_ns, _)| *at_ns > time_ns).map(|(_, size)| size).sum();
        let accepted = held + size <= 9_000;
        if accepted {
            let begins_ns = free_ns[port].max(time_ns);
            leaves.push((begins_ns, size));
            free_ns[port] = begins_ns + size;
        }
        format!("{time_ns},0,0,{port},0,{size},{}\n", u8::from(accepted))
    });
    let expected: String = expected.collect();
    assert!(expected.lines().filter(|row| row.ends_with(",0")).count() > 100);
    assert_eq!(
        decisions,
        format!("time_ns,kind,switch_id,port,queue,size_bytes,accepted\n{expected}")
    );
    // LQD accepts what it pushes out later.
    assert!(
        accepted(&report("lqd")).iter().filter(|of| **of == "1").count()
            > accepted(&decisions).iter().filter(|of| **of == "1").count()
    );
}

#[test]
fn decisions_are_of_one_policy_and_one_trace() {
    let room = Room::with_a_run();
    room.write("few.csv", "time_ns,port,size_bytes\n0,0,1500\n10,1,1500\n");
    room.good("collect --events few.csv --switch runs/small/switch.toml -o few.parquet");
    let report = "report --data runs/small/trace.parquet";
    let mut transcript = String::new();
    for more in [
        "--decisions d.csv",
        "--policy abm --policy edt --decisions d.csv",
        "--policy credence:model=none.json --decisions d.csv",
        "--policy abm --decisions few.parquet --data few.parquet",
        "--policy abm --data few.parquet --decisions d.csv",
        "--policy abm --decisions d.csv -o d.csv",
        "--policy abm --decisions none/d.csv",
        "--policy abm --decisions -",
    ] {
        let said = room.dropcast(&format!("{report} {more}"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        transcript.push_str(&format!("{said}\n"));
        assert!(!room.path("d.csv").exists());
    }
    insta::assert_snapshot!(transcript);
}
