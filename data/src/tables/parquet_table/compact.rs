//! Thrift's compact protocol, in which Parquet writes what it says of itself.

/// Thrift's compact protocol, as far as footers and headers of pages need it (the specification is in Apache
/// Thrift, `doc/specs/thrift-compact-protocol.md`). `None` where bytes are missing or wrong.
pub(super) struct Compact<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// Structs in structs, at most.
const MOST_DEPTH: u32 = 16;

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A size: an `i32` that is not negative.
    pub(super) fn size(&mut self) -> Option<u64> {
        let value = self.zigzag()?;
        u64::try_from(value).ok().filter(|&value| value <= i32::MAX as u64)
    }

    /// The sizes in these fields of a struct.
    pub(super) fn sizes_within<const N: usize>(
        &mut self,
        wanted: [i16; N],
    ) -> Option<[Option<u64>; N]> {
        let mut found = [None; N];
        self.fields(|compact, field, kind| {
            match wanted.iter().position(|&wanted| wanted == field) {
                Some(place) => found[place] = Some(compact.size()?),
                None => compact.skip(kind, 1)?,
            }
            Some(())
        })?;
        Some(found)
    }

    /// Hands each field of a struct, number and type, to `take`, which reads its value.
    pub(super) fn fields(
        &mut self,
        mut take: impl FnMut(&mut Self, i16, u8) -> Option<()>,
    ) -> Option<()> {
        let mut field: i16 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).ok()?,
                step => field.checked_add(i16::from(step))?,
            };
            take(self, field, head & 0x0f)?;
        }
    }

    /// The head of a list: how many elements it claims, and their type.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let elements = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        Some((elements, head & 0x0f))
    }

    pub(super) fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match kind {
            // A boolean of a struct is in its type.
            1 | 2 => Some(()),
            3 => self.byte().map(|_| ()),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip_bytes(8),
            8 => {
                let bytes = self.varint()?;
                self.skip_bytes(bytes)
            }
            9 | 10 => {
                let (elements, kind) = self.list()?;
                (0..elements).try_for_each(|_| match kind {
                    // A boolean of a list is a byte.
                    1 | 2 => self.byte().map(|_| ()),
                    kind => self.skip(kind, depth + 1),
                })
            }
            12 => self.fields(|compact, _, kind| compact.skip(kind, depth + 1)),
            _ => None,
        }
    }

    fn skip_bytes(&mut self, bytes: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        self.at = end;
        (end <= self.bytes.len()).then_some(())
    }
}
