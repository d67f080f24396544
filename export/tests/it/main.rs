//! Every export of a forest predicts what the forest does.

mod about;
mod c_header;
mod dct;
mod device_code;
mod device_style;
mod documented;
mod forests;
mod golden;
mod json_table;
mod p4;
mod p4_program;
mod p4_text;
mod tables;
mod tools;
mod unkept;
mod vectors;
