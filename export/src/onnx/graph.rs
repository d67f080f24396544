//! The parts of an ONNX graph.

use dropcast_onnx::{
    AttributeProto, AttributeType, DataType, DimensionProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};

/// An integer attribute.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: value, ..attribute(name, AttributeType::Int) }
}

/// A string attribute.
pub(super) fn string(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: value.into(), ..attribute(name, AttributeType::String) }
}

/// An attribute with a list of 32-bit floating-point numbers.
pub(super) fn floats(name: &str, values: impl Iterator<Item = f32>) -> AttributeProto {
    AttributeProto { floats: values.collect(), ..attribute(name, AttributeType::Floats) }
}

/// An attribute with a tensor of 64-bit floating-point numbers.
pub(super) fn doubles(name: &str, values: impl Iterator<Item = f64>) -> AttributeProto {
    let double_data: Vec<f64> = values.collect();
    let tensor = TensorProto {
        dims: vec![double_data.len() as i64],
        data_type: DataType::Double.into(),
        name: name.to_owned(),
        double_data,
        ..TensorProto::default()
    };
    AttributeProto { t: Some(tensor), ..attribute(name, AttributeType::Tensor) }
}

/// An attribute with a list of integers.
pub(super) fn ints(name: &str, values: impl Iterator<Item = i64>) -> AttributeProto {
    AttributeProto { ints: values.collect(), ..attribute(name, AttributeType::Ints) }
}

/// An attribute with a list of strings.
pub(super) fn strings(name: &str, values: impl Iterator<Item = &'static str>) -> AttributeProto {
    let strings = values.map(Vec::from).collect();
    AttributeProto { strings, ..attribute(name, AttributeType::Strings) }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto { name: name.to_owned(), r#type: kind.into(), ..AttributeProto::default() }
}

/// A constant list with one integer.
pub(super) fn one_integer(name: &str, value: i64) -> TensorProto {
    TensorProto {
        dims: vec![1],
        data_type: DataType::Int64.into(),
        int64_data: vec![value],
        name: name.to_owned(),
        ..TensorProto::default()
    }
}

/// An operation. Operators on trees are in their own domain.
pub(super) fn node(
    domain: &str,
    operator: &str,
    inputs: &[&str],
    output: &str,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(ToString::to_string).collect(),
        output: vec![output.to_owned()],
        op_type: operator.to_owned(),
        attribute,
        domain: domain.to_owned(),
    }
}

/// An input or an output of the graph.
pub(super) fn value(
    name: &str,
    about: &str,
    element: DataType,
    dim: Vec<DimensionProto>,
) -> ValueInfoProto {
    let shape = Some(TensorShapeProto { dim });
    let tensor_type = Some(TensorTypeProto { elem_type: element.into(), shape });
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type }),
        doc_string: about.to_owned(),
    }
}

/// A dimension of any size.
pub(super) fn any_size(name: &str) -> DimensionProto {
    DimensionProto { dim_param: name.to_owned(), ..DimensionProto::default() }
}

/// A dimension of this size.
pub(super) fn size(size: usize) -> DimensionProto {
    DimensionProto { dim_value: size as i64, ..DimensionProto::default() }
}

/// A domain and the version that the model needs.
pub(super) fn operators(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: domain.to_owned(), version }
}

/// A line of metadata.
pub(super) fn property(key: &str, value: &str) -> StringStringEntryProto {
    StringStringEntryProto { key: key.to_owned(), value: value.to_owned() }
}
