//! A simulation that stops for decisions about a switch (`lab/notes/environment.md`).

use super::config::Fabric;
use super::flow::FlowRecord;
use super::outcome::SimulationOutcome;
use super::simulation::{FlowError, Simulation};
use super::sink::{DroppedPacket, FabricObserver};
use super::workload::Workload;
use dropcast_switch::policies::ndt::Steering;
use dropcast_switch::{BuildError, Policy, PolicySite};

/// Decisions that observations go back, at most.
const MOST_HISTORY: usize = 1_024;

/// Which switch is decided about, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decisions {
    /// The switch.
    pub switch_id: u16,
    /// Time between decisions, nanoseconds. `None`: cumulative events ask for them (NDT, section IV-B).
    pub interval_ns: Option<u64>,
    /// Decisions that observations go back, including the present one: 1 to 1024; 8 in NDT.
    pub history: usize,
}

impl Default for Decisions {
    /// NDT's, for switch 0.
    fn default() -> Self {
        Decisions { switch_id: 0, interval_ns: None, history: 8 }
    }
}

/// Why an episode cannot begin or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EpisodeError {
    /// A field of [`Decisions`].
    #[error("{field}: {problem}")]
    Decisions {
        /// Which.
        field: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A policy of the other switches.
    #[error(transparent)]
    Policy(#[from] BuildError),
    /// A flow does not fit the fabric.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// Not an `alpha` for each port.
    #[error("alpha: has {found} numbers, the switch has {ports} ports")]
    Ports {
        /// Numbers given.
        found: usize,
        /// Ports of the switch.
        ports: usize,
    },
    /// An `alpha` out of its range.
    #[error("alpha: is {alpha} for port {port}, expected a positive number")]
    Alpha {
        /// The port.
        port: usize,
        /// Its `alpha`.
        alpha: f64,
    },
    /// The episode has ended.
    #[error("the episode is over; reset begins another")]
    Over,
}

/// What follows an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A decision is due.
    Decision,
    /// All flows have ended.
    Over,
    /// The simulation's `end_ns` has come before all flows ended.
    CutOff,
}

/// What came of a decision: the time until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionInterval {
    /// Its end, nanoseconds.
    pub end_ns: u64,
    /// Its length, nanoseconds.
    pub elapsed_ns: u64,
    /// The time that flows were active in it, added up over flows, nanoseconds: NDT's reward, negated (section III).
    /// A flow is active from its start to its completion, so that these add up to the completion times of all.
    pub flow_ns: u64,
    /// Flows that started.
    pub started: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Packets that the switch dropped.
    pub dropped: u64,
    /// Bytes of these.
    pub dropped_bytes: u64,
    /// What follows.
    pub next: Next,
}

/// Keeps the records of flows, and the drops at one switch.
#[derive(Clone, Debug, Default)]
pub struct EndedFlows {
    /// In order of completion, then incomplete ones.
    pub flows: Vec<FlowRecord>,
    /// The packets that the switch dropped, in order of time.
    pub drops: Vec<DroppedPacket>,
    switch_id: u16,
    dropped_bytes: u64,
}

impl FabricObserver for EndedFlows {
    fn dropped(&mut self, drop: &DroppedPacket) {
        if drop.switch_id == self.switch_id {
            self.drops.push(*drop);
            self.dropped_bytes += u64::from(drop.size_bytes);
        }
    }

    fn flow_ended(&mut self, record: &FlowRecord) {
        self.flows.push(*record);
    }
}

/// A fabric with its flows. Dynamic Thresholds at one switch take the `alpha` of each port from outside; the simulation
/// runs from decision to decision. The first one is due at time 0, before anything was observed.
///
/// ```
/// use dropcast_fabric::{Decisions, Episode, Fabric, FabricConfig, Next, PoissonFlows, TrafficConfig};
///
/// let fabric = Fabric::try_from(FabricConfig { leaves: 1, spines: 0, ..FabricConfig::default() })?;
/// let traffic = TrafficConfig { flows: vec![PoissonFlows::default()], ..TrafficConfig::default() };
/// let others = |_, _: dropcast_switch::PolicySite<'_>| unreachable!("there is one switch");
/// let mut episode = Episode::new(&fabric, Decisions::default(), others, traffic.mix(&fabric)?)?;
/// let alphas = vec![8.0; episode.ports()];
/// let mut flow_ns = 0;
/// let last = loop {
///     let interval = episode.step(&alphas)?;
///     flow_ns += interval.flow_ns;
///     if interval.next != Next::Decision {
///         break interval;
///     }
/// };
/// assert_eq!(last.next, Next::Over);
/// assert_eq!(flow_ns, episode.flows().iter().filter_map(|flow| flow.fct_ns).sum::<u64>());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Episode<W> {
    simulation: Simulation<W>,
    steering: Steering,
    decisions: Decisions,
    end_ns: u64,
    now_ns: u64,
    ended: EndedFlows,
    is_over: bool,
}

