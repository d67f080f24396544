//! What the packets of a capture are, for people and programs.

use crate::exact_times;
use dropcast_data::{CaptureSummary, Mac, OfSubnet, Pair};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;

/// What the packets of a capture are. Lists begin with the most packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapturePackets {
    /// Packets.
    pub packets: u64,
    /// Their sizes on the wire, bytes.
    pub bytes: u64,
    /// The earliest time, nanoseconds since 1970, as a string in JSON.
    #[serde(serialize_with = "time")]
    pub first_ns: Option<u64>,
    /// The latest.
    #[serde(serialize_with = "time")]
    pub last_ns: Option<u64>,
    /// From the earliest to the latest, nanoseconds.
    pub span_ns: Option<u64>,
    /// Packets that are earlier than the one before.
    pub earlier_than_before: u64,
    /// Packets without a time that can be used.
    pub without_time: u64,
    /// The interfaces.
    pub interfaces: Vec<InterfacePackets>,
    /// Subnets (/24, /64) of senders.
    pub source_subnets: Vec<AddressPackets>,
    /// Subnets of receivers.
    pub destination_subnets: Vec<AddressPackets>,
    /// Ethernet addresses of senders.
    pub source_macs: Vec<AddressPackets>,
    /// Ethernet addresses of receivers.
    pub destination_macs: Vec<AddressPackets>,
    /// VLANs.
    pub vlans: Vec<AddressPackets>,
    /// Packets for many receivers: broadcast and multicast.
    pub for_groups: u64,
    /// Packets whose addresses are not in the lists, because there are too many pairs of them.
    pub not_listed: u64,
    /// Whether the file is cut off after these packets.
    pub is_cut_off: bool,
}

/// Packets of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InterfacePackets {
    /// Its number, from 0.
    pub interface: u32,
    /// Its link type, as pcap numbers them.
    pub link_type: u16,
    /// The name of the link type; null if headers of it are not read.
    pub link_name: Option<&'static str>,
    /// Packets.
    pub packets: u64,
}

/// Packets of an address, a subnet or a VLAN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressPackets {
    /// Its name.
    pub name: String,
    /// Packets.
    pub packets: u64,
    /// Addresses of a subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<u64>,
}

fn time<S: Serializer>(time_ns: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match time_ns {
        Some(time_ns) => exact_times::serialize(time_ns, serializer),
        None => serializer.serialize_none(),
    }
}

impl CapturePackets {
    /// What is known of a capture.
    pub fn new(summary: &CaptureSummary) -> Self {
        let (first_ns, last_ns) = summary.times_ns.unzip();
        let interfaces = summary.interfaces.iter().map(|(of, &packets)| InterfacePackets {
            interface: of.number,
            link_type: of.link_type,
            link_name: of.link_name(),
            packets,
        });
        let subnets = |of: fn((IpAddr, IpAddr)) -> IpAddr| {
            let subnets = summary.subnets(of).into_iter();
            listed(subnets.map(|(name, OfSubnet { packets, addresses })| AddressPackets {
                name: name.to_string(),
                packets,
                addresses: Some(addresses),
            }))
        };
        let macs = |of: fn((Mac, Mac)) -> Mac| names(summary.by(|pair| pair.macs.map(of)));
        let for_groups = summary.by(|pair| pair.is_for_a_group().then_some(()));
        CapturePackets {
            packets: summary.packets,
            bytes: summary.bytes,
            first_ns,
            last_ns,
            span_ns: summary.times_ns.map(|(first, last)| last - first),
            earlier_than_before: summary.backwards,
            without_time: summary.without_time,
            interfaces: interfaces.collect(),
            source_subnets: subnets(|pair| pair.0),
            destination_subnets: subnets(|pair| pair.1),
            source_macs: macs(|pair| pair.0),
            destination_macs: macs(|pair| pair.1),
            vlans: names(summary.by(|pair: &Pair| pair.vlan)),
            for_groups: for_groups.values().sum(),
            not_listed: summary.other_pairs,
            is_cut_off: summary.is_cut_off,
        }
    }
}

fn names<K: Display>(counts: BTreeMap<K, u64>) -> Vec<AddressPackets> {
    listed(counts.into_iter().map(|(name, packets)| AddressPackets {
        name: name.to_string(),
        packets,
        addresses: None,
    }))
}

/// Those with the most packets first; those with as many in their own order.
fn listed(found: impl Iterator<Item = AddressPackets>) -> Vec<AddressPackets> {
    let mut found: Vec<AddressPackets> = found.collect();
    found.sort_by_key(|of| std::cmp::Reverse(of.packets));
    found
}
