//! The files of the rule for a switch.

use super::parameters::Rule;
use crate::policy_code::{
    FILTERED, FRAME, FilteredConstants, PolicyCodeError, c_constants, sources, verilog_words,
};
use crate::target::EmittedFile;
use dropcast_data::SwitchSpec;

/// What is the same for every switch.
const SOURCES: [(&str, &str); 6] = [
    ("dropcast_rule.h", include_str!("dropcast_rule.h")),
    FILTERED,
    ("dropcast_rule.bpf.c", include_str!("dropcast_rule.bpf.c")),
    FRAME,
    ("dropcast_rule.v", include_str!("dropcast_rule.v")),
    ("dropcast_rule_tb.v", include_str!("dropcast_rule_tb.v")),
];

impl Rule {
    /// The code and the switch's constants.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub(crate) fn files(&self, spec: &SwitchSpec) -> Result<Vec<EmittedFile>, PolicyCodeError> {
        let constants = self.constants(spec)?;
        let of_the_switch = [
            ("dropcast_rule_config.h", &*self.c_config(spec, &constants)),
            ("dropcast_rule_config.rs", &self.rust_config(spec, &constants)),
            ("dropcast_rule_config.vh", &self.verilog_config(spec, &constants)),
        ];
        Ok([sources(&SOURCES), sources(&of_the_switch)].concat())
    }

    fn c_config(&self, spec: &SwitchSpec, constants: &FilteredConstants) -> String {
        let mut defined = constants.c_macros(spec);
        defined.push(("WINDOW_NS", format!("{}u", constants.window_ns)));
        let what = format!("dropcast_rule.h: a horizon of {} ns", self.horizon_ns);
        c_constants("DROPCAST_RULE", &what, &defined)
    }
}

impl Rule {
    fn rust_config(&self, spec: &SwitchSpec, constants: &FilteredConstants) -> String {
        let queues = spec.queues();
        format!(
            "\
//! The untrained rule for a switch, in Rust without std: a horizon of {horizon_ns} ns.

use dropcast_runtime::{{FilterConstants, FilterQueue, NotReady, Rule, Waiting}};

/// The switch, and the rule's parameters.
{constants}
/// The rule with its memory.
pub type SwitchRule = Rule<&'static [u32], [FilterQueue; {queues}], [Waiting; {queues}]>;

/// An empty switch.
pub fn init() -> Result<SwitchRule, NotReady> {{
    Rule::new(CONSTANTS, [FilterQueue::EMPTY; {queues}], [Waiting::NOTHING; {queues}])
}}
",
            horizon_ns = self.horizon_ns,
            constants = constants.in_rust(spec),
        )
    }
}

impl Rule {
    fn verilog_config(&self, spec: &SwitchSpec, constants: &FilteredConstants) -> String {
        format!(
            "\
// Parameters of dropcast_rule for a switch: a horizon of {} ns.
`define DROPCAST_RULE_PARAMETERS .PORTS({}), .QUEUES_PER_PORT({}), .BUFFER_BYTES(32'd{}), \\
    .WINDOW_NS(32'd{}), .GATE(17'd{}), .ALPHA_128({}), \\
    .RESERVED_BYTES({}), .DRAIN_BYTES({})
",
            self.horizon_ns,
            spec.ports(),
            spec.queues_per_port,
            spec.buffer_bytes,
            constants.window_ns,
            constants.gate,
            verilog_words(&constants.alpha_128),
            verilog_words(&constants.reserved_bytes),
            verilog_words(&constants.drain_bytes),
        )
    }
}
