//! The compiled part of the Python package `dropcast`: `dropcast-pipeline` for Python. The package
//! (`python/dropcast`) gives it names, defaults and docs.

mod errors;
mod frame;
mod model;
mod partitions;
mod pipeline;
mod settings;
mod trace;
mod work;

/// What Python reaches of the library.
#[pyo3::pymodule]
mod _dropcast {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::frame::{PyFrame, integer_columns, write_file};
    #[pymodule_export]
    use crate::model::{Model, features, import_bytes, import_trees, targets};
    #[pymodule_export]
    use crate::partitions::{
        Partition, Training, cut_events, finish_sweep, join, label_piece, merge, merge_replays,
        replay, share_of_sweep, summarize_trace,
    };
    #[pymodule_export]
    use crate::pipeline::{
        Report, command, cross_validate, experiment, generate, report, sweep, train, train_per,
    };
    #[pymodule_export]
    use crate::settings::commands;
    #[pymodule_export]
    use crate::trace::{Trace, collect, traces_in};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
