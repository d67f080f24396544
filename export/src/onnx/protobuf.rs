//! The little of protobuf's wire format that a model takes: fields with numbers, bytes and packed
//! lists (<https://protobuf.dev/programming-guides/encoding/>).

/// A message that is being written.
#[derive(Clone, Default)]
pub(super) struct Message(Vec<u8>);

/// Wire types.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    pub(super) fn new() -> Self {
        Message::default()
    }

    /// An integer or a value of an enumeration; negative ones do not occur here.
    pub(super) fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// A string, or bytes.
    pub(super) fn text(self, field: u64, text: impl AsRef<[u8]>) -> Self {
        self.bytes(field, text.as_ref())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u64, inner: Message) -> Self {
        self.bytes(field, &inner.0)
    }

    /// Messages within this one.
    pub(super) fn messages(self, field: u64, inner: impl IntoIterator<Item = Message>) -> Self {
        inner.into_iter().fold(self, |message, inner| message.message(field, inner))
    }

    /// A packed list of integers.
    pub(super) fn numbers(self, field: u64, values: impl IntoIterator<Item = u64>) -> Self {
        let mut packed = Message::new();
        values.into_iter().for_each(|value| packed.varint(value));
        self.message(field, packed)
    }

    /// A packed list of 32-bit floating-point numbers.
    pub(super) fn floats(self, field: u64, values: impl IntoIterator<Item = f32>) -> Self {
        let packed: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
        self.bytes(field, &packed)
    }

    /// A packed list of 64-bit floating-point numbers.
    pub(super) fn doubles(self, field: u64, values: impl IntoIterator<Item = f64>) -> Self {
        let packed: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.bytes(field, &packed)
    }

    /// The message's bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf's own page.
    #[test]
    fn messages_are_those_of_the_specification() {
        assert_eq!(Message::new().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::new().text(2, "testing").into_bytes();
        assert_eq!(text, [&[0x12, 0x07][..], b"testing"].concat());
        let inner = Message::new().message(3, Message::new().number(1, 150)).into_bytes();
        assert_eq!(inner, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let packed = Message::new().numbers(6, [3, 270, 86_942]).into_bytes();
        assert_eq!(packed, [0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05]);
    }
}
