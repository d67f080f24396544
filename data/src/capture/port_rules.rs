//! Rules for the ports of a switch that is described from captures alone.

use super::draft::{draft, placed_by_sender, rule, unicast};
use super::map::Mac;
use super::output_ports::{Evidence, PortCapture, why_no_output_ports};
use super::subnets::subnet_of;
use super::summary::{CaptureSummary, Pair};
use crate::io::uncompressed;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

/// Destinations with a port each, at most: more are taken by subnet.
const MOST_PORTS: usize = 256;

/// Captures of one name, such as those of a link on several days.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCapture {
    /// Their name without a folder.
    pub name: String,
    /// What their packets are.
    pub summary: CaptureSummary,
}

/// Rules `[[capture.port]]` of a switch description, and how many ports they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRules {
    /// Ports.
    pub ports: u16,
    /// What each port is called: after its capture, interface or destination.
    pub names: Vec<String>,
    /// The rules, TOML, with comments.
    pub toml: String,
    /// How ports were distinguished, a sentence.
    pub how: String,
    /// Packets for which no rule holds.
    pub without_port: u64,
}

impl PortRules {
    /// A port for each capture, in their order: of the packets in it, or if captures share destinations, of the hosts that
    /// send in it.
    ///
    /// # Errors
    /// Why captures cannot be of a port each, with the place of one that shows it.
    pub fn per_capture(captures: &[NamedCapture]) -> Result<PortRules, (usize, String)> {
        let ports = port_count(captures.len()).map_err(|problem| (0, problem))?;
        let names = captures.iter().map(|capture| capture.name.clone()).collect();
        let of_ports: Vec<PortCapture<'_>> = (0..ports).zip(captures).map(of_port).collect();
        match why_no_output_ports(&of_ports, None) {
            None => Ok(PortRules {
                ports,
                names,
                toml: draft(&of_ports, Evidence::NoBacklog),
                how: "Each capture is taken to hold what is for one port, as no two share a destination".to_owned(),
                without_port: 0,
            }),
            Some(found) if found.kind == Evidence::BothDirections => Err((found.at, found.problem)),
            Some(_) => Ok(PortRules {
                ports,
                names,
                toml: draft(&of_ports, Evidence::SharedDestinations),
                how: "Captures share destinations, so each is taken to be of what comes in at one port, and a host to be \
                      behind the port at which it sends"
                    .to_owned(),
                without_port: packets(captures).saturating_sub(placed_by_sender(&of_ports)),
            }),
        }
    }

    /// A port for each interface of each capture.
    ///
    /// # Errors
    /// If there are more than a switch has ports.
    pub fn per_interface(captures: &[NamedCapture]) -> Result<PortRules, String> {
        let mut found: BTreeMap<(usize, u32), u64> = BTreeMap::new();
        for (at, capture) in captures.iter().enumerate() {
            for (interface, packets) in &capture.summary.interfaces {
                *found.entry((at, interface.number)).or_default() += packets;
            }
        }
        let ports = port_count(found.len())?;
        let (mut toml, mut names) = (String::new(), Vec::new());
        for (port, ((at, interface), packets)) in found.into_iter().enumerate() {
            let name = uncompressed(&captures[at].name);
            names.push(format!("{}:{interface}", captures[at].name));
            push_comment(
                &mut toml,
                packets,
                format_args!("of interface {interface} of {}", name.escape_debug()),
            );
            let _ = writeln!(
                toml,
                "[[capture.port]]\nport = {port}\nfile = {name:?}\ninterface = {interface}"
            );
        }
        let how = "Each interface is taken to have captured what is for one port".to_owned();
        Ok(PortRules { ports, names, toml, how, without_port: 0 })
    }

