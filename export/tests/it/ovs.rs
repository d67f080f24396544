//! Flows, run by Open vSwitch itself, without a network: ovs-vswitchd with a dummy datapath
//! translates a packet for each row and reports its final registers.

mod traffic;

use crate::forests::{Shape, origin_of, random_forest};
use crate::tools::{run, tool};
use dropcast_export::{ExportError, Vectors, export};
use dropcast_forest::{Forest, Node, Tree};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Trees, depth, features.
const SHAPES: [(usize, usize, usize); 6] =
    [(1, 0, 1), (1, 1, 1), (3, 3, 2), (4, 4, 4), (4, 4, 6), (12, 4, 4)];

const MOST_ROWS: usize = 300;

/// What exported flows have, and others do not.
const COOKIE: &str = "cookie=0x64726f7063617374";

#[test]
fn open_vswitch_predicts_what_the_forest_does() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(switch) = Switch::start(folder.path()) else { return };
    let random = SHAPES.iter().enumerate().map(|(seed, &(trees, depth, features))| {
        let largest = if seed % 2 == 0 { u32::MAX } else { 2_000_000 };
        random_forest(Shape { trees, depth, features, largest, stops: 15 }, seed as u64)
    });
    // Loaded one after the other, as retrained models are.
    for forest in random.chain([constant(), chain()]) {
        switch.load(&flows_of(&forest).expect("exportable"));
        let vectors = Vectors::new(&forest, 1, 300).expect("sound");
        // A translation takes milliseconds.
        let step = vectors.rows().len().div_ceil(MOST_ROWS);
        let rows: Vec<Vec<u32>> = vectors.rows().iter().step_by(step).cloned().collect();
        for (row, answer) in rows.iter().zip(switch.answers(&rows)) {
            let expected = (forest.score(row), u32::from(forest.predicts_drop(row)));
            assert_eq!(answer, expected, "{row:?}");
        }
    }
}

/// A user's own flows stay, also in the tables of the oracle.
#[test]
fn a_retrained_model_replaces_the_one_before_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(switch) = Switch::start(folder.path()) else { return };
    let own =
        "table=10,reg15=0x1,actions=drop\ncookie=0x7,table=100,priority=9,in_port=9,actions=drop\n";
    fs::write(folder.path().join("own.txt"), own).expect("written");
    switch.ofctl(&["add-flows"], &["own.txt"]);
    let others = || -> Vec<String> {
        let flows = switch.ofctl(&["--no-stats", "dump-flows"], &[]);
        let mut others: Vec<String> =
            flows.lines().filter(|flow| !flow.contains(COOKIE)).map(str::to_owned).collect();
        others.sort();
        others
    };
    let before = others();
    assert_eq!(before.len(), 3, "{before:?}");
    let shape = Shape { trees: 4, depth: 4, features: 4, largest: 2_000_000, stops: 15 };
    let [first, second] = [1, 2].map(|seed| random_forest(shape, seed));
    let [of_first, of_second] =
        [&first, &second].map(|forest| flows_of(forest).expect("exportable"));
    switch.load(&of_first);
    switch.load(&of_second);
    let vectors = Vectors::new(&second, 1, 300).expect("sound");
    let rows: Vec<Vec<u32>> = vectors.rows().iter().step_by(7).cloned().collect();
    assert!(rows.len() > 50, "{}", rows.len());
    let wrong = rows.iter().zip(switch.answers(&rows)).filter(|(row, answer)| {
        *answer != (second.score(row), u32::from(second.predicts_drop(row)))
    });
    assert_eq!(wrong.count(), 0, "of {} rows", rows.len());
    let differing = rows.iter().filter(|row| first.score(row) != second.score(row)).count();
    assert!(2 * differing > rows.len(), "the old flows would be noticed");
    assert_eq!(others(), before);
    // As many as are in the file: none is left of the first.
    let exported =
        of_second.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"cookie="));
    let flows = switch.ofctl(&["--no-stats", "dump-flows"], &[]);
    assert_eq!(flows.matches(COOKIE).count(), exported.count());
}

fn flows_of(forest: &Forest) -> Result<Vec<u8>, ExportError> {
    let target = "ovs".parse().expect("a target");
    let [file] = export(forest, &origin_of(forest, "m"), target)?.try_into().expect("one file");
    Ok(file.bytes)
}

/// Every row is a tie.
fn constant() -> Forest {
    let trees = vec![Tree { nodes: vec![Node::Leaf { weight: 200 }] }; 3];
    Forest { features: vec!["x".to_owned()], vote_threshold: 600, trees }
}

/// One tree with 48 thresholds of a feature, so that its code lies in two registers.
fn chain() -> Forest {
    let split = |at: u32, left| Node::Split { feature: 0, threshold: at, left, right: left + 1 };
    let (mut nodes, mut level) = (Vec::new(), vec![(0_u32, 96_u32)]);
    let mut next = 1;
    while !level.is_empty() {
        let mut below = Vec::new();
        for (low, high) in level {
            let middle = (low + high) / 2;
            nodes.push(if high - low < 4 {
                Node::Leaf { weight: middle as u8 }
            } else {
                below.extend([(low, middle), (middle, high)]);
                next += 2;
                split(1 << 20 | middle, next - 2)
            });
        }
        level = below;
    }
    Forest { features: vec!["x".to_owned()], vote_threshold: 40, trees: vec![Tree { nodes }] }
}

