//! `dropcast-lab map`.

use super::args::MapArgs;
use super::kept_runs::{self, SimulatedPart};
use crate::map::{MapSettings, map_into, simulate_part};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_terminal::Failure;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn run(args: &MapArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let settings = MapSettings::read(&args.config)?;
    let folder = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(args.config.file_stem().unwrap_or_default()),
    };
    let resources = Resources { threads: args.threads, memory: None };
    let kept = args.keep.as_deref().map(|path| kept_runs::open(path, progress)).transpose()?;
    if let (Some(part), Some(keep), Some(kept)) = (args.part, &args.keep, &kept) {
        let runs = simulate_part(&settings, part, Arc::clone(kept), &resources, progress)?;
        let done = SimulatedPart { runs, keep: keep.clone() };
        return dropcast_terminal::print(args.format, &done, SimulatedPart::text);
    }
    let files = |map: &_| Ok(crate::pages::map::files(map)?);
    let map = map_into(&folder, &settings, kept, &resources, progress, files)?;
    dropcast_terminal::print(args.format, &map, |map| {
        let summary = crate::pages::map::summary(map);
        let next = dropcast_terminal::next(&format!(
            "dropcast-lab map {}, with another seed of [fabric] and [traffic]",
            dropcast_terminal::argument(&args.config)
        ));
        format!("{summary}\nAll of it is in {}.\n{next}", dropcast_terminal::shown(&folder))
    })
}
