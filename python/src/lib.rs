//! The compiled part of the Python package `dropcast`.

mod partitions;

/// What Python reaches of the library; the package `dropcast` gives it names and defaults.
#[pyo3::pymodule]
mod _dropcast {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::partitions::{
        Partition, Training, cut_events, finish_sweep, join, label_piece, merge, merge_replays,
        replay, share_of_sweep, summarize_trace,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
