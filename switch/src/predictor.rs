//! Predictors of drops.

use crate::Packet;
use dropcast_features::FeatureSet;
use dropcast_runtime::DropOracle;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The input of a predictor: a packet, and the features of its arrival.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Its features before it was added, in the order of the predictor's set.
    pub features: &'a [u32],
}

/// Predicts which packets LQD would drop. Called only for packets whose fate depends on it.
pub trait Predictor {
    /// The features it wants to see.
    fn features(&self) -> FeatureSet;

    /// Whether LQD is predicted to drop the packet.
    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool;
}

impl<P: Predictor + ?Sized> Predictor for Box<P> {
    fn features(&self) -> FeatureSet {
        (**self).features()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        (**self).predicts_drop(asked)
    }
}

/// Predictions made beforehand, one per packet number.
#[derive(Clone, Debug, Default)]
pub struct Recorded<F>(
    /// Whether packet number `id` is predicted to be dropped.
    pub F,
);

impl<F: FnMut(u64) -> bool> Predictor for Recorded<F> {
    fn features(&self) -> FeatureSet {
        FeatureSet::none()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        (self.0)(asked.packet.id)
    }
}

/// An oracle, called as packets arrive.
#[derive(Clone, Debug)]
pub struct Live<O> {
    /// The features the oracle was trained with, in its order.
    pub features: FeatureSet,
    /// The oracle.
    pub oracle: O,
}

impl<O: DropOracle> Predictor for Live<O> {
    fn features(&self) -> FeatureSet {
        self.features.clone()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        self.oracle.predicts_drop(asked.features)
    }
}

/// Predicts no drop, ever: Credence without an oracle.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysAccept;

impl Predictor for AlwaysAccept {
    fn features(&self) -> FeatureSet {
        FeatureSet::none()
    }

    fn predicts_drop(&mut self, _: Asked<'_>) -> bool {
        false
    }
}

/// A predictor whose answers are flipped at random, each with the same probability (Credence,
/// section 4.2 and figure 10).
#[derive(Clone, Debug)]
pub struct Flipped<P> {
    predictor: P,
    /// Flip probability, in units of 2^-32.
    flips: u64,
    random: ChaCha8Rng,
}

impl<P: Predictor> Flipped<P> {
    /// Flips answers with this probability, from 0 to 1, rounded to 1/2^32.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub fn new(predictor: P, probability: f64, seed: u64) -> Self {
        assert!((0.0..=1.0).contains(&probability), "{probability} is no probability");
        let flips = (probability * (1_u64 << 32) as f64).round() as u64;
        Flipped { predictor, flips, random: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl<P: Predictor> Predictor for Flipped<P> {
    fn features(&self) -> FeatureSet {
        self.predictor.features()
    }

    fn predicts_drop(&mut self, asked: Asked<'_>) -> bool {
        let is_flipped = u64::from(self.random.next_u32()) < self.flips;
        self.predictor.predicts_drop(asked) ^ is_flipped
    }
}