    /// A port for each address that packets are for; of many, one for each subnet.
    ///
    /// # Errors
    /// If there are none, or more subnets than ports.
    pub fn per_destination(captures: &[NamedCapture]) -> Result<PortRules, String> {
        let of_ip = sum(captures, |pair| Some(unicast(pair)?.1));
        let of_mac = sum(captures, receiver_without_ip);
        let mut by = "address";
        let mut rules: Vec<(&str, String, u64)> = Vec::new();
        if of_ip.len() + of_mac.len() <= MOST_PORTS {
            rules.extend(of_ip.into_iter().map(ip_rule));
        } else {
            by = "subnet";
            let mut subnets = BTreeMap::new();
            for (address, packets) in of_ip {
                *subnets.entry(subnet_of(address)).or_insert(0) += packets;
            }
            rules.extend(subnets.into_iter().map(ip_rule));
        }
        rules.extend(of_mac.into_iter().map(|(mac, n)| ("destination_mac", mac.to_string(), n)));
        if rules.is_empty() {
            return Err("has no packet with a destination".to_owned());
        }
        if rules.len() > MOST_PORTS {
            return Err(format!(
                "has packets for {} subnets and Ethernet addresses, more than the {MOST_PORTS} ports of a draft: \
                 say by hand which of them share a port",
                rules.len()
            ));
        }
        let ports = port_count(rules.len())?;
        let names = rules.iter().map(|(_, value, _)| value.clone()).collect();
        let mut toml = String::new();
        let mut placed = 0;
        for (port, (condition, value, packets)) in rules.into_iter().enumerate() {
            push_comment(&mut toml, packets, format_args!("for {value}"));
            toml.push_str(rule(&port.to_string(), condition, &format!("{value:?}")).trim_start());
            placed += packets;
        }
        let how = format!(
            "Each {by} that packets are for is taken to be behind a port of its own: give those that share a port one number"
        );
        let without_port = packets(captures).saturating_sub(placed);
        Ok(PortRules { ports, names, toml, how, without_port })
    }
}

fn of_port((port, capture): (u16, &NamedCapture)) -> PortCapture<'_> {
    let name = uncompressed(&capture.name);
    PortCapture { file: name, name, port, summary: &capture.summary }
}

fn port_count(ports: usize) -> Result<u16, String> {
    u16::try_from(ports)
        .map_err(|_| format!("would be one of {ports} ports, and a switch has at most 65,535"))
}

fn ip_rule(of: (impl Display, u64)) -> (&'static str, String, u64) {
    ("destination_ip", of.0.to_string(), of.1)
}

/// Made-up frames often have an address of zeros, which is nobody's.
fn receiver_without_ip(pair: &Pair) -> Option<Mac> {
    let (_, to) = pair.macs.filter(|_| pair.ips.is_none() && !pair.is_for_a_group())?;
    (to != Mac([0; 6])).then_some(to)
}

fn push_comment(toml: &mut String, packets: u64, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(toml, "\n# {packets} packets are {what}");
}

fn packets(captures: &[NamedCapture]) -> u64 {
    captures.iter().map(|capture| capture.summary.packets).sum()
}

