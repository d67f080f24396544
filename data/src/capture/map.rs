//! Which packets of a capture go to which port and queue (`docs/pcap.md`).

use crate::io::uncompressed;
use glob::Pattern;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;

const MOST_DSCP: u8 = 63;
const MOST_PCP: u8 = 7;
const MOST_VLAN: u16 = 4_094;

/// `[capture]` of a switch description file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaptureMap {
    /// What times of packets are taken.
    pub times: CaptureTimes,
    /// Packets that come at most so much after a later one of their file are put before it, ns.
    pub reorder_ns: u64,
    /// Rules for ports; the first that a packet meets counts.
    pub port: Vec<PortRule>,
    /// Rules for queues; the first that a packet meets counts, without one it is queue 0.
    pub queue: Vec<QueueRule>,
}

/// What times of packets are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaptureTimes {
    /// Those of the capture.
    #[default]
    Capture,
    /// The time stamps of ERSPAN III, of the switch that mirrored them.
    Mirror,
}

/// Packets that meet all of its conditions go to a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortRule {
    /// Number of the port.
    pub port: u16,
    /// Number of the switch; by default 0, or what a folder `switch=N` says.
    pub switch: Option<u16>,
    /// Name of the file, without its folder; `.gz` and `.zst` may be left out. `*` stands for any characters, `?`
    /// for one, `[ab]` for one of these.
    pub file: Option<FileName>,
    /// Number of the interface in a pcapng file, from 0; 0 in a pcap file.
    pub interface: Option<u32>,
    /// VLAN, of the outermost tag.
    pub vlan: Option<u16>,
    /// Ethernet address that the packet is for.
    pub destination_mac: Option<Mac>,
    /// IP addresses that the packet is for.
    pub destination_ip: Option<Prefix>,
}

/// Names of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileName {
    /// As it is given.
    pub text: String,
    pattern: Pattern,
}

impl FileName {
    fn is(&self, file: &str) -> bool {
        let is = |file: &str| self.text == file || self.pattern.matches(file);
        is(file) || is(uncompressed(file))
    }
}

impl TryFrom<String> for FileName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let pattern = Pattern::new(&text)
            .map_err(|error| format!("{text:?} is no name or pattern of files: {}", error.msg))?;
        Ok(FileName { text, pattern })
    }
}

/// Packets that meet all of its conditions go to a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueRule {
    /// Number of the queue within the port.
    pub queue: u8,
    /// DSCP values of the IP header, 0 to 63.
    pub dscp: Option<OneOrSeveral>,
    /// PCP values of the outermost VLAN tag, 0 to 7.
    pub pcp: Option<OneOrSeveral>,
}

/// One value or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrSeveral {
    /// One.
    One(u8),
    /// Any of these.
    Any(Vec<u8>),
}

impl OneOrSeveral {
    /// Whether they can't all be met: the first above `most`, or none if there is no value.
    fn wrong(&self, most: u8) -> Option<Option<u8>> {
        let values = match self {
            OneOrSeveral::One(value) => std::slice::from_ref(value),
            OneOrSeveral::Any(values) => values,
        };
        let above = values.iter().copied().find(|&value| value > most);
        (values.is_empty() || above.is_some()).then_some(above)
    }
}

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Whether it is an address of many receivers: broadcast or multicast.
    pub(crate) fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// IP addresses that begin alike, such as `10.0.1.0/24`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix(pub IpNet);

/// What rules ask of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketFacts {
    pub(crate) interface: u32,
    pub(crate) vlan: Option<u16>,
    pub(crate) pcp: Option<u8>,
    pub(crate) destination_mac: Option<Mac>,
    pub(crate) destination_ip: Option<IpAddr>,
    pub(crate) dscp: Option<u8>,
}