impl<W: Workload> Episode<W> {
    /// A fabric whose other switches have the policies that `others` returns.
    ///
    /// # Errors
    /// A field of `decisions` is out of its range, or `others` fails.
    pub fn new(
        fabric: &Fabric,
        decisions: Decisions,
        mut others: impl FnMut(u16, PolicySite<'_>) -> Result<Box<dyn Policy + Send>, BuildError>,
        workload: W,
    ) -> Result<Self, EpisodeError> {
        decisions.check(fabric)?;
        let Decisions { switch_id, interval_ns, history } = decisions;
        let by_events = interval_ns.is_none();
        let steering = Steering::new(fabric.switch_spec(switch_id), history, by_events);
        let policy = |id, site: PolicySite<'_>| match id == switch_id {
            true => Ok(Box::new(steering.policy()) as Box<dyn Policy + Send>),
            false => others(id, site),
        };
        let mut simulation = Simulation::new(fabric, policy, workload)?;
        simulation.begin();
        Ok(Episode {
            simulation,
            steering,
            decisions,
            end_ns: fabric.config().end_ns,
            now_ns: 0,
            ended: EndedFlows { switch_id, ..EndedFlows::default() },
            is_over: false,
        })
    }

    /// Ports of the switch.
    pub fn ports(&self) -> usize {
        self.steering.ports()
    }

    /// What is observed for the decision that is due: for each port in turn, for each decision of the history, latest
    /// first, NDT's attributes ([`dropcast_switch::policies::ndt::PortStates`]).
    pub fn observed(&self) -> Vec<i32> {
        self.steering.observed()
    }

    /// Flows that have ended, in order of completion; behind them, once it is over, those that have not completed.
    pub fn flows(&self) -> &[FlowRecord] {
        &self.ended.flows
    }

    /// The packets that the switch has dropped, in order of time.
    pub fn drops(&self) -> &[DroppedPacket] {
        &self.ended.drops
    }

    /// The totals so far.
    pub fn outcome(&self) -> SimulationOutcome {
        self.simulation.outcome(self.now_ns)
    }

    /// Sets the `alpha` of each port, and runs until the next decision or the end.
    ///
    /// # Errors
    /// There is not a positive `alpha` for each port, a flow does not fit the fabric, or the episode is over.
    pub fn step(&mut self, alphas: &[f64]) -> Result<DecisionInterval, EpisodeError> {
        if self.is_over {
            return Err(EpisodeError::Over);
        }
        let (found, ports) = (alphas.len(), self.ports());
        if found != ports {
            return Err(EpisodeError::Ports { found, ports });
        }
        let wrong = (0..).zip(alphas).find(|(_, alpha)| !(alpha.is_finite() && **alpha > 0.0));
        if let Some((port, &alpha)) = wrong {
            return Err(EpisodeError::Alpha { port, alpha });
        }
        self.steering.decide(alphas);
        let before = (self.now_ns, self.simulation.outcome(self.now_ns));
        let dropped = (self.ended.drops.len(), self.ended.dropped_bytes);
        let (next, flow_ns) = self.run_on()?;
        if next != Next::Decision {
            self.is_over = true;
            self.simulation.report_rest(&mut self.ended);
        }
        let after = self.simulation.outcome(self.now_ns);
        Ok(DecisionInterval {
            end_ns: self.now_ns,
            elapsed_ns: self.now_ns - before.0,
            flow_ns,
            started: after.flows - before.1.flows,
            completed: after.completed - before.1.completed,
            dropped: (self.ended.drops.len() - dropped.0) as u64,
            dropped_bytes: self.ended.dropped_bytes - dropped.1,
            next,
        })
    }

    /// Runs until a decision is due; also returns the time that flows were active, added up.
    fn run_on(&mut self) -> Result<(Next, u64), EpisodeError> {
        let due_ns = self.decisions.interval_ns.map(|interval_ns| self.now_ns + interval_ns);
        let mut flow_ns = 0;
        loop {
            let next_ns = self.simulation.next_ns();
            // A decision comes before what happens at its time.
            let due_ns = due_ns.filter(|&due_ns| {
                due_ns <= self.end_ns && next_ns.is_some_and(|next_ns| due_ns <= next_ns)
            });
            let until_ns = match (due_ns, next_ns) {
                (Some(due_ns), _) => due_ns,
                (None, Some(next_ns)) => next_ns.min(self.end_ns),
                (None, None) => return Ok((Next::Over, flow_ns)),
            };
            let active = self.simulation.started() - self.ended.flows.len() as u64;
            flow_ns += (until_ns - self.now_ns) * active;
            self.now_ns = until_ns;
            if due_ns.is_some() {
                let buffer = self.simulation.buffer(self.decisions.switch_id);
                self.steering.observe(buffer, until_ns);
                return Ok((Next::Decision, flow_ns));
            }
            if self.simulation.step(&mut self.ended)?.is_none() {
                return Ok((Next::CutOff, flow_ns));
            }
            if self.steering.is_due() {
                return Ok((Next::Decision, flow_ns));
            }
        }
    }
}

impl Decisions {
    fn check(&self, fabric: &Fabric) -> Result<(), EpisodeError> {
        let wrong = |field, problem| Err(EpisodeError::Decisions { field, problem });
        let Decisions { switch_id, interval_ns, history } = *self;
        if switch_id >= fabric.switches() {
            let count = fabric.switches();
            return wrong("switch", format!("is {switch_id}, there are {count}, from 0"));
        }
        // A year, so that sums fit 64 bits.
        const MOST_NS: u64 = 1 << 55;
        if interval_ns.is_some_and(|interval_ns| interval_ns == 0 || interval_ns > MOST_NS) {
            let interval_ns = interval_ns.unwrap_or(0);
            return wrong("interval_ns", format!("is {interval_ns}, expected 1 to {MOST_NS}"));
        }
        if !(1..=MOST_HISTORY).contains(&history) {
            return wrong("history", format!("is {history}, expected 1 to {MOST_HISTORY}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
