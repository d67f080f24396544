//! Properties of real switches that a description may name but that are not modelled.

/// Keys, and why each is refused or what to do instead.
const KEYS: [(&str, &str); 22] = [
    ("headroom_bytes", HEADROOM),
    ("headroom", HEADROOM),
    ("reserved", RESERVED),
    ("min_guaranteed_bytes", RESERVED),
    ("pools", POOLS),
    ("port_groups", POOLS),
    ("service_pools", POOLS),
    ("ingress_pools", INGRESS),
    ("ingress_buffer_bytes", INGRESS),
    ("pfc", PFC),
    ("xoff_bytes", PFC),
    ("xon_bytes", PFC),
    ("ecn", ECN),
    ("ecn_threshold_bytes", ECN),
    ("cut_through", CUT_THROUGH),
    ("cell_bytes", CELLS),
    ("multicast", MULTICAST),
    ("shaping_rate_bps", SHAPING),
    ("max_rate_bps", SHAPING),
    ("alpha", ALPHA),
    ("dynamic_threshold_alpha", ALPHA),
    ("queue_limit_bytes", THRESHOLDS),
];

const HEADROOM: &str = "headroom holds what senders still transmit after this switch has paused them, \
                        and a switch that pauses its senders is not simulated. Leave its bytes out of \
                        buffer_bytes";
const RESERVED: &str = "bytes beside the shared buffer that only one queue may use are reserved_bytes, those \
                        of a whole port do not exist";
const POOLS: &str = "one switch has one shared buffer. Describe each pool as a switch of its own \
                     ([[switch]]) and list its ports in a [[pool]] (docs/switch.md)";
const INGRESS: &str = "a packet counts once, in its output queue; limits of input ports do not exist. \
                       Leave it out";
const PFC: &str = "this switch pauses nobody. Pauses that it has received are events (kind pause and \
                   resume, docs/events.md)";
const ECN: &str = "marks change no decision of LQD. Marks of the real switch are a column of the \
                   events (ecn_mark, docs/events.md)";
const CUT_THROUGH: &str =
    "a packet takes all its bytes when it arrives, and leaves whole. Leave it out";
const CELLS: &str = "a packet takes its bytes. Round size_bytes of the events up to whole cells";
const MULTICAST: &str = "each copy of a packet is an arrival of its own. Leave it out";
const SHAPING: &str = "a port sends at line_rate_bps. Give the shaped rate there";
const ALPHA: &str = "LQD has no thresholds. The alpha with which Dynamic Thresholds is replayed beside it \
                     is dt_alpha";
const THRESHOLDS: &str = "LQD has no thresholds; those of other policies are not part of the switch. \
                          Leave it out";

/// Says so if this key of a switch description is known and not modelled.
pub(crate) fn refusal(key: &str) -> Option<String> {
    let (_, why) = KEYS.iter().find(|(name, _)| *name == key)?;
    Some(format!("{key} is not modelled: {why}"))
}
