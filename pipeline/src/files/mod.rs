//! Files and folders: what is read whole, what is written, and how files that belong together appear at once.

mod folders;
pub(crate) mod manifest;
mod whole_files;
pub mod work_folder;

pub(crate) use folders::traces_in;
pub(crate) use folders::{Group, groups};
pub use folders::{matching, trace_files};
pub(crate) use whole_files::FolderLock;
pub use whole_files::{
    check_output, check_replaced, create_folder, read_settings, read_text, real, spare_inputs,
    spare_inputs_in, write_files,
};
