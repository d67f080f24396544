//! `dropcast rescale`.

use crate::args::RescaleArgs;
use dropcast_data::write_atomic;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::files::check_output;
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use serde::Serialize;

pub(crate) fn run(args: &RescaleArgs) -> Result<(), Failure> {
    check_output(&args.output, [&args.model])?;
    let file = ModelFile::read(&args.model)?;
    let rescaled = file.for_buffer(args.buffer_bytes)?;
    write_atomic(&args.output, rescaled.to_json().as_bytes())?;
    let summary = Rescaled {
        from_bytes: file.model.switch.buffer_bytes,
        to_bytes: rescaled.switch.buffer_bytes,
    };
    output::print(args.format, &summary, |summary| {
        let bytes = |bytes: Option<u32>| bytes.map_or_else(|| "-".to_owned(), |b| b.to_string());
        format!(
            "from a buffer of {} bytes to one of {}\nmodel: {}\n",
            bytes(summary.from_bytes),
            bytes(summary.to_bytes),
            output::shown(&args.output)
        )
    })
}

/// The result.
#[derive(Debug, Serialize)]
struct Rescaled {
    from_bytes: Option<u32>,
    to_bytes: Option<u32>,
}
