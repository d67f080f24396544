/* example_decision.bpf.c: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast 0.1.0 from model "example",
 * SHA-256 of its model.json 5f0c2a91d4e7b8360123456789abcdef0123456789abcdef0123456789abcdef.
 * 2 trees of depth 2 on 2 features.
 *
 * example_xdp, an XDP program, decides about packets that frames describe: see docs/ebpf.md.
 */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#include "example_decision.bpf.h"

#define DROPCAST_NAME(name) example_##name
#define DROPCAST_CONSTANT(name) EXAMPLE_##name

/* dropcast_decision.bpf.c */
