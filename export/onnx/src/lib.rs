//! The protobuf messages of ONNX that a tree ensemble takes: imports read them, exports write them.
//!
//! Names and tags are those of
//! [onnx-ml.proto3](https://github.com/onnx/onnx/blob/main/onnx/onnx-ml.proto3). Readers skip the
//! fields that are not here.
//!
//! ```
//! use dropcast_onnx::{AttributeProto, AttributeType, GraphProto, Message, ModelProto, NodeProto};
//!
//! let targets = AttributeProto {
//!     name: "n_targets".to_owned(),
//!     r#type: AttributeType::Int.into(),
//!     i: 1,
//!     ..AttributeProto::default()
//! };
//! let ensemble = NodeProto {
//!     op_type: "TreeEnsembleRegressor".to_owned(),
//!     attribute: vec![targets],
//!     ..NodeProto::default()
//! };
//! let graph = GraphProto { node: vec![ensemble], ..GraphProto::default() };
//! let model = ModelProto { ir_version: 7, graph: Some(graph), ..ModelProto::default() };
//!
//! let bytes = model.encode_to_vec();
//! assert_eq!(ModelProto::decode(bytes.as_slice())?, model);
//! # Ok::<(), dropcast_onnx::DecodeError>(())
//! ```

pub use prost::{DecodeError, Message};

/// A model: a graph, and where it comes from.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// The tool that wrote it.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// The version of that tool.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// What it is, for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// What it computes.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Versions of the operators.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Metadata.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Operations, inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The operations, in an order in which they can be executed.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// An operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of its inputs.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of its outputs.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// The operator's domain; empty for the standard one.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A parameter of an operation. Its type says which field holds it.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// An integer.
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// A string.
    #[prost(bytes = "vec", tag = "4")]
    pub s: Vec<u8>,
    /// A tensor.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Floating-point numbers.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Strings.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Its [`AttributeType`].
    #[prost(enumeration = "AttributeType", tag = "20")]
    pub r#type: i32,
}

/// The type of a parameter: `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeType {
    /// Old writers leave it out.
    Undefined = 0,
    /// An integer.
    Int = 2,
    /// A string.
    String = 3,
    /// A tensor.
    Tensor = 4,
    /// Floating-point numbers.
    Floats = 6,
    /// Integers.
    Ints = 7,
    /// Strings.
    Strings = 8,
}

/// Numbers.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Its size in each dimension.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// The [`DataType`] of its elements.
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    /// Elements in 32-bit floating point.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements that are integers.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Its name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements as little-endian bytes.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// Elements in 64-bit floating point.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
}

/// The type of a tensor's elements: `TensorProto.DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// Not stated.
    Undefined = 0,
    /// 32-bit floating point.
    Float = 1,
    /// Signed integers of 32 bits.
    Int32 = 6,
    /// Signed integers of 64 bits.
    Int64 = 7,
    /// Truth values.
    Bool = 9,
    /// 64-bit floating point.
    Double = 11,
    /// Unsigned integers of 32 bits.
    Uint32 = 12,
}

/// An input or output of a graph.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// What it is, for people.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// A type.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Of a tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// The type of a tensor: `TypeProto.Tensor`.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// The [`DataType`] of its elements.
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    /// Its size in each dimension.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// The size of a tensor in each dimension.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// The dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// A dimension, by size or by name: `TensorShapeProto.Dimension`.
#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    /// Its size, or 0.
    #[prost(int64, tag = "1")]
    pub dim_value: i64,
    /// Its name, or nothing.
    #[prost(string, tag = "2")]
    pub dim_param: String,
}

/// A version of the operators of a domain.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// The domain; empty for the standard one.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// The version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key and its value.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}
