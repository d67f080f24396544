//! Drafts of switch descriptions (`docs/switch.md`), from what is configured or captured.

mod captures;
mod config_db;
mod draft;
mod queues;
mod text;

pub use captures::{CaptureDraftOptions, PortPer};
pub use draft::SwitchDraft;

use crate::PipelineError;
use crate::files::{matching, read_text};
use crate::progress::Progress;
use config_db::{ConfigDb, SonicError};
use dropcast_data::SwitchSpecs;
use queues::{PlacedQueues, place_queues};
use std::path::{Path, PathBuf};

/// A draft from one configuration of SONiC (`config_db.json`), or from captures: files, patterns, or folders of them. What
/// captures do not show is in `options`. Base RTTs are of a network, not of a switch: nanoseconds.
///
/// # Errors
/// If a file cannot be read, is neither, or lacks what a description needs; for captures without their rate and buffer.
pub fn from_files(
    paths: &[PathBuf],
    base_rtt_ns: u64,
    options: &CaptureDraftOptions,
    progress: &dyn Progress,
) -> Result<SwitchDraft, PipelineError> {
    let files = matching(paths)?;
    match &files[..] {
        [file] if !captures::are_captures(&files) => {
            match (from_sonic_file(file, base_rtt_ns), options.given()) {
                (draft, None) => draft,
                (Ok(_), Some(name)) => {
                    let problem =
                        "is for captures; a configuration has it: leave it out, or edit the draft";
                    Err(PipelineError::setting(name, problem))
                }
                (Err(error), Some(_)) if !file.exists() => Err(error),
                (Err(_), Some(name)) => {
                    let problem =
                        format!("is no capture, expected pcap or pcapng; {name} is for captures");
                    Err(PipelineError::unfit(file.display(), problem))
                }
            }
        }
        _ => captures::from_captures(&files, base_rtt_ns, options, progress),
    }
}

/// A draft from SONiC's `config_db.json`: the egress pool that most queues share, its size, ports and their rates, and
/// of each queue its alpha, 2^`dynamic_th`, and reserved bytes. Base RTTs are of a network, not of a switch: nanoseconds.
///
/// # Errors
/// If the text is no such configuration, or lacks what a description needs.
fn from_sonic(config_db: &str, base_rtt_ns: u64) -> Result<SwitchDraft, SonicError> {
    let config = ConfigDb::parse(config_db)?;
    let ports = config.ports()?;
    let mut notes = Vec::new();
    let placed: PlacedQueues = place_queues(&config, &ports, &mut notes)?;
    notes.extend(config.not_carried_over());
    let maps = text::dscp_rules(&config, placed.queues.len(), &mut notes);
    let toml = text::description(&config, &ports, &placed, &maps, base_rtt_ns, &notes);
    check_draft(&toml)?;
    Ok(SwitchDraft { toml, notes })
}

/// As [`from_sonic`], of a file.
///
/// # Errors
/// Those of [`from_sonic`], with the name of the file, and if it cannot be read.
fn from_sonic_file(file: &Path, base_rtt_ns: u64) -> Result<SwitchDraft, PipelineError> {
    let text = read_text(file)?;
    let unfit = |error: SonicError| PipelineError::unfit(file.display(), error.to_string());
    from_sonic(&text, base_rtt_ns).map_err(unfit)
}

/// A draft that is no description is an error of the configuration.
fn check_draft(toml: &str) -> Result<(), SonicError> {
    let wrong = |error: toml::de::Error| {
        SonicError::new(format!("describes a switch that cannot be: {}", error.message()))
    };
    let mut table: toml::Table = toml::from_str(toml).map_err(wrong)?;
    table.remove("capture");
    let _: SwitchSpecs = table.try_into().map_err(wrong)?;
    Ok(())
}
