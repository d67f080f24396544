//! Files, objects and streams as bytes and text, and what can go wrong with them.

mod atomic;
mod error;
mod guard;
mod hash;
mod lines;
pub(crate) mod objects;
mod scratch;
mod small_file;
mod text;

pub use atomic::{AtomicFile, move_file, remove_old, write_atomic, write_set};
pub use error::{DataError, RowPlace};
pub(crate) use error::{is_out_of_memory, recorded_name, shown, shown_output};
pub(crate) use guard::guarded;
pub(crate) use hash::{FileHash, HashingReader, hex};
pub use hash::{sha256, sha256_file};
pub(crate) use lines::Lines;
pub use objects::{
    ObjectStores, install_object_stores, is_folder, is_object, list_objects, remove_object,
};
pub use scratch::{ScratchFile, scratch_file};
pub(crate) use small_file::{caps, check_size};
pub use small_file::{check_regular, read_head, read_small, read_toml};
pub(crate) use text::{Bytes, Compression, TextInput, uncompressed};
