//! Every target, by name.

use crate::target::Target;
use crate::{c, cpp, dct, dpdk, ebpf, json, onnx, ovs, p4, tna, verilog};
use std::str::FromStr;

/// Every target; a new one is a file with a `TARGET` and a line here.
const TARGETS: &[Target] = &[
    c::TARGET,
    cpp::TARGET,
    dct::TARGET,
    dpdk::TARGET,
    ebpf::TARGET,
    json::TARGET,
    onnx::TARGET,
    ovs::TARGET,
    p4::TARGET,
    tna::TARGET,
    verilog::TARGET,
];

impl Target {
    /// Every target there is, in the order of their names.
    pub fn all() -> &'static [Target] {
        TARGETS
    }
}

/// A name that no target has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target {0:?}; known are {known}", known = known())]
pub struct UnknownTarget(pub String);

fn known() -> String {
    TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        let target = TARGETS.iter().find(|target| target.name == name);
        target.copied().ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_by_name() {
        for &target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert!(Target::all().is_sorted_by_key(|target| target.name));
        let error = "p5".parse::<Target>().expect_err("no target");
        assert_eq!(error.to_string(), format!("unknown target \"p5\"; known are {}", known()));
        assert!(known().starts_with("c, cpp, dct, "));
    }
}
