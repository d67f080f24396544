//! Properties of real switches that a description may name but that are not modelled.

/// Why keys are refused or what to do instead, and the keys. Some are SONiC's, of its buffer profiles and pools.
const KEYS: [(&str, &[&str]); 14] = [
    (HEADROOM, &["headroom_bytes", "headroom", "headroom_pool_bytes", "xoff_headroom_bytes"]),
    (RESERVED, &["reserved", "reserved_pool_bytes", "min_guaranteed_bytes", "guaranteed_bytes"]),
    (POOLS, &["pools", "port_groups", "service_pools", "egress_pools"]),
    (INGRESS, &["ingress_pools", "ingress_buffer_bytes", "priority_groups"]),
    (
        PFC,
        &[
            "pfc",
            "pfc_enable",
            "pfc_enabled",
            "lossless",
            "xoff_bytes",
            "xon_bytes",
            "xoff",
            "xon",
            "xon_offset",
        ],
    ),
    (ECN, &["ecn", "ecn_threshold_bytes", "ecn_kmin_bytes", "ecn_kmax_bytes"]),
    (RED, &["wred", "red", "wred_profile"]),
    (CUT_THROUGH, &["cut_through"]),
    (CELLS, &["cell_bytes", "cell_size", "cell_size_bytes"]),
    (MULTICAST, &["multicast"]),
    (TRIMMING, &["trimming", "packet_trimming"]),
    (SHAPING, &["shaping_rate_bps", "max_rate_bps", "shaper"]),
    (ALPHA, &["alpha", "dynamic_threshold_alpha"]),
    (THRESHOLDS, &["queue_limit_bytes", "queue_limit_packets", "static_th", "max_queue_bytes"]),
];

const HEADROOM: &str = "headroom holds what senders still transmit after this switch has paused them, \
                        and a switch that pauses its senders is not simulated. Leave its bytes out of \
                        buffer_bytes";
const RESERVED: &str = "reserved_bytes are bytes beside the shared buffer for one queue alone. A whole port \
                        has none";
const POOLS: &str = "one switch has one shared buffer. Describe each pool as a switch of its own \
                     ([[switch]]) and list its ports in a [[pool]] (docs/switch.md)";
const INGRESS: &str = "a packet counts once, in its output queue; limits of input ports do not exist. \
                       Leave it out";
const PFC: &str = "this switch pauses nobody. Pauses that it has received are events (kind pause and \
                   resume, docs/events.md)";
const ECN: &str = "marks change no decision of LQD. Marks of the real switch are a column of the \
                   events (ecn_mark, docs/events.md)";
const RED: &str = "LQD drops for want of buffer, never at random before. What the real switch dropped so are real \
                   drops of the events (drop_reason, docs/events.md)";
const TRIMMING: &str = "a packet is transmitted or dropped whole. Leave it out";
const CUT_THROUGH: &str =
    "a packet takes all its bytes when it arrives, and leaves whole. Leave it out";
const CELLS: &str = "a packet takes its bytes. Round size_bytes of the events up to whole cells";
const MULTICAST: &str = "each copy of a packet is an arrival of its own. Leave it out";
const SHAPING: &str = "a port sends at line_rate_bps. Give the shaped rate there";
const ALPHA: &str =
    "LQD has no thresholds. dt_alpha is the alpha with which Dynamic Thresholds is replayed";
const THRESHOLDS: &str = "LQD has no thresholds; those of other policies are not part of the switch. \
                          Leave it out";

/// Says so if this key of a switch description is known and not modelled.
pub(crate) fn refusal(key: &str) -> Option<String> {
    let (why, _) = KEYS.iter().find(|(_, names)| names.contains(&key))?;
    Some(format!("{key} is not modelled: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_key() {
        let page = include_str!("../../../docs/switch.md");
        for (_, names) in KEYS {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let row = format!("| {} | ", names.join(", "));
            assert!(page.contains(&row), "docs/switch.md has no row for {row}");
        }
    }
}
