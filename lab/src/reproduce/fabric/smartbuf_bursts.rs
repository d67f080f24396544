//! Figures of the Smartbuf paper (IWQoS 2021) that look into a switch: bursts, their limits, and a long flow beside them.
//!
//! Leaves have the policy and spines Dynamic Thresholds, as in section IV-A. EDT is built from secondary sources.

mod beside;
mod watched;

use super::figures::{FabricFigure, Panels, Paper, Vary};
use super::measured::{Cell, MeasuredFigure};
use super::observed::{Numbers, RunNumbers};
use super::scale::Scale;
use super::smartbuf;
use crate::closed_loop::run_all;
use dropcast_fabric::{Fabric, Simulation, Transport, Unwatched};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_switch::PolicySpec;
use watched::{Bursts, Memory};

/// The policies whose limits are compared.
static LIMITING: [(&str, &str); 7] = [
    ("Smartbuf", "smartbuf"),
    ("Smartbuf, a learning phase first", "smartbuf:reading=learn-first"),
    ("Smartbuf, at least DT's threshold", "smartbuf:reading=at-least-dt"),
    ("EDT, from secondary sources", "edt"),
    ("DT, alpha 1", "dt:alpha=1"),
    ("DT, alpha 8", "dt:alpha=8"),
    ("Complete Sharing", "complete-sharing"),
];
static SHARING: [(&str, &str); 2] = [LIMITING[0], LIMITING[4]];
/// So many are known that none is forgotten.
static REMEMBERING: [(&str, &str); 2] = [
    ("Smartbuf", "smartbuf:known_bursts=1000000"),
    ("Smartbuf, at least DT's threshold", "smartbuf:known_bursts=1000000,reading=at-least-dt"),
];
static PREDICTING: [(&str, &str); 2] = [
    ("K = 1", "smartbuf:known_bursts=1000000,neighbours=1"),
    ("K = 3", "smartbuf:known_bursts=1000000"),
];

const PLAIN: FabricFigure = FabricFigure {
    name: "",
    title: "",
    paper: Paper::Smartbuf,
    policies: &LIMITING,
    vary: Vary::Load,
    points: &[0.2, 0.4, 0.6, 0.8],
    load: 0.8,
    burst: 0.3,
    transport: Transport::Dctcp,
    panels: Panels::Metrics(&[]),
    says: "",
    claims: &[],
};

/// Figures of the paper that look into a switch.
pub static FIGURES: [FabricFigure; 5] = [
    FabricFigure {
        name: "smartbuf-fig1",
        title: "Bursts at two ports within a short time",
        policies: &SHARING,
        panels: Panels::Metrics(&["bursts_overlapping", "bursts_of_a_leaf"]),
        says: "two incasts closer in time in different ports, commonly",
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig2",
        title: "Limits of bursts",
        panels: Panels::Metrics(&[
            "burst_limit_most",
            "learned_limit_most",
            "burst_limit_mean",
            "burst_peak_most",
        ]),
        says: "a burst's limit is less than half of the buffer under Smartbuf, all of it under EDT, at every load",
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig4",
        title: "A long flow with incasts at another port",
        vary: Vary::Burst,
        points: &[0.6, 0.9, 1.2, 2.0],
        panels: Panels::Metrics(&[
            "long_flow_gbps_least",
            "long_flow_gbps_mean",
            "incast_over_10_ms",
        ]),
        says: "under EDT the long flow's throughput suddenly drops, under Smartbuf not",
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig7",
        title: "Known bursts",
        policies: &REMEMBERING,
        panels: Panels::Metrics(&["known_bursts_most", "known_bursts_10_ms_most"]),
        says: "fewer than 35 at every load, in proportion to it",
        ..PLAIN
    },
    FabricFigure {
        name: "smartbuf-fig8",
        title: "Limits and needs of bursts in a buffer without end",
        policies: &PREDICTING,
        panels: Panels::Metrics(&["limit_error_most", "limit_error_mean"]),
        says: "the largest error is within 9% at each load, the mean 6%",
        ..PLAIN
    },
];

