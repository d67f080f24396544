//! A function of Python as a buffer-sharing policy.

use dropcast_data::{InputNote, SwitchSpec};
use dropcast_features::BufferView;
use dropcast_measure::verdict::NamedOwnPolicy;
use dropcast_pipeline::progress::Progress;
use dropcast_switch::{Buffer, Decision, Packet, Policy};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The first exception of the functions of a replay. From then on they are not called.
pub(crate) type Raised = Arc<OnceLock<PyErr>>;

/// A packet that arrives.
#[pyclass(frozen, get_all, module = "dropcast._dropcast")]
pub(crate) struct ArrivingPacket {
    time_ns: u64,
    port: usize,
    /// Of its port.
    queue: usize,
    size_bytes: u32,
}

/// A switch when a packet arrives, before it is added. All bytes are of the shared buffer.
#[pyclass(frozen, module = "dropcast._dropcast")]
pub(crate) struct SwitchState {
    #[pyo3(get)]
    id: u16,
    spec: Arc<SwitchSpec>,
    /// Of the packet.
    own: usize,
    #[pyo3(get)]
    occupancy_bytes: u32,
    lengths: Box<[u32]>,
}

#[pymethods]
impl SwitchState {
    #[getter]
    fn queue_bytes(&self) -> u32 {
        self.lengths[self.own]
    }

    #[getter]
    fn buffer_bytes(&self) -> u32 {
        self.spec.buffer_bytes
    }

    #[getter]
    fn free_bytes(&self) -> u32 {
        self.spec.buffer_bytes.saturating_sub(self.occupancy_bytes)
    }

    /// Bytes of every queue: of a port, then its queue.
    #[getter]
    fn lengths(&self) -> Vec<Vec<u32>> {
        let per_port = usize::from(self.spec.queues_per_port).max(1);
        self.lengths.chunks(per_port).map(<[u32]>::to_vec).collect()
    }

    /// By port.
    #[getter]
    fn line_rate_bps(&self) -> Vec<u64> {
        self.spec.line_rate_bps.clone()
    }

    #[getter]
    fn base_rtt_ns(&self) -> u64 {
        self.spec.base_rtt_ns
    }
}

/// Accepts a packet that fits while a function says so.
struct OwnPolicy {
    accept: Arc<Py<PyAny>>,
    raised: Raised,
    id: u16,
    spec: Arc<SwitchSpec>,
}

impl OwnPolicy {
    fn accepts(&self, buffer: &Buffer, packet: &Packet, time_ns: u64) -> PyResult<bool> {
        let per_port = buffer.queues_per_port();
        let arriving = ArrivingPacket {
            time_ns,
            port: packet.queue / per_port,
            queue: packet.queue % per_port,
            size_bytes: packet.size_bytes,
        };
        let state = SwitchState {
            id: self.id,
            spec: self.spec.clone(),
            own: packet.queue,
            occupancy_bytes: buffer.occupancy_bytes(),
            lengths: buffer.shared_lengths().into(),
        };
        Python::attach(|py| {
            let answer = self.accept.bind(py).call1((arriving, state))?;
            answer.extract().map_err(|_| {
                let given = answer
                    .get_type()
                    .name()
                    .map_or_else(|_| String::new(), |name| name.to_string());
                PyTypeError::new_err(format!(
                    "policy: returned {given}, expected True to accept, or False"
                ))
            })
        })
    }
}

impl Policy for OwnPolicy {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        if !buffer.fits(packet.size_bytes) || self.raised.get().is_some() {
            return Decision::Reject;
        }
        match self.accepts(buffer, packet, now) {
            Ok(true) => Decision::Accept,
            Ok(false) => Decision::Reject,
            Err(error) => {
                // Of several, one is raised.
                let _ = self.raised.set(error);
                Decision::Reject
            }
        }
    }
}

/// Functions with their names as policies.
pub(crate) fn own_policies(own: Vec<(String, Py<PyAny>)>, raised: &Raised) -> Vec<NamedOwnPolicy> {
    let named = |(label, accept): (String, Py<PyAny>)| {
        let (accept, raised) = (Arc::new(accept), raised.clone());
        let policy = move |id, spec: &SwitchSpec| -> Box<dyn Policy + Send> {
            let (accept, raised, spec) = (accept.clone(), raised.clone(), Arc::new(spec.clone()));
            Box::new(OwnPolicy { accept, raised, id, spec })
        };
        NamedOwnPolicy { label, policy: Arc::new(policy) }
    };
    own.into_iter().map(named).collect()
}

/// Progress that also ends the work once a function has raised.
pub(crate) struct UntilRaised<'a> {
    pub(crate) progress: &'a dyn Progress,
    pub(crate) raised: &'a Raised,
}

impl Progress for UntilRaised<'_> {
    fn begin(&self, stage: &'static str) {
        self.progress.begin(stage);
    }

    fn advance(&self, rows: usize) {
        self.progress.advance(rows);
    }

    fn estimate(&self, done: u64, all: u64) {
        self.progress.estimate(done, all);
    }

    fn restart(&self) {
        self.progress.restart();
    }

    fn end(&self, done: &str) {
        self.progress.end(done);
    }

    fn note(&self, note: &str) {
        self.progress.note(note);
    }

    fn input_note(&self, file: Option<&Path>, note: InputNote, rows: u64) {
        self.progress.input_note(file, note, rows);
    }

    fn is_cancelled(&self) -> bool {
        self.raised.get().is_some() || self.progress.is_cancelled()
    }
}
