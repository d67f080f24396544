//! Rules of an input that say where packets belong, and which of them some packet met.

use std::collections::{BTreeMap, BTreeSet};

/// A rule in one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleUse {
    /// What to say if no packet met it.
    pub(crate) unmet: String,
    /// The switch that it puts packets at; none if at any.
    pub(crate) switch_id: Option<u16>,
    /// Whether a packet met it.
    pub(crate) is_met: bool,
}

/// What no packet met in any input. Descriptions of switches may serve several jobs, so a rule for a switch of
/// which there is no packet is not told.
pub(crate) fn unmet(uses: Vec<RuleUse>) -> Vec<String> {
    let switches: BTreeSet<u16> =
        uses.iter().filter(|rule| rule.is_met).filter_map(|rule| rule.switch_id).collect();
    let mut rules: BTreeMap<String, bool> = BTreeMap::new();
    for RuleUse { unmet, switch_id, is_met } in uses {
        if switch_id.is_none_or(|switch_id| switches.contains(&switch_id)) {
            *rules.entry(unmet).or_default() |= is_met;
        }
    }
    rules.into_iter().filter(|(_, is_met)| !is_met).map(|(unmet, _)| unmet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_no_input_met_are_told_for_switches_that_have_packets() {
        let rule =
            |unmet: &str, switch_id, is_met| RuleUse { unmet: unmet.to_owned(), switch_id, is_met };
        let uses = vec![
            rule("a", Some(1), true),
            rule("b", Some(1), false),
            rule("c", Some(2), false),
            rule("d", None, false),
            rule("a", Some(1), false),
            rule("e", None, false),
            rule("e", None, true),
        ];
        assert_eq!(unmet(uses), ["b", "d"]);
        assert_eq!(unmet(Vec::new()), Vec::<String>::new());
    }
}
