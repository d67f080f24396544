//! Figure 14 of the Credence paper: throughput against the probability of flipped predictions.
//!
//! Slotted model, unit packets. LQD's drops are the perfect predictions; each is flipped with some
//! probability, and Credence runs on the flipped ones. The paper gives neither ports, buffer,
//! burst rate nor DT's alpha here: [`sweep`] shows what depends on them.

use dropcast_data::SwitchSpec;
use dropcast_data::random::mix;
use dropcast_pipeline::PipelineError;
use dropcast_switch::{
    Alphas, BuildError, Fit, Lqd, Observer, OfflineOptimum, Packet, Policy, PolicyModel,
    PolicySite, PolicySpec, Recorded, Removal, Slotted, Switch, Victim,
};
use std::fmt;
use std::sync::Arc;

pub use traffic::{Fig14Case, Fig14Traffic};

/// Probabilities that are measured: 0, 0.1 .. 1, as on the figure's axis.
pub const FLIP_PROBABILITIES: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The probability up to which the paper sees Credence beat DT.
pub const PAPER_BEATS_DT_AT: f64 = 0.7;

/// LQD/Credence in the paper when every prediction is flipped.
pub const PAPER_RATIO_AT_1: f64 = 2.9;

/// What the paper says (Figure 14).
pub const PAPER: &str = "LQD/Credence rises from 1 to 2.9; Credence beats DT even at 0.7";

/// How often predictions are flipped, and from which seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14Options {
    /// Probabilities, each from 0 to 1.
    pub flip_probabilities: Vec<f64>,
    /// Independent flips of the same predictions, at least 1.
    pub repetitions: u32,
    /// Seed.
    pub seed: u64,
    /// The policies, in the order of the rows. Credence and its kin have the flipped predictions.
    pub policies: Vec<PolicySpec>,
}

impl Default for Fig14Options {
    fn default() -> Self {
        let policies = vec![
            PolicySpec::Credence(Default::default()),
            PolicySpec::DynamicThresholds(Default::default()),
            PolicySpec::CompleteSharing(Default::default()),
            PolicySpec::FollowLqd(Default::default()),
            PolicySpec::PaybackCredence(Default::default()),
            PolicySpec::FollowMax(Default::default()),
            // What production switches ship.
            PolicySpec::dt(Alphas::try_from(8.0).expect("8 is positive")),
        ];
        Fig14Options {
            flip_probabilities: FLIP_PROBABILITIES.to_vec(),
            repetitions: 5,
            seed: 1,
            policies,
        }
    }
}

/// Whether a policy follows predictions, which are flipped.
fn is_predicted(policy: &PolicySpec) -> bool {
    matches!(
        policy,
        PolicySpec::Credence(_) | PolicySpec::PaybackCredence(_) | PolicySpec::FollowMax(_)
    )
}

/// An algorithm of the figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Fig14Algorithm {
    /// A policy.
    Policy(PolicySpec),
    /// The most that any algorithm transmits that knows all arrivals ([`OfflineOptimum`]).
    Optimum,
}

impl fmt::Display for Fig14Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fig14Algorithm::Policy(PolicySpec::DynamicThresholds(own))
                if *own != Default::default() =>
            {
                write!(f, "DT with alpha {}", own.alpha)
            }
            Fig14Algorithm::Policy(policy) => f.write_str(policy.title()),
            Fig14Algorithm::Optimum => f.write_str("OPT"),
        }
    }
}

/// A number over the repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndRange {
    /// Mean.
    pub mean: f64,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
}

/// One point of the figure. Without predictions a policy is the same at every probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14Row {
    /// Probability that a prediction is flipped.
    pub flip_probability: f64,
    /// The policy.
    pub algorithm: Fig14Algorithm,
    /// `LQD / ALG`, packets transmitted; none where a repetition transmitted nothing.
    pub ratio: Option<MeanAndRange>,
    /// Packets transmitted.
    pub transmitted: MeanAndRange,
}

