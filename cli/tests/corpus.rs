//! The fuzz targets of the pipeline's parsers, on their corpora.

#[path = "../../dev/fuzz/src/corpora.rs"]
mod corpora;
#[path = "../../dev/fuzz/src/files.rs"]
mod files;
#[path = "../../dev/fuzz/src/pipeline.rs"]
mod pipeline;

use corpora::CORPUS;

#[test]
fn every_input_of_the_corpora_is_survived() {
    corpora::survive(&pipeline::TARGETS);
}
