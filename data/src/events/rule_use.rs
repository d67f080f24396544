//! Rules of an input that say where packets belong, and which of them some packet met.

use std::collections::{BTreeMap, BTreeSet};

/// Rules of a list that are named; more are counted.
const MOST_NAMED: usize = 8;

/// A rule in one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleUse {
    /// The list that it is in.
    pub(crate) list: &'static str,
    /// Its place in the list.
    pub(crate) place: usize,
    /// What it is called in messages.
    pub(crate) name: String,
    /// The switch that it puts packets at; none if at any.
    pub(crate) switch_id: Option<u16>,
    /// Whether a packet met it.
    pub(crate) is_met: bool,
}

/// What no packet met in any input, a sentence for each list. Descriptions of switches may serve several jobs, so a
/// rule for a switch of which there is no packet is not named.
pub(crate) fn unmet(uses: Vec<RuleUse>) -> Vec<String> {
    let switches: BTreeSet<u16> =
        uses.iter().filter(|rule| rule.is_met).filter_map(|rule| rule.switch_id).collect();
    let mut rules: BTreeMap<(&str, usize, String), bool> = BTreeMap::new();
    for RuleUse { list, place, name, switch_id, is_met } in uses {
        if switch_id.is_none_or(|switch_id| switches.contains(&switch_id)) {
            *rules.entry((list, place, name)).or_default() |= is_met;
        }
    }
    let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for ((list, _, name), _) in rules.into_iter().filter(|(_, is_met)| !is_met) {
        lists.entry(list).or_default().push(name);
    }
    let sentence = |(list, names): (&str, Vec<String>)| {
        let more = match names.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = &names[..names.len().min(MOST_NAMED)];
        format!("no packet met {}{more} of {list}", shown.join(", "))
    };
    lists.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_no_input_met_are_named_for_switches_that_have_packets() {
        let rule = |list, place, switch_id, is_met| {
            let name = format!("rule {place}");
            RuleUse { list, place, name, switch_id, is_met }
        };
        let uses = vec![
            rule("ports", 1, Some(1), true),
            rule("ports", 2, Some(1), false),
            rule("ports", 3, Some(2), false),
            rule("ports", 4, None, false),
            rule("ports", 1, Some(1), false),
            rule("queues", 1, None, false),
            rule("queues", 1, None, true),
        ];
        assert_eq!(unmet(uses), ["no packet met rule 2, rule 4 of ports"]);
        assert_eq!(unmet(Vec::new()), Vec::<String>::new());
        let many = (1..=12).map(|place| rule("ports", place, None, false)).collect();
        let first: Vec<_> = (1..=8).map(|place| format!("rule {place}")).collect();
        let expected = format!("no packet met {} and 4 more of ports", first.join(", "));
        assert_eq!(unmet(many), [expected]);
    }
}
