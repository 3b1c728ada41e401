//! Misspelt keys and bounds of schemars' attributes. schemars reports them too, but
//! names no remedy, and then the type has no schema, which is a second error
//! wherever it is an output. What is wrong is taken out, so that the message here
//! is the only one.
//!
//! A key that resembles none of schemars 1 is left to schemars, which may have got it since.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, MacroDelimiter, Meta, MetaNameValue, RangeLimits, Token};

use crate::diagnostics::{Errors, suggest};

/// All keys of schemars 1, those that it reads from serde's and validator's
/// attributes included.
const KEYS: [&str; 42] = [
    "bound",
    "contains",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "deprecated",
    "description",
    "email",
    "example",
    "extend",
    "flatten",
    "from",
    "inline",
    "inner",
    "into",
    "ip",
    "ipv4",
    "ipv6",
    "length",
    "pattern",
    "range",
    "regex",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "required",
    "schema_with",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "title",
    "transform",
    "transparent",
    "try_from",
    "untagged",
    "url",
    "with",
];

/// Takes the wrong arguments out of one `#[schemars(..)]`.
pub(super) fn check(attribute: &mut Attribute, errors: &mut Errors) {
    let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
    let Ok(arguments) = attribute.parse_args_with(parse) else {
        return;
    };
    let count = arguments.len();
    let mut has_bare_bound = false;
    let mut kept = vec![];
    for argument in arguments {
        let Some(fault) = fault(&argument) else {
            kept.push(argument);
            continue;
        };
        // `min = 1, max = 5` is one mistake.
        let is_second_bound = fault.bare_bound && has_bare_bound;
        has_bare_bound |= fault.bare_bound;
        if !is_second_bound {
            errors.push(Error::new(fault.at, fault.message));
        }
    }
    if kept.len() < count {
        attribute.meta = syn::parse_quote!(schemars(#(#kept),*));
    }
}

/// What is wrong with one argument.
struct Fault {
    at: Span,
    message: String,
    /// A bound that stands outside of `range` and `length`.
    bare_bound: bool,
}

/// Bounds come first: people write them as other libraries do, or bare.
fn fault(argument: &Meta) -> Option<Fault> {
    let key = argument.path().get_ident()?;
    let name = key.to_string();
    let message = match name.as_str() {
        "range" | "length" => misread_bounds(&name, argument)?,
        "min" | "max" | "minimum" | "maximum" | "equal" => {
            "bounds of a number are `range(min = 1, max = 5)`, those of a text or a list \
             `length(min = 1, max = 5)`"
                .to_owned()
        }
        "min_length" | "max_length" | "min_items" | "max_items" | "len" | "size" => {
            "the length of a text or a list is bounded by `length(min = 1, max = 5)`".to_owned()
        }
        "regex" | "pattern" if matches!(argument, Meta::NameValue(_)) => {
            let pattern = value(argument).unwrap_or_default();
            format!("a pattern is written `regex(pattern = {pattern})`")
        }
        "format" => {
            let format = value(argument).unwrap_or_else(|| "\"date\"".to_owned());
            format!("a format is written `extend(\"format\" = {format})`")
        }
        "desc" | "doc" => "the description is a doc comment, `/// …`".to_owned(),
        _ => {
            let near = suggest(&name, KEYS).filter(|near| *near != name)?;
            format!("unknown schemars attribute `{name}`; did you mean `{near}`?")
        }
    };
    let bare_bound = ["min", "max", "minimum", "maximum"].contains(&name.as_str());
    Some(Fault {
        at: key.span(),
        message,
        bare_bound,
    })
}

/// The right form, if this is another. `range(1..=5)` is taken at its word.
fn misread_bounds(name: &str, argument: &Meta) -> Option<String> {
    let written = match argument {
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(pair) => pair.value.to_token_stream(),
        Meta::List(list) if !matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
            list.tokens.clone()
        }
        Meta::List(list) => {
            let parse = Punctuated::<MetaNameValue, Token![,]>::parse_terminated;
            let bounds = list.parse_args_with(parse);
            if bounds.is_ok_and(|bounds| bounds.iter().all(is_bound)) {
                return None;
            }
            list.tokens.clone()
        }
    };
    let bounds = range_bounds(written).unwrap_or_else(|| "min = 1, max = 5".to_owned());
    Some(format!(
        "`{name}` takes its bounds by name; write `{name}({bounds})`"
    ))
}

/// The three names that `range` and `length` know.
fn is_bound(pair: &MetaNameValue) -> bool {
    ["min", "max", "equal"]
        .iter()
        .any(|bound| pair.path.is_ident(bound))
}

/// `min = 1, max = 5` for `1..=5`.
fn range_bounds(written: TokenStream) -> Option<String> {
    let Expr::Range(range) = syn::parse2(written).ok()? else {
        return None;
    };
    let min = range
        .start
        .map(|start| format!("min = {}", start.to_token_stream()));
    let max = match (range.end, range.limits) {
        (None, _) => None,
        (Some(end), RangeLimits::Closed(_)) => Some(format!("max = {}", end.to_token_stream())),
        // The end is excluded, and the greatest value before it depends on the type.
        (Some(end), RangeLimits::HalfOpen(_)) => Some(format!("max = {}", quote!(#end - 1))),
    };
    let bounds: Vec<String> = min.into_iter().chain(max).collect();
    Some(bounds.join(", ")).filter(|bounds| !bounds.is_empty())
}

/// What stands behind the `=`, for a remedy with the user's own value.
fn value(argument: &Meta) -> Option<String> {
    match argument {
        Meta::NameValue(pair) => Some(pair.value.to_token_stream().to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{Attribute, parse_quote};

    use super::check;
    use crate::diagnostics::Errors;

    /// What is left of the attribute, and the messages.
    fn checked(mut attribute: Attribute) -> [String; 2] {
        let mut errors = Errors::default();
        check(&mut attribute, &mut errors);
        let messages = errors.into_result().err().map(|error| {
            let all: Vec<_> = error.into_iter().map(|one| one.to_string()).collect();
            all.join("\n")
        });
        [
            attribute.meta.to_token_stream().to_string(),
            messages.unwrap_or_default(),
        ]
    }

    #[test]
    fn what_schemars_takes_is_left_as_it_is() {
        let attributes: [Attribute; 5] = [
            parse_quote!(#[schemars(range(min = 1, max = 5), title = "stars")]),
            parse_quote!(#[schemars(length(equal = 3))]),
            parse_quote!(#[schemars(range(min = -1.5, max = crate::MOST))]),
            parse_quote!(#[schemars(extend("format" = "date"), regex(pattern = "[A-Z]+"))]),
            parse_quote!(#[schemars(something_of_a_later_version = 5)]),
        ];
        for attribute in attributes {
            let before = attribute.meta.to_token_stream().to_string();
            assert_eq!(checked(attribute), [before, String::new()]);
        }
    }

    #[test]
    fn a_range_of_rust_is_written_by_its_bounds() {
        for (written, bounds) in [
            ("1..=5", "min = 1, max = 5"),
            ("1..", "min = 1"),
            ("..=9", "max = 9"),
            ("0..10", "min = 0, max = 10 - 1"),
            ("5", "min = 1, max = 5"),
        ] {
            let written: proc_macro2::TokenStream = written.parse().unwrap();
            let [left, message] = checked(parse_quote!(#[schemars(range(#written), title = "n")]));
            assert_eq!(left, "schemars (title = \"n\")");
            assert_eq!(
                message,
                format!("`range` takes its bounds by name; write `range({bounds})`")
            );
        }
    }

    #[test]
    fn two_bounds_outside_of_a_list_are_one_mistake() {
        let [left, message] = checked(parse_quote!(#[schemars(min = 1, max = 5)]));
        assert_eq!(left, "schemars ()");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
