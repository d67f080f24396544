//! Every export of a forest is built, run, and predicts what the forest does; a broken one is
//! detected.

#[allow(dead_code, reason = "the forests of the exports' tests; each uses what it needs")]
#[path = "../../../../export/tests/it/forests.rs"]
mod forests;

mod agreement;
mod broken;
mod cpp;
mod damage;
mod decision;
mod dpdk_switch;
mod drift;
mod ebpf;
mod event_log;
mod flows;
mod lagging_ports;
mod ns3_page;
mod onnx;
mod replay;
mod under_traffic;
mod verilog;
mod verilog_level;
