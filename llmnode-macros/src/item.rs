//! Parses the item below a macro, and limits its nesting. syn parses by recursion,
//! so deep nesting overflows the compiler's stack and ends it without a message:
//! with types that was between 130 and 200 levels, on a stack of 8 MiB. The
//! compiler's own limit for types is 128.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Error, Fields, Item, Meta};

/// Of brackets and angle brackets together.
const MAX_DEPTH: usize = 128;

/// `Err` is what the macro answers: the item as it is, with an error of ours, or
/// without one where the compiler has its own for the same tokens. Two errors for
/// one mistake would be worse than the compiler's alone.
pub(crate) fn parse(item: TokenStream) -> Result<Item, TokenStream> {
    if let Err(error) = check_depth(&item) {
        let error = error.into_compile_error();
        return Err(quote!(#item #error));
    }
    // The compiler reports syntax errors itself.
    match syn::parse2(item.clone()) {
        Ok(parsed) if !has_underscore_name(&parsed) => Ok(parsed),
        _ => Err(item),
    }
}

/// syn accepts `_` as the name of a field or variant; the compiler does not.
fn has_underscore_name(item: &Item) -> bool {
    match item {
        Item::Struct(item) => has_underscore_field(&item.fields),
        Item::Enum(item) => item
            .variants
            .iter()
            .any(|variant| variant.ident == "_" || has_underscore_field(&variant.fields)),
        _ => false,
    }
}

fn has_underscore_field(fields: &Fields) -> bool {
    let mut names = fields.iter().filter_map(|field| field.ident.as_ref());
    names.any(|name| name == "_")
}

/// Takes attributes of these names that stand below the macro's own: each would
/// implement the same traits again. The first is reported, all are taken off: what
/// is left is one expansion.
pub(crate) fn take_doubled(
    attributes: &mut Vec<Attribute>,
    names: &[&str],
    fault: &str,
) -> Option<Error> {
    let doubled = attributes.extract_if(.., |attribute| is_named(attribute, names));
    let first = doubled.collect::<Vec<_>>().into_iter().next()?;
    Some(Error::new_spanned(first.path(), fault))
}

/// The same without taking any off.
pub(crate) fn is_doubled(attributes: &[Attribute], names: &[&str]) -> bool {
    attributes
        .iter()
        .any(|attribute| is_named(attribute, names))
}

fn is_named(attribute: &Attribute, names: &[&str]) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| names.iter().any(|name| last.ident == name)) && is_ours(attribute)
}

/// Attributes of other crates have the same name: `#[validate(schema(..))]`.
/// A list is ours if it begins with `state`, the one argument that the attribute
/// has.
fn is_ours(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::Path(_) => true,
        Meta::List(list) => {
            !attribute.path().is_ident("validate") || begins_with_state(&list.tokens)
        }
        Meta::NameValue(_) => false,
    }
}

fn begins_with_state(tokens: &TokenStream) -> bool {
    matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(first)) if first == "state")
}

/// At the item's keyword, since that is what would have to be another.
pub(crate) fn wrong_item_kind(expected: &str, item: &Item) -> Error {
    let (kind, at) = match item {
        Item::Struct(item) => ("a struct", item.struct_token.to_token_stream()),
        Item::Enum(item) => ("an enum", item.enum_token.to_token_stream()),
        Item::Union(item) => ("a union", item.union_token.to_token_stream()),
        Item::Fn(item) => ("a function", item.sig.fn_token.to_token_stream()),
        Item::Impl(item) => ("an impl block", item.impl_token.to_token_stream()),
        Item::Trait(item) => ("a trait", item.trait_token.to_token_stream()),
        Item::Mod(item) => ("a module", item.mod_token.to_token_stream()),
        Item::Type(item) => ("a type alias", item.type_token.to_token_stream()),
        Item::Const(item) => ("a constant", item.const_token.to_token_stream()),
        Item::Static(item) => ("a static", item.static_token.to_token_stream()),
        other => ("something else", other.to_token_stream()),
    };
    Error::new_spanned(at, format!("{expected}, and this is {kind}"))
}

