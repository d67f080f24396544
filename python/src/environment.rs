//! Episodes of the fabric: what `dropcast.envs` is made of.

use crate::settings::{Described, text};
use crate::{errors, work};
use dropcast_fabric::{Decisions, DroppedPacket, EndedFlows, Episode, FlowClass, FlowRecord, Next};
use dropcast_lab::closed_loop::{Experiment, NamedPolicy, Prepared, Traffic};
use dropcast_pipeline::PipelineError;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An experiment of whose runs one is stepped through.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct Environment {
    prepared: Prepared,
    decisions: Decisions,
    episode: Mutex<Option<Episode<Traffic>>>,
}

/// Numbers of a flow.
const FLOW_NUMBERS: usize = 7;

impl Environment {
    fn episode(&self) -> MutexGuard<'_, Option<Episode<Traffic>>> {
        self.episode.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Environment {
    /// The other switches have the experiment's first policy.
    #[new]
    fn new(
        py: Python<'_>,
        experiment: Described,
        switch: u16,
        interval_ns: Option<u64>,
        history: usize,
    ) -> PyResult<Self> {
        let experiment: Experiment = experiment.read(py, "experiment", Experiment::read)?;
        let decisions = Decisions { switch_id: switch, interval_ns, history };
        let prepared = work::detached(py, || {
            let prepared = experiment.prepare()?;
            prepared.episode(decisions, 0)?;
            Ok::<_, PipelineError>(prepared)
        })?;
        Ok(Environment { prepared, decisions, episode: Mutex::new(None) })
    }

    /// Ports of the switch.
    #[getter]
    fn ports(&self, py: Python<'_>) -> PyResult<usize> {
        let fabric = work::detached(py, || self.prepared.fabric(0))?;
        Ok(fabric.switch_spec(self.decisions.switch_id).ports())
    }

    /// Begins run `run` anew. Returns what is observed.
    fn reset<'py>(&self, py: Python<'py>, run: u32) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let episode = work::detached(py, || self.prepared.episode(self.decisions, run))?;
        let observed = episode.observed();
        *self.episode() = Some(episode);
        Ok(PyArray1::from_vec(py, observed))
    }

    /// Takes an alpha for each port, and goes on to the next decision. Returns what is observed, and what came of the
    /// last decision.
    fn step<'py>(
        &self,
        py: Python<'py>,
        alphas: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<i32>>, [u64; 9])> {
        let alphas = alphas.as_slice()?.to_vec();
        let stepped = py.detach(|| {
            let mut episode = self.episode();
            let episode = episode.as_mut().ok_or("no episode has begun; call reset first")?;
            let interval = episode.step(&alphas).map_err(|error| error.to_string())?;
            Ok::<_, String>((episode.observed(), interval))
        });
        let (observed, interval) =
            stepped.map_err(|problem| errors::exception(py, true, &problem))?;
        let numbers = [
            interval.end_ns,
            interval.elapsed_ns,
            interval.flow_ns,
            interval.started,
            interval.completed,
            interval.dropped,
            interval.dropped_bytes,
            u64::from(interval.next == Next::Over),
            u64::from(interval.next == Next::CutOff),
        ];
        Ok((PyArray1::from_vec(py, observed), numbers))
    }

    /// The flows of the episode that have ended, seven numbers each.
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        let episode = self.episode();
        let flows = episode.as_ref().map_or(&[][..], Episode::flows);
        PyArray1::from_vec(py, numbers(flows))
    }

    /// The packets that the switch has dropped, three numbers each: time, port, and bytes in the queue without it.
    fn drops<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        let episode = self.episode();
        let drops = episode.as_ref().map_or(&[][..], Episode::drops);
        let of = |drop: &DroppedPacket| [drop.time_ns, drop.port.into(), drop.queue_bytes.into()];
        PyArray1::from_vec(py, drops.iter().flat_map(of).collect())
    }

    /// The flows of run `run` under a policy.
    fn run<'py>(
        &self,
        py: Python<'py>,
        policy: &str,
        run: u32,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let policy: NamedPolicy = text(py, "policy", policy)?;
        let ended = work::detached(py, || {
            let mut experiment = self.prepared.experiment().clone();
            experiment.policies = vec![policy.clone()];
            let mut ended = EndedFlows::default();
            experiment.prepare()?.run(&policy, run, &mut ended)?;
            Ok::<_, PipelineError>(ended)
        })?;
        Ok(PyArray1::from_vec(py, numbers(&ended.flows)))
    }
}

/// Start, sender, receiver, payload, whether it is single, completion time (0: not completed), and the ideal one.
fn numbers(flows: &[FlowRecord]) -> Vec<u64> {
    let of = |record: &FlowRecord| -> [u64; FLOW_NUMBERS] {
        let flow = &record.flow;
        [
            flow.start_ns,
            flow.from.into(),
            flow.to.into(),
            flow.size_bytes,
            u64::from(flow.class == FlowClass::Single),
            record.fct_ns.unwrap_or(0),
            record.ideal_fct_ns,
        ]
    };
    flows.iter().flat_map(of).collect()
}
