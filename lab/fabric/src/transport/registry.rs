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
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
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
    pub const ALL: &'static [Transport] = <Transport as strum::VariantArray>::VARIANTS;
    /// Their names.
    pub const NAMES: &'static [&'static str] = <Transport as strum::VariantNames>::VARIANTS;

    /// Its name, as in a configuration.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether its packets can be marked instead of dropped.
    pub fn is_ecn_capable(self) -> bool {
        matches!(self, Transport::Dctcp | Transport::Dcqcn)
    }

    /// A new flow's congestion control. An unresponsive sender gets NewReno's, and never asks it.
    pub(crate) fn control(self, tuning: &Tuning) -> Box<dyn CongestionControl + Send> {
        match self {
            Transport::Dctcp => Box::new(dctcp::Dctcp::new(tuning)),
            Transport::NewReno | Transport::Unresponsive => Box::new(new_reno::NewReno),
            Transport::Cubic => Box::new(cubic::Cubic::new(tuning)),
            Transport::PowerTcp => Box::new(power_tcp::PowerTcp::new(tuning)),
            Transport::ThetaPowerTcp => Box::new(theta_power_tcp::ThetaPowerTcp::new(tuning)),
            Transport::Timely => Box::new(timely::Timely::new(tuning)),
            Transport::Hpcc => Box::new(hpcc::Hpcc::new(tuning)),
            Transport::Dcqcn => Box::new(dcqcn::Dcqcn::new(tuning)),
        }
    }

    /// Whether its packets collect telemetry of the switches' queues.
    pub(crate) fn wants_telemetry(self) -> bool {
        matches!(self, Transport::PowerTcp | Transport::Hpcc)
    }
}