fn sum<K: Ord>(captures: &[NamedCapture], of: impl Fn(&Pair) -> Option<K>) -> BTreeMap<K, u64> {
    let mut all = BTreeMap::new();
    for (key, packets) in captures.iter().flat_map(|capture| capture.summary.by(&of)) {
        *all.entry(key).or_default() += packets;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::CaptureInterface;
    use crate::capture::CaptureMap;
    use std::net::IpAddr;

    /// Packets from one address to another.
    fn capture(name: &str, sent: &[(&str, &str, u64)]) -> NamedCapture {
        let pair = |&(from, to, packets): &(&str, &str, u64)| {
            let ips: Option<(IpAddr, IpAddr)> = from.parse().ok().zip(to.parse().ok());
            (Pair { ips, ..Pair::default() }, packets)
        };
        let packets = sent.iter().map(|sent| sent.2).sum();
        let pairs = sent.iter().map(pair).collect();
        let summary = CaptureSummary { pairs, packets, ..CaptureSummary::default() };
        NamedCapture { name: name.to_owned(), summary }
    }

    /// Ports, and what their rules ask for.
    fn rules(drafted: &PortRules) -> Vec<(u16, String)> {
        #[derive(serde::Deserialize)]
        struct Description {
            capture: CaptureMap,
        }
        let Description { capture } =
            toml::from_str(&drafted.toml).unwrap_or_else(|e| panic!("{e}\n{}", drafted.toml));
        assert_eq!(capture.problem(), None);
        let asks = |rule: &crate::PortRule| {
            let ip = rule.destination_ip.map(|prefix| prefix.0.to_string());
            let file = rule.file.as_ref().map(|file| file.text.clone());
            let interface = rule.interface.map(|number| number.to_string());
            let asks: Vec<String> = [ip, file, interface].into_iter().flatten().collect();
            (rule.port, asks.join(" "))
        };
        capture.port.iter().map(asks).collect()
    }

    fn expected(rules: &[(u16, &str)]) -> Vec<(u16, String)> {
        rules.iter().map(|&(port, asks)| (port, asks.to_owned())).collect()
    }

    #[test]
    fn captures_are_of_a_port_each_or_of_what_comes_in_there() {
        let apart = [
            capture("a.pcap.gz", &[("10.0.0.1", "10.0.1.1", 9)]),
            capture("b.pcap", &[("10.0.0.1", "10.0.2.1", 9)]),
        ];
        let drafted = PortRules::per_capture(&apart).expect("rules");
        assert_eq!(rules(&drafted), expected(&[(0, "a.pcap"), (1, "b.pcap")]));
        assert_eq!((drafted.ports, drafted.without_port), (2, 0));
        let ingress = [
            capture("a.pcap", &[("10.0.1.1", "10.0.2.1", 9), ("10.0.1.1", "10.0.9.9", 4)]),
            capture("b.pcap", &[("10.0.2.1", "10.0.1.1", 9), ("10.0.2.2", "10.0.2.1", 5)]),
        ];
        let drafted = PortRules::per_capture(&ingress).expect("rules");
        assert_eq!(rules(&drafted), expected(&[(0, "10.0.1.0/24"), (1, "10.0.2.0/24")]));
        assert_eq!((drafted.ports, drafted.without_port), (2, 4), "10.0.9.9 never sends");
        let both = [
            apart[0].clone(),
            capture("c.pcap", &[("10.0.0.1", "10.0.2.1", 9), ("10.0.2.1", "10.0.0.1", 9)]),
        ];
        let (at, problem) = PortRules::per_capture(&both).expect_err("both directions");
        assert!(at == 1 && problem.contains("both directions"), "{problem}");
    }

    #[test]
    fn each_destination_has_a_port_and_of_many_each_subnet() {
        let one = [capture(
            "a",
            &[
                ("10.0.0.1", "10.0.0.2", 9),
                ("10.0.0.2", "10.0.0.1", 3),
                ("10.0.0.1", "224.0.0.1", 2),
                ("x", "", 1),
            ],
        )];
        let drafted = PortRules::per_destination(&one).expect("rules");
        assert_eq!(rules(&drafted), expected(&[(0, "10.0.0.1/32"), (1, "10.0.0.2/32")]));
        assert_eq!((drafted.ports, drafted.without_port), (2, 3), "a group, and no headers");
        let many: Vec<String> =
            (0..300).map(|host| format!("10.0.{}.{}", host / 100, host % 100)).collect();
        let many: Vec<(&str, &str, u64)> =
            many.iter().map(|to| ("10.9.0.1", to.as_str(), 1)).collect();
        let drafted = PortRules::per_destination(&[capture("a", &many)]).expect("rules");
        assert_eq!(
            rules(&drafted),
            expected(&[(0, "10.0.0.0/24"), (1, "10.0.1.0/24"), (2, "10.0.2.0/24")])
        );
        let far: Vec<String> =
            (0..300).map(|net| format!("10.{}.{}.1", net / 100, net % 100)).collect();
        let far: Vec<(&str, &str, u64)> =
            far.iter().map(|to| ("10.9.0.1", to.as_str(), 1)).collect();
        assert!(
            PortRules::per_destination(&[capture("a", &far)])
                .expect_err("too many")
                .contains("300 subnets")
        );
        assert!(PortRules::per_destination(&[capture("a", &[("x", "", 1)])]).is_err());
    }

    #[test]
    fn each_interface_has_a_port() {
        let mut one = capture("a.pcapng", &[("10.0.0.1", "10.0.0.2", 9)]);
        let interface = |number| CaptureInterface { number, link_type: 1 };
        one.summary.interfaces = BTreeMap::from([(interface(0), 5), (interface(3), 4)]);
        let drafted = PortRules::per_interface(&[one]).expect("rules");
        assert_eq!(rules(&drafted), expected(&[(0, "a.pcapng 0"), (1, "a.pcapng 3")]));
    }
}
