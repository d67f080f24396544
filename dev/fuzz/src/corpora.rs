//! The fuzz targets on their corpora, as an ordinary test.

use crate::files::FuzzTarget;

/// The inputs of each target, from the folder of a package of the workspace.
pub(crate) const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/fuzz/corpus");

/// Gives each target all inputs of its corpus.
pub(crate) fn survive(targets: &[FuzzTarget]) {
    for (name, target) in targets {
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
