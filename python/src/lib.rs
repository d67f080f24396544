//! The compiled part of the Python package `dropcast`: `dropcast-pipeline` for Python. The package
//! (`python/dropcast`) gives it names, defaults and docs.

mod environment;
mod errors;
mod fabric;
mod fleet;
mod frame;
mod inspection;
mod keeping;
mod model;
mod own_policy;
mod partitions;
mod report;
mod settings;
mod trace;
mod training;
mod work;

/// What Python reaches of the library.
#[pyo3::pymodule]
mod _dropcast {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::environment::Environment;
    #[pymodule_export]
    use crate::fabric::{experiment, generate, map, refine, reproduce};
    #[pymodule_export]
    use crate::fleet::simulate_share;
    #[pymodule_export]
    use crate::frame::{PyFrame, create_folder, integer_columns, write_file};
    #[pymodule_export]
    use crate::inspection::{check, inspect};
    #[pymodule_export]
    use crate::model::{
        LeafShares, Model, features, import_bytes, import_file, import_trees, targets,
    };
    #[pymodule_export]
    use crate::own_policy::{ArrivingPacket, SwitchState};
    #[pymodule_export]
    use crate::partitions::{
        Partition, Training, cut_events, finish_sweep, join, label_piece, merge, merge_replays,
        replay, share_of_sweep, summarize_trace,
    };
    #[pymodule_export]
    use crate::report::{Report, report, run};
    #[pymodule_export]
    use crate::settings::{command, commands, settings_names};
    #[pymodule_export]
    use crate::trace::{Trace, collect, is_folder, is_object, trace_files};
    #[pymodule_export]
    use crate::training::{sweep, train};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        #[cfg(feature = "object-store")]
        dropcast_objects::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
