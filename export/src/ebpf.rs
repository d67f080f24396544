//! eBPF: C that the kernel's verifier accepts for any number of trees. `docs/ebpf.md` says how to
//! build and load it.
//!
//! The verifier follows every path through a program. It also follows calls into inlined and static
//! functions, so the paths of all trees multiply: 8 trees of depth 4 exceed its limit of a million
//! instructions. A *global* function is verified once, on its own, for any arguments, and a call to
//! it is a single step; so each tree is one.

mod deciding;
mod kernel_types;

use crate::ExportError;
use crate::c::{branches, preamble};
use crate::checked::Checked;
use crate::decision::{self, DriverWords};
use crate::target::{EmittedFile, Emitter};
use crate::tracker::{self, Dialect};
use kernel_types::{TYPES, in_kernel_types};

/// C for eBPF.
pub(crate) const TARGET: Emitter = Emitter {
    name: "ebpf",
    about: "C header for eBPF programs, and a test program, see docs/ebpf.md",
    decides: true,
    has_layouts: false,
    emit,
};

/// A program has at most 256 functions, including its own and those that keep features.
const MOST_TREES: usize = 240;

/// Jumps reach 32,767 instructions; deeper trees could need more.
const MOST_LEVELS: u8 = 12;

/// Rows live on the stack, which has 512 bytes.
const MOST_FEATURES: usize = 64;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    check(model)?;
    let file = |extension: &str, text: String| EmittedFile {
        name: format!("{}.{extension}", model.prefix),
        bytes: text.into_bytes(),
    };
    let mut files = vec![file("bpf.h", header(model)), file("bpf.c", program(model))];
    if let Some(switch) = &model.origin.switch {
        let file = |extension: &str, text: String| EmittedFile {
            name: format!("{}_decision.{extension}", model.prefix),
            bytes: text.into_bytes(),
        };
        let (prefixes, state) = (Prefixes::new(model), format!("struct {}_decision", model.prefix));
        files.push(decision::driver(
            model,
            switch,
            &DriverWords {
                file: "bpf_driver.c",
                header: &format!("{}_decision.bpf.h", model.prefix),
                around: ["#include <linux/types.h>\n#include <stdint.h>\n\n", ""],
                state: &state,
                u64: "__u64",
                prefixes: [&prefixes.prefix, &prefixes.constant_prefix],
            },
        ));
        files.push(file("bpf.h", deciding::header(model, switch, &prefixes.dialect())?));
        files.push(file("bpf.c", deciding::program(model, &prefixes.dialect())));
        files.push(file("sh", deciding::fill_in(model, switch)));
    }
    Ok(files)
}

fn check(model: &Checked<'_>) -> Result<(), ExportError> {
    let limit = |what, found: usize, most: usize| match found > most {
        true => {
            let problem = format!("{found} {what}; at most {most} pass the verifier");
            Err(ExportError::Unsupported { target: TARGET.name, problem })
        }
        false => Ok(()),
    };
    limit("trees", model.forest.trees.len(), MOST_TREES)?;
    limit("levels", model.complete.layout.depth().into(), MOST_LEVELS.into())?;
    limit("features", model.forest.features.len(), MOST_FEATURES)
}

fn header(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let usage = format!(
        " * {name}_drop(row) is 1 if the packet is predicted to be dropped. row holds the packet's features,
 * recorded before it is added to the buffer, in the order of enum {name}_feature.
 *
 * For eBPF programs: clang -O2 -g -target bpf -mcpu=v3. Include vmlinux.h or linux/types.h before,
 * for their integer types.
"
    );
    [
        preamble::about(model, &format!("{name}.bpf.h"), &usage),
        format!("#ifndef DROPCAST_{upper}_BPF_H\n#define DROPCAST_{upper}_BPF_H\n"),
        linkage(&upper),
        preamble::constants(model),
        format!("struct {name}_row {{\n    __u32 x[{upper}_N_FEATURES];\n}};\n"),
        trees(model),
        score(model),
        keeping(model),
        format!("#endif /* DROPCAST_{upper}_BPF_H */\n"),
    ]
    .join("\n")
}

fn linkage(upper: &str) -> String {
    format!(
        "\
/* Global functions are verified once and on their own; the paths of others would multiply. They
 * need the type information of -g, and Linux 5.12. */
#define {upper}_GLOBAL __attribute__((noinline))
#define {upper}_INLINE static inline __attribute__((always_inline))
"
    )
}