/// Before anything is parsed, for every macro.
pub(crate) fn check_depth(tokens: &TokenStream) -> syn::Result<()> {
    match first_too_deep(tokens) {
        Some(at) => Err(Error::new(
            at,
            format!(
                "this is nested more than {MAX_DEPTH} levels deep; give an inner part a name of \
                 its own, such as a type alias"
            ),
        )),
        None => Ok(()),
    }
}

/// Iterative, since the limit protects against recursion.
/// The place of the first token that is too deep.
fn first_too_deep(tokens: &TokenStream) -> Option<Span> {
    let mut outer = vec![];
    let mut level = Level::of(tokens, 0);
    loop {
        match level.tokens.next() {
            Some(token) if level.outer_depth + level.angles > MAX_DEPTH => {
                return Some(match token {
                    TokenTree::Group(group) => group.span_open(),
                    token => token.span(),
                });
            }
            // A brace ends whatever angle brackets were open: they were
            // comparisons.
            Some(TokenTree::Group(group)) => {
                if group.delimiter() == Delimiter::Brace {
                    level.angles = 0;
                }
                let inside = Level::of(&group.stream(), level.outer_depth + level.angles + 1);
                outer.push(std::mem::replace(&mut level, inside));
            }
            Some(TokenTree::Punct(punct)) => level.punct(punct.as_char(), punct.spacing()),
            Some(_) => level.joint = None,
            None => level = outer.pop()?,
        }
    }
}

/// The tokens of one group, with the depth around it and the angle brackets that
/// are open in it.
struct Level {
    tokens: proc_macro2::token_stream::IntoIter,
    outer_depth: usize,
    /// Counts comparisons too, but a `;` resets the count before they are many.
    angles: usize,
    // The mark before, if it is joined to this one, as the first `<` of `<<`.
    joint: Option<char>,
}

impl Level {
    fn of(tokens: &TokenStream, outer_depth: usize) -> Self {
        Self {
            tokens: tokens.clone().into_iter(),
            outer_depth,
            angles: 0,
            joint: None,
        }
    }

    fn punct(&mut self, punct: char, spacing: Spacing) {
        match punct {
            // `<<` is mostly a shift.
            '<' if self.joint == Some('<') => self.angles = self.angles.saturating_sub(1),
            '<' => self.angles += 1,
            '>' => self.angles = self.angles.saturating_sub(1),
            ';' => self.angles = 0,
            _ => {}
        }
        self.joint = (spacing == Spacing::Joint).then_some(punct);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, check_depth, parse};

    fn is_read(before: &str, inside: &str, behind: &str, levels: usize) -> bool {
        let text = format!("{}{inside}{}", before.repeat(levels), behind.repeat(levels));
        check_depth(&text.parse().unwrap()).is_ok()
    }

    #[test]
    fn levels_are_counted() {
        for (before, behind, levels) in [
            ("(", ")", MAX_DEPTH),
            ("[(", ")]", MAX_DEPTH / 2),
            ("Vec<", ">", MAX_DEPTH),
            ("HashMap<String, Vec<", ">>", MAX_DEPTH / 2),
            ("(Vec<u8>, A<", ">)", MAX_DEPTH / 2),
        ] {
            let behind = &behind.chars().map(|c| format!("{c} ")).collect::<String>();
            assert!(is_read(before, "u8", behind, levels), "{before}");
            assert!(!is_read(before, "u8", behind, levels + 1), "{before}");
        }
    }

    #[test]
    fn what_is_called_by_no_name_is_the_compilers_to_report() {
        for item in [
            "struct A { #[node(history)] _: u8 }",
            "struct A { b: u8, _: u8 }",
            "enum A { _ }",
            "enum A { B { _: u8 } }",
        ] {
            assert!(parse(item.parse().unwrap()).is_err(), "{item}");
        }
        assert!(parse("struct A { _a: u8 }".parse().unwrap()).is_ok());
    }

    #[test]
    fn brackets_in_any_number_are_answered() {
        assert!(!is_read("[", "", "]", 100_000));
    }

    #[test]
    fn siblings_are_not_nested() {
        for many in [
            "a < b;",
            "if a < b { c }",
            "1 << 3,",
            "n if n < 3 => 4,",
            "Vec<Vec<u8>>,",
            "(a),",
            "fn(A) -> B,",
        ] {
            assert!(is_read(many, "", "", 1000), "{many}");
        }
    }
}