/// The figure's numbers for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14 {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that LQD transmitted.
    pub lqd_transmitted: u64,
    /// By probability in the order of the options, then the policies in theirs, then OPT.
    pub rows: Vec<Fig14Row>,
}

/// What the paper's sentence about DT comes to in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14SweepRow {
    /// Output ports `N`.
    pub ports: u16,
    /// Buffer `B`, packets.
    pub buffer_packets: u32,
    /// Bursts per slot.
    pub bursts_per_slot: f64,
    /// Share of the packets that LQD drops; none if there are no packets.
    pub lqd_drop_share: Option<f64>,
    /// `LQD / DT`.
    pub dt_ratio: Option<f64>,
    /// Mean `LQD / Credence` at [`PAPER_BEATS_DT_AT`], if that was measured.
    pub credence_ratio_at_0_7: Option<f64>,
    /// Mean `LQD / Credence` at 1, if that was measured.
    pub credence_ratio_at_1: Option<f64>,
    /// Whether Credence transmits more than DT at [`PAPER_BEATS_DT_AT`].
    pub beats_dt_at_0_7: Option<bool>,
    /// The highest probability measured up to which Credence transmits more than DT at every one;
    /// none if it never does.
    pub beats_dt_up_to: Option<f64>,
}

/// Why the figure cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fig14Error {
    /// The switch has no port or no buffer, or the options ask for nothing.
    #[error("{0} is 0, expected at least 1")]
    Zero(&'static str),
    /// A packet is for a port that the switch lacks.
    #[error("slot {slot} has a packet for port {port}, the switch has {ports} ports")]
    Port {
        /// The slot, from 0.
        slot: usize,
        /// The port.
        port: u16,
        /// How many there are.
        ports: u16,
    },
    /// Not a probability.
    #[error("flip probability {0}, expected 0 to 1")]
    Probability(f64),
    /// A policy that the switch cannot have.
    #[error("{0}")]
    Policy(#[from] BuildError),
}

impl From<Fig14Error> for PipelineError {
    fn from(error: Fig14Error) -> Self {
        PipelineError::setting("figure 14", error.to_string())
    }
}

/// Measures one case.
///
/// # Errors
/// A number of the case or of the options is out of its range.
pub fn measure(case: &Fig14Case, options: &Fig14Options) -> Result<Fig14, Fig14Error> {
    check(case, options)?;
    let runs = Runs { spec: SwitchSpec::uniform(case.ports, 1, case.buffer_packets, 1), case };
    let lqd = Arc::new(runs.transmitted(Lqd::new(Victim::Tail)));
    let lqd_transmitted = count(&lqd);
    let row = |flip_probability, algorithm, transmitted: &[u64]| Fig14Row {
        flip_probability,
        algorithm,
        ratio: ratio(lqd_transmitted, transmitted),
        transmitted: spread(transmitted.iter().map(|&n| n as f64)),
    };
    let constant = |policy: &PolicySpec| {
        (!is_predicted(policy)).then(|| runs.count_of(policy, None)).transpose()
    };
    let constant: Vec<Option<u64>> =
        options.policies.iter().map(constant).collect::<Result<_, BuildError>>()?;
    let optimum = runs.count(runs.optimum());
    let mut rows = Vec::new();
    for &probability in &options.flip_probabilities {
        for (policy, constant) in options.policies.iter().zip(&constant) {
            let repeat = |repetition| {
                let flips = Flips { seed: options.seed, repetition, probability };
                let lqd = Arc::clone(&lqd);
                let predicts = move |id: u64| !lqd[id as usize] ^ flips.flips(id);
                runs.count_of(policy, Some(PolicyModel::Predictor(Box::new(Recorded(predicts)))))
            };
            let transmitted = match constant {
                Some(transmitted) => vec![*transmitted],
                None => (0..options.repetitions).map(repeat).collect::<Result<_, BuildError>>()?,
            };
            rows.push(row(probability, Fig14Algorithm::Policy(policy.clone()), &transmitted));
        }
        rows.push(row(probability, Fig14Algorithm::Optimum, &[optimum]));
    }
    Ok(Fig14 { arrived: lqd.len() as u64, lqd_transmitted, rows })
}

/// Whether, and how far, Credence beats DT in each case.
///
/// # Errors
/// As [`measure`], for the first case that is at fault.
pub fn sweep(
    cases: impl IntoIterator<Item = Fig14Case>,
    options: &Fig14Options,
) -> Result<Vec<Fig14SweepRow>, Fig14Error> {
    let is_compared = |policy: &&PolicySpec| {
        matches!(policy, PolicySpec::Credence(_) | PolicySpec::DynamicThresholds(_))
    };
    let policies = options.policies.iter().filter(is_compared).cloned().collect();
    let options = Fig14Options { policies, ..options.clone() };
    let row = |case| Ok(measure(&case, &options)?.against_dynamic_thresholds(&case));
    cases.into_iter().map(row).collect()
}

impl Fig14 {
    /// The figure in one line.
    pub fn against_dynamic_thresholds(&self, case: &Fig14Case) -> Fig14SweepRow {
        let of = |name| {
            let is_named = move |row: &&Fig14Row| match &row.algorithm {
                Fig14Algorithm::Policy(policy) => policy.name() == name,
                Fig14Algorithm::Optimum => false,
            };
            self.rows.iter().filter(is_named)
        };
        let dt = of("dt").next();
        // Whoever transmits more has the lower ratio; where there is no ratio there is no answer.
        let beats = |row: &Fig14Row| Some(row.ratio?.mean < dt?.ratio?.mean);
        let credence = || of("credence");
        let at = |p| credence().find(|row| row.flip_probability == p);
        let mut credence: Vec<&Fig14Row> = credence().collect();
        credence.sort_by(|a, b| a.flip_probability.total_cmp(&b.flip_probability));
        let mean = |row: Option<&Fig14Row>| Some(row?.ratio?.mean);
        Fig14SweepRow {
            ports: case.ports,
            buffer_packets: case.buffer_packets,
            bursts_per_slot: case.bursts_per_slot,
            lqd_drop_share: (self.arrived > 0)
                .then(|| 1.0 - self.lqd_transmitted as f64 / self.arrived as f64),
            dt_ratio: mean(dt),
            credence_ratio_at_0_7: mean(at(PAPER_BEATS_DT_AT)),
            credence_ratio_at_1: mean(at(1.0)),
            beats_dt_at_0_7: at(PAPER_BEATS_DT_AT).and_then(beats),
            beats_dt_up_to: credence
                .into_iter()
                .take_while(|row| beats(row) == Some(true))
                .last()
                .map(|row| row.flip_probability),
        }
    }
}

impl Fig14SweepRow {
    /// One line per case; a field is empty where the case has no value.
    pub fn to_csv(rows: &[Fig14SweepRow]) -> String {
        fn field<T: ToString>(value: Option<T>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        let mut out = "ports,buffer_packets,bursts_per_slot,lqd_drop_share,dt_ratio,credence_ratio_at_0_7,credence_ratio_at_1,beats_dt_at_0_7,beats_dt_up_to,expectation\n".to_owned();
        for row in rows {
            let fields = [
                row.ports.to_string(),
                row.buffer_packets.to_string(),
                row.bursts_per_slot.to_string(),
                field(row.lqd_drop_share),
                field(row.dt_ratio),
                field(row.credence_ratio_at_0_7),
                field(row.credence_ratio_at_1),
                field(row.beats_dt_at_0_7),
                field(row.beats_dt_up_to),
                format!("\"{PAPER}\""),
            ];
            out.push_str(&fields.join(","));
            out.push('\n');
        }
        out
    }
}

fn check(case: &Fig14Case, options: &Fig14Options) -> Result<(), Fig14Error> {
    let Fig14Case { ports, buffer_packets, slots, .. } = case;
    let counts = [
        ("ports", u64::from(*ports)),
        ("buffer_packets", u64::from(*buffer_packets)),
        ("repetitions", u64::from(options.repetitions)),
    ];
    if let Some((name, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
        return Err(Fig14Error::Zero(name));
    }
    if let Some(&p) = options.flip_probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Fig14Error::Probability(p));
    }
    for (slot, packets) in slots.iter().enumerate() {
        if let Some(&port) = packets.iter().find(|port| *port >= ports) {
            return Err(Fig14Error::Port { slot, port, ports: *ports });
        }
    }
    Ok(())
}

/// The switches that the arrivals run through.
struct Runs<'a> {
    spec: SwitchSpec,
    case: &'a Fig14Case,
}

