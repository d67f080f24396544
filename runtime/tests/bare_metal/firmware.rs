//! The scenario as a library for the start routine. Compiled by the test, not part of any crate.
#![no_std]

mod scenario;

/// The digest of all decisions; 0 if the table was refused.
#[unsafe(no_mangle)]
pub extern "C" fn scenario_hash() -> u32 {
    scenario::run().map_or(0, |digest| digest.hash)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
