//! The switches that a table of events describes in its footer or metadata.

use crate::column_table::ColumnTable;
use crate::{DataError, SwitchSpecs};

/// Footer key of an event Parquet: the description of the switches, as TOML.
pub(crate) const SWITCH_KEY: &str = "dropcast.switch";

pub(crate) fn switches_in_footer(
    file: &str,
    table: &ColumnTable,
) -> Result<Option<SwitchSpecs>, DataError> {
    let parse = |text| {
        SwitchSpecs::from_toml(text)
            .map_err(|source| DataError::Switches { file: file.to_owned(), source })
    };
    table.footer(SWITCH_KEY).map(parse).transpose()
}
