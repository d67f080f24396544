/* example.bpf.c: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * example_check predicts the row in its context, to try example.bpf.h in the kernel
 * (BPF_PROG_TEST_RUN) or in any eBPF machine. See docs/ebpf.md.
 */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#include "example.bpf.h"

/* Bits 0 to 30: the score; bit 31: whether a drop is predicted. The context is volatile so that each
 * value is read at a fixed offset, as the verifier requires. */
__attribute__((section("syscall"), used)) int example_check(const volatile __u32 *context)
{
    struct example_row row;
    __u32 score;

    row.x[0] = context[0];
    row.x[1] = context[1];
    score = example_score(&row);
    return (int)(score | (score > EXAMPLE_VOTE_THRESHOLD ? 1u << 31 : 0u));
}

char example_license[] __attribute__((section("license"), used)) = "MIT";
