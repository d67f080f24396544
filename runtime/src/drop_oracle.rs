//! The interface of drop oracles.

/// A predictor of whether push-out Longest Queue Drop would drop an arriving packet.
pub trait DropOracle {
    /// Whether LQD is predicted to drop the packet whose features, recorded before it is added,
    /// are `features`, in the order that the oracle was trained with.
    fn predicts_drop(&self, features: &[u32]) -> bool;
}
