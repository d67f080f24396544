//! Every buffer-sharing policy by name (`docs/policies.md`).

use crate::about::PolicyParameters;
use crate::lqd::LqdParameters;
use crate::policies::abm::AbmParameters;
use crate::policies::complete_sharing::CompleteSharingParameters;
use crate::policies::credence::CredenceParameters;
use crate::policies::dynamic_thresholds::DynamicThresholdsParameters;
use crate::policies::edt::EdtParameters;
use crate::policies::expression::ExpressionParameters;
use crate::policies::fab::FabParameters;
use crate::policies::follow_lqd::FollowLqdParameters;
use crate::policies::follow_max::FollowMaxParameters;
use crate::policies::harmonic::HarmonicParameters;
use crate::policies::intelligent_buffer::IntelligentBufferParameters;
use crate::policies::ndt::NdtParameters;
use crate::policies::occamy::OccamyParameters;
use crate::policies::oracle::OracleParameters;
use crate::policies::payback_credence::PaybackCredenceParameters;
use crate::policies::reserve::ReserveParameters;
use crate::policies::reverie::ReverieParameters;
use crate::policies::smartbuf::SmartbufParameters;
use crate::registry::registry;
use crate::{
    Alphas, CompletePartitioning, CompleteSharing, FollowLqd, Harmonic, Policy, PolicySite,
};

registry! {
    /// A buffer-sharing policy and its parameters, as users write it: `abm`,
    /// `abm:alpha=[64,0.5],first_rtt_alpha=1024`, or in TOML `{ name = "abm", alpha = [64, 0.5],
    /// first_rtt_alpha = 1024 }`. Parameters that are not given have their defaults.
    PolicySpec of dyn PolicyParameters, builds dyn Policy + Send, from own and site: PolicySite<'_, S>, served by S {
        /// [`crate::Lqd`].
        "lqd" => Lqd(LqdParameters): own.policy(site.victim),
        /// [`FollowLqd`].
        "follow-lqd" => FollowLqd(FollowLqdParameters):
            FollowLqd::new(site.spec, site.victim, site.fit, site.service),
        /// [`crate::CredencePolicy`].
        "credence" => Credence(CredenceParameters): own.policy(site)?,
        /// [`crate::PaybackCredence`].
        "payback-credence" => PaybackCredence(PaybackCredenceParameters): own.policy(site)?,
        /// [`crate::FollowMax`].
        "follow-max" => FollowMax(FollowMaxParameters): own.policy(site)?,
        /// [`crate::policies::oracle::Oracle`].
        "oracle" => Oracle(OracleParameters): own.policy(site)?,
        /// [`crate::policies::reserve::Reserve`].
        "reserve" => Reserve(ReserveParameters): own.policy(site)?,
        /// [`CompleteSharing`].
        "complete-sharing" => CompleteSharing(CompleteSharingParameters): CompleteSharing,
        /// [`CompletePartitioning`].
        "complete-partitioning" => CompletePartitioning(CompletePartitioning): *own,
        /// [`crate::DynamicThresholds`].
        "dt" => DynamicThresholds(DynamicThresholdsParameters): own.policy(),
        /// [`Harmonic`].
        "harmonic" => Harmonic(HarmonicParameters): Harmonic::default(),
        /// [`crate::policies::occamy::Occamy`].
        "occamy" => Occamy(OccamyParameters): own.policy(site.spec)?,
        /// [`crate::policies::abm::Abm`].
        "abm" => Abm(AbmParameters): own.policy(site.spec)?,
        /// [`crate::policies::fab::Fab`].
        "fab" => Fab(FabParameters): own.policy()?,
        /// [`crate::policies::intelligent_buffer::IntelligentBuffer`].
        "ib" => IntelligentBuffer(IntelligentBufferParameters): own.policy(site.spec, site.seed)?,
        /// [`crate::policies::reverie::Reverie`].
        "reverie" => Reverie(ReverieParameters): own.policy(site.spec.queues())?,
        /// [`crate::policies::edt::Edt`].
        "edt" => Edt(EdtParameters): own.policy(site.spec)?,
        /// [`crate::policies::smartbuf::Smartbuf`].
        "smartbuf" => Smartbuf(SmartbufParameters): own.policy(site.spec)?,
        /// [`crate::policies::ndt::Ndt`].
        "ndt" => Ndt(NdtParameters): own.policy(site)?,
        /// [`crate::policies::expression::Expression`].
        "expression" => Expression(ExpressionParameters): own.policy(site.spec)?,
    }
}

impl PolicySpec {
    /// Dynamic Thresholds with these `alpha`.
    pub fn dt(alpha: Alphas) -> Self {
        PolicySpec::DynamicThresholds(DynamicThresholdsParameters { alpha })
    }

    /// The untrained rule over a policy.
    pub fn untrained_rule(base: PolicySpec) -> Self {
        PolicySpec::Oracle(OracleParameters { base: Box::new(base), ..Default::default() })
    }
}
