//! From the type of a field to what in it may be wrong, as far as its tokens tell.
//!
//! A name is no proof: a program may have an `Arc` or a `HashMap` of its own. So what
//! is found here is asked of the compiler before anything is said.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, GenericArgument, Lit, PathArguments, Type, TypeArray};

use crate::generics::{bare, mentions, type_arguments};
use crate::validate::fields::is_plain;

/// Schemas and serde know arrays up to this length.
pub(super) const LONGEST_ARRAY: usize = 32;

/// Types of `chrono`, `jiff`, `time`, `rust_decimal`, `url` and `uuid`, whose schemas come with a feature of llmnode.
const FOREIGN: [&str; 13] = [
    "Date",
    "DateTime",
    "Decimal",
    "NaiveDate",
    "NaiveDateTime",
    "NaiveTime",
    "SignedDuration",
    "Span",
    "Time",
    "Timestamp",
    "Url",
    "Uuid",
    "Zoned",
];

/// What in a field's type may be wrong.
pub(super) enum Part {
    /// A type that may lack a schema.
    Described(Type),
    /// The same, with the name of a type of another crate.
    Foreign(Type),
    /// `dyn Trait`.
    Object(Type),
    /// An array that may be too long.
    Array { ty: Type, length: Box<Expr> },
    /// An `Arc` or `Rc`, which serde reads with a feature.
    Shared(Type),
    /// The key of a map or the value of a set.
    Key {
        /// The map or the set.
        of: Type,
        key: Box<Type>,
        comparison: Comparison,
    },
}

/// How a map finds a key, by its name.
#[derive(Clone, Copy)]
pub(super) enum Comparison {
    Hash,
    Order,
}

impl Part {
    /// What the compiler underlines.
    pub(super) fn ty(&self) -> &Type {
        match self {
            Self::Described(ty) | Self::Foreign(ty) | Self::Object(ty) | Self::Shared(ty) => ty,
            Self::Array { ty, .. } => ty,
            Self::Key { key, .. } => key,
        }
    }
}

/// `definition`: the type that the field is in. `None`: the type is not looked into.
pub(super) fn parts(ty: &Type, definition: &Ident) -> Option<Vec<Part>> {
    let mut collector = Collector {
        definition,
        found: vec![],
    };
    collector.collect(ty).then_some(collector.found)
}

struct Collector<'a> {
    definition: &'a Ident,
    found: Vec<Part>,
}

impl Collector<'_> {
    /// Returns `false` for a type that is not looked into.
    fn collect(&mut self, ty: &Type) -> bool {
        match bare(ty) {
            Type::Array(array) => {
                if !is_short(array) {
                    self.found.push(Part::Array {
                        ty: ty.clone(),
                        length: Box::new(array.len.clone()),
                    });
                }
                self.collect(&array.elem)
            }
            Type::Tuple(tuple) => tuple.elems.iter().all(|ty| self.collect(ty)),
            Type::Path(path) if path.qself.is_none() => {
                let Some(last) = path.path.segments.last() else {
                    return false;
                };
                if let Some(values) = values_of(&last.ident) {
                    self.container(ty, &last.ident);
                    return self.arguments(&last.arguments, values);
                }
                // The definition itself has the derives.
                if last.ident == *self.definition {
                    return true;
                }
                if FOREIGN.iter().any(|name| last.ident == name) {
                    self.found.push(Part::Foreign(ty.clone()));
                } else if !is_plain(ty) {
                    self.found.push(Part::Described(ty.clone()));
                }
                true
            }
            Type::TraitObject(_) => {
                self.found.push(Part::Object(ty.clone()));
                true
            }
            ty => is_plain(ty),
        }
    }

    /// What a type of std needs beside what its values need.
    fn container(&mut self, ty: &Type, name: &Ident) {
        let comparison = match name.to_string().as_str() {
            "Arc" | "Rc" => return self.found.push(Part::Shared(ty.clone())),
            "HashMap" | "HashSet" => Comparison::Hash,
            "BTreeMap" | "BTreeSet" => Comparison::Order,
            _ => return,
        };
        let Type::Path(path) = bare(ty) else { return };
        let key = type_arguments(&path.path).first().copied();
        if let Some(key) = key
            && (!is_plain(key) || mentions(key.to_token_stream(), &is_fraction))
        {
            self.found.push(Part::Key {
                of: ty.clone(),
                key: Box::new(key.clone()),
                comparison,
            });
        }
    }

    /// `values`: how many of the arguments are types of values. What follows is a hasher or an allocator.
    fn arguments(&mut self, arguments: &PathArguments, values: usize) -> bool {
        let PathArguments::AngleBracketed(arguments) = arguments else {
            return false;
        };
        arguments
            .args
            .iter()
            .skip_while(|argument| matches!(argument, GenericArgument::Lifetime(_)))
            .take(values)
            .all(|argument| match argument {
                GenericArgument::Type(ty) => self.collect(ty),
                _ => false,
            })
    }
}

/// All plain types are compared, but those with fractions.
fn is_fraction(name: &Ident) -> bool {
    name == "f32" || name == "f64"
}

/// Certainly short enough.
fn is_short(array: &TypeArray) -> bool {
    let Expr::Lit(length) = &array.len else {
        return false;
    };
    match &length.lit {
        Lit::Int(length) => length
            .base10_parse::<usize>()
            .is_ok_and(|length| length <= LONGEST_ARRAY),
        _ => false,
    }
}

/// How many types of values a type of std has that is described if they are. `None`: it is another type.
pub(crate) fn values_of(name: &Ident) -> Option<usize> {
    match name.to_string().as_str() {
        "Option" | "Vec" | "Box" | "Rc" | "Arc" | "Cow" | "VecDeque" | "HashSet" | "BTreeSet" => {
            Some(1)
        }
        "HashMap" | "BTreeMap" | "Result" => Some(2),
        _ => None,
    }
}
