//! The fields of a definition: their places in the JSON, and which of them may have validators.
//!
//! serde decides what an answer looks like, so its attributes decide where a field
//! is: below a key of another name, beside a tag, in a list, or in the place of its
//! container. `read` follows them for reading alone; what is only written
//! differently does not matter here.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, GenericArgument, Member, PathArguments, Type};

use super::serde_names::SerdeAttributes;

/// A struct, or one variant of an enum.
pub(crate) struct Shape<'a> {
    // `None` for a struct.
    pub(crate) variant: Option<&'a Ident>,
    // The key below which the variant's fields are in the JSON.
    pub(crate) wrapper_key: Option<String>,
    pub(crate) fields: Vec<FieldModel<'a>>,
}

impl Shape<'_> {
    /// For messages: `name`, or `Variant.name`.
    pub(crate) fn field_name(&self, field: &FieldModel<'_>) -> String {
        let member = match &field.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        self.variant.map_or(member.clone(), |variant| {
            format!("{}.{member}", variant.unraw())
        })
    }
}

/// A field that is walked. `binding` is its name in the pattern, by position: a
/// field may be called like a variable of generated code.
pub(crate) struct FieldModel<'a> {
    pub(crate) member: Member,
    pub(crate) binding: Ident,
    pub(crate) ty: &'a Type,
    pub(crate) step: JsonStep,
}

/// From the JSON of the container to that of the field.
pub(crate) enum JsonStep {
    Key(String),
    Index(usize),
    None,
}

/// `renamed`: fields whose own attribute sets a JSON name.
pub(crate) struct DefinitionModel<'a> {
    pub(crate) shapes: Vec<Shape<'a>>,
    pub(crate) renamed: Vec<(String, String)>,
}

/// A union has no fields that could be read from JSON.
pub(crate) fn read(input: &DeriveInput) -> DefinitionModel<'_> {
    let container = SerdeAttributes::read(&input.attrs);
    match &input.data {
        Data::Struct(data) => {
            let fields = fields(&data.fields, container.transparent);
            DefinitionModel {
                shapes: vec![Shape {
                    variant: None,
                    wrapper_key: None,
                    fields,
                }],
                renamed: renamed(&data.fields),
            }
        }
        Data::Enum(data) => {
            let shapes = data.variants.iter().filter_map(|variant| {
                let attributes = SerdeAttributes::read(&variant.attrs);
                if attributes.skip {
                    return None;
                }
                // serde's four forms of an enum: untagged (no key), by the
                // variant's name, beside a tag (no key), below the content's key.
                let wrapper_key = match (&container.tag, &container.content) {
                    _ if container.untagged || attributes.untagged => None,
                    (None, _) => Some(attributes.name(&variant.ident)),
                    (Some(_), content) => content.clone(),
                };
                let fields = fields(&variant.fields, false);
                Some(Shape {
                    variant: Some(&variant.ident),
                    wrapper_key,
                    fields,
                })
            });
            DefinitionModel {
                shapes: shapes.collect(),
                renamed: vec![],
            }
        }
        Data::Union(_) => DefinitionModel {
            shapes: vec![],
            renamed: vec![],
        },
    }
}

/// In the order in which they are written. Indices count only fields that are read,
/// positions all.
fn fields(fields: &Fields, transparent: bool) -> Vec<FieldModel<'_>> {
    let read: Vec<_> = fields
        .iter()
        .map(|field| SerdeAttributes::read(&field.attrs))
        .collect();
    // serde writes a struct or variant with one unnamed field as the field.
    let newtype = transparent || (matches!(fields, Fields::Unnamed(_)) && fields.len() == 1);
    let mut index = 0;
    let mut models = vec![];
    for ((position, field), attributes) in fields.iter().enumerate().zip(read) {
        if attributes.skip {
            continue;
        }
        let step = match &field.ident {
            _ if newtype || attributes.flatten => JsonStep::None,
            Some(name) => JsonStep::Key(attributes.name(name)),
            None => JsonStep::Index(index),
        };
        index += 1;
        if is_plain(&field.ty) {
            continue;
        }
        let member = field
            .ident
            .clone()
            .map_or_else(|| Member::from(position), Member::Named);
        let binding = format_ident!("__field_{position}", span = Span::mixed_site());
        models.push(FieldModel {
            member,
            binding,
            ty: &field.ty,
            step,
        });
    }
    models
}

/// For the type's own validators, which name fields as Rust does.
fn renamed(fields: &Fields) -> Vec<(String, String)> {
    let names = fields.iter().filter_map(|field| {
        let rust = field.ident.as_ref()?.unraw().to_string();
        let attributes = SerdeAttributes::read(&field.attrs);
        attributes
            .rename
            .filter(|json| !attributes.skip && *json != rust)
            .map(|json| (rust, json))
    });
    names.collect()
}

/// By tokens: plain values, and lists and options of them.
pub(crate) fn is_plain(ty: &Type) -> bool {
    const PLAIN: [&str; 18] = [
        "bool", "char", "str", "String", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
        "i32", "i64", "i128", "isize", "f32", "f64",
    ];
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Reference(reference) => return is_plain(&reference.elem),
        Type::Array(array) => return is_plain(&array.elem),
        Type::Tuple(tuple) => return tuple.elems.iter().all(is_plain),
        Type::Group(group) => return is_plain(&group.elem),
        Type::Paren(paren) => return is_plain(&paren.elem),
        _ => return false,
    };
    let Some(last) = path.segments.last() else {
        return false;
    };
    match &last.arguments {
        PathArguments::None => PLAIN.iter().any(|plain| last.ident == plain),
        PathArguments::AngleBracketed(arguments) => {
            ["Option", "Vec", "Box"]
                .iter()
                .any(|container| last.ident == container)
                && arguments
                    .args
                    .iter()
                    .all(|argument| matches!(argument, GenericArgument::Type(ty) if is_plain(ty)))
        }
        PathArguments::Parenthesized(_) => false,
    }
}
