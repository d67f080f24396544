//! A description from captures: ports and their rules. What captures cannot show is given.

use super::draft::SwitchDraft;
use super::text;
use crate::PipelineError;
use crate::files::groups;
use crate::progress::{Progress, check};
use dropcast_data::{
    CaptureInterface, CaptureMap, CaptureSummary, DataError, EventColumns, FileKind, NamedCapture,
    PortRules, SwitchSpecs, describe, is_folder, summarize_capture,
};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What each port of a description from captures is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PortPer {
    /// A port for each capture; captures of one name in several folders are of one port.
    Capture,
    /// A port for each interface of each capture.
    Interface,
    /// A port for each address that packets are for.
    Destination,
}

/// What captures do not show of a switch.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CaptureDraftOptions {
    /// Of captures: the line rate of the ports, bits per second. Edit the draft where ports differ.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub rate_bps: Option<u64>,
    /// Of captures: the shared buffer, bytes.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub buffer_bytes: Option<u32>,
    /// Of captures: the alpha of the switch's Dynamic Thresholds; without it reports take the switch's policy to be Complete Sharing.
    #[cfg_attr(feature = "clap", arg(long, value_name = "X"))]
    pub dt_alpha: Option<f64>,
    /// Of captures: what has a port of its own [default: each of several captures, each of several interfaces, else each
    /// destination].
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub port_per: Option<PortPer>,
}

/// Whether these are captures or folders of captures. One file that is no capture is taken for a configuration.
pub(super) fn are_captures(files: &[PathBuf]) -> bool {
    match files {
        [file] => is_folder(file) || is_capture(file),
        _ => true,
    }
}

/// One that the system does not let read is taken for a capture: whoever reads it says so.
fn is_capture(file: &Path) -> bool {
    let found = describe(file, &EventColumns::default());
    let is_refused = matches!(found, Err(DataError::Io { .. })) && file.exists();
    is_refused || matches!(found, Ok(FileKind::Capture { .. }))
}

/// A draft from captures: files, or folders of them.
pub(super) fn from_captures(
    paths: &[PathBuf],
    base_rtt_ns: u64,
    options: &CaptureDraftOptions,
    progress: &dyn Progress,
) -> Result<SwitchDraft, PipelineError> {
    let (rate_bps, buffer_bytes) = options.needed()?;
    let mut notes = Vec::new();
    let files = capture_files(paths, &mut notes)?;
    let mut captures: Vec<NamedCapture> = Vec::new();
    for file in &files {
        check(progress)?;
        let (name, summary) = (name_of(file), summary_of(file)?);
        if summary.is_cut_off {
            notes.push(format!(
                "{} is cut off: the draft is of its {} packets before the cut",
                file.display(),
                summary.packets
            ));
        }
        match captures.iter_mut().find(|capture| capture.name == name) {
            Some(known) => join(&mut known.summary, summary),
            None => captures.push(NamedCapture { name, summary }),
        }
    }
    let rules = port_rules(&captures, options.port_per, &files)?;
    notes.push(format!(
        "{}. Check the rules, and that packets were captured before the buffer",
        rules.how
    ));
    if rules.without_port > 0 {
        notes.push(format!(
            "{} packets have no port here: for groups, without an address, or for receivers whose port the captures do \
             not show. Add rules for them, or leave them out (on_bad_row = \"skip\")",
            rules.without_port
        ));
    }
    if options.dt_alpha.is_none() {
        notes.push("dt_alpha is not known from captures: reports take the switch's policy to be Complete Sharing until the description has it".to_owned());
    }
    let toml = description(
        &captures,
        &rules,
        (rate_bps, buffer_bytes, base_rtt_ns),
        options.dt_alpha,
        &notes,
    );
    check_draft(&toml)?;
    Ok(SwitchDraft { toml, notes })
}

impl CaptureDraftOptions {
    /// Rate and buffer.
    fn needed(&self) -> Result<(u64, u32), PipelineError> {
        let (Some(rate_bps), Some(buffer_bytes)) = (self.rate_bps, self.buffer_bytes) else {
            let missing = match (self.rate_bps, self.buffer_bytes) {
                (None, None) => "rate_bps and buffer_bytes",
                (None, _) => "rate_bps",
                _ => "buffer_bytes",
            };
            let problem = "not known from captures; give the line rate of the ports, bits per second (rate_bps), and the \
                           shared buffer of the switch, bytes (buffer_bytes)";
            return Err(PipelineError::setting(missing, problem));
        };
        let positive = |name: &str, is_positive: bool| match is_positive {
            true => Ok(()),
            false => Err(PipelineError::setting(name, "expected a number above 0")),
        };
        positive("rate_bps", rate_bps > 0)?;
        positive("buffer_bytes", buffer_bytes > 0)?;
        positive("dt_alpha", self.dt_alpha.is_none_or(|alpha| alpha > 0.0 && alpha.is_finite()))?;
        Ok((rate_bps, buffer_bytes))
    }

