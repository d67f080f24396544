//! Whether a fabric can carry a flow.

use super::config::Fabric;
use super::flow::Flow;

impl Fabric {
    /// Checks that the fabric can carry a flow.
    ///
    /// # Errors
    /// What is wrong with it and what is expected.
    pub fn check_flow(&self, flow: &Flow) -> Result<(), String> {
        let servers = self.servers();
        for (end, server) in [("from", flow.from), ("to", flow.to)] {
            if server >= servers {
                return Err(format!("{end} is server {server}, there are {servers}, from 0"));
            }
        }
        if flow.from == flow.to {
            return Err(format!("is from server {} to itself", flow.from));
        }
        let config = self.config();
        let most = u64::from(config.segment_bytes) * u64::from(u32::MAX - 1);
        if flow.size_bytes == 0 || flow.size_bytes > most {
            return Err(format!("has {} bytes, expected 1 to {most}", flow.size_bytes));
        }
        if flow.queue >= config.queues_per_port {
            let queues = config.queues_per_port;
            return Err(format!("is for queue {}, there are {queues}, from 0", flow.queue));
        }
        let spines = config.spines;
        if let Some((data, acks)) = flow.spines
            && data.max(acks) >= spines.max(1)
        {
            return Err(format!("takes spines {data} and {acks}, there are {spines}, from 0"));
        }
        Ok(())
    }
}