impl CaptureMap {
    /// A condition or a rule that no packet can meet.
    pub(crate) fn problem(&self) -> Option<String> {
        let of_ports = (1..).zip(&self.port).filter_map(|(place, rule)| {
            Some(format!(
                "[capture] rule {place} of port (port = {}): {}",
                rule.port,
                rule.problem()?
            ))
        });
        let of_queues = (1..).zip(&self.queue).filter_map(|(place, rule)| {
            let problem = rule.problem()?;
            Some(format!("[capture] rule {place} of queue (queue = {}): {problem}", rule.queue))
        });
        // The first rule that is met counts.
        let last = |of: &str, has_conditions: Vec<bool>| {
            let place = has_conditions.iter().position(|has| !has)? + 1;
            (place < has_conditions.len()).then(|| {
                format!(
                    "[capture] rule {place} of {of} has no condition, so no packet reaches the rules after it; \
                     put it last"
                )
            })
        };
        let ports = || last("port", self.port.iter().map(PortRule::has_conditions).collect());
        let queues = || last("queue", self.queue.iter().map(QueueRule::has_conditions).collect());
        of_ports.chain(of_queues).next().or_else(ports).or_else(queues)
    }

    /// The places of the rules for ports that are about this file.
    pub(crate) fn rules_of(&self, file: &str) -> Vec<usize> {
        (0..self.port.len()).filter(|&place| self.port[place].is_of(file)).collect()
    }

    /// The first of the rules at `places` that a packet meets, if there is one.
    pub(crate) fn port(&self, places: &[usize], facts: &PacketFacts) -> Option<usize> {
        places.iter().copied().find(|&place| self.port[place].is_met(facts))
    }

    /// The switch and port behind which a sender is, if the rules say where packets for it go: `switch_id` is that of rules
    /// that name none.
    pub(crate) fn port_of_sender(&self, sender: IpAddr, switch_id: u16) -> Option<(u16, u16)> {
        let for_it = |rule: &&PortRule| {
            rule.destination_ip.as_ref().is_some_and(|prefix| prefix.0.contains(&sender))
        };
        let mut places = self
            .port
            .iter()
            .filter(for_it)
            .map(|rule| (rule.switch.unwrap_or(switch_id), rule.port));
        let first = places.next()?;
        places.all(|place| place == first).then_some(first)
    }

    /// The place of the rule that says the queue of a packet; without one it is queue 0.
    pub(crate) fn queue(&self, facts: &PacketFacts) -> Option<usize> {
        self.queue.iter().position(|rule| rule.is_met(facts))
    }
}

/// Whether a condition is absent or met.
fn met<T>(condition: Option<&T>, is_met: impl FnOnce(&T) -> bool) -> bool {
    condition.is_none_or(is_met)
}

impl PortRule {
    fn has_conditions(&self) -> bool {
        self.file.is_some()
            || self.interface.is_some()
            || self.vlan.is_some()
            || self.destination_mac.is_some()
            || self.destination_ip.is_some()
    }

    fn problem(&self) -> Option<String> {
        if let Some(vlan) = self.vlan.filter(|&vlan| vlan > MOST_VLAN) {
            return Some(format!("vlan {vlan} is no VLAN, expected 0 to {MOST_VLAN}"));
        }
        let file = self.file.as_ref()?.text.as_str();
        let name = Path::new(file).file_name().unwrap_or_default();
        (name != file).then(|| {
            format!("file {file:?} must be the name of a file without its folder, as {name:?}")
        })
    }

    /// Whether it is about packets of this file.
    pub(crate) fn is_of(&self, file: &str) -> bool {
        met(self.file.as_ref(), |name| name.is(file))
    }

    /// Whether a packet of a file that it is about meets it.
    fn is_met(&self, facts: &PacketFacts) -> bool {
        met(self.interface.as_ref(), |&interface| interface == facts.interface)
            && met(self.vlan.as_ref(), |&vlan| facts.vlan == Some(vlan))
            && met(self.destination_mac.as_ref(), |&mac| facts.destination_mac == Some(mac))
            && met(self.destination_ip.as_ref(), |prefix| {
                facts.destination_ip.is_some_and(|address| prefix.0.contains(&address))
            })
    }
}

impl QueueRule {
    fn has_conditions(&self) -> bool {
        self.dscp.is_some() || self.pcp.is_some()
    }

    fn problem(&self) -> Option<String> {
        let dscp = self.dscp.as_ref().and_then(|values| match values.wrong(MOST_DSCP)? {
            Some(tos) => Some(format!(
                "dscp {tos} is no DSCP, expected 0 to {MOST_DSCP} (of the ToS byte {tos}, it is {})",
                tos >> 2
            )),
            None => Some("dscp names no value; name one, or leave dscp out".to_owned()),
        });
        let pcp = || match self.pcp.as_ref()?.wrong(MOST_PCP)? {
            Some(pcp) => Some(format!("pcp {pcp} is no PCP, expected 0 to {MOST_PCP}")),
            None => Some("pcp names no value; name one, or leave pcp out".to_owned()),
        };
        dscp.or_else(pcp)
    }

