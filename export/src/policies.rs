//! The policies that can be had as code.

use crate::fab;
use crate::policy_code::{PacketArrival, PolicyCodeError, PolicyPackets, decided};
use crate::spare_tails;
use crate::target::EmittedFile;
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::fab::FabParameters;
use dropcast_switch::policies::spare_tails::SpareTailsParameters;

/// A policy that can be had as code.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyCode {
    /// Early drops in bursts over Dynamic Thresholds (`lab/notes/spare-tails.md`).
    SpareTails(SpareTailsParameters),
    /// Dynamic Thresholds with another alpha for the first bytes of a flow (`docs/policies.md`, `fab`).
    Fab(FabParameters),
}

impl PolicyCode {
    /// The code, the switch's constants, and [packets](Self::golden) to check it with.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, PolicyCodeError> {
        let mut files = match self {
            PolicyCode::SpareTails(parameters) => spare_tails::files(parameters, spec)?,
            PolicyCode::Fab(parameters) => fab::files(parameters, spec)?,
        };
        let packets = self.golden(spec)?.to_csv();
        files.push(EmittedFile { name: self.packets_file().to_owned(), bytes: packets.into() });
        Ok(files)
    }

    /// The file of [packets](Self::golden).
    pub fn packets_file(&self) -> &'static str {
        match self {
            PolicyCode::SpareTails(_) => "dropcast_spare_tails_packets.csv",
            PolicyCode::Fab(_) => "dropcast_fab_packets.csv",
        }
    }

    /// Packets of which every line of the code decides about some.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn golden(&self, spec: &SwitchSpec) -> Result<PolicyPackets, PolicyCodeError> {
        let arrivals = match self {
            PolicyCode::SpareTails(parameters) => {
                spare_tails::golden(parameters.silence_ns.into(), spec)
            }
            // Flows come in bursts, and return after a silence.
            PolicyCode::Fab(parameters) => spare_tails::golden(parameters.window_ns, spec),
        };
        self.decided(spec, arrivals)
    }

    /// What the fabric's policy decides about packets that arrive. Ports serve at line rate.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn decided(
        &self,
        spec: &SwitchSpec,
        arrivals: impl IntoIterator<Item = PacketArrival>,
    ) -> Result<PolicyPackets, PolicyCodeError> {
        Ok(match self {
            PolicyCode::SpareTails(parameters) => {
                decided(spare_tails::policy(parameters, spec)?, spec, arrivals)
            }
            PolicyCode::Fab(parameters) => decided(fab::policy(parameters)?, spec, arrivals),
        })
    }
}
