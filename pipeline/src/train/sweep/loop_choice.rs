//! Choosing among a sweep's models by what they do in a closed loop, which is done elsewhere.

use crate::PipelineError;
use crate::progress::Progress;
use crate::resources::Resources;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

/// The table `[closed_loop]` of `sweep.toml`: how one of a sweep's models is chosen by what it does to flows.
pub trait LoopChoice: DeserializeOwned {
    /// What came of it; written as `closed-loop.json`.
    type Chosen: Serialize;

    /// Checks the settings, before anything is trained.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<(), PipelineError>;

    /// Chooses among models, by their files' names and texts; also the text of the chosen one.
    ///
    /// # Errors
    /// If a model cannot be run.
    fn choose(
        &self,
        models: &[(String, String)],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<(Self::Chosen, String), PipelineError>;
}

/// No closed loop: `sweep.toml` may not ask for one.
#[derive(Clone, Copy, Debug)]
pub enum NoLoop {}

impl<'de> Deserialize<'de> for NoLoop {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("there is no closed loop to choose in; leave it out"))
    }
}

impl LoopChoice for NoLoop {
    type Chosen = ();

    fn check(&self) -> Result<(), PipelineError> {
        match *self {}
    }

    fn choose(
        &self,
        _: &[(String, String)],
        _: &Resources,
        _: &dyn Progress,
    ) -> Result<((), String), PipelineError> {
        match *self {}
    }
}
