//! Attributes on fields and variants of an output that no derive has:
//! `#[description = ".."]`, `#[range(..)]`.
//!
//! The compiler would not find them, and name no remedy. They are taken off, and
//! the message says which attribute does what was meant. An item with derives of
//! other crates is left alone, since these may have helper attributes of such
//! names.

use syn::{Attribute, Data, DeriveInput, Error};

use crate::diagnostics::Errors;
use crate::validate::definition::derives;

/// Derives whose helper attributes are known: none has a name of the table below.
const KNOWN_DERIVES: [&str; 14] = [
    "Action",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Eq",
    "Hash",
    "JsonSchema",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Serialize",
    "Display",
];

/// From the fields and variants; the type itself has attributes of many crates.
pub(crate) fn take_stray(input: &mut DeriveInput, errors: &mut Errors) {
    let all_known =
        derives(&input.attrs).all(|name| KNOWN_DERIVES.iter().any(|known_name| name == known_name));
    if !all_known {
        return;
    }
    match &mut input.data {
        Data::Struct(data) => {
            for field in &mut data.fields {
                take_from(&mut field.attrs, errors);
            }
        }
        Data::Enum(data) => {
            for variant in &mut data.variants {
                take_from(&mut variant.attrs, errors);
                for field in &mut variant.fields {
                    take_from(&mut field.attrs, errors);
                }
            }
        }
        Data::Union(_) => {}
    }
}

/// Takes each one off that has a remedy here.
fn take_from(attributes: &mut Vec<Attribute>, errors: &mut Errors) {
    attributes.retain(|attribute| {
        let Some(remedy) = attribute
            .path()
            .get_ident()
            .and_then(|name| remedy(&name.to_string()))
        else {
            return true;
        };
        errors.push(Error::new_spanned(attribute.path(), remedy));
        false
    });
}

/// What to write in its place.
fn remedy(name: &str) -> Option<String> {
    let written = match name {
        "description" | "desc" => {
            return Some(format!(
                "`{name}` is no attribute of a field; write a doc comment, `/// …`, which the \
                 model reads"
            ));
        }
        "llm_output" | "range" | "min" | "max" => "#[schemars(range(min = 1, max = 5))]",
        "length" => "#[schemars(length(min = 1, max = 5))]",
        "regex" | "pattern" => "#[schemars(regex(pattern = \"…\"))]",
        "rename" | "skip" | "flatten" | "alias" => {
            return Some(format!(
                "`{name}` is an argument of serde's attribute; write `#[serde({name} …)]`"
            ));
        }
        _ => return None,
    };
    Some(match name {
        "llm_output" => {
            format!("`#[llm_output]` goes on a type; the bounds of a field are `{written}`")
        }
        _ => format!("`{name}` is an argument of schemars' attribute; write `{written}`"),
    })
}
