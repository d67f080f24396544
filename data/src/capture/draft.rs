//! Rules for ports, drafted from what captures hold.

use super::map::Mac;
use super::output_ports::{Evidence, PortCapture};
use super::subnets::{OfSubnet, subnet_of};
use super::summary::Pair;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::net::IpAddr;

/// Subnets, addresses or VLANs of a capture that are listed, at most.
const MOST_LISTED: usize = 8;
/// Rules of a port, and rules without a port, at most.
const MOST_RULES: usize = 64;

/// What each capture holds, as comments, and rules to paste into a switch description.
pub(crate) fn draft(captures: &[PortCapture<'_>], why: Evidence) -> String {
    let mut text = String::new();
    captures.iter().for_each(|capture| text.push_str(&listing(capture)));
    match why {
        // Every packet would count twice, whatever the rules.
        Evidence::BothDirections => {}
        Evidence::SharedDestinations => {
            let (rules, groups) = rules_by_sender(captures);
            text.push_str(&rules.text(groups));
        }
        Evidence::NoBacklog => {
            for PortCapture { port, name, .. } in captures {
                text.push_str(&rule(&port.to_string(), "file", &format!("{name:?}")));
            }
        }
    }
    text.trim_end().to_owned()
}

/// What a capture holds, in comments.
fn listing(capture: &PortCapture<'_>) -> String {
    let PortCapture { name, port, summary, .. } = capture;
    let name = name.escape_debug();
    let mut text = format!("# {name}, as port {port}: {} packets\n", summary.packets);
    let ips = |of: fn((IpAddr, IpAddr)) -> IpAddr| {
        let subnets = summary.subnets(of).into_iter();
        subnets.map(|(subnet, OfSubnet { packets, .. })| (subnet, packets)).collect()
    };
    let macs = |of: fn((Mac, Mac)) -> Mac| summary.by(|pair| pair.macs.map(of));
    list(&mut text, "from", ips(|pair| pair.0));
    list(&mut text, "to", ips(|pair| pair.1));
    list(&mut text, "from MAC", macs(|pair| pair.0));
    list(&mut text, "to MAC", macs(|pair| pair.1));
    list(&mut text, "VLAN", summary.by(|pair| pair.vlan));
    text
}

/// The most frequent keys and their packets.
fn list<K: Ord + Display>(text: &mut String, what: &str, counts: BTreeMap<K, u64>) {
    let mut counts: Vec<(K, u64)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let left_out = counts.len().saturating_sub(MOST_LISTED);
    let shown = counts.iter().take(MOST_LISTED);
    let mut shown: Vec<String> = shown.map(|(key, n)| format!("{key} ({n})")).collect();
    shown.extend((left_out > 0).then(|| format!("{left_out} more")));
    if !shown.is_empty() {
        let _ = writeln!(text, "#   {what} {}", shown.join(", "));
    }
}

/// A rule with one condition.
pub(super) fn rule(port: &str, condition: &str, value: &str) -> String {
    format!("\n[[capture.port]]\nport = {port}\n{condition} = {value}\n")
}

/// Packets that the [drafted](draft) rules by sender give a port.
pub(super) fn placed_by_sender(captures: &[PortCapture<'_>]) -> u64 {
    let (Rules(mut rules), _) = rules_by_sender(captures);
    rules.remove(&None);
    let placed = rules.into_values().map(|mut rules| {
        rules.sort_by_key(|rule| Reverse(rule.0));
        rules.iter().take(MOST_RULES).map(|rule| rule.0).sum::<u64>()
    });
    placed.sum()
}

/// A host is behind the port at which it sends. Also the packets for groups.
fn rules_by_sender(captures: &[PortCapture<'_>]) -> (Rules, u64) {
    let receivers = sum(captures, |pair| Some(unicast(pair)?.1));
    let homes = homes(captures, |pair| Some(unicast(pair)?.0));
    let mut rules = Rules::default();
    for (subnet, addresses) in grouped(homes.keys().chain(receivers.keys()).copied()) {
        let of = |address: &IpAddr| homes.get(address).copied();
        let known: BTreeSet<Option<u16>> = addresses.iter().filter_map(of).collect();
        let packets = |of: &[IpAddr]| of.iter().filter_map(|one| receivers.get(one)).sum();
        // Whoever never sends is where the others of its subnet are.
        if let [Some(port)] = known.iter().copied().collect::<Vec<_>>()[..] {
            rules.add(Some(port), "destination_ip", subnet, packets(&addresses));
            continue;
        }
        for (&address, &packets) in addresses.iter().filter_map(|one| receivers.get_key_value(one))
        {
            let port = homes.get(&address).copied().flatten();
            rules.add(port, "destination_ip", address, packets);
        }
    }
    let homes = self::homes(captures, |pair| pair.macs.map(|(from, _)| from));
    let without_ip = |pair: &Pair| match pair.ips {
        None if !pair.is_for_a_group() => pair.macs.map(|(_, to)| to),
        _ => None,
    };
    for (mac, packets) in sum(captures, without_ip) {
        rules.add(homes.get(&mac).copied().flatten(), "destination_mac", mac, packets);
    }
    let groups: u64 = sum(captures, |pair| pair.is_for_a_group().then_some(())).values().sum();
    (rules, groups)
}

/// IP addresses of a sender and one receiver.
pub(super) fn unicast(pair: &Pair) -> Option<(IpAddr, IpAddr)> {
    pair.ips.filter(|(from, _)| !pair.is_for_a_group() && !from.is_unspecified())
}

fn grouped(addresses: impl Iterator<Item = IpAddr>) -> BTreeMap<IpNet, Vec<IpAddr>> {
    let mut subnets: BTreeMap<IpNet, Vec<IpAddr>> = BTreeMap::new();
    let addresses: BTreeSet<IpAddr> = addresses.collect();
    for address in addresses {
        subnets.entry(subnet_of(address)).or_default().push(address);
    }
    subnets
}

/// Packets of all captures by a property of their pair.
fn sum<K: Ord + Copy>(
    captures: &[PortCapture<'_>],
    of: impl Fn(&Pair) -> Option<K>,
) -> BTreeMap<K, u64> {
    let mut all = BTreeMap::new();
    for (key, packets) in captures.iter().flat_map(|capture| capture.summary.by(&of)) {
        *all.entry(key).or_default() += packets;
    }
    all
}

/// The port at which each sender sends nine in ten of its packets; none if there is no such port.
fn homes<K: Ord + Copy>(
    captures: &[PortCapture<'_>],
    sender: impl Fn(&Pair) -> Option<K>,
) -> BTreeMap<K, Option<u16>> {
    let mut most: BTreeMap<K, (u64, u16)> = BTreeMap::new();
    for capture in captures {
        for (key, packets) in capture.summary.by(&sender) {
            let of = most.entry(key).or_default();
            *of = (*of).max((packets, capture.port));
        }
    }
    let all = sum(captures, sender);
    let home = |(key, (packets, port)): (K, (u64, u16))| {
        let is_home = all.get(&key).is_some_and(|all| packets * 10 >= all * 9);
        (key, is_home.then_some(port))
    };
    most.into_iter().map(home).collect()
}

/// Rules by port; none where the user has to say it.
#[derive(Default)]
struct Rules(BTreeMap<Option<u16>, Vec<(u64, &'static str, String)>>);

impl Rules {
    fn add(&mut self, port: Option<u16>, what: &'static str, value: impl Display, packets: u64) {
        self.0.entry(port).or_default().push((packets, what, value.to_string()));
    }

    fn text(self, groups: u64) -> String {
        let mut text =
            "#\n# A host is behind the port at which it sends. Check these rules before you use \
                        them; the switch\n# may know more than these packets show.\n"
                .to_owned();
        let mut unknown = String::new();
        for (port, mut rules) in self.0 {
            rules.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.2.cmp(&other.2)));
            let left_out = rules.len().saturating_sub(MOST_RULES);
            for (packets, what, value) in rules.into_iter().take(MOST_RULES) {
                let comment = format!("# {packets} packets are for {value}");
                let value = format!("{value:?}");
                match port {
                    Some(port) => {
                        let rule = rule(&port.to_string(), what, &value);
                        let _ = write!(text, "\n{comment}{rule}");
                    }
                    None => {
                        let rule = rule("?", what, &value);
                        let rule = rule.trim().replace('\n', "\n# ");
                        let _ = write!(unknown, "\n{comment}: which port?\n# {rule}\n");
                    }
                }
            }
            if left_out > 0 {
                let of = port.map_or_else(String::new, |port| format!(" for port {port}"));
                let _ = writeln!(unknown, "\n# {left_out} more addresses{of} are left out.");
            }
        }
        text.push_str(&unknown);
        if groups > 0 {
            let _ = write!(
                text,
                "\n# {groups} packets are for groups (broadcast, multicast), which have no port: leave them \
                 out\n# with --on-bad-row skip.\n"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::CaptureSummary;
    use super::*;
    use crate::capture::CaptureMap;

    type Sent<'a> = &'a [(&'a str, &'a str, u64)];

    fn capture(sent: Sent<'_>) -> CaptureSummary {
        let pair = |&(from, to, packets): &(&str, &str, u64)| {
            let ips = Some((from.parse().unwrap(), to.parse().unwrap()));
            (Pair { ips, ..Pair::default() }, packets)
        };
        CaptureSummary { pairs: sent.iter().map(pair).collect(), ..CaptureSummary::default() }
    }

    fn drafted(captures: &[Sent<'_>], why: Evidence) -> String {
        let summaries: Vec<_> = captures.iter().map(|sent| capture(sent)).collect();
        let names: Vec<_> = (0..captures.len()).map(|port| format!("p{port}.pcap")).collect();
        let of_port = |(at, summary): (usize, _)| {
            let name = names[at].as_str();
            PortCapture { file: name, name, port: at as u16, summary }
        };
        let captures: Vec<_> = summaries.iter().enumerate().map(of_port).collect();
        draft(&captures, why)
    }

    /// The rules of a draft: port and condition.
    fn rules(draft: &str) -> Vec<(u16, String)> {
        #[derive(serde::Deserialize)]
        struct Pasted {
            #[serde(default)]
            capture: CaptureMap,
        }
        let pasted: Pasted = toml::from_str(draft).unwrap_or_else(|e| panic!("{e}\n{draft}"));
        assert_eq!(pasted.capture.problem(), None);
        let port_and_condition = |rule: &crate::PortRule| {
            let ip = rule.destination_ip.map(|prefix| prefix.0.to_string());
            (rule.port, ip.or_else(|| Some(rule.file.as_ref()?.text.clone())).unwrap_or_default())
        };
        pasted.capture.port.iter().map(port_and_condition).collect()
    }

    #[test]
    fn a_subnet_is_behind_the_port_at_which_its_hosts_send() {
        let captures: [Sent<'_>; 2] = [
            &[("10.0.0.1", "10.0.1.1", 10), ("10.0.0.2", "10.0.9.1", 5)],
            &[("10.0.1.1", "10.0.0.3", 7), ("10.0.1.2", "224.0.0.5", 1)],
        ];
        let draft = drafted(&captures, Evidence::SharedDestinations);
        let expected = [(0, "10.0.0.0/24"), (1, "10.0.1.0/24")];
        assert_eq!(rules(&draft), expected.map(|(port, of)| (port, of.to_owned())), "{draft}");
        assert!(draft.contains("# 7 packets are for 10.0.0.0/24\n"), "{draft}");
        assert!(draft.contains("# 5 packets are for 10.0.9.1: which port?\n"), "{draft}");
        assert!(draft.contains("# 1 packets are for groups"), "{draft}");
        assert!(draft.contains("#   from 10.0.0.0/24 (15)\n"), "{draft}");
    }

    #[test]
    fn hosts_of_one_subnet_at_several_ports_have_rules_of_their_own() {
        let captures: [Sent<'_>; 3] = [
            &[("10.0.0.1", "10.0.0.2", 10), ("10.0.0.7", "10.0.0.2", 10)],
            &[("10.0.0.2", "10.0.0.1", 7), ("10.0.0.7", "10.0.0.1", 8)],
            &[("10.0.0.3", "10.0.0.7", 7)],
        ];
        let draft = drafted(&captures, Evidence::SharedDestinations);
        let expected = [(0, "10.0.0.1/32"), (1, "10.0.0.2/32")];
        assert_eq!(rules(&draft), expected.map(|(port, of)| (port, of.to_owned())), "{draft}");
        // It sends at two ports.
        assert!(draft.contains("# 7 packets are for 10.0.0.7: which port?\n"), "{draft}");
    }

    #[test]
    fn without_backlog_the_order_is_written_out() {
        let captures: [Sent<'_>; 2] = [&[("10.0.0.1", "10.0.1.1", 10)], &[]];
        let draft = drafted(&captures, Evidence::NoBacklog);
        assert_eq!(rules(&draft), [(0, "p0.pcap".to_owned()), (1, "p1.pcap".to_owned())]);
        assert_eq!(rules(&drafted(&captures, Evidence::BothDirections)), []);
    }
}
