//! Addresses grouped into subnets of the usual size.

use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The /24 or /64 of an address.
pub(super) fn subnet_of(address: IpAddr) -> IpNet {
    let length = if address.is_ipv4() { 24 } else { 64 };
    let one = IpNet::from(address);
    IpNet::new(address, length).map_or(one, |network| network.trunc())
}

/// What a capture has of a subnet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfSubnet {
    /// Packets.
    pub packets: u64,
    /// Addresses of these.
    pub addresses: u64,
}

/// Packets by subnet.
pub(super) fn by_subnet(addresses: &BTreeMap<IpAddr, u64>) -> BTreeMap<IpNet, OfSubnet> {
    let mut subnets: BTreeMap<IpNet, OfSubnet> = BTreeMap::new();
    for (&address, packets) in addresses {
        let subnet = subnets.entry(subnet_of(address)).or_default();
        subnet.packets += packets;
        subnet.addresses += 1;
    }
    subnets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnets_have_the_usual_size() {
        let counts = [("10.0.1.2", 3), ("10.0.1.200", 4), ("10.0.2.1", 5), ("2001:db8::1:2", 6)];
        let counts = counts.map(|(address, packets)| (address.parse().unwrap(), packets));
        let of = |packets, addresses| OfSubnet { packets, addresses };
        let expected =
            [("10.0.1.0/24", of(7, 2)), ("10.0.2.0/24", of(5, 1)), ("2001:db8::/64", of(6, 1))];
        let expected = expected.map(|(subnet, of)| (subnet.parse().unwrap(), of));
        assert_eq!(by_subnet(&BTreeMap::from(counts)), BTreeMap::from(expected));
    }
}