fn trees(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let tree = |(number, tree): (usize, &dropcast_forest::Tree)| {
        let values = match branches::looks_at_row(tree) {
            true => {
                "    const __u32 *x;\n\n    if (!row) {\n        return 0;\n    }\n    x = row->x;\n"
            }
            false => "    (void)row;\n",
        };
        format!(
            "\
{upper}_GLOBAL __u32 {name}_tree_{number}(const struct {name}_row *row)
{{
{values}{}}}
",
            branches::body(model, tree, &format!("{upper}_"))
        )
    };
    let trees: Vec<String> = model.forest.trees.iter().enumerate().map(tree).collect();
    "/* The verifier assumes nothing about a global function's argument, so each checks for null. */\n"
        .to_owned()
        + &trees.join("\n")
}

fn score(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let calls: String = (0..model.forest.trees.len())
        .map(|number| format!("    score += {name}_tree_{number}(row);\n"))
        .collect();
    format!(
        "\
/* The score of a row. */
{upper}_GLOBAL __u32 {name}_score(const struct {name}_row *row)
{{
    __u32 score = 0;

    if (!row) {{
        return 0;
    }}
{calls}    return score;
}}

/* 1 if the packet is predicted to be dropped, else 0. A tie accepts. */
{upper}_INLINE int {name}_drop(const struct {name}_row *row)
{{
    return {name}_score(row) > {upper}_VOTE_THRESHOLD;
}}
"
    )
}

/// The code that keeps the features.
fn keeping(model: &Checked<'_>) -> String {
    in_kernel_types(&tracker::code(model, &Prefixes::new(model).dialect()))
}

/// The texts of the dialect, which depend on the model's name.
struct Prefixes {
    prefix: String,
    constant_prefix: String,
    function: String,
    separate: String,
    row: String,
}

impl Prefixes {
    fn new(model: &Checked<'_>) -> Self {
        let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
        Prefixes {
            prefix: format!("{name}_"),
            constant_prefix: format!("{upper}_"),
            function: format!("{upper}_INLINE"),
            separate: format!("{upper}_GLOBAL"),
            row: format!("struct {name}_row *"),
        }
    }

    fn dialect(&self) -> Dialect<'_> {
        Dialect {
            prefix: &self.prefix,
            constant_prefix: &self.constant_prefix,
            function: &self.function,
            separate: &self.separate,
            row: &self.row,
            values: "(x)->x",
        }
    }
}

/// A program that predicts given rows.
fn program(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let usage = format!(
        " * {name}_check predicts the row in its context, to try {name}.bpf.h in the kernel
 * (BPF_PROG_TEST_RUN) or in any eBPF machine. See docs/ebpf.md.
"
    );
    let values: String = (0..model.forest.features.len())
        .map(|at| format!("    row.x[{at}] = context[{at}];\n"))
        .collect();
    let about = preamble::about(model, &format!("{name}.bpf.c"), &usage);
    format!(
        "\
{about}
{TYPES}
#include \"{name}.bpf.h\"

/* Bits 0 to 30: the score; bit 31: whether a drop is predicted. The context is volatile so that each
 * value is read at a fixed offset, as the verifier requires. */
__attribute__((section(\"syscall\"), used)) int {name}_check(const volatile __u32 *context)
{{
    struct {name}_row row;
    __u32 score;

{values}    score = {name}_score(&row);
    return (int)(score | (score > {upper}_VOTE_THRESHOLD ? 1u << 31 : 0u));
}}

char {name}_license[] __attribute__((section(\"license\"), used)) = \"MIT\";
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, export};
    use dropcast_features::FeatureSet;
    use dropcast_forest::{Forest, Node, Tree};

    #[test]
    fn what_the_verifier_cannot_take_is_refused() {
        let stump = Tree {
            nodes: vec![
                Node::Split { feature: 0, threshold: 5, left: 1, right: 2 },
                Node::Leaf { weight: 1 },
                Node::Leaf { weight: 2 },
            ],
        };
        let features = FeatureSet::paper4();
        let origin = Origin::new("m", &"0".repeat(64), &features);
        let forest = |trees| Forest {
            features: features.names(),
            vote_threshold: 0,
            trees: vec![stump.clone(); trees],
        };
        let target = "ebpf".parse().expect("a target");
        assert!(export(&forest(MOST_TREES), &origin, target).is_ok());
        let error = export(&forest(MOST_TREES + 1), &origin, target).expect_err("too many");
        let expected =
            "the forest cannot be exported to ebpf: 241 trees; at most 240 pass the verifier";
        assert_eq!(error.to_string(), expected);
    }
}
