//! The parts of ONNX's `onnx.proto3` that a model takes, each with the numbers of its fields.

use super::protobuf::Message;

/// Types of a tensor's elements: `TensorProto.DataType`.
#[derive(Clone, Copy)]
pub(super) enum ElementType {
    Float = 1,
    Int64 = 7,
    Bool = 9,
    Double = 11,
    Uint32 = 12,
}

/// A dimension of a tensor.
pub(super) enum Dimension {
    /// Any size, by name.
    Any(&'static str),
    /// This size.
    Of(usize),
}

/// `AttributeProto.AttributeType`.
const INT: u64 = 2;
const STRING: u64 = 3;
const TENSOR: u64 = 4;
const FLOATS: u64 = 6;
const INTS: u64 = 7;
const STRINGS: u64 = 8;

/// An attribute that is an integer.
pub(super) fn int(name: &str, value: u64) -> Message {
    attribute(name, INT).number(3, value)
}

/// An attribute that is a string.
pub(super) fn string(name: &str, value: &str) -> Message {
    attribute(name, STRING).text(4, value)
}

/// An attribute that is a tensor.
pub(super) fn tensor(name: &str, value: Message) -> Message {
    attribute(name, TENSOR).message(5, value)
}

/// An attribute that is a list of 32-bit floating-point numbers.
pub(super) fn floats(name: &str, values: impl IntoIterator<Item = f32>) -> Message {
    attribute(name, FLOATS).floats(7, values)
}

/// An attribute that is a list of integers.
pub(super) fn ints(name: &str, values: impl IntoIterator<Item = u64>) -> Message {
    attribute(name, INTS).numbers(8, values)
}

/// An attribute that is a list of strings.
pub(super) fn strings(name: &str, values: impl IntoIterator<Item = &'static str>) -> Message {
    let attribute = attribute(name, STRINGS);
    values.into_iter().fold(attribute, |attribute, value| attribute.text(9, value))
}

fn attribute(name: &str, kind: u64) -> Message {
    Message::new().text(1, name).number(20, kind)
}

/// A list of 64-bit floating-point numbers as a tensor.
pub(super) fn doubles(name: &str, values: Vec<f64>) -> Message {
    let tensor = Message::new().number(1, values.len() as u64);
    tensor.number(2, ElementType::Double as u64).text(8, name).doubles(10, values)
}

/// A list of one integer as a tensor. ONNX's integers are signed: `!0` is -1.
pub(super) fn one_integer(name: &str, value: u64) -> Message {
    let tensor = Message::new().number(1, 1).number(2, ElementType::Int64 as u64);
    tensor.numbers(7, [value]).text(8, name)
}

/// An operation. Those on trees are in a domain of their own.
pub(super) fn node(
    domain: &str,
    operator: &str,
    inputs: &[&str],
    output: &str,
    attributes: impl IntoIterator<Item = Message>,
) -> Message {
    let with_input = |node: Message, input: &&str| node.text(1, input);
    let node = inputs.iter().fold(Message::new(), with_input).text(2, output).text(4, operator);
    node.messages(5, attributes).text(7, domain)
}

/// An input or an output of the graph.
pub(super) fn value(
    name: &str,
    about: &str,
    of: ElementType,
    shape: impl IntoIterator<Item = Dimension>,
) -> Message {
    let dimension = |dimension| match dimension {
        Dimension::Of(size) => Message::new().number(1, size as u64),
        Dimension::Any(name) => Message::new().text(2, name),
    };
    let shape = Message::new().messages(1, shape.into_iter().map(dimension));
    let tensor = Message::new().number(1, of as u64).message(2, shape);
    Message::new().text(1, name).message(2, Message::new().message(1, tensor)).text(3, about)
}

/// A domain's version that the model needs.
pub(super) fn operators(domain: &str, version: u64) -> Message {
    Message::new().text(1, domain).number(2, version)
}

/// A line of metadata.
pub(super) fn property(key: &str, value: &str) -> Message {
    Message::new().text(1, key).text(2, value)
}
