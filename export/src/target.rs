//! The targets that a forest can be exported to.

use crate::checked::Checked;
use crate::{ExportError, Origin, c, cpp, dct, dpdk, ebpf, json, onnx, ovs, p4, tna, verilog};
use dropcast_forest::Forest;
use std::fmt;
use std::str::FromStr;

/// An export target.
#[derive(Clone, Copy)]
pub struct Target {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) emit: fn(&Checked<'_>) -> Result<Vec<EmittedFile>, ExportError>,
}

/// Every target; to add one, write a file with a `TARGET` and add a line here.
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

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedFile {
    /// Its name, without a folder: letters, digits, `_` and `.` only.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The files of `forest` for `target`. The same arguments give the same bytes.
///
/// # Errors
/// If the forest is invalid or too large, or `origin` describes another one.
pub fn export(
    forest: &Forest,
    origin: &Origin,
    target: Target,
) -> Result<Vec<EmittedFile>, ExportError> {
    (target.emit)(&Checked::new(forest, origin)?)
}

impl Target {
    /// Every target, in the order of their names.
    pub fn all() -> &'static [Target] {
        TARGETS
    }

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// A short description.
    pub fn about(self) -> &'static str {
        self.about
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

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.name)
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}

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
