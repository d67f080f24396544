//! Runs that a fleet simulates. Its results are those that this machine would have had; runs that it leaves out are simulated
//! here.

use dropcast_lab::closed_loop::{Experiment, Fleet, KeptRuns, Oracles, simulate_share};
use dropcast_lab::fabric_oracle::{default_oracles, train_oracles, training_experiment};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SMALL: &str = "
    runs = 3
    [fabric]
    servers = 4
    spines = 1
    [traffic]
    duration_ns = 4_000_000
    [[traffic.flows]]
    load = 0.5
    [[traffic.incasts]]
    per_server_hz = 500.0
    fan_in = 4
";

fn program() -> PathBuf {
    std::env::current_exe().expect("a program has a file")
}

/// Simulates some of two parts of what it is asked.
#[derive(Debug)]
struct Elsewhere {
    folder: PathBuf,
    parts: &'static [&'static str],
}

impl Fleet for Elsewhere {
    fn simulate(
        &self,
        job: &str,
        runs: usize,
        ended: &mut dyn FnMut(&str) -> Result<(), PipelineError>,
    ) -> Result<(), PipelineError> {
        let mut simulated = 0;
        for part in self.parts {
            let file = self.folder.join(part.replace('/', "-of-"));
            let kept = Arc::new(KeptRuns::open(&file, &program(), &Silent)?);
            let part = part.parse().expect("a part");
            simulated += simulate_share(job, part, kept, &Resources::default(), &Silent)?;
            ended(&fs::read_to_string(&file).expect("it was written"))?;
            fs::remove_file(&file).expect("it is there");
        }
        assert!(self.parts.len() < 2 || simulated == runs);
        Ok(())
    }
}

fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("runs are kept");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Runs of the file, and those that each kind of fleet leaves there.
fn kept_by(
    folder: &Path,
    parts: &'static [&'static str],
    run: impl Fn(Arc<KeptRuns>),
) -> Vec<String> {
    let file = folder.join(format!("runs-{}.jsonl", parts.len()));
    let kept = KeptRuns::open(&file, &program(), &Silent).expect("a new file");
    run(Arc::new(kept.asking(Box::new(Elsewhere { folder: folder.to_owned(), parts }))));
    lines(&file)
}

const FLEETS: [&[&str]; 3] = [&["1/2", "2/2"], &["2/2"], &[]];

#[test]
fn a_comparison_is_the_same_whoever_simulates() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let network = NdtNetwork::neutral(NetworkShape::default()).expect("valid sizes");
    let mut training = training_experiment();
    training.traffic.duration_ns = 6_000_000;
    let incast = &mut training.traffic.incasts[0];
    (incast.per_server_hz, incast.burst) = (500.0, 1.5);
    let named = default_oracles();
    let settings = named.iter().map(|(_, settings)| settings);
    let models = train_oracles(&training, settings, &Resources::default(), &Silent);
    let mut oracles = Oracles::default();
    oracles.insert("mine", models.expect("drops to learn from").remove(0));
    let file = folder.path().join("network.json");
    fs::write(&file, serde_json::to_string(&network).expect("JSON")).expect("written");
    let policies =
        format!("policies = ['lqd', 'credence:model=mine', 'ndt:model={}']", file.display());
    let experiment: Experiment = toml::from_str(&(policies + SMALL)).expect("an experiment");
    let prepared = experiment.prepare_with(oracles).expect("valid");
    // A job brings what its policies ask.
    fs::remove_file(&file).expect("it is there");
    let alone = prepared.compare(&Resources::default(), &Silent).expect("runs");
    let kept = FLEETS.map(|parts| {
        kept_by(folder.path(), parts, |kept| {
            let prepared = prepared.clone().keeping(kept);
            assert_eq!(prepared.compare(&Resources::default(), &Silent).expect("runs"), alone);
        })
    });
    assert_eq!(kept[0].len(), 9);
    assert!(kept.iter().all(|lines| *lines == kept[0]));
}
