//! Figures 4 and 5 of the ABM paper (SIGCOMM 2022, sections 2.3 and 3.2): what Dynamic Thresholds and ABM leave for a
//! priority and for a burst, by the paper's equations and in a switch. The paper does not give its parameters.

use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_switch::policies::abm::AbmParameters;
use dropcast_switch::{Alphas, Fit, LineRate, Packet, Policy, PolicySite, PolicySpec, Switch};

/// Ports of the switch; the last one is for the loss-sensitive priority, or the burst.
const PORTS: usize = 17;
const PACKET_BYTES: u32 = 100;
const BUFFER_BYTES: u32 = 1_600_000;
/// A byte per nanosecond.
const LINE_RATE_BPS: u64 = 8_000_000_000;
/// Each overloaded queue gets a packet in this time, four times what its port sends.
const STEP_NS: u64 = 25;
/// Overloaded queues have settled after this time.
const SETTLED_NS: u64 = 1_500_000;
/// Alphas of the best-effort and of the loss-sensitive priority, and of all in figure 5.
const BEST_EFFORT: f64 = 0.5;
const LOSS_SENSITIVE: f64 = 1.0;
/// Ports with a congested best-effort queue, figure 4.
const CONGESTED: [usize; 6] = [0, 1, 2, 4, 8, 16];
/// How many times as fast as its port sends a burst comes, figure 5.
const RATES: [u64; 4] = [2, 4, 8, 16];

/// A panel.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationPanel {
    /// Its name in files: `free`.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What its points are.
    pub of: &'static str,
    /// Its curves.
    pub curves: Vec<EquationCurve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationCurve {
    /// Its name.
    pub name: String,
    /// From left to right.
    pub points: Vec<EquationPoint>,
}

/// A share of the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquationPoint {
    /// Where.
    pub at: f64,
    /// By the paper's equation.
    pub equation: f64,
    /// In the switch.
    pub switch: f64,
}

/// Who shares the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    DynamicThresholds,
    Abm,
}

impl Sharing {
    const ALL: [Sharing; 2] = [Sharing::DynamicThresholds, Sharing::Abm];

    fn name(self) -> &'static str {
        match self {
            Sharing::DynamicThresholds => "DT",
            Sharing::Abm => "ABM",
        }
    }

    /// With these alphas by priority; ABM measures at each packet, as its equations do.
    fn switch(self, spec: &SwitchSpec, alphas: &[f64]) -> Switch<impl Policy + use<>, LineRate> {
        let alpha = Alphas::new(alphas.to_vec()).expect("positive");
        let policy = match self {
            Sharing::DynamicThresholds => PolicySpec::dt(alpha),
            Sharing::Abm => PolicySpec::Abm(AbmParameters {
                alpha,
                update_ns: Some(0),
                ..AbmParameters::default()
            }),
        };
        let policy = policy.build(PolicySite::new(spec, 0)).expect("valid parameters");
        Switch::new(spec, Fit::Exact, policy, LineRate::new(spec))
    }
}

fn spec(queues_per_port: usize) -> SwitchSpec {
    let mut spec = SwitchSpec::uniform(PORTS as u16, LINE_RATE_BPS, BUFFER_BYTES, 20_000);
    spec.queues_per_port = queues_per_port as u8;
    spec.pushable = vec![true; queues_per_port];
    spec.shared = spec.pushable.clone();
    spec
}

fn share(bytes: u32) -> f64 {
    f64::from(bytes) / f64::from(BUFFER_BYTES)
}

