//! Times in JSON. Since 1970 they have more digits than a number of JavaScript or jq holds (2^53), so they are
//! strings.

use dropcast_data::TraceMeta;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A time, ns, as a string.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(time_ns: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time_ns)
}

/// A time, ns, of a string.
///
/// # Errors
/// If it is none.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// What a trace says of itself, with times as strings.
pub(crate) fn meta_value(meta: &TraceMeta) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(meta)?;
    each_pause_time(&mut value, |time| {
        if time.is_u64() {
            *time = Value::String(time.to_string());
        }
    });
    Ok(value)
}

/// The beginnings and ends of pauses.
fn each_pause_time(meta: &mut Value, change: impl FnMut(&mut Value)) {
    let pauses = meta.get_mut("pauses").and_then(Value::as_array_mut);
    let times = pauses.into_iter().flatten().filter_map(Value::as_array_mut);
    times.flat_map(|pause| pause.iter_mut().take(2)).for_each(change);
}

/// A [`TraceMeta`] with times as strings.
pub mod of_meta {
    use super::*;

    /// As a map, with times as strings.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(meta: &TraceMeta, serializer: S) -> Result<S::Ok, S::Error> {
        meta_value(meta).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Of such a map.
    ///
    /// # Errors
    /// If it is none.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TraceMeta, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        each_pause_time(&mut value, |time| {
            if let Some(number) = time.as_str().and_then(|time| time.parse::<u64>().ok()) {
                *time = number.into();
            }
        });
        TraceMeta::deserialize(value).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use dropcast_data::{Pause, RowOrder, TraceMeta};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Timed {
        #[serde(with = "super")]
        begin_ns: u64,
        #[serde(with = "super::of_meta")]
        meta: TraceMeta,
    }

    #[test]
    fn times_keep_all_digits_in_numbers_of_64_bits() {
        let time_ns = 1_700_000_000_123_456_789;
        let mut meta = TraceMeta::unknown(RowOrder::Arrival, Vec::new());
        let pause =
            Pause { from_ns: time_ns, until_ns: time_ns + 1, switch_id: 1, port: 2, queue: 3 };
        meta.pauses = vec![pause];
        let timed = Timed { begin_ns: time_ns, meta };
        let text = serde_json::to_string(&timed).unwrap();
        assert!(text.contains(r#""begin_ns":"1700000000123456789""#), "{text}");
        let pauses = r#""pauses":[["1700000000123456789","1700000000123456790",1,2,3]]"#;
        assert!(text.contains(pauses), "{text}");
        assert_eq!(serde_json::from_str::<Timed>(&text).unwrap(), timed);
    }
}