#[test]
fn what_does_not_fit_the_registers_is_refused() {
    let refusal = |trees, depth, features| {
        let shape = Shape { trees, depth, features, largest: u32::MAX, stops: 0 };
        match flows_of(&random_forest(shape, 5)) {
            Err(ExportError::Unsupported { problem, .. }) => problem,
            other => format!("{:?}", other.map(|_| ())),
        }
    };
    assert_eq!(refusal(4, 4, 4), "Ok(())");
    assert!(refusal(32, 6, 4).starts_with("4 features and "));
    assert!(refusal(1, 0, 15).starts_with("15 features and 0 bits"));
    assert!(refusal(150, 1, 4).starts_with("150 trees take tables 100 to "));
}

/// A running Open vSwitch.
struct Switch<'a> {
    folder: &'a Path,
    daemons: Vec<Child>,
}

impl<'a> Switch<'a> {
    fn start(folder: &'a Path) -> Option<Self> {
        // Daemons need absolute file names and a folder for control sockets.
        let daemon = |name: &str| -> Option<Command> {
            let mut daemon = tool(name, folder)?;
            for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"] {
                daemon.env(variable, folder);
            }
            daemon.stdout(Stdio::null()).stderr(Stdio::null());
            Some(daemon)
        };
        let (mut server, mut switch) = (daemon("ovsdb-server")?, daemon("ovs-vswitchd")?);
        let schema = "/usr/share/openvswitch/vswitch.ovsschema";
        run(tool("ovsdb-tool", folder)?.args(["create", "conf.db", schema]));
        let mut running = Switch { folder, daemons: Vec::new() };
        let database = folder.join("db.sock").display().to_string();
        server.args(["conf.db", &format!("--remote=punix:{database}"), "--unixctl"]);
        running.daemons.push(server.arg(folder.join("server.ctl")).spawn().expect("it starts"));
        running.wait_for("db.sock");
        let vsctl = |args: &[&str]| {
            let mut vsctl = tool("ovs-vsctl", folder).expect("as the daemons");
            run(vsctl.arg(format!("--db=unix:{database}")).args(args));
        };
        vsctl(&["--no-wait", "init"]);
        let database = format!("unix:{database}");
        switch.args([&database, "--enable-dummy=override", "--disable-system", "--unixctl"]);
        running.daemons.push(switch.arg(folder.join("switch.ctl")).spawn().expect("it starts"));
        running.wait_for("switch.ctl");
        let dummy = ["set", "bridge", "br0", "datapath-type=dummy", "fail-mode=secure"];
        vsctl(&[&["add-br", "br0", "--"], dummy.as_slice()].concat());
        running.wait_for("br0.mgmt");
        let ask = "in_port=1, actions=resubmit(,100)\n";
        fs::write(folder.join("ask.txt"), ask).expect("written");
        running.ofctl(&["del-flows"], &[]);
        running.ofctl(&["add-flows"], &["ask.txt"]);
        Some(running)
    }

    fn wait_for(&self, socket: &str) {
        let start = Instant::now();
        while !self.folder.join(socket).exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "{socket} did not appear");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Runs a command of ovs-ofctl on the bridge; returns what it prints.
    fn ofctl(&self, command: &[&str], arguments: &[&str]) -> String {
        let bridge = format!("unix:{}", self.folder.join("br0.mgmt").display());
        let mut ofctl = tool("ovs-ofctl", self.folder).expect("as before");
        run(ofctl.args(command).arg(bridge).args(arguments))
    }

    /// Loads exported flows as docs/ovs.md says.
    fn load(&self, flows: &[u8]) {
        fs::write(self.folder.join("flows.txt"), flows).expect("written");
        self.ofctl(&["--bundle", "add-flows"], &["flows.txt"]);
    }

    /// Score and prediction for each row.
    fn answers(&self, rows: &[Vec<u32>]) -> Vec<(u32, u32)> {
        let mut control = UnixStream::connect(self.folder.join("switch.ctl")).expect("connected");
        let said = control.try_clone().expect("a socket");
        let mut said = serde_json::Deserializer::from_reader(said).into_iter::<Value>();
        let ask = |row: &Vec<u32>| {
            let registers: Vec<String> =
                row.iter().enumerate().map(|(at, value)| format!(",reg{at}={value:#x}")).collect();
            let packet = format!("in_port=1{}", registers.concat());
            let asked = json!({"id": 1, "method": "ofproto/trace", "params": ["br0", packet]});
            control.write_all(asked.to_string().as_bytes()).expect("written");
            let answer = said.next().expect("an answer").expect("JSON");
            let trace = answer["result"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
            let end = trace.lines().find_map(|line| line.strip_prefix("Final flow: "));
            let end = end.expect("what becomes of the packet");
            // A trace says if nothing changed, and omits registers that are 0.
            let end = if end == "unchanged" { &packet } else { end };
            let register = |name: &str| {
                let value = end.split(',').find_map(|field| field.strip_prefix(name));
                value.map_or(0, |value| {
                    let hex = value.strip_prefix("0x").expect("hexadecimal");
                    u32::from_str_radix(hex, 16).expect("a number")
                })
            };
            (register("reg14="), register("reg15="))
        };
        rows.iter().map(ask).collect()
    }
}

impl Drop for Switch<'_> {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
