//! The integer types of the kernel.

/// Of linux/types.h, which the machine that compiles may not have.
pub(super) const TYPES: &str = "\
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
";

/// Code for which the types of <stdint.h> are the kernel's, which vmlinux.h or linux/types.h have.
pub(super) fn in_kernel_types(code: &str) -> String {
    let types = ["16", "32", "64"];
    let define = |bits| format!("#define uint{bits}_t __u{bits}\n");
    let undefine = |bits| format!("#undef uint{bits}_t\n");
    format!(
        "/* The kernel's types, without <stdint.h>, which contradicts vmlinux.h. */\n{}{code}{}",
        types.map(define).concat(),
        types.map(undefine).concat(),
    )
}
