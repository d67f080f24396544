//! What a run is of.

use anyhow::{Context, Result, ensure};
use dropcast_fabric::{Connections, Fabric, FabricConfig, Flow, FlowClass, FlowList, Transport};
use dropcast_switch::PolicySpec;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A file of settings, such as `dropcast-lab simulate` takes (`lab/notes/settings.md`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The flows, a file that the fabric reads, too; seen from the folder of the settings.
    pub flow_list: PathBuf,
    /// The congestion control of all of them: `cubic`, `dctcp` or `new-reno`.
    pub flow_list_transport: Transport,
    /// What answers of incasts are sent over: each its own connection, or one that an earlier answer between the same servers has
    /// left, if there is one.
    #[serde(default = "new_connections")]
    pub connections: Connections,
    /// Policies to run, one at a time.
    pub policies: Vec<PolicySpec>,
    /// The switch and its links, a fabric of one leaf, and what senders are set to. `header_bytes` must be those of the kernel's
    /// packets. That the kernel ticks every `timer_tick_ns` nothing checks.
    pub fabric: FabricConfig,
}

fn new_connections() -> Connections {
    Connections::New
}

/// Headers of a segment: IPv4 without options, TCP with timestamps.
const HEADER_BYTES: u32 = 20 + 32;

impl Settings {
    /// Reads a file, and the flows it names.
    ///
    /// # Errors
    /// If one of them cannot be read, or no kernel can be set so.
    pub fn read(path: &Path) -> Result<(Settings, Fabric, Vec<Flow>)> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let settings: Settings =
            toml::from_str(&text).with_context(|| path.display().to_string())?;
        let fabric = Fabric::try_from(settings.fabric.clone())?;
        let FabricConfig { leaves, header_bytes, queues_per_port, min_rto_ns, .. } =
            settings.fabric;
        ensure!(leaves == 1, "fabric: leaves: is {leaves}, the testbed has one switch");
        ensure!(
            header_bytes == HEADER_BYTES,
            "fabric: header_bytes: is {header_bytes}, the kernel's are {HEADER_BYTES}"
        );
        ensure!(
            min_rto_ns % 1_000_000 == 0,
            "fabric: min_rto_ns: is {min_rto_ns}, the kernel takes whole milliseconds"
        );
        settings.congestion_control()?;
        let list = path.with_file_name(&settings.flow_list);
        let text =
            File::open(&list).with_context(|| format!("{} cannot be read", list.display()))?;
        let queue = queues_per_port.saturating_sub(1).min(1);
        let flows =
            FlowList::read(BufReader::new(text), settings.flow_list_transport, queue, |flow| {
                fabric.check_flow(flow)?;
                let is_known = !matches!(flow.class, FlowClass::Collective(_))
                    && flow.transport == settings.flow_list_transport;
                is_known
                    .then_some(())
                    .ok_or_else(|| "is of another transport than flow_list_transport".to_owned())
            });
        Ok((settings, fabric, flows?.flows().to_vec()))
    }

    /// The kernel's name of the congestion control.
    pub(crate) fn congestion_control(&self) -> Result<&'static str> {
        match self.flow_list_transport {
            Transport::Cubic => Ok("cubic"),
            Transport::Dctcp => Ok("dctcp"),
            Transport::NewReno => Ok("reno"),
            other => anyhow::bail!(
                "flow_list_transport: is {}, expected cubic, dctcp or new-reno",
                other.name()
            ),
        }
    }
}
