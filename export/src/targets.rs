//! Every target, by name.

use crate::target::{Emitter, Target};
use crate::{c, cpp, dct, ebpf, golden, json, onnx, p4, verilog};
use std::str::FromStr;

/// The table of the targets: an enum of them, and their constants `TARGET`.
macro_rules! targets {
    ($($kind:ident $module:ident,)+) => {
        /// A target, with any layout.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TargetKind {
            $(#[doc = concat!("Emitted by `", stringify!($module), ".rs`.")] $kind,)+
        }

        const TARGETS: &[Target] = &[$(Target { kind: TargetKind::$kind, layout: None }),+];

        impl Target {
            pub(crate) fn emitter(self) -> &'static Emitter {
                match self.kind {
                    $(TargetKind::$kind => &$module::TARGET,)+
                }
            }
        }
    };
}

targets! {
    C c,
    Cpp cpp,
    Dct dct,
    Ebpf ebpf,
    Json json,
    Onnx onnx,
    P4 p4,
    Vectors golden,
    Verilog verilog,
}

impl Target {
    /// Every target there is, in the order of their names.
    pub fn all() -> &'static [Target] {
        TARGETS
    }

    /// The names of those that also emit Credence's whole decision, in words.
    pub fn deciding() -> String {
        let names: Vec<&str> =
            TARGETS.iter().filter(|target| target.decides()).map(|target| target.name()).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "none".to_owned(),
        }
    }
}

/// Text that is not a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// A name that no target has.
    #[error("unknown target {0:?}; known are {known}", known = known(|_| true))]
    Unknown(String),
    /// A layout of a target that has none.
    #[error("{0} has no layouts; {known} has", known = known(|target| target.has_layouts))]
    NoLayouts(&'static str),
    /// Text that is not a layout.
    #[error("{target}: {problem}")]
    Layout {
        /// The target.
        target: &'static str,
        /// What is wrong.
        problem: String,
    },
}

fn known(which: fn(&Emitter) -> bool) -> String {
    let known = TARGETS.iter().map(|target| target.emitter()).filter(|target| which(target));
    known.map(|target| target.name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Target {
    type Err = TargetError;

    /// A name, or a name and a layout: `p4:trees=4,depth=4`.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (name, layout) = match text.split_once(':') {
            Some((name, layout)) => (name, Some(layout)),
            None => (text, None),
        };
        let target = TARGETS.iter().find(|target| target.name() == name).copied();
        let target = target.ok_or_else(|| TargetError::Unknown(name.to_owned()))?;
        let Some(layout) = layout else { return Ok(target) };
        if !target.emitter().has_layouts {
            return Err(TargetError::NoLayouts(target.name()));
        }
        let layout = layout.parse();
        let layout =
            layout.map_err(|problem| TargetError::Layout { target: target.name(), problem })?;
        Ok(Target { layout: Some(layout), ..target })
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
        assert!(Target::all().is_sorted_by_key(|target| target.name()));
        let error = "p5".parse::<Target>().expect_err("no target");
        assert_eq!(
            error.to_string(),
            format!("unknown target \"p5\"; known are {}", known(|_| true))
        );
        assert!(known(|_| true).starts_with("c, cpp, dct, "));
        assert_eq!(Target::deciding(), "c, cpp, dct, ebpf, vectors and verilog");
    }

    #[test]
    fn layouts_are_of_the_targets_that_have_them() {
        for text in ["p4:trees=4,depth=4", "p4:trees=16,depth=6,bits=20,prefixes=99"] {
            let target: Target = text.parse().expect("a target");
            assert_eq!(target.to_string().parse(), Ok(target));
            assert_ne!(target.name().parse(), Ok(target));
        }
        for (text, problem) in [
            ("c:trees=4,depth=4", "c has no layouts; p4 has"),
            (
                "p4:",
                "p4: \"\" is not a setting of a layout, expected trees, depth, bits or prefixes",
            ),
            ("p4:trees=4", "p4: depth is missing, as in trees=4,depth=4"),
        ] {
            let error = text.parse::<Target>().expect_err("no target");
            assert_eq!(error.to_string(), problem);
        }
    }
}
