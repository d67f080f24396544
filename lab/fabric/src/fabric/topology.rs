//! Topology: links between servers and switches.

use super::config::Fabric;
use super::packet::Packet;

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Server(u16),
    Switch(u16),
}

/// One direction of a cable. The links of servers come first, by number, then those of the
/// switches' ports, switch by switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) end: End,
    rate_bps: u64,
    delay_ns: u64,
    wire_overhead_bytes: u64,
    /// Size and transmission time of the latest packet: most have one of two sizes.
    latest: (u32, u64),
}

impl Link {
    /// Time on the wire of a packet of `size_bytes` in a buffer, rounded up, as in
    /// [`dropcast_data::SwitchSpec::wire_time_ns`].
    pub(crate) fn wire_ns(&mut self, size_bytes: u32) -> u64 {
        if self.latest.0 != size_bytes {
            let bits = (u64::from(size_bytes) + self.wire_overhead_bytes) * 8;
            self.latest = (size_bytes, (bits * 1_000_000_000).div_ceil(self.rate_bps));
        }
        self.latest.1
    }

    pub(crate) fn delay_ns(&self) -> u64 {
        self.delay_ns
    }

    pub(crate) fn rate_bps(&self) -> u64 {
        self.rate_bps
    }
}

/// The shape of a leaf-spine fabric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topology {
    leaves: u16,
    /// Of each leaf.
    servers: u16,
}

impl Topology {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let config = fabric.config();
        Topology { leaves: config.leaves, servers: config.servers }
    }

    /// The port of a switch through which a packet goes on.
    pub(crate) fn port(self, switch_id: u16, packet: &Packet) -> u16 {
        let leaf = packet.to / self.servers;
        if switch_id >= self.leaves {
            leaf
        } else if switch_id == leaf {
            packet.to % self.servers
        } else {
            self.servers + packet.spine
        }
    }

    fn end(self, switch_id: u16, port: u16) -> End {
        if switch_id >= self.leaves {
            End::Switch(port)
        } else if port < self.servers {
            End::Server(switch_id * self.servers + port)
        } else {
            End::Switch(self.leaves + (port - self.servers))
        }
    }

    /// Every link, in order.
    pub(crate) fn links(self, fabric: &Fabric) -> Vec<Link> {
        let config = fabric.config();
        let link = |end, rate_bps, delay_ns| {
            let wire_overhead_bytes = u64::from(config.wire_overhead_bytes);
            Link { end, rate_bps, delay_ns, wire_overhead_bytes, latest: (0, 0) }
        };
        let mut links: Vec<Link> = (0..fabric.servers())
            .map(|server| {
                let leaf = End::Switch(server / self.servers);
                link(leaf, config.server_rate_bps, config.server_delay_ns)
            })
            .collect();
        for switch_id in 0..fabric.switches() {
            let spec = fabric.switch_spec(switch_id);
            for (port, &rate_bps) in (0..).zip(&spec.line_rate_bps) {
                let end = self.end(switch_id, port);
                let delay_ns = match end {
                    End::Server(_) => config.server_delay_ns,
                    End::Switch(_) => config.uplink_delay_ns,
                };
                links.push(link(end, rate_bps, delay_ns));
            }
        }
        for link in &mut links {
            // A size of 0 must not match a known one.
            link.wire_ns(1);
        }
        links
    }
}
