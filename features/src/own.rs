//! Features of the user's own: columns of the input that are copied, not computed.

use crate::descriptor::Descriptor;
use crate::history::FeatureMemory;
use crate::list::{LIST, SETS};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What stands before the name of a feature of the user's own in a list of features.
pub(crate) const PREFIX: &str = "own:";

/// The unit of every feature of the user's own: dropcast does not know it.
pub(crate) const UNIT: &str = "own";

/// The code of every feature of the user's own. The list of known features ends before.
pub(crate) const CODE: u8 = u8::MAX;

/// Names have at most so many bytes.
pub(crate) const LONGEST_NAME: usize = 64;

/// Descriptors live as long as the program, as those of known features do: one for each name.
static DESCRIPTORS: Mutex<BTreeMap<String, &Descriptor>> = Mutex::new(BTreeMap::new());

/// The descriptor of the column `name`; none if that is no name of an own feature.
pub(crate) fn described(name: &str) -> Option<&'static Descriptor> {
    if !is_name(name) {
        return None;
    }
    let mut known = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&descriptor) = known.get(name) {
        return Some(descriptor);
    }
    let definition = format!(
        "the user's own: what the column {name} of the input holds. dropcast does not compute it; \
         whoever asks for a prediction supplies it"
    );
    let descriptor: &'static Descriptor = Box::leak(Box::new(Descriptor {
        code: CODE,
        name: String::leak(name.to_owned()),
        unit: UNIT,
        definition: String::leak(definition),
        scales_with_buffer: false,
        rises: false,
        memory: FeatureMemory::Nothing,
        parts: &[],
        observe: |_| unreachable!("features of the user's own are read, never observed"),
    }));
    known.insert(name.to_owned(), descriptor);
    Some(descriptor)
}

/// Whether a feature or a set that dropcast computes has the name.
pub(crate) fn is_computed(name: &str) -> bool {
    LIST.iter().any(|feature| feature.name == name) || SETS.iter().any(|set| set.name == name)
}

/// Letters, digits and `_`, beginning with a letter; no known feature or set.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= LONGEST_NAME
        && name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && name.bytes().all(is_plain)
        && !is_computed(name)
}