    /// The name of a value that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("rate_bps", self.rate_bps.is_some()),
            ("buffer_bytes", self.buffer_bytes.is_some()),
            ("dt_alpha", self.dt_alpha.is_some()),
            ("port_per", self.port_per.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// What the packets of a file are.
fn summary_of(file: &Path) -> Result<CaptureSummary, PipelineError> {
    summarize_capture(file).map_err(|error| match error {
        DataError::File { file: name, problem, .. } if is_capture(file) => {
            let hint = "leave it out of the draft, or cut it before that (editcap)".to_owned();
            DataError::File { file: name, problem, hint }.into()
        }
        error => error.into(),
    })
}

/// The files. What is no capture in a folder is passed over, and noted.
fn capture_files(
    paths: &[PathBuf],
    notes: &mut Vec<String>,
) -> Result<Vec<PathBuf>, PipelineError> {
    let mut files = Vec::new();
    for path in paths {
        if !is_folder(path) {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        for file in groups(path)?.into_iter().flat_map(|group| group.files) {
            match is_capture(&file) {
                true => files.push(file),
                false => notes.push(format!("{} is no capture; passed over", file.display())),
            }
        }
        if files.len() == before {
            return Err(PipelineError::unfit(
                path.display(),
                "holds no captures, expected pcap or pcapng files",
            ));
        }
    }
    Ok(files)
}

fn name_of(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn join(known: &mut CaptureSummary, more: CaptureSummary) {
    known.packets += more.packets;
    for (pair, packets) in more.pairs {
        *known.pairs.entry(pair).or_default() += packets;
    }
    for (interface, packets) in more.interfaces {
        *known.interfaces.entry(interface).or_default() += packets;
    }
}

/// The rules that are asked for; those that fit what captures hold if none are.
fn port_rules(
    captures: &[NamedCapture],
    per: Option<PortPer>,
    files: &[PathBuf],
) -> Result<PortRules, PipelineError> {
    let unfit = |at: usize, problem: String| {
        let file = files.iter().find(|file| name_of(file) == captures[at].name);
        PipelineError::unfit(
            file.map_or_else(String::new, |file| file.display().to_string()),
            problem,
        )
    };
    let chosen = per.unwrap_or(match captures {
        [one] if one.summary.interfaces.len() > 1 => PortPer::Interface,
        [_] => PortPer::Destination,
        _ => PortPer::Capture,
    });
    match chosen {
        PortPer::Interface => {
            PortRules::per_interface(captures).map_err(|problem| unfit(0, problem))
        }
        PortPer::Destination => {
            PortRules::per_destination(captures).map_err(|problem| unfit(0, problem))
        }
        PortPer::Capture => {
            let rules = PortRules::per_capture(captures).map_err(|(at, problem)| {
                let hint = "capture what comes into the switch alone; if these are parts of one capture of all of it, set \
                            port_per to destination (docs/pcap.md)";
                unfit(at, format!("{problem}; {hint}"))
            })?;
            let packets: u64 = captures.iter().map(|capture| capture.summary.packets).sum();
            // Parts of one capture do not show where hosts are.
            if per.is_none() && rules.without_port > packets / 2 {
                return PortRules::per_destination(captures).map_err(|problem| unfit(0, problem));
            }
            Ok(rules)
        }
    }
}

fn description(
    captures: &[NamedCapture],
    rules: &PortRules,
    (rate_bps, buffer_bytes, base_rtt_ns): (u64, u32, u64),
    dt_alpha: Option<f64>,
    notes: &[String],
) -> String {
    let PortRules { ports, names, toml: rules, .. } = rules;
    let mut toml = String::from("# Drafted from captures by `dropcast switch`. Check it.\n");
    notes
        .iter()
        .for_each(|note| text::line(&mut toml, format_args!("# - {}", text::one_line(note))));
    text::line(
        &mut toml,
        format_args!("ports = {ports}\nline_rate_bps = {rate_bps} # of every port"),
    );
    text::port_names(&mut toml, names.iter().map(|name| (name.as_str(), None)));
    text::line(
        &mut toml,
        format_args!("buffer_bytes = {buffer_bytes}\nbase_rtt_ns = {base_rtt_ns}"),
    );
    match dt_alpha {
        Some(alpha) => text::line(&mut toml, format_args!("dt_alpha = {alpha:?}")),
        None => toml.push_str("# dt_alpha = 0.5\n"),
    }
    toml.push_str("# Captures show no queues; rules [[capture.queue]] may (docs/pcap.md):\n# queues_per_port = 1\n");
    let of_ethernet =
        captures.iter().flat_map(|capture| capture.summary.interfaces.keys()).all(is_ethernet);
    let overhead = "wire_overhead_bytes = 24 # checksum, preamble and gap, which captures lack\n";
    toml.push_str(if of_ethernet { "" } else { "# Not Ethernet alone: check.\n# " });
    toml.push_str(overhead);
    text::line(&mut toml, format_args!("\n{}", rules.trim()));
    toml
}

/// pcap's number of Ethernet.
fn is_ethernet(interface: &CaptureInterface) -> bool {
    interface.link_type == 1
}

/// As `collect` will read it.
fn check_draft(toml: &str) -> Result<(), PipelineError> {
    #[derive(Deserialize)]
    struct Rules {
        #[serde(rename = "capture")]
        _capture: CaptureMap,
    }
    let wrong = |error: toml::de::Error| {
        let problem = format!("the description would be refused: {}", error.message());
        PipelineError::setting("switch", problem)
    };
    let _: Rules = toml::from_str(toml).map_err(wrong)?;
    let mut table: toml::Table = toml::from_str(toml).map_err(wrong)?;
    table.remove("capture");
    let _: SwitchSpecs = table.try_into().map_err(wrong)?;
    Ok(())
}
