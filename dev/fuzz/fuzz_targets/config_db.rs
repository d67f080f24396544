#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dropcast_fuzz::run("config_db", bytes));
