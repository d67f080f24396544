//! Times, options and first bytes of captures.

use super::*;

#[test]
fn times_are_of_the_interface_resolution() {
    let time =
        |resolution, offset_s, ticks| Interface { link_type: 1, resolution, offset_s }.time(ticks);
    assert_eq!(time(6, 0, 1_500_000), RawTime::Known(1_500_000_000, false));
    assert_eq!(time(9, 2, 7), RawTime::Known(2_000_000_007, false));
    assert_eq!(time(12, 0, 1_500), RawTime::Known(2, true));
    assert_eq!(time(0, -1, 3), RawTime::Known(2_000_000_000, false));
    assert_eq!(time(0x80 | 10, 0, 1 << 9), RawTime::Known(500_000_000, false));
    assert_eq!(time(9, -1, 5), RawTime::OutOfRange);
    assert_eq!(time(0, 0, u64::MAX), RawTime::OutOfRange);
    assert_eq!(time(127, 0, 1), RawTime::OutOfRange);
}

#[test]
fn an_option_ends_within_its_block() {
    for big_endian in [false, true] {
        let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let option = |code: u32, bytes: u32| match big_endian {
            true => word(code << 16 | bytes),
            false => word(bytes << 16 | code),
        };
        // An interface with one option of four bytes.
        let interface = |bytes| -> Vec<u8> {
            let (head, value) = ([word(1), word(28), word(1), word(0)], word(6));
            [&head[..], &[option(9, bytes), value, word(28)]].concat().concat()
        };
        assert!(options_fit(&interface(1), big_endian) && options_fit(&interface(4), big_endian));
        assert!(!options_fit(&interface(5), big_endian));
        // What comes after the last option is of no meaning.
        let mut ended = interface(5);
        ended[16..20].copy_from_slice(&option(0, 0));
        assert!(options_fit(&ended, big_endian));
    }
}

#[test]
fn captures_are_recognized_by_their_first_bytes() {
    assert_eq!(CaptureStart::of(&[0xd4, 0xc3, 0xb2, 0xa1, 2]), Some(CaptureStart::Pcap));
    assert_eq!(CaptureStart::of(&SECTION_MAGIC), Some(CaptureStart::PcapNg));
    assert_eq!(CaptureStart::of(b"time"), None);
    assert_eq!(CaptureStart::of(b"\n"), None);
}
