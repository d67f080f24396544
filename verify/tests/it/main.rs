//! Whatever a forest is exported to is built, run, and says what the forest says; and what does not
//! is noticed.

#[allow(dead_code, reason = "the forests of the exports' tests; each uses what it needs")]
#[path = "../../../export/tests/it/forests.rs"]
mod forests;

mod agreement;
mod broken;
mod c;
mod cpp;
mod damage;
mod dct;
mod dpdk;
mod ebpf;
mod event_log;
mod json;
mod ns3_page;
mod onnx;
mod replay;
mod verilog;
mod verilog_level;