/// Figure 4: the buffer that is free, and what a loss-sensitive queue then gets, beside ports with a congested best-effort
/// queue (equation 6, and its like for ABM, equation 17 with lemma 1 as an equation).
///
/// # Errors
/// If it is cancelled.
pub fn figure_4(progress: &dyn Progress) -> Result<Vec<EquationPanel>, PipelineError> {
    progress.begin("abm-fig4");
    let mut panels = [
        ("free", "ABM, figure 4: free buffer"),
        ("loss-sensitive", "ABM, figure 4: queue of the loss-sensitive priority"),
    ]
    .map(|(name, title)| EquationPanel {
        name,
        title,
        of: "ports with a congested best-effort queue",
        curves: Vec::new(),
    });
    for sharing in Sharing::ALL {
        let mut curves: [Vec<EquationPoint>; 2] = Default::default();
        for congested in CONGESTED {
            check(progress)?;
            let of_best_effort = match sharing {
                Sharing::DynamicThresholds => BEST_EFFORT * congested as f64,
                Sharing::Abm if congested == 0 => 0.0,
                Sharing::Abm => BEST_EFFORT,
            };
            let equations = [
                1.0 / (1.0 + of_best_effort),
                LOSS_SENSITIVE / (1.0 + of_best_effort + LOSS_SENSITIVE),
            ];
            let found = beside_best_effort(sharing, congested);
            for place in 0..2 {
                let (equation, switch) = (equations[place], found[place]);
                curves[place].push(EquationPoint { at: congested as f64, equation, switch });
            }
        }
        for (panel, points) in panels.iter_mut().zip(curves) {
            panel.curves.push(EquationCurve { name: sharing.name().to_owned(), points });
        }
    }
    progress.end("two panels");
    Ok(panels.into())
}

/// The share of the buffer that is free when so many ports' best-effort queues have settled, and what the loss-sensitive
/// queue of another port holds when it has settled, too.
fn beside_best_effort(sharing: Sharing, congested: usize) -> [f64; 2] {
    let mut switch = sharing.switch(&spec(2), &[BEST_EFFORT, LOSS_SENSITIVE]);
    let own = 2 * PORTS - 1;
    let mut free = 1.0;
    for now in (0..2 * SETTLED_NS).step_by(STEP_NS as usize) {
        for port in 0..congested {
            switch.arrive(&Packet::new(0, 2 * port, PACKET_BYTES), now);
        }
        if now < SETTLED_NS {
            free = 1.0 - share(switch.buffer().occupancy_bytes());
        } else {
            switch.arrive(&Packet::new(0, own, PACKET_BYTES), now);
        }
    }
    [free, share(switch.buffer().lengths()[own])]
}

/// Overloaded queues beside which a burst comes.
#[derive(Clone, Copy, Debug)]
struct Overloaded {
    ports: usize,
    /// At each of these ports.
    queues: usize,
}

/// Figure 5: what a burst fills before it loses a packet, beside congested ports and beside congested queues of four ports.
///
/// # Errors
/// If it is cancelled.
pub fn figure_5(progress: &dyn Progress) -> Result<Vec<EquationPanel>, PipelineError> {
    progress.begin("abm-fig5");
    let by_ports = |ports: usize| {
        let plural = if ports == 1 { "" } else { "s" };
        (format!("{ports} congested port{plural}"), Overloaded { ports, queues: 1 })
    };
    let by_queues = |queues: usize| {
        let plural = if queues == 1 { "" } else { "s" };
        (
            format!("{queues} congested queue{plural} at each of 4 ports"),
            Overloaded { ports: 4, queues },
        )
    };
    let (ports, queues) = ([1, 4, 16].map(by_ports), [1, 2, 4].map(by_queues));
    let panels = [
        (
            "dt-ports",
            "ABM, figure 5a: what a burst fills under DT, by congested ports",
            Sharing::DynamicThresholds,
            &ports,
        ),
        (
            "dt-queues",
            "ABM, figure 5b: what a burst fills under DT, by congested queues",
            Sharing::DynamicThresholds,
            &queues,
        ),
        (
            "abm-ports",
            "ABM, figure 5c: what a burst fills under ABM, by congested ports",
            Sharing::Abm,
            &ports,
        ),
        (
            "abm-queues",
            "ABM, figure 5d: what a burst fills under ABM, by congested queues",
            Sharing::Abm,
            &queues,
        ),
    ];
    let mut all = Vec::new();
    for (name, title, sharing, beside) in panels {
        let mut curves = Vec::new();
        for (name, overloaded) in beside {
            check(progress)?;
            let point = |rate: u64| EquationPoint {
                at: rate as f64,
                equation: overloaded.tolerance(sharing, rate),
                switch: overloaded.filled(sharing, rate),
            };
            let points = RATES.into_iter().map(point).collect();
            curves.push(EquationCurve { name: name.clone(), points });
        }
        let of = "rate of the burst, in rates of its port";
        all.push(EquationPanel { name, title, of, curves });
    }
    progress.end("four panels");
    Ok(all)
}

