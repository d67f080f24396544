//! Every transport, and its congestion control.

use super::congestion_control::CongestionControl;
use super::tuning::Tuning;
use super::{cubic, dcqcn, dctcp, hpcc, new_reno, power_tcp, theta_power_tcp, timely};
use serde::{Deserialize, Serialize};

/// How a flow's sender controls its rate.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// DCTCP (RFC 8257), with ECN.
    #[default]
    Dctcp,
    /// TCP NewReno (RFC 6582), without ECN.
    NewReno,
    /// Cubic (RFC 9438), without ECN.
    Cubic,
    /// PowerTCP with in-band telemetry (Addanki et al., NSDI 2022, Algorithm 1).
    PowerTcp,
    /// PowerTCP from round-trip times alone (Addanki et al., NSDI 2022, Algorithm 2).
    ThetaPowerTcp,
    /// TIMELY: a rate from round-trip times and their gradient (Mittal et al., SIGCOMM 2015).
    Timely,
    /// HPCC with in-band telemetry (Li et al., SIGCOMM 2019).
    Hpcc,
    /// DCQCN, with ECN and without pauses (Zhu et al., SIGCOMM 2015).
    Dcqcn,
    /// Sends at a fixed rate, whatever happens, and repeats nothing.
    Unresponsive,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Transport; 9] = [
        Transport::Dctcp,
        Transport::NewReno,
        Transport::Cubic,
        Transport::PowerTcp,
        Transport::ThetaPowerTcp,
        Transport::Timely,
        Transport::Hpcc,
        Transport::Dcqcn,
        Transport::Unresponsive,
    ];

    /// Its name, as in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Dctcp => "dctcp",
            Transport::NewReno => "new-reno",
            Transport::Cubic => "cubic",
            Transport::PowerTcp => "power-tcp",
            Transport::ThetaPowerTcp => "theta-power-tcp",
            Transport::Timely => "timely",
            Transport::Hpcc => "hpcc",
            Transport::Dcqcn => "dcqcn",
            Transport::Unresponsive => "unresponsive",
        }
    }

    /// Whether its packets can be marked instead of dropped.
    pub fn is_ecn_capable(self) -> bool {
        matches!(self, Transport::Dctcp | Transport::Dcqcn)
    }

    /// Whether switches tell its packets of their queues.
    pub(crate) fn wants_telemetry(self) -> bool {
        matches!(self, Transport::PowerTcp | Transport::Hpcc)
    }
}

/// The congestion control of a transport that has one.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    Dctcp(dctcp::Dctcp),
    NewReno(new_reno::NewReno),
    Cubic(cubic::Cubic),
    PowerTcp(Box<power_tcp::PowerTcp>),
    ThetaPowerTcp(Box<theta_power_tcp::ThetaPowerTcp>),
    Timely(Box<timely::Timely>),
    Hpcc(Box<hpcc::Hpcc>),
    Dcqcn(Box<dcqcn::Dcqcn>),
}

impl Control {
    /// An unresponsive sender gets NewReno's, and never asks it.
    pub(super) fn new(transport: Transport, tuning: &Tuning) -> Self {
        match transport {
            Transport::Dctcp => Control::Dctcp(dctcp::Dctcp::new(tuning)),
            Transport::NewReno | Transport::Unresponsive => Control::NewReno(new_reno::NewReno),
            Transport::Cubic => Control::Cubic(cubic::Cubic::default()),
            Transport::PowerTcp => Control::PowerTcp(Box::new(power_tcp::PowerTcp::new(tuning))),
            Transport::ThetaPowerTcp => {
                Control::ThetaPowerTcp(Box::new(theta_power_tcp::ThetaPowerTcp::new(tuning)))
            }
            Transport::Timely => Control::Timely(Box::new(timely::Timely::new(tuning))),
            Transport::Hpcc => Control::Hpcc(Box::new(hpcc::Hpcc::new(tuning))),
            Transport::Dcqcn => Control::Dcqcn(Box::new(dcqcn::Dcqcn::new(tuning))),
        }
    }

    pub(super) fn rule(&mut self) -> &mut dyn CongestionControl {
        match self {
            Control::Dctcp(rule) => rule,
            Control::NewReno(rule) => rule,
            Control::Cubic(rule) => rule,
            Control::PowerTcp(rule) => rule.as_mut(),
            Control::ThetaPowerTcp(rule) => rule.as_mut(),
            Control::Timely(rule) => rule.as_mut(),
            Control::Hpcc(rule) => rule.as_mut(),
            Control::Dcqcn(rule) => rule.as_mut(),
        }
    }
}
