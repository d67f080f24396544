//! dropcast
fn main() {}
