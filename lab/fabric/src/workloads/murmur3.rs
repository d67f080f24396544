//! MurmurHash3 of 32 bits (Appleby 2010, `MurmurHash3_x86_32`): what ns-3 hashes flows with.

/// The hash of `bytes` with a seed.
pub(crate) fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let mut blocks = bytes.chunks_exact(4);
    let mut hash = seed;
    for block in &mut blocks {
        hash = (hash ^ mix(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= mix(blocks.remainder());
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// A block of at most 4 bytes, little-endian, mixed; 0 if it is empty.
fn mix(block: &[u8]) -> u32 {
    let word = block.iter().rev().fold(0u32, |word, &byte| (word << 8) | u32::from(byte));
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The author's own check (SMHasher, `VerificationTest`): the hash of the hashes of the first
    /// 0 to 255 bytes of 0, 1, 2, ..., each with its own seed.
    #[test]
    fn it_has_the_published_verification_value() {
        let key: Vec<u8> = (0..=255).collect();
        let hashes: Vec<u8> = (0..256)
            .flat_map(|length| murmur3(&key[..length], 256 - length as u32).to_le_bytes())
            .collect();
        assert_eq!(murmur3(&hashes, 0), 0xb0f5_7ee3);
    }

    #[test]
    fn it_hashes_the_published_texts() {
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"Hello, world!", 0x9747_b28c), 0x2488_4cba);
        assert_eq!(murmur3(b"aaa", 0x9747_b28c), 0x283e_0130, "a tail of 3 bytes");
    }
}
