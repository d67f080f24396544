//! What comparisons, replays and exports need to know of each policy.

use crate::{BuildError, PolicySpec};

/// Facts about a policy, from its parameters. No field has a default: a new policy states each.
pub(crate) struct About<'a> {
    /// Its display name.
    pub(crate) title: &'static str,
    /// Whether it pushes out packets that it has accepted, which a drop-tail switch cannot do.
    pub(crate) pushes_out: bool,
    /// What its decisions depend on.
    pub(crate) sees: Sees,
    /// The model that it can have: what the file holds, and the setting that names it. [`PolicyParameters::model_mut`] sets it.
    pub(crate) model: Option<(ModelKind, &'a Option<String>)>,
    /// The policy that it runs over.
    pub(crate) base: Option<&'a PolicySpec>,
}

/// What decisions depend on, besides the sizes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// Queues and time only.
    Queues,
    /// Also whether a packet is of its flow's first round trip, and not on its flow otherwise.
    FirstRtt,
    /// Also a packet's flow.
    Flows,
}

/// What the file of a policy's model holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A drop oracle: [`crate::PolicyModel::Predictor`].
    Oracle,
    /// A network: [`crate::PolicyModel::Network`].
    Network,
}

/// The parameters of a policy.
pub(crate) trait PolicyParameters {
    /// The facts about the policy.
    fn about(&self) -> About<'_>;

    /// The setting of [`About::model`].
    fn model_mut(&mut self) -> Option<&mut Option<String>> {
        None
    }
}

impl PolicySpec {
    /// Its display name.
    pub fn title(&self) -> &'static str {
        self.about().title
    }

    /// Whether it pushes out packets that it has accepted, which a drop-tail switch cannot do.
    pub fn pushes_out(&self) -> bool {
        self.about().pushes_out
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

    /// The file of the policy's model, if its parameters name one.
    pub fn model(&self) -> Option<&str> {
        self.about().model?.1.as_deref()
    }

    /// What the file of its model holds, if it can have a model.
    pub fn model_kind(&self) -> Option<ModelKind> {
        self.about().model.map(|(kind, _)| kind)
    }

    /// The same with this model, if it can have one.
    #[must_use]
    pub fn with_model(mut self, name: &str) -> Self {
        if let Some(model) = self.parameters_mut().model_mut() {
            *model = Some(name.to_owned());
        }
        self
    }

    /// The policy that it runs over, if its parameters name one.
    pub fn base(&self) -> Option<&PolicySpec> {
        self.about().base
    }

    /// Whether its decisions, or those of its base, depend on a packet's flow.
    pub fn looks_at_flows(&self) -> bool {
        self.sees(Sees::Flows)
    }

    /// Whether its decisions, or those of its base, depend on whether a packet is of its flow's first round trip, and not
    /// on its flow otherwise.
    pub fn looks_at_first_rtt(&self) -> bool {
        self.sees(Sees::FirstRtt)
    }

    fn sees(&self, what: Sees) -> bool {
        self.about().sees == what || self.base().is_some_and(|base| base.sees(what))
    }

    fn about(&self) -> About<'_> {
        self.parameters().about()
    }
}
