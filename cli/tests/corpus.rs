//! The fuzz targets of the pipeline's parsers, on their corpora.

#[path = "../../dev/fuzz/src/files.rs"]
mod files;
#[path = "../../dev/fuzz/src/pipeline.rs"]
mod pipeline;

use files::with_file;
use pipeline::TARGETS;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/fuzz/corpus");

#[test]
fn every_input_of_the_corpora_is_survived() {
    for (name, target) in TARGETS {
        let files = std::fs::read_dir(format!("{CORPUS}/{name}")).expect("a corpus");
        let mut inputs = 0;
        for file in files {
            let path = file.expect("a corpus can be read").path();
            target(&std::fs::read(&path).expect("an input can be read"));
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no input");
    }
}
