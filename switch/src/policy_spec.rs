//! Every buffer-sharing policy by name (`docs/policies.md`).

use crate::policies::abm::AbmParameters;
use crate::policies::credence::CredenceParameters;
use crate::policies::dynamic_thresholds::DynamicThresholdsParameters;
use crate::policies::edt::EdtParameters;
use crate::policies::expression::ExpressionParameters;
use crate::policies::fab::FabParameters;
use crate::policies::follow_max::FollowMaxParameters;
use crate::policies::intelligent_buffer::IntelligentBufferParameters;
use crate::policies::lqd::LqdParameters;
use crate::policies::ndt::NdtParameters;
use crate::policies::occamy::OccamyParameters;
use crate::policies::oracle::OracleParameters;
use crate::policies::payback_credence::PaybackCredenceParameters;
use crate::policies::reverie::ReverieParameters;
use crate::policies::smartbuf::SmartbufParameters;
use crate::policies::spare_tails::SpareTailsParameters;
use crate::registry::registry;
use crate::{
    Alphas, BuildError, CompletePartitioning, CompleteSharing, FollowLqd, Harmonic, Policy,
    PolicySite,
};
use serde::{Deserialize, Serialize};

registry! {
    /// A buffer-sharing policy and its parameters, as users write it: `abm`,
    /// `abm:alpha=[64,0.5],first_rtt_alpha=1024`, or in TOML `{ name = "abm", alpha = [64, 0.5],
    /// first_rtt_alpha = 1024 }`. Parameters that are not given have their defaults.
    PolicySpec builds dyn Policy + Send, from own and site: PolicySite<'_, S>, served by S {
        /// [`crate::Lqd`].
        "lqd" => Lqd(LqdParameters): own.policy(site.victim),
        /// [`FollowLqd`].
        "follow-lqd" => FollowLqd(NoParameters):
            FollowLqd::new(site.spec, site.victim, site.fit, site.service),
        /// [`crate::Credence`].
        "credence" => Credence(CredenceParameters): own.policy(site)?,
        /// [`crate::PaybackCredence`].
        "payback-credence" => PaybackCredence(PaybackCredenceParameters): own.policy(site)?,
        /// [`crate::FollowMax`].
        "follow-max" => FollowMax(FollowMaxParameters): own.policy(site)?,
        /// [`crate::policies::oracle::Oracle`].
        "oracle" => Oracle(OracleParameters): own.policy(site)?,
        /// [`crate::policies::spare_tails::SpareTails`].
        "spare-tails" => SpareTails(SpareTailsParameters): own.policy(site)?,
        /// [`CompleteSharing`].
        "complete-sharing" => CompleteSharing(NoParameters): CompleteSharing,
        /// [`CompletePartitioning`].
        "complete-partitioning" => CompletePartitioning(CompletePartitioning): *own,
        /// [`crate::DynamicThresholds`].
        "dt" => DynamicThresholds(DynamicThresholdsParameters): own.policy(),
        /// [`Harmonic`].
        "harmonic" => Harmonic(NoParameters): Harmonic::default(),
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

/// The parameters of a policy that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

impl PolicySpec {
    /// Whether it pushes out packets that it has accepted, which a drop-tail switch cannot do.
    pub fn pushes_out(&self) -> bool {
        matches!(self, PolicySpec::Lqd(_) | PolicySpec::Occamy(_))
    }

    /// Refuses a base that pushes packets out: policies over a base are drop-tail.
    pub(crate) fn check_drop_tail_base(&self) -> Result<(), BuildError> {
        if self.pushes_out() {
            let problem =
                format!("{} pushes packets out, expected a drop-tail policy", self.name());
            return Err(BuildError::parameter("base", problem));
        }
        Ok(())
    }

    /// Dynamic Thresholds with these `alpha`.
    pub fn dt(alpha: Alphas) -> Self {
        PolicySpec::DynamicThresholds(DynamicThresholdsParameters { alpha })
    }

    /// The untrained rule over a policy.
    pub fn untrained_rule(base: PolicySpec) -> Self {
        PolicySpec::Oracle(OracleParameters { base: Box::new(base), ..Default::default() })
    }

    /// The file of the policy's model, if its parameters name one.
    pub fn model(&self) -> Option<&str> {
        self.model_setting()?.as_deref()
    }

    /// Whether it can have a model.
    pub fn takes_model(&self) -> bool {
        self.model_setting().is_some()
    }

    fn model_setting(&self) -> Option<&Option<String>> {
        match self {
            PolicySpec::Credence(own) => Some(&own.model),
            PolicySpec::PaybackCredence(own) => Some(&own.model),
            PolicySpec::FollowMax(own) => Some(&own.model),
            PolicySpec::Oracle(own) => Some(&own.model),
            PolicySpec::Ndt(own) => Some(&own.model),
            _ => None,
        }
    }

    /// The same with this model, if it can have one.
    #[must_use]
    pub fn with_model(mut self, name: &str) -> Self {
        let model = match &mut self {
            PolicySpec::Credence(own) => &mut own.model,
            PolicySpec::PaybackCredence(own) => &mut own.model,
            PolicySpec::FollowMax(own) => &mut own.model,
            PolicySpec::Oracle(own) => &mut own.model,
            PolicySpec::Ndt(own) => &mut own.model,
            _ => return self,
        };
        *model = Some(name.to_owned());
        self
    }

    /// The policy that it runs over, if its parameters name one.
    pub fn base(&self) -> Option<&PolicySpec> {
        match self {
            PolicySpec::Oracle(own) => Some(&own.base),
            PolicySpec::SpareTails(own) => Some(&own.base),
            _ => None,
        }
    }

    /// Whether its decisions, or those of its base, depend on a packet's flow.
    pub fn looks_at_flows(&self) -> bool {
        let looks = matches!(
            self,
            PolicySpec::Fab(_) | PolicySpec::IntelligentBuffer(_) | PolicySpec::SpareTails(_)
        );
        looks || self.base().is_some_and(Self::looks_at_flows)
    }

    /// Whether its decisions, or those of its base, depend on whether a packet is of its flow's first round trip, and not
    /// on its flow otherwise.
    pub fn looks_at_first_rtt(&self) -> bool {
        let looks = match self {
            PolicySpec::Abm(_) | PolicySpec::Reverie(_) => true,
            PolicySpec::Expression(own) => own.looks_at_first_rtt(),
            _ => false,
        };
        looks || self.base().is_some_and(Self::looks_at_first_rtt)
    }

    /// Its display name.
    pub fn title(&self) -> &'static str {
        match self {
            PolicySpec::Lqd(own) => own.title(),
            PolicySpec::Occamy(_) => "Occamy",
            PolicySpec::FollowLqd(_) => "FollowLQD",
            PolicySpec::Credence(_) => "Credence",
            PolicySpec::PaybackCredence(_) => "Credence, pays back",
            PolicySpec::FollowMax(_) => "FollowMax",
            PolicySpec::SpareTails(_) => "Spare Tails",
            PolicySpec::Oracle(_) => "Oracle",
            PolicySpec::CompleteSharing(_) => "Complete Sharing",
            PolicySpec::CompletePartitioning(_) => "Complete Partitioning",
            PolicySpec::DynamicThresholds(_) => "Dynamic Thresholds",
            PolicySpec::Harmonic(_) => "Harmonic",
            PolicySpec::Abm(_) => "ABM",
            PolicySpec::Fab(_) => "FAB",
            PolicySpec::IntelligentBuffer(_) => "Intelligent Buffer",
            PolicySpec::Reverie(_) => "Reverie",
            PolicySpec::Edt(_) => "EDT",
            PolicySpec::Smartbuf(_) => "Smartbuf",
            PolicySpec::Ndt(_) => "NDT",
            PolicySpec::Expression(_) => "Expression",
        }
    }
}