/// Of a run, nanoseconds: figures 7 and 8 need bursts to learn from, figure 4 has one each 10 ms.
fn duration_ns(figure: &FabricFigure) -> u64 {
    match figure.name {
        "smartbuf-fig4" => 100_000_000,
        "smartbuf-fig7" | "smartbuf-fig8" => 50_000_000,
        _ => smartbuf::scale().duration_ns,
    }
}

/// Whether these settings measure the figure, and not those of policies in the fabric.
pub fn is_of_bursts(figure: &FabricFigure) -> bool {
    FIGURES.iter().any(|own| own.name == figure.name)
}

/// What is requested, where it is not the traffic of figure 3.
pub(crate) fn words(figure: &FabricFigure) -> Option<&'static str> {
    (figure.name == "smartbuf-fig4").then_some("a request each 10 ms, answered by 60 servers")
}

/// One run of a policy.
struct Task {
    figure: &'static FabricFigure,
    point: f64,
    policy: &'static str,
    scale: Scale,
    run: u32,
}

/// Measures figures, each for its own time unless one is given. The same with any number of threads.
///
/// # Errors
/// If it is cancelled, or a duration is out of range.
pub fn measure(
    figures: &[&'static FabricFigure],
    scale: &Scale,
    given_ns: Option<u64>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<MeasuredFigure>, PipelineError> {
    let scale_of = |figure: &FabricFigure| Scale {
        duration_ns: given_ns.unwrap_or(duration_ns(figure)),
        ..scale.clone()
    };
    let mut tasks = Vec::new();
    for &figure in figures {
        for &point in figure.points {
            for &(_, policy) in figure.policies {
                let task = |run| Task { figure, point, policy, scale: scale_of(figure), run };
                tasks.extend((0..scale.runs).map(task));
            }
        }
    }
    let numbers = run_all("figures", tasks, resources, progress, |task| task.numbers())?;
    let mut numbers = numbers.into_iter();
    let measured = |&figure: &&'static FabricFigure| {
        let mut cells = Vec::new();
        for &point in figure.points {
            for &(policy, _) in figure.policies {
                let runs = RunNumbers(numbers.by_ref().take(scale.runs as usize).collect());
                cells.push(Cell { point, policy, runs, flows: 0, slowdowns: [].into() });
            }
        }
        MeasuredFigure { figure, scale: scale_of(figure), cells }
    };
    Ok(figures.iter().map(measured).collect())
}

impl Task {
    fn numbers(&self) -> Result<Numbers, PipelineError> {
        let &Task { figure, point, policy, ref scale, run } = self;
        let policy: PolicySpec = policy.parse().expect("a known policy");
        let mut experiment = smartbuf::experiment(scale, figure, point);
        experiment.fabric.seed = experiment.fabric.seed.wrapping_add(run.into());
        experiment.traffic.seed = experiment.traffic.seed.wrapping_add(run.into());
        if figure.name == "smartbuf-fig4" {
            let fabric = Fabric::try_from(experiment.fabric).map_err(PipelineError::stated)?;
            return beside::observe(&fabric, &policy, point, scale.duration_ns);
        }
        let buffer_bytes = experiment.fabric.leaf_buffer_bytes;
        let memory = if figure.name == "smartbuf-fig8" { Memory::Endless } else { Memory::Shared };
        experiment.fabric.leaf_buffer_bytes *= memory.times();
        for incast in &mut experiment.traffic.incasts {
            incast.burst /= f64::from(memory.times());
        }
        let fabric = Fabric::try_from(experiment.fabric).map_err(PipelineError::stated)?;
        let flows = experiment
            .traffic
            .mix(&fabric)
            .map_err(|error| PipelineError::setting("duration-ms", error.to_string()))?;
        let bursts = Bursts::default();
        let simulation =
            Simulation::new(&fabric, |id, site| bursts.watch(&policy, memory, id, site), flows)
                .map_err(|error| PipelineError::setting("policy", error.to_string()))?;
        simulation.run(&mut Unwatched).map_err(PipelineError::stated)?;
        Ok(bursts.numbers(buffer_bytes, fabric.config().leaves))
    }
}
