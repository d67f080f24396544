//! Questions and answers as bytes: two items of CBOR (RFC 8949), the version that wrote them and the
//! value.

use crate::TrainError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Only the same version asks and answers the same.
const VERSION: &str = concat!("dropcast ", env!("CARGO_PKG_VERSION"));

/// The bytes of a value.
pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let version = ciborium::into_writer(VERSION, &mut bytes);
    let written = version.and_then(|()| ciborium::into_writer(value, &mut bytes));
    written.expect("a vector takes all bytes");
    bytes
}

/// The value in `bytes`; `what` is what errors call it.
///
/// # Errors
/// [`TrainError::Message`] if these are not the bytes of such a value, or of another version.
pub(super) fn decode<T: DeserializeOwned>(
    what: &'static str,
    mut bytes: &[u8],
) -> Result<T, TrainError> {
    let wrong = |problem: String| TrainError::Message { what, problem };
    let damaged = |error| wrong(format!("is damaged: {error}"));
    let version: String = ciborium::from_reader(&mut bytes).map_err(damaged)?;
    if version != VERSION {
        let problem = format!("is of {version:?}, this is {VERSION:?}; use one version everywhere");
        return Err(wrong(problem));
    }
    let value = ciborium::from_reader(&mut bytes).map_err(damaged)?;
    match bytes.len() {
        0 => Ok(value),
        more => Err(wrong(format!("is followed by {more} bytes of something else"))),
    }
}
