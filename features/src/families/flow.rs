//! What a switch has seen of the packet's flow: bursts and messages (`dropcast_runtime::FlowMemory`).

use crate::cost::FeatureWork;
use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;

/// The code of the first.
const FIRST_CODE: u8 = 16;

/// The descriptor of the feature with this place among them.
const fn of_flow(
    place: u8,
    name: &'static str,
    unit: &'static str,
    definition: &'static str,
    observe: fn(&crate::descriptor::Arrival<'_>) -> u32,
) -> Descriptor {
    Descriptor {
        code: FIRST_CODE + place,
        name,
        unit,
        definition,
        scales_with_buffer: false,
        rises: false,
        memory: FeatureMemory::Flows,
        parts: &[FeatureWork::Flow],
        observe,
    }
}

macro_rules! flow_features {
    ($($name:ident = $place:literal, $text:literal, $unit:literal: $definition:literal;)+) => {
        $(
            #[doc = $definition]
            pub(crate) const $name: Descriptor =
                of_flow($place, $text, $unit, $definition, |packet| packet.history.flow()[$place]);
        )+
    };
}

flow_features! {
    FLOW_BURST = 0, "flow_burst", "packets": "packets of its flow in this burst, before it";
    FLOW_BURSTS = 1, "flow_bursts", "bursts": "bursts of its flow's message before this one";
    FLOW_PACKETS = 2, "flow_packets", "packets": "packets of its flow's message, before it";
    FLOW_GAP = 3, "flow_gap", "ns": "time since its flow's last packet, at most 4.29 s, which stands for none, too";
    FLOW_PAUSE = 4, "flow_pause", "ns": "the pause before its flow's message, at most 4.29 s; 0 if it is the first";
    FLOW_LAST_BURST = 5, "flow_last_burst", "packets": "packets of the first burst of its flow's last message; 0 if there was none";
    FLOW_LEAST_BURST = 6, "flow_least_burst", "packets": "the least flow_last_burst of the last four messages";
    FLOW_MOST_BURST = 7, "flow_most_burst", "packets": "the most flow_last_burst of the last four messages";
    FLOW_LAST_MESSAGE = 8, "flow_last_message", "packets": "packets of its flow's last message; 0 if there was none";
    FLOW_LEAST_MESSAGE = 9, "flow_least_message", "packets": "the least flow_last_message of the last four messages";
    FLOW_MOST_MESSAGE = 10, "flow_most_message", "packets": "the most flow_last_message of the last four messages";
}
