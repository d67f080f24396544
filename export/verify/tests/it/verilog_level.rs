//! The Verilog that keeps moving averages, simulated: it computes what the tracer does.

use crate::event_log::{EventLog, Record, RecordKind, generated, sample};
use crate::replay::{TAUS_NS, averages, files_of, found};
use dropcast_features::FeatureSet;
use dropcast_verify::Tool;
use std::fs;
use std::path::Path;
use std::process::Command;

const ICARUS: Tool = Tool { command: "iverilog", version_arguments: &["-V"], package: "iverilog" };

/// Feeds records to the levels of all queues and of the buffer: event (0 observe, 1 add, 2 remove,
/// 3 reset), queue, bytes and time; prints bytes and averages.
const TESTBENCH: &str = "
module replay;
    reg clk = 0, rst = 1;
    reg [31:0] what = 0, queue = 0, size = 0;
    reg [63:0] now = 0;
    reg strobe = 0;
    wire [QUEUES:0] ready;
    wire [31:0] bytes [0:QUEUES], average [0:QUEUES];
    genvar at;
    generate for (at = 0; at <= QUEUES; at = at + 1) begin : levels
        wire mine = strobe && (at == QUEUES || queue == at);
        m_level level (
            .clk(clk), .rst(rst), .add(mine && what == 1), .remove(mine && what == 2),
            .size_bytes(at == QUEUES && queue >= SHARED ? 32'd0 : size), .now_ns(now),
            .ready(ready[at]), .bytes(bytes[at]), .average(average[at]));
    end endgenerate

    initial forever #5 clk = ~clk;

    integer file, clocks, longest = 0;
    initial begin
        file = $fopen(\"records\", \"r\");
        repeat (2) @(negedge clk);
        rst = 0;
        while ($fscanf(file, \"%d %d %d %d\", what, queue, size, now) == 4) begin
            if (what == 0)
                $display(\"%0d %0d %0d %0d\", bytes[queue], average[queue], bytes[QUEUES], average[QUEUES]);
            strobe = what != 0;
            rst = what == 3;
            @(negedge clk);
            strobe = 0;
            rst = 0;
            clocks = 1;
            while (!(&ready)) begin
                @(negedge clk);
                clocks = clocks + 1;
            end
            if (clocks > longest) longest = clocks;
        end
        $display(\"longest %0d\", longest);
        $finish;
    end
endmodule
";

/// The files of a level.
const SOURCES: [&str; 3] = ["dropcast_average.v", "dropcast_level.v", "m_level.v"];

/// The output of each observing record, and the maximum clocks of a record; `None` without a
/// simulator.
fn replay(tau_ns: u64, queues: u32, shared: u32, records: &str) -> Option<(Vec<[u32; 4]>, u32)> {
    let icarus = found(ICARUS)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files_of("m", "verilog", &FeatureSet::paper4(), tau_ns) {
        fs::write(folder.path().join(file.name), file.bytes).expect("written");
    }
    let testbench =
        TESTBENCH.replace("QUEUES", &queues.to_string()).replace("SHARED", &shared.to_string());
    fs::write(folder.path().join("replay.v"), testbench).expect("written");
    fs::write(folder.path().join("records"), records).expect("written");
    lint(folder.path());
    let mut command = icarus.in_folder(folder.path());
    printed(command.args(["-g2009", "-o", "replay.vvp", "replay.v"]).args(SOURCES));
    let text = printed(Command::new("vvp").args(["-n", "replay.vvp"]).current_dir(folder.path()));
    let number = |text: &str| text.parse().expect("a number");
    let (rows, longest) = text.split_once("longest ").expect("the last line");
    let row = |line: &str| -> [u32; 4] {
        let values: Vec<u32> = line.split(' ').map(number).collect();
        values.try_into().expect("four values")
    };
    Some((rows.lines().map(row).collect(), number(longest.trim())))
}

fn lint(folder: &Path) {
    const VERILATOR: Tool =
        Tool { command: "verilator", version_arguments: &["--version"], package: "verilator" };
    if let Some(verilator) = found(VERILATOR) {
        printed(
            verilator
                .in_folder(folder)
                .args(["--lint-only", "-Wall", "--top-module", "m_level"])
                .args(SOURCES),
        );
    }
}

fn printed(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{err}");
    out.into_owned()
}

#[test]
fn levels_average_as_double_precision_does() {
    for (at, tau_ns) in TAUS_NS.into_iter().enumerate() {
        let cases: Vec<[u32; 4]> = averages(tau_ns, at as u64).into_iter().step_by(151).collect();
        let mut records = String::new();
        for [average, x, elapsed, _] in &cases {
            let then = tau_ns + u64::from(*elapsed);
            records += &format!("3 0 0 0\n1 0 {average} 0\n2 0 0 {tau_ns}\n");
            records += &match average.checked_sub(*x) {
                Some(less) => format!("2 0 {less} {then}\n"),
                None => format!("1 0 {} 0\n2 0 0 {then}\n", x - average),
            };
            records += "0 0 0 0\n";
        }
        let Some((rows, longest)) = replay(tau_ns, 1, 1, &records) else { return };
        let expected: Vec<[u32; 4]> = cases.iter().map(|&[_, x, _, e]| [x, e, x, e]).collect();
        assert_eq!(rows, expected, "{tau_ns} ns");
        assert!(longest <= 120, "{longest} clocks, more than documented");
    }
}

#[test]
#[ignore = "slow"]
fn levels_keep_the_features_of_traffic() {
    let paper4 = FeatureSet::paper4();
    let paper4 = [0, 1, 2, 3].map(|nth: usize| usize::from(paper4.features()[nth].code()));
    for input in [sample(), generated(0), generated(1), generated(2)] {
        let log = EventLog::new(&input);
        let mut records = String::new();
        let mut observed = 0;
        let is_input = |record: &&Record| record.kind != RecordKind::Arrived;
        for record in log.records.iter().filter(is_input).take(12_000) {
            let (what, time_ns) = (record.kind as u32, record.time_ns);
            observed += usize::from(what == 0);
            records += &format!("{what} {} {} {time_ns}\n", record.queue, record.size_bytes);
        }
        let Some((rows, _)) = replay(log.base_rtt_ns, log.queues, log.shared, &records) else {
            return;
        };
        let expected: Vec<[u32; 4]> =
            log.expected.iter().take(observed).map(|row| paper4.map(|at| row[at])).collect();
        assert!(observed > 100);
        assert_eq!(rows, expected);
    }
}
