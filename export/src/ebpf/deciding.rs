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
        " * {name}_xdp, an XDP program, decides about packets that frames tell it of: see docs/ebpf.md.
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
