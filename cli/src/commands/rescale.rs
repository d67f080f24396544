//! `dropcast rescale`.

use super::export::read_model;
use crate::args::RescaleArgs;
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use dropcast_data::write_atomic;
use serde::Serialize;

pub(crate) fn run(args: &RescaleArgs) -> anyhow::Result<()> {
    output_file::check(&args.output, [&args.model])?;
    let (model, _) = read_model(&args.model)?;
    let rescaled = model.for_buffer(args.buffer_bytes.get()).map_err(|error| {
        UserError(format!(
            "{}: {error}; train it on traces that describe their switch, or import it with --switch",
            args.model.display()
        ))
    })?;
    write_atomic(&args.output, rescaled.to_json().as_bytes())?;
    let summary =
        Rescaled { from_bytes: model.switch.buffer_bytes, to_bytes: rescaled.switch.buffer_bytes };
    output::print(args.format, &summary, |summary| {
        let bytes = |bytes: Option<u32>| bytes.map_or_else(|| "-".to_owned(), |b| b.to_string());
        format!(
            "from a buffer of {} bytes to one of {}\nmodel: {}\n",
            bytes(summary.from_bytes),
            bytes(summary.to_bytes),
            args.output.display()
        )
    })
}

/// What was done.
#[derive(Debug, Serialize)]
struct Rescaled {
    from_bytes: Option<u32>,
    to_bytes: Option<u32>,
}
