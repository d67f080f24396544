//! The few messages and fields of ONNX (onnx.proto, onnx-ml) that a tree ensemble needs; others
//! are skipped.

/// `ModelProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Model {
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, tag = "3")]
    pub(super) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
}

/// `GraphProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<Node>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<Value>,
}

/// `NodeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
}

/// `AttributeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(int64, tag = "3")]
    pub(super) i: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) s: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<Tensor>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub(super) strings: Vec<Vec<u8>>,
}

/// `TensorProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Tensor {
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(bytes = "vec", tag = "9")]
    pub(super) raw_data: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
}

/// `ValueInfoProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value_type: Option<Type>,
}

/// `TypeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Type {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorType>,
}

/// `TypeProto.Tensor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<Shape>,
}

/// `TensorShapeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

/// `TensorShapeProto.Dimension`; 0 if it is not a number.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, tag = "1")]
    pub(super) dim_value: i64,
}

/// `TensorProto.DataType.FLOAT`.
pub(super) const FLOAT: i32 = 1;
/// `TensorProto.DataType.INT32`.
pub(super) const INT32: i32 = 6;
/// `TensorProto.DataType.INT64`.
pub(super) const INT64: i32 = 7;
/// `TensorProto.DataType.DOUBLE`.
pub(super) const DOUBLE: i32 = 11;
