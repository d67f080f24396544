//! PRED's queue length adjuster (section 4.2): finds the slope of RED by trial.

use super::parameters::PredParameters;

/// The RED setting of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// `minK`, bytes.
    pub min_bytes: u32,
    /// `lambda`, 1/MB; RED's slope for one flow.
    pub lambda: f64,
}

/// Tries a steeper and a flatter setting twice, and moves a step if both pairs of trials agree.
///
/// There are four trials of equal time `T_QLA`: steeper, flatter, flatter, steeper (figure 10b).
/// Each has a utility,
///
/// ```text
/// U = beta * R/C + (1 - beta) * phi(mean length)
/// phi(q) = 1 up to q_left, then falling to 0 at maxK
/// ```
///
/// with `R` the rate out of the queue, `C` the line rate and the mean length over time. If `U1 >
/// U2` and `U4 > U3`, the setting becomes a step steeper; if `U1 < U2` and `U4 < U3`, a step
/// flatter. The paper draws `phi` without numbers (figure 10a); that it is linear and ends at
/// `maxK` is our choice.
///
/// Settings are ordered, so that a step back undoes a step. From level 0 up, `lambda` is
/// `lambda_min + level * Delta lambda` and `minK` the initial one; below, `lambda` stays at
/// `lambda_min` and `minK` grows by `Delta minK` a level, up to `maxK` (section 4.2, "Adjustment of
/// minK").
///
/// If nothing arrived or left for a whole trial, there is nothing to compare, and the trials
/// restart.
#[derive(Clone, Debug)]
pub struct Adjuster {
    /// Length of a trial; 0 if there are none.
    trial_ns: u64,
    line_rate_bps: f64,
    beta: f64,
    left_bytes: f64,
    max_bytes: u32,
    min_bytes: u32,
    min_step_bytes: u32,
    lambda_min: f64,
    lambda_step: f64,
    level: i32,
    trial: usize,
    /// Start of the present trial; `None` before the first event.
    began_ns: Option<u64>,
    /// Utilities of the finished trials.
    utilities: [f64; 4],
    sent_bytes: u64,
    /// Integral of length over time in this trial, until `counted_ns`.
    byte_ns: u128,
    counted_ns: u64,
}

/// Whether each trial uses the steeper setting.
const IS_STEEPER: [bool; 4] = [true, false, false, true];

impl Adjuster {
    /// Begins with the initial setting.
    pub fn new(parameters: &PredParameters, line_rate_bps: u64, trial_ns: u64) -> Self {
        let PredParameters { lambda, lambda_min, lambda_step, .. } = *parameters;
        Adjuster {
            trial_ns,
            line_rate_bps: line_rate_bps as f64,
            beta: parameters.beta,
            left_bytes: f64::from(parameters.left_bytes),
            max_bytes: parameters.max_bytes,
            min_bytes: parameters.min_bytes,
            min_step_bytes: parameters.min_step_bytes,
            lambda_min,
            lambda_step,
            // Saturates: such a slope marks everything.
            level: ((lambda - lambda_min) / lambda_step).round() as i32,
            trial: 0,
            began_ns: None,
            utilities: [0.0; 4],
            sent_bytes: 0,
            byte_ns: 0,
            counted_ns: 0,
        }
    }

    /// The level that trials are made around.
    pub fn level(&self) -> i32 {
        self.level
    }

    /// The setting of the present trial.
    pub fn setting(&self) -> Setting {
        if self.trial_ns == 0 {
            return self.at_level(self.level);
        }
        let (steeper, flatter) = (self.level.saturating_add(1), self.flatter());
        self.at_level(if IS_STEEPER[self.trial] { steeper } else { flatter })
    }

    /// A packet arrives and finds the queue this long.
    pub fn arrives(&mut self, length_bytes: u32, now_ns: u64) {
        self.count(length_bytes, now_ns);
    }

    /// A packet left and leaves the queue this long.
    pub fn departed(&mut self, length_bytes: u32, size_bytes: u32, now_ns: u64) {
        self.count(length_bytes.saturating_add(size_bytes), now_ns);
        self.sent_bytes += u64::from(size_bytes);
    }

    /// A step flatter, unless `minK` would exceed `maxK`.
    fn flatter(&self) -> i32 {
        let room_bytes = self.max_bytes.saturating_sub(self.min_bytes);
        let lowest = -i64::from(room_bytes / self.min_step_bytes);
        // Between two 32-bit numbers.
        i64::from(self.level).saturating_sub(1).max(lowest) as i32
    }

    fn at_level(&self, level: i32) -> Setting {
        let raised = self.min_step_bytes.saturating_mul(level.min(0).unsigned_abs());
        Setting {
            min_bytes: self.min_bytes.saturating_add(raised),
            lambda: self.lambda_min + f64::from(level.max(0)) * self.lambda_step,
        }
    }

    /// The queue has been `length_bytes` long since the last event.
    fn count(&mut self, length_bytes: u32, now_ns: u64) {
        if self.trial_ns == 0 {
            return;
        }
        let Some(mut began_ns) = self.began_ns else {
            return self.begin_anew(length_bytes, now_ns);
        };
        if now_ns >= began_ns.saturating_add(self.trial_ns.saturating_mul(2)) {
            return self.begin_anew(length_bytes, now_ns);
        }
        if now_ns >= began_ns.saturating_add(self.trial_ns) {
            began_ns += self.trial_ns;
            self.add(length_bytes, began_ns);
            self.end_trial();
            self.began_ns = Some(began_ns);
        }
        self.add(length_bytes, now_ns);
    }

    fn add(&mut self, length_bytes: u32, until_ns: u64) {
        let elapsed_ns = until_ns.saturating_sub(self.counted_ns);
        self.byte_ns += u128::from(length_bytes) * u128::from(elapsed_ns);
        self.counted_ns = until_ns;
    }

    fn end_trial(&mut self) {
        self.utilities[self.trial] = self.utility();
        self.trial += 1;
        if self.trial == IS_STEEPER.len() {
            self.judge();
            self.trial = 0;
        }
        self.sent_bytes = 0;
        self.byte_ns = 0;
    }

    fn judge(&mut self) {
        let [first, second, third, fourth] = self.utilities;
        if first > second && fourth > third {
            self.level = self.level.saturating_add(1);
        } else if first < second && fourth < third {
            self.level = self.flatter();
        }
    }

    fn begin_anew(&mut self, length_bytes: u32, now_ns: u64) {
        self.trial = 0;
        // Trials of all queues are synchronised.
        let began_ns = now_ns - now_ns % self.trial_ns;
        self.began_ns = Some(began_ns);
        self.counted_ns = began_ns;
        self.sent_bytes = 0;
        self.byte_ns = 0;
        self.add(length_bytes, now_ns);
    }

    fn utility(&self) -> f64 {
        let trial_ns = self.trial_ns as f64;
        let throughput = self.sent_bytes as f64 * 8e9 / (trial_ns * self.line_rate_bps);
        let mean_bytes = self.byte_ns as f64 / trial_ns;
        let (left, right) = (self.left_bytes, f64::from(self.max_bytes));
        let shortness = ((right - mean_bytes) / (right - left)).clamp(0.0, 1.0);
        self.beta * throughput + (1.0 - self.beta) * shortness
    }
}