impl Runs<'_> {
    /// What a policy of the registry transmits, with these predictions if it follows any.
    fn count_of(&self, policy: &PolicySpec, model: Option<PolicyModel>) -> Result<u64, BuildError> {
        let site = PolicySite { model, ..PolicySite::new(&self.spec, 0) };
        Ok(self.count(policy.build(site.served_by(Slotted::default()))?))
    }

    fn optimum(&self) -> OfflineOptimum {
        let in_slot = |(slot, ports): (u64, &'_ Vec<u16>)| {
            ports.iter().map(move |&port| (slot, usize::from(port))).collect::<Vec<_>>()
        };
        let arrivals = (0..).zip(&self.case.slots).flat_map(in_slot);
        OfflineOptimum::slotted(usize::from(self.case.ports), arrivals)
    }

    fn count(&self, policy: impl Policy) -> u64 {
        count(&self.transmitted(policy))
    }

    /// For each packet, whether it is transmitted: accepted, and not pushed out later.
    fn transmitted(&self, policy: impl Policy) -> Vec<bool> {
        let mut switch = Switch::new(&self.spec, Fit::Exact, policy, Slotted::default());
        let mut sent = Sent(Vec::new());
        for (slot, ports) in (0..).zip(&self.case.slots) {
            switch.advance(slot, &mut sent);
            for &port in ports {
                let id = sent.0.len() as u64;
                sent.0.push(true);
                let packet = Packet::new(id, usize::from(port), 1);
                sent.0[id as usize] = switch.admit(&packet, slot, &mut sent);
            }
        }
        sent.0
    }
}

