//! The path of a file to write.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::PathBuf;

/// Reads the path of a file to write.
pub(crate) fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            return Err(
                "standard output is not supported here, name a file (./- for one of this name)",
            );
        }
        Ok(path)
    })
}
