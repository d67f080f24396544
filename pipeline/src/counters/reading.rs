//! Files of counters: a table, or screens of SONiC.

use super::csv::read_csv;
use super::polls::Polls;
use super::screens::read_screens;
use crate::PipelineError;
use dropcast_data::{SwitchSpec, SwitchSpecs, read_head, read_switches};
use std::path::{Path, PathBuf};

/// Most bytes of counters: a day of a switch of 512 queues, polled every minute.
const MOST_BYTES: u64 = 256 << 20;

/// How counters are read and what they are of.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CounterReading {
    /// Switch description (docs/switch.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE.toml"))]
    pub switch: PathBuf,
    /// The pool of `show buffer_pool watermark` that the description is of, if there are several egress pools.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub pool: Option<String>,
    /// The largest packet, in the bytes that it takes in the buffer.
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", default_value_t = CounterReading::MTU_BYTES))]
    pub mtu_bytes: u32,
}

impl CounterReading {
    /// A jumbo frame.
    pub const MTU_BYTES: u32 = 9_216;

    /// The switch.
    ///
    /// # Errors
    /// If its description cannot be read, or is of several switches.
    pub fn spec(&self) -> Result<SwitchSpec, PipelineError> {
        match read_switches(&self.switch)? {
            SwitchSpecs::Same(spec) => Ok(spec),
            SwitchSpecs::Each(_) => {
                let problem = "describes several switches; give the description of the one that the counters are of";
                Err(PipelineError::unfit(self.switch.display(), problem))
            }
        }
    }

    /// The counters in a file.
    ///
    /// # Errors
    /// If the file cannot be read, is neither a table nor screens, or does not fit the switch.
    pub fn read(&self, file: &Path, spec: &SwitchSpec) -> Result<Polls, PipelineError> {
        let unfit = |problem: String| PipelineError::unfit(file.display(), problem);
        let bytes = read_head(file, MOST_BYTES + 1)?;
        if bytes.len() as u64 > MOST_BYTES {
            let problem =
                format!("has more than {} MiB; give fewer polls at a time", MOST_BYTES >> 20);
            return Err(unfit(problem));
        }
        let Ok(text) = String::from_utf8(bytes) else {
            let problem =
                "is not text; expected a table of counters or screens of SONiC (docs/counters.md)";
            return Err(unfit(problem.to_owned()));
        };
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        let polls = match first {
            Some(header) if header.contains(',') && self.pool.is_some() => {
                Err("is a table, of one pool: name a pool of SONiC's screens only".to_owned())
            }
            Some(header) if header.contains(',') => read_csv(&text, spec),
            _ => read_screens(&text, spec, self.pool.as_deref()),
        };
        let polls = polls.map_err(unfit)?;
        if polls.queues.is_empty() {
            return Err(unfit("has no counters of queues (docs/counters.md)".to_owned()));
        }
        Ok(polls)
    }
}