impl Overloaded {
    /// The share of the buffer that the burst fills before it loses a packet, in the last queue of the last port.
    fn filled(&self, sharing: Sharing, rate: u64) -> f64 {
        let each_port = self.queues + 1;
        let mut switch = sharing.switch(&spec(each_port), &[BEST_EFFORT]);
        let own = PORTS * each_port - 1;
        let mut sent_bytes = 0;
        for now in (0..).step_by(STEP_NS as usize) {
            for queue in 0..self.ports * each_port {
                if queue % each_port != self.queues {
                    switch.arrive(&Packet::new(0, queue, PACKET_BYTES), now);
                }
            }
            while now >= SETTLED_NS && sent_bytes <= (now - SETTLED_NS) * rate {
                let length_bytes = switch.buffer().lengths()[own];
                if !switch.arrive(&Packet::new(0, own, PACKET_BYTES), now) {
                    return share(length_bytes);
                }
                sent_bytes += u64::from(PACKET_BYTES);
            }
        }
        unreachable!("a burst faster than its port loses a packet once the buffer is full")
    }

    /// Under Dynamic Thresholds equation 8, under ABM equation 11, if the others cannot follow their thresholds; if they can, the
    /// steady state with the burst's queue, equations 6 and 10. The burst has a priority of its own.
    fn tolerance(&self, sharing: Sharing, rate: u64) -> f64 {
        let alpha = BEST_EFFORT;
        // What arrives beyond what the port sends, and what the other ports send.
        let (grows, drains) = (rate as f64 - 1.0, self.ports as f64);
        // Lemma 1 as an equation: the omegas of a priority add up to alpha; those of `queues` priorities at the same ports
        // have a `queues`-th of it each.
        let omegas = match sharing {
            Sharing::DynamicThresholds => alpha * (self.ports * self.queues) as f64,
            Sharing::Abm => alpha,
        };
        // Thresholds of the others fall at most as fast as one of their queues drains.
        if grows <= drains * (1.0 + omegas) / omegas {
            return alpha / (1.0 + omegas + alpha);
        }
        let falls = alpha * (grows - drains) / grows;
        alpha / ((1.0 + omegas) * (1.0 + falls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_pipeline::progress::Silent;

    /// In the switch every equation holds within a thousandth of the buffer.
    fn assert_holds(panels: &[EquationPanel]) {
        for panel in panels {
            for curve in &panel.curves {
                for &EquationPoint { at, equation, switch } in &curve.points {
                    let place = format!("{}, {}, {at}", panel.name, curve.name);
                    assert!((switch - equation).abs() < 0.001, "{place}: {switch}, {equation}");
                }
            }
        }
    }

    /// Switch's shares of a curve.
    fn shares(panel: &EquationPanel, curve: usize) -> Vec<f64> {
        panel.curves[curve].points.iter().map(|point| point.switch).collect()
    }

    /// Equation 6: what DT leaves falls toward zero with the congested queues, of the priority with the larger alpha, too. Under ABM
    /// it does not.
    #[test]
    fn dynamic_thresholds_leave_nothing_beside_many_queues() {
        let panels = figure_4(&Silent).expect("not cancelled");
        assert_holds(&panels);
        for panel in &panels {
            let [dt, abm] = [0, 1].map(|curve| shares(panel, curve));
            assert!(dt[5] < dt[1] / 3.0, "{}: {dt:?}", panel.name);
            assert!((abm[5] - abm[1]).abs() < 0.001, "{}: {abm:?}", panel.name);
        }
    }

    /// Equations 8, 10 and 11: congested ports and queues take from a burst under DT, not under ABM.
    #[test]
    fn bursts_fill_what_equations_8_10_and_11_say() {
        let panels = figure_5(&Silent).expect("not cancelled");
        assert_holds(&panels);
        let fast = |panel: usize, curve: usize| shares(&panels[panel], curve)[3];
        assert!(fast(0, 2) < fast(0, 0) / 3.0 && fast(1, 2) < fast(1, 0) / 2.0);
        assert!(fast(2, 2) >= fast(2, 0) && (fast(3, 2) - fast(3, 0)).abs() < 0.001);
    }
}
