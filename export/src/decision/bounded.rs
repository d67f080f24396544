//! The same code for the verifier of eBPF: every loop has a bound, every index of memory is masked.

use super::layout::Layout;

/// Declarations before the code.
pub(super) const LOOP: &str = "\
#ifdef __bpf__
/* Calls step up to times, until it returns 1. Linux 5.17. */
static long (*@prefixloop)(@u32 times, long (*step)(@u32 at, void *context), void *context,
    @u64 flags) = (void *)181;
/* Small tables would otherwise be in sections that libbpf does not open. */
#define @UPPER_TABLE __attribute__((section(\".rodata\")))
#else
#define @UPPER_TABLE
/* The same, to try this file elsewhere. */
static long @prefixloop(@u32 times, long (*step)(@u32 at, void *context), void *context,
    @u64 flags)
{
    @u32 at;

    (void)flags;
    for (at = 0; at < times; at++) {
        if (step(at, context) != 0) {
            break;
        }
    }
    return (long)at;
}
#endif

";

/// The arguments of a step.
const STEPS: &str = "
/* What a step of a loop gets. */
struct @prefixsteps {
    struct @prefixdecision *state;
    @u64 until;
};
";

/// In C: loops as loops.
pub(super) fn looped(template: &str) -> String {
    let mut text = template.replace("@bounds\n", "").replace("@steps\n", "");
    for step in ["serve", "push_out"] {
        text = text.replace(&format!("@step {step}\n"), "");
    }
    let lines = text.split_inclusive('\n').map(|line| match repeated(line) {
        Some((step, until)) => format!("    while (@prefix{step}(state, {until})) {{\n    }}\n"),
        None => line.to_owned(),
    });
    lines.collect()
}

/// The step and its argument.
fn repeated(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("@repeat ")?.trim_end().split_once(' ')
}

/// In eBPF: loops as calls of steps. A step removes a packet or lets a port idle, so that there are no
/// more steps than packets and ports.
pub(super) fn stepped(template: &str) -> String {
    let mut text = template
        .replace("@bounds\n", BOUNDS)
        .replace("@steps\n", STEPS)
        .replace("    memset(state, 0, sizeof *state);\n", "")
        .replace(IDLE, &format!("{NO_MEMSET}{IDLE}"))
        .replace("/* An empty switch. The", "/* An empty switch in memory of zeros. The");
    for step in ["serve", "push_out"] {
        let of = "static long @prefix@name_step(@u32 at, void *context)
{
    struct @prefixsteps *steps = context;

    (void)at;
    return @prefix@name(steps->state, steps->until) ? 0 : 1;
}

";
        text = text.replace(&format!("@step {step}\n"), &of.replace("@name", step));
    }
    let lines = text.split_inclusive('\n').map(|line| match repeated(line) {
        Some((step, until)) => format!(
            "    struct @prefixsteps steps = {{state, {until}}};

    @prefixloop(@UPPER_PACKETS + @CSWITCH_PORTS, @prefix{step}_step, &steps, 0);
"
        ),
        None => line.to_owned(),
    });
    lines.collect()
}

/// What the first loop over ports begins with.
const IDLE: &str = "        state->due_ns[at] = ~(@u64)0;\n";

const NO_MEMSET: &str = "\
        /* Without this clang makes a call of memset of the loop, which eBPF does not have. */
        __asm__ volatile(\"\" : : : \"memory\");
";

const BOUNDS: &str = "\
#if (@UPPER_PACKETS & (@UPPER_PACKETS - 1u)) != 0
#error \"@UPPER_PACKETS: expected a power of 2, so that the verifier sees the bound of a place\"
#endif
";

/// Lengthens the arrays of the state to powers of 2 and masks their indices. Names and lengths are those
/// of `state.h` and what is filled in there.
pub(super) fn masked(text: &str, layout: &Layout) -> String {
    let queues = format!("{}u", layout.queue_places - 1);
    let nodes = format!("{}u", 2 * layout.leaves - 1);
    let classes = format!("{}u", layout.class_places.max(1) - 1);
    let leaves = format!("{}u", layout.leaves - 1);
    let arrays = [
        ("state->due_ns[", nodes.clone()),
        ("state->ports[", leaves.clone()),
        ("by_port[", leaves.clone()),
        ("ns_per_byte[", leaves),
        ("state->earliest[", nodes),
        ("state->busy[", format!("{}u", layout.words - 1)),
        ("state->heard_ns[", queues.clone()),
        ("state->updated_ns[", queues.clone()),
        ("state->average[", queues.clone()),
        ("state->recent[", queues.clone()),
        ("state->class_bytes[", classes.clone()),
        ("state->class_queues[", classes),
        ("state->bytes[", queues.clone()),
        ("state->real_bytes[", queues.clone()),
        ("state->fifos[", queues.clone()),
        ("deficit_bytes[", format!("{}u", layout.port_queues - 1)),
        ("quantum_bytes[", format!("{}u", layout.port_queues - 1)),
        ("line->begun_ns[", format!("{}u", layout.ring_places.max(1) - 1)),
        ("state->packets[", "(@UPPER_PACKETS - 1u)".to_owned()),
    ];
    let mut text = text
        .replace(" memset(", " __builtin_memset(")
        .replace("    static const ", "    static const @UPPER_TABLE ");
    for (array, mask) in &arrays {
        text = wrap(&text, array, mask);
    }
    let queue_places = format!("[{}u];\n", layout.queue_places);
    text.replace("[@CSWITCH_QUEUES];\n", &queue_places)
        .replace("[@CLASSES];\n", &format!("[{}u];\n", layout.class_places))
        .replace("[@SCANNED];\n", &queue_places)
        .replace("begun_ns[@RING]", &format!("begun_ns[{}u]", layout.ring_places))
        .replace("ports[@CSWITCH_PORTS];\n", &format!("ports[{}u];\n", layout.leaves))
        .replace("[@CSWITCH_PORTS] =", &format!("[{}u] =", layout.leaves))
        .replace("[@CSWITCH_PORTS][2] =", &format!("[{}u][2] =", layout.leaves))
        .replace("_bytes[@CQUEUES_PER_PORT]", &format!("_bytes[{}u]", layout.port_queues))
        .replace("busy[@WORDS]", &format!("busy[{}u]", layout.words))
}

/// Masks the index of every `array`, whose text ends with its bracket.
fn wrap(text: &str, array: &str, mask: &str) -> String {
    let mut wrapped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(array) {
        let (before, after) = rest.split_at(at + array.len());
        let mut depth = 1;
        let end = after.char_indices().find(|&(_, letter)| {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            depth == 0
        });
        let Some((end, _)) = end else { break };
        let index = &after[..end];
        // A declaration's length, or an index that needs no mask.
        let is_fixed = index.starts_with("@CSWITCH")
            || index == "@CQUEUES_PER_PORT"
            || index == "1"
            || index == "0";
        wrapped += before;
        wrapped += &if is_fixed { index.to_owned() } else { format!("({index}) & {mask}") };
        rest = &after[end..];
    }
    wrapped + rest
}