    fn is_met(&self, facts: &PacketFacts) -> bool {
        let holds = |values: &OneOrSeveral, fact: Option<u8>| match (values, fact) {
            (_, None) => false,
            (OneOrSeveral::One(value), Some(fact)) => *value == fact,
            (OneOrSeveral::Any(values), Some(fact)) => values.contains(&fact),
        };
        met(self.dscp.as_ref(), |values| holds(values, facts.dscp))
            && met(self.pcp.as_ref(), |values| holds(values, facts.pcp))
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> String {
        name.text
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> String {
        mac.to_string()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.0.to_string()
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no Ethernet address, expected one such as 02:00:00:00:00:01");
        let parts: Vec<&str> = text.split([':', '-']).collect();
        let byte = |part: &str| match part.as_bytes() {
            // A sign would be read, too.
            [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                u8::from_str_radix(part, 16).ok()
            }
            _ => None,
        };
        let bytes: Option<Vec<u8>> = parts.into_iter().map(byte).collect();
        let bytes = bytes.ok_or_else(wrong)?;
        Ok(Mac(bytes.try_into().map_err(|_| wrong())?))
    }
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let one = || text.parse().map(|address: IpAddr| IpNet::from(address));
        let network: IpNet = text
            .parse()
            .or_else(|_| one())
            .map_err(|_| format!("{text:?} is no IP prefix, expected one such as 10.0.1.0/24"))?;
        if network == network.trunc() {
            return Ok(Prefix(network));
        }
        let expected = network.trunc();
        Err(format!(
            "{text:?} is no IP prefix: its address has bits beyond its length; write {expected}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = r#"
        port = [
            { port = 0, file = "a.pcap", interface = 1 },
            { port = 1, vlan = 20, destination_mac = "02:00:00:00:00:0A" },
            { port = 2, destination_ip = "10.0.1.0/24", switch = 7 },
            { port = 3, destination_ip = "2001:db8::/32" },
        ]
        queue = [{ queue = 1, dscp = [46, 48] }, { queue = 2, pcp = 5 }]
    "#;

    #[test]
    fn the_first_rule_that_is_met_counts() {
        let map: CaptureMap = toml::from_str(MAP).unwrap();
        let port = |file: &str, facts: PacketFacts| {
            let rule = map.port(&map.rules_of(file), &facts).map(|place| &map.port[place]);
            rule.map(|rule| (rule.switch.unwrap_or(0), rule.port))
        };
        let none = PacketFacts::default();
        assert_eq!(port("a.pcap", PacketFacts { interface: 1, ..none }), Some((0, 0)));
        assert_eq!(port("b.pcap", PacketFacts { interface: 1, ..none }), None);
        for compressed in ["a.pcap.gz", "a.pcap.zst"] {
            assert_eq!(port(compressed, PacketFacts { interface: 1, ..none }), Some((0, 0)));
        }
        let mac = Some(Mac([2, 0, 0, 0, 0, 10]));
        let tagged = PacketFacts { vlan: Some(20), destination_mac: mac, ..none };
        assert_eq!(port("x", tagged), Some((0, 1)));
        assert_eq!(port("x", PacketFacts { vlan: None, ..tagged }), None);
        let to = |address: &str| PacketFacts { destination_ip: address.parse().ok(), ..none };
        assert_eq!(port("x", to("10.0.1.255")), Some((7, 2)));
        assert_eq!(port("x", to("10.0.2.0")), None);
        assert_eq!(port("x", to("2001:db8:ffff::1")), Some((0, 3)));
        assert_eq!(port("x", to("2001:db9::1")), None);
        assert_eq!(map.queue(&PacketFacts { dscp: Some(48), ..none }), Some(0));
        assert_eq!(map.queue(&PacketFacts { dscp: Some(0), pcp: Some(5), ..none }), Some(1));
        assert_eq!(map.queue(&none), None);
    }

    #[test]
    fn names_of_files_may_be_patterns() {
        let is = |text: &str, file: &str| FileName::try_from(text.to_owned()).unwrap().is(file);
        for file in ["eth0_00001.pcap", "eth0_2.pcap.gz", "eth0_.pcap"] {
            assert!(is("eth0_*.pcap", file), "{file}");
        }
        assert!(!is("eth0_*.pcap", "eth01_1.pcap") && !is("eth0_?.pcap", "eth0_10.pcap"));
        // A name is also itself.
        assert!(is("a[1].pcap", "a[1].pcap") && is("a[1].pcap", "a1.pcap"));
        assert!(FileName::try_from("a[.pcap".to_owned()).is_err());
    }

    #[test]
    fn conditions_that_no_packet_meets_are_named() {
        let problem = |rules: &str| toml::from_str::<CaptureMap>(rules).unwrap().problem();
        assert_eq!(problem(MAP), None);
        for (rules, says) in [
            (
                "queue = [{ queue = 0, dscp = 63, pcp = 7 }, { queue = 1, dscp = [46, 184] }]",
                "[capture] rule 2 of queue (queue = 1): dscp 184 is no DSCP, expected 0 to 63 (of the \
                 ToS byte 184, it is 46)",
            ),
            (
                "queue = [{ queue = 2, pcp = 8 }]",
                "[capture] rule 1 of queue (queue = 2): pcp 8 is no PCP, expected 0 to 7",
            ),
            (
                "queue = [{ queue = 2, dscp = [] }]",
                "[capture] rule 1 of queue (queue = 2): dscp names no value; name one, or leave dscp out",
            ),
            (
                "queue = [{ queue = 2, dscp = 1, pcp = [] }]",
                "[capture] rule 1 of queue (queue = 2): pcp names no value; name one, or leave pcp out",
            ),
            (
                "port = [{ port = 0, vlan = 4094 }, { port = 3, vlan = 4095 }]",
                "[capture] rule 2 of port (port = 3): vlan 4095 is no VLAN, expected 0 to 4094",
            ),
            (
                "port = [{ port = 3, file = \"logs/a.pcap\" }]",
                "[capture] rule 1 of port (port = 3): file \"logs/a.pcap\" must be the name of a file \
                 without its folder, as \"a.pcap\"",
            ),
        ] {
            assert_eq!(problem(rules).as_deref(), Some(says));
        }
    }

    #[test]
    fn no_rule_stands_behind_one_without_conditions() {
        let problem = |rules: &str| toml::from_str::<CaptureMap>(rules).unwrap().problem();
        let says = |rules: &str, of: &str| {
            let said = problem(rules).unwrap();
            assert!(
                said.starts_with(&format!("[capture] rule 1 of {of} has no condition")),
                "{said}"
            );
        };
        says("port = [{ port = 2 }, { port = 0, file = 'a.pcap' }]", "port");
        says("queue = [{ queue = 2 }, { queue = 0, pcp = 1 }]", "queue");
        assert_eq!(problem("port = [{ port = 0, file = 'a.pcap' }, { port = 2 }]"), None);
        assert_eq!(problem("queue = [{ queue = 0, pcp = 1 }, { queue = 2 }]"), None);
    }

    #[test]
    fn addresses_and_prefixes_are_checked() {
        for text in ["", "02:00:00:00:00", "02:00:00:00:00:0g", "2:0:0:0:0:1", "+2:00:00:00:00:00"]
        {
            assert!(Mac::try_from(text.to_owned()).is_err(), "{text}");
        }
        let prefix = |text: &str| Prefix::try_from(text.to_owned());
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "::/-1", "x/8"] {
            assert!(prefix(text).is_err(), "{text}");
        }
        let beyond = prefix("10.0.1.7/24").unwrap_err();
        assert!(beyond.ends_with("has bits beyond its length; write 10.0.1.0/24"), "{beyond}");
        let holds = |text: &str, address: &str| {
            prefix(text).unwrap().0.contains(&address.parse::<IpAddr>().unwrap())
        };
        assert!(holds("0.0.0.0/0", "255.1.2.3") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("10.0.0.1", "10.0.0.1") && !holds("10.0.0.1", "10.0.0.0"));
    }
}
