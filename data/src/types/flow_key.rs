//! What distinguishes flows: a hash of the 5-tuple.

use super::random::uniform;
use std::net::IpAddr;

/// Purpose of the hash.
const SEED: u64 = 0x666c_6f77;

/// Addresses, IP protocol and ports of a flow; ports are 0 where a packet has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowKey {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    pub(crate) ports: (u16, u16),
}

impl FlowKey {
    /// The flow the other way.
    pub(crate) fn reversed(&self) -> Self {
        let (source, destination) = (self.destination, self.source);
        FlowKey {
            source,
            destination,
            protocol: self.protocol,
            ports: (self.ports.1, self.ports.0),
        }
    }

    /// The hash, never 0: that means no hash.
    pub(crate) fn hash(&self) -> u64 {
        let (source, destination) = (halves(self.source), halves(self.destination));
        let ports = u64::from(self.ports.0) << 16 | u64::from(self.ports.1);
        let last = u64::from(self.protocol) << 32 | ports;
        uniform(SEED, &[source.0, source.1, destination.0, destination.1, last]).max(1)
    }
}

/// The bits of an address; an IPv4 address as IPv6 maps it.
fn halves(address: IpAddr) -> (u64, u64) {
    let bits = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    ((bits >> 64) as u64, bits as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_key_counts() {
        let key = FlowKey {
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.0.2".parse().unwrap(),
            protocol: 6,
            ports: (80, 443),
        };
        let others = [
            FlowKey { source: "10.0.0.3".parse().unwrap(), ..key },
            FlowKey { destination: "2001:db8::1".parse().unwrap(), ..key },
            FlowKey { protocol: 17, ..key },
            FlowKey { ports: (443, 80), ..key },
        ];
        assert_eq!(key.hash(), key.clone().hash());
        assert!(others.iter().all(|other| other.hash() != key.hash()));
    }
}
