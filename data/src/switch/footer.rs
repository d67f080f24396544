//! The switches that an event Parquet describes in its footer.

use crate::io::{caps, check_size};
use crate::tables::Table;
use crate::{DataError, SwitchSpecs};

/// Footer key of an event Parquet: the description of the switches, as TOML.
pub(crate) const SWITCH_KEY: &str = "dropcast.switch";

pub(crate) fn switches_in_footer(
    file: &str,
    table: &Table,
) -> Result<Option<SwitchSpecs>, DataError> {
    let parse = |text| {
        check_size(file, SWITCH_KEY, text, caps::TOML)?;
        SwitchSpecs::from_toml(text)
            .map_err(|source| DataError::Switches { file: file.to_owned(), source })
    };
    table.metadata(SWITCH_KEY).map(parse).transpose()
}
