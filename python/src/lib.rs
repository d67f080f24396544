//! The compiled part of the Python package `dropcast`.

/// What Python reaches of the library; the package `dropcast` gives it names and defaults.
#[pyo3::pymodule]
mod _dropcast {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
