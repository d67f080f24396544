//! The whole decision for eBPF, and an XDP program that decides about packets described in frames.

use super::kernel_types::{TYPES, in_kernel_types};
use crate::ExportError;
use crate::c::preamble;
use crate::checked::Checked;
use crate::decision::{self, Words};
use crate::tracker::Dialect;
use dropcast_data::SwitchSpec;

/// `NAME_decision.bpf.h`.
pub(super) fn header(
    model: &Checked<'_>,
    switch: &SwitchSpec,
    dialect: &Dialect<'_>,
) -> Result<String, ExportError> {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let usage = format!(
        " * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model:
 * {name}_init makes a state, {name}_arrival decides about a packet that arrives, {name}_departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One CPU for each state, which is a
 * value of a map. Linux 5.17. Include vmlinux.h or linux/types.h before, for __u32 and __u64.
 *
{costs}",
        costs = decision::costs(model, switch, true),
    );
    let words = Words {
        target: "ebpf",
        dialect,
        row: &format!("struct {name}_row x[1]"),
        predicts: &format!("{name}_drop(x)"),
        is_bounded: true,
        constant: |name, value| format!("#define {name} {value}\n"),
    };
    let guard = format!("DROPCAST_{upper}_DECISION_BPF_H");
    let code = decision::code(model, switch, &words)?;
    Ok([
        preamble::about(model, &format!("{name}_decision.bpf.h"), &usage),
        format!("#ifndef {guard}\n#define {guard}\n\n#include \"{name}.bpf.h\"\n"),
        in_kernel_types(&code),
        format!("#endif /* {guard} */\n"),
    ]
    .join("\n"))
}

/// `NAME_decision.bpf.c`.
pub(super) fn program(model: &Checked<'_>, dialect: &Dialect<'_>) -> String {
    let name = &model.prefix;
    let usage = format!(
        " * {name}_xdp, an XDP program, decides about packets that frames describe: see docs/ebpf.md.
"
    );
    [
        preamble::about(model, &format!("{name}_decision.bpf.c"), &usage),
        TYPES.to_owned(),
        format!("#include \"{name}_decision.bpf.h\"\n"),
        dialect.names().text(),
        include_str!("dropcast_decision.bpf.c").to_owned(),
    ]
    .join("\n")
}

/// `NAME_decision.sh`: gives the loaded program the constants of its switch.
pub(super) fn fill_in(model: &Checked<'_>, switch: &SwitchSpec) -> String {
    let name = &model.prefix;
    // What the kernel keeps of a map's name.
    let map: String = format!("{name}_switch").chars().take(15).collect();
    let wide = [u64::from(switch.buffer_bytes), switch.base_rtt_ns];
    let wide = wide.iter().chain(&switch.line_rate_bps).flat_map(|number| number.to_le_bytes());
    // Whether it falls back, and what it says of the constants.
    let narrow = [switch.ports() as u32, switch.queues_per_port.into(), 0, 0];
    let narrow = narrow.iter().flat_map(|number| number.to_le_bytes());
    let value: String = wide.chain(narrow).map(|byte| format!(" {byte:02x}")).collect();
    format!(
        "\
#!/bin/sh
# Fills in the constants of the switch, once {name}_decision.bpf.o is loaded: until then every frame is XDP_ABORTED. For little-endian
# machines. To fall back while predictions are wrong too often, make the eighth byte from the end 01.
exec bpftool map update name {map} key hex 00 00 00 00 value hex{value}
"
    )
}
