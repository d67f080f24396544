//! `dropcast map`.

use crate::args::MapArgs;
use crate::failure::Failure;
use crate::output;
use dropcast_lab::map::{MapSettings, map_into};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use std::path::PathBuf;

pub(crate) fn run(args: &MapArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let settings = MapSettings::read(&args.config)?;
    let folder = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(args.config.file_stem().unwrap_or_default()),
    };
    let resources = Resources { threads: args.threads, memory: None };
    let files = |map: &_| Ok(dropcast_lab::pages::map::files(map)?);
    let map = map_into(&folder, &settings, &resources, progress, files)?;
    output::print(args.format, &map, |map| {
        let summary = dropcast_lab::pages::map::summary(map);
        format!("{summary}\nAll of it is in {}.\n", output::shown(&folder))
    })
}
