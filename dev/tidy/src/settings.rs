//! What the structs of settings say of themselves.

use crate::TidyError;
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Token, Type, Variant,
};

/// A struct of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsStruct {
    /// Its documentation.
    pub about: String,
    /// The fields that a file can have, in order.
    pub fields: Vec<SettingsField>,
}

/// A field of a [`SettingsStruct`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsField {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub about: String,
    /// Its type.
    pub is_a: TypeName,
    /// Whether a file must have it: neither it nor its struct has a default, and it is no `Option`.
    pub is_required: bool,
}

/// A type by name, such as `Option<Vec<u8>>`, without its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `Option`.
    pub name: String,
    /// `Vec<u8>`.
    pub arguments: Vec<TypeName>,
}

/// The struct of this name in a source file; none if it has none.
///
/// # Errors
/// If the file cannot be read or is not Rust.
pub fn settings_struct(file: &Path, name: &str) -> Result<Option<SettingsStruct>, TidyError> {
    let items = items(file)?;
    let found = items.into_iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == name => Some(item),
        _ => None,
    });
    let Some(item) = found else { return Ok(None) };
    let fields = match item.fields {
        Fields::Named(fields) => fields.named,
        _ => Punctuated::new(),
    };
    let has_defaults = has_default(&item.attrs);
    let fields = fields.into_iter().filter(|field| !says(&field.attrs, "serde", "skip"));
    let fields = fields.filter_map(|field| {
        let is_a = type_name(&field.ty)?;
        let is_optional = has_defaults || has_default(&field.attrs) || is_a.name == "Option";
        Some(SettingsField {
            name: field.ident?.to_string(),
            about: documentation(&field.attrs),
            is_a,
            is_required: !is_optional,
        })
    });
    Ok(Some(SettingsStruct { about: documentation(&item.attrs), fields: fields.collect() }))
}

/// An enum of settings, as files have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsEnum {
    /// Its values, in order.
    pub values: Vec<String>,
    /// The default, if it says one.
    pub default: Option<String>,
}

/// The enum of this name in a source file; none if it has none.
///
/// # Errors
/// If the file cannot be read or is not Rust.
pub fn settings_enum(file: &Path, name: &str) -> Result<Option<SettingsEnum>, TidyError> {
    let found = items(file)?.into_iter().find_map(|item| match item {
        Item::Enum(item) if item.ident == name => Some(item),
        _ => None,
    });
    Ok(found.map(|item| {
        let separator = if says(&item.attrs, "rename_all", "lowercase") { "" } else { "-" };
        let value = |of: &Variant| words(&of.ident.to_string(), separator);
        let is_default = |of: &&Variant| of.attrs.iter().any(|of| of.path().is_ident("default"));
        SettingsEnum {
            values: item.variants.iter().map(value).collect(),
            default: item.variants.iter().find(is_default).map(value),
        }
    }))
}

/// `PowerTcp` with the separator `-` is `power-tcp`.
fn words(name: &str, separator: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words += separator;
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn items(file: &Path) -> Result<Vec<Item>, TidyError> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| TidyError::Read { file: file.to_owned(), source })?;
    let parsed = syn::parse_file(&text)
        .map_err(|source| TidyError::Parse { file: file.to_owned(), source })?;
    Ok(parsed.items)
}

/// The lines of a documentation as one.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(of) if of.path.is_ident("doc") => match &of.value {
            Expr::Lit(of) => match &of.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether serde has this attribute: `skip`, or with the key `rename_all` the value `lowercase`.
fn says(attributes: &[Attribute], key: &str, word: &str) -> bool {
    serde_attributes(attributes).any(|meta| match meta {
        Meta::Path(path) => key == "serde" && path.is_ident(word),
        Meta::NameValue(of) => {
            let is_word = |lit: &Lit| matches!(lit, Lit::Str(text) if text.value() == word);
            of.path.is_ident(key) && matches!(&of.value, Expr::Lit(of) if is_word(&of.lit))
        }
        Meta::List(_) => false,
    })
}

/// Whether serde has a default where a file says nothing.
fn has_default(attributes: &[Attribute]) -> bool {
    serde_attributes(attributes).any(|meta| meta.path().is_ident("default"))
}

fn serde_attributes(attributes: &[Attribute]) -> impl Iterator<Item = Meta> {
    let of_serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let metas = of_serde.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
    });
    metas.flatten()
}

fn type_name(of: &Type) -> Option<TypeName> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::AngleBracketed(of) => of.args.iter().filter_map(|of| match of {
            GenericArgument::Type(of) => type_name(of),
            _ => None,
        }),
        _ => return Some(TypeName { name: last.ident.to_string(), arguments: Vec::new() }),
    };
    Some(TypeName { name: last.ident.to_string(), arguments: arguments.collect() })
}
