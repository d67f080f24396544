//! The fabric's senders held to completion times by real kernels (`lab/linux/fixtures`).
#![allow(clippy::expect_used)]

use dropcast_fabric::{Fabric, FabricObserver, FlowClass, FlowList, FlowRecord, Simulation};
use dropcast_linux::Settings;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// An answer that takes longer has waited for a timer: the shortest of Linux is 2 ms.
const LATE_NS: u64 = 2_000_000;

#[derive(Default)]
struct Ends(Vec<FlowRecord>);

impl FabricObserver for Ends {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.0.push(*record);
    }
}

/// The kernel's value and the fabric's, one pair for each request.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn means(&self) -> (f64, f64) {
        let count = self.0.len() as f64;
        (
            self.0.iter().map(|pair| pair.0).sum::<f64>() / count,
            self.0.iter().map(|pair| pair.1).sum::<f64>() / count,
        )
    }

    /// Three standard errors of the mean difference: of some 250 comparisons one is beyond by chance.
    fn bound(&self) -> f64 {
        let count = self.0.len() as f64;
        let (kernel, fabric) = self.means();
        let square = |(own_kernel, own_fabric): &(f64, f64)| {
            (own_fabric - own_kernel - (fabric - kernel)).powi(2)
        };
        3.0 * (self.0.iter().map(square).sum::<f64>() / (count - 1.0) / count).sqrt()
    }

    /// What is off, unless the means are within a tenth or differ by no more than requests do by chance.
    fn differ(&self, name: &str) -> Option<String> {
        let ((kernel, fabric), bound) = (self.means(), self.bound());
        let off = (fabric - kernel).abs();
        let text = || format!("{name} {fabric:.3}, the kernel's {kernel:.3} +- {bound:.3}");
        (off > 0.1 * kernel && off > bound).then(text)
    }
}

/// The settings of a fixture, its flows, and the kernel's completion times of each by policy.
fn fixture(path: &Path) -> (Settings, Vec<u8>, BTreeMap<String, Vec<Option<u64>>>) {
    let text = std::fs::read_to_string(path).expect("settings");
    let settings: Settings = toml::from_str(&text).expect("settings of a run");
    let file = std::fs::File::open(path.with_extension("csv.gz")).expect("a table");
    let mut table = Vec::new();
    GzDecoder::new(file).read_to_end(&mut table).expect("a table");
    let text = String::from_utf8(table.clone()).expect("text");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let mut times: BTreeMap<String, Vec<Option<u64>>> = BTreeMap::new();
    for row in lines {
        for (name, cell) in header.iter().zip(&row).skip(5) {
            times.entry((*name).to_owned()).or_default().push(cell.parse().ok());
        }
    }
    (settings, table, times)
}

/// Of single lists one in fifty comparisons may be off: the kernel's own answers differ by more than that when packets are 100 ns late.
#[test]
fn completion_times_are_those_of_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("fixtures")
        .map(|file| file.expect("a file").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    assert!(paths.len() >= 12, "{paths:?}");
    let mut off = Vec::new();
    let mut compared = 0;
    let mut pooled: BTreeMap<(String, &str), Pairs> = BTreeMap::new();
    for path in paths {
        let (settings, table, times) = fixture(&path);
        let fabric = Fabric::try_from(settings.fabric.clone()).expect("a fabric");
        for policy in &settings.policies {
            let list = FlowList::read(&table[..], settings.flow_list_transport, 1, |flow| {
                fabric.check_flow(flow)
            });
            let list = list.expect("a flow list");
            let mut ends = Ends::default();
            let simulation = Simulation::new(&fabric, |_, site| policy.build(site), list);
            simulation.expect("no model").run(&mut ends).expect("flows between servers");
            let kernel = &times[&policy.to_string()];
            let mut requests: BTreeMap<(u16, u64), [Pairs; 2]> = BTreeMap::new();
            for record in
                ends.0.iter().filter(|record| matches!(record.flow.class, FlowClass::Incast(_)))
            {
                let (Some(ours_ns), Some(kernel_ns)) = (record.fct_ns, kernel[record.id as usize])
                else {
                    continue;
                };
                let slowdown = |fct_ns: u64| fct_ns as f64 / record.ideal_fct_ns as f64;
                let late = |fct_ns: u64| f64::from(u8::from(fct_ns > LATE_NS));
                let [slowdowns, lates] =
                    requests.entry((record.flow.to, record.flow.start_ns / 100_000)).or_default();
                slowdowns.0.push((slowdown(kernel_ns), slowdown(ours_ns)));
                lates.0.push((late(kernel_ns), late(ours_ns)));
            }
            for (nth, what) in ["mean slowdown", "late share"].into_iter().enumerate() {
                let pairs: Vec<_> = requests.values().map(|of| of[nth].means()).collect();
                pooled.entry((policy.to_string(), what)).or_default().0.extend(&pairs);
                compared += 1;
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                off.extend(Pairs(pairs).differ(&format!("{name}, {policy}: {what}")));
            }
        }
    }
    let policies: Vec<String> = pooled
        .iter()
        .filter_map(|((policy, what), all)| all.differ(&format!("{policy}: {what}")))
        .collect();
    assert_eq!(policies, Vec::<String>::new(), "over all lists");
    assert!(50 * off.len() <= compared, "{} of {compared}:\n{}", off.len(), off.join("\n"));
}