/// Takes back what is pushed out. What is still held at the end will be transmitted.
struct Sent(Vec<bool>);

impl Observer for Sent {
    fn removed(&mut self, removal: &Removal, _: &dropcast_switch::Buffer) {
        if removal.outcome == dropcast_data::Outcome::PushedOut {
            self.0[removal.packet.id as usize] = false;
        }
    }
}

/// Which predictions are flipped: each by a number that only depends on seed, repetition and
/// packet, so a prediction that is flipped at one probability is flipped at every higher one.
struct Flips {
    seed: u64,
    repetition: u32,
    probability: f64,
}

impl Flips {
    fn flips(&self, id: u64) -> bool {
        let stream = mix(self.seed ^ mix(u64::from(self.repetition)));
        let uniform = (mix(stream ^ mix(id)) >> 11) as f64 / (1u64 << 53) as f64;
        uniform < self.probability
    }
}

fn count(transmitted: &[bool]) -> u64 {
    transmitted.iter().map(|&is| u64::from(is)).sum()
}

fn ratio(lqd: u64, transmitted: &[u64]) -> Option<MeanAndRange> {
    let ratios = transmitted.iter().map(|&n| lqd as f64 / n as f64);
    (!transmitted.contains(&0)).then(|| spread(ratios))
}

fn spread(values: impl Iterator<Item = f64> + Clone) -> MeanAndRange {
    let n = values.clone().count() as f64;
    MeanAndRange {
        mean: values.clone().sum::<f64>() / n,
        min: values.clone().fold(f64::INFINITY, f64::min),
        max: values.fold(f64::NEG_INFINITY, f64::max),
    }
}

mod traffic;

#[cfg(test)]
mod tests;
