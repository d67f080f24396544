//! The checksum of a table.

/// CRC-32 as in zip, PNG and Ethernet (reflected polynomial `0xEDB88320`), so that any tool can
/// check a table. Computed bit by bit: a table is checked once, and a look-up table would take more
/// memory.
pub fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            let carry = (crc & 1) * POLYNOMIAL;
            (crc >> 1) ^ carry
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_check_values() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414F_A339);
    }
}
