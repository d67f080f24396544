//! Every AQM by name (`docs/policies.md`).

use crate::aqm::ecn_threshold::EcnThreshold;
use crate::aqm::pred::PredParameters;
use crate::aqm::red::RedParameters;
use crate::aqm::sojourn::{CoDelParameters, EcnSharpParameters, Tcn};
use crate::aqm::{Aqm, NoAqm};
use crate::registry::registry;
use dropcast_data::SwitchSpec;

registry! {
    /// An AQM and its parameters, as users write it: `red`, `red:min_bytes=5000,signal=drop`, or in
    /// TOML `{ name = "red", min_bytes = 5000, signal = "drop" }`. Parameters that are not given
    /// have their defaults.
    AqmSpec builds dyn Aqm + Send, from own and site: AqmSite<'_> {
        /// [`NoAqm`].
        "none" => None(NoAqm): *own,
        /// [`EcnThreshold`].
        "ecn" => Ecn(EcnThreshold): own.clone(),
        /// [`crate::aqm::red::Red`].
        "red" => Red(RedParameters): own.aqm(site.spec, site.seed)?,
        /// [`crate::aqm::pred::Pred`].
        "pred" => Pred(PredParameters): own.aqm(site.spec, site.seed)?,
        /// [`Tcn`].
        "tcn" => Tcn(Tcn): *own,
        /// [`crate::aqm::sojourn::CoDel`].
        "codel" => CoDel(CoDelParameters): own.aqm(site.spec)?,
        /// [`crate::aqm::sojourn::EcnSharp`].
        "ecn-sharp" => EcnSharp(EcnSharpParameters): own.aqm(site.spec)?,
    }
}

/// The context an AQM is built in: its switch, and its random seed.
#[derive(Clone, Copy, Debug)]
pub struct AqmSite<'a> {
    /// The switch.
    pub spec: &'a SwitchSpec,
    /// Seed of its randomness.
    pub seed: u64,
}
