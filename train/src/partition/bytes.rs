//! Questions and answers as bytes: two items of CBOR (RFC 8949), the version that wrote them and the
//! value, and a checksum of both.

use crate::TrainError;
use dropcast_data::random::mix;
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
    bytes.extend(checksum(&bytes));
    bytes
}

/// The sum of a hash of each eight bytes with their place, and of the length. No other bytes that
/// differ in only eight neighbouring ones at such a place, or fewer, have the same.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let hashes = (0..).zip(words).map(|(place, word)| mix(mix(place) ^ word));
    hashes.fold(mix(bytes.len() as u64), u64::wrapping_add).to_le_bytes()
}

const CHECKSUM_BYTES: usize = 8;

/// The value in `bytes`; `what` is what errors call it.
///
/// # Errors
/// [`TrainError::Message`] if these are not the bytes of such a value, or of another version.
pub(super) fn decode<T: DeserializeOwned>(
    what: &'static str,
    mut bytes: &[u8],
) -> Result<T, TrainError> {
    let all = bytes;
    let wrong = |problem: String| TrainError::Message { what, problem };
    let damaged = |error| wrong(format!("is damaged: {error}"));
    let version: String = ciborium::from_reader(&mut bytes).map_err(damaged)?;
    if version != VERSION {
        let problem = format!("is of {version:?}, this is {VERSION:?}; use one version everywhere");
        return Err(wrong(problem));
    }
    let whole = all.split_last_chunk().is_some_and(|(value, last)| checksum(value) == *last);
    if !whole {
        return Err(wrong("is damaged: its bytes are not those that were sent".to_owned()));
    }
    ciborium::from_reader(bytes).map_err(damaged)
}
