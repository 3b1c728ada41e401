//! Helpers for generics and fresh identifiers.
//!
//! Much of what generated code gets wrong first is here: parameters that must not
//! meet those of the user, anonymous lifetimes that mean something else elsewhere,
//! groups without delimiters around what a `macro_rules!` handed over, and spans.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::{
    Expr, GenericArgument, GenericParam, Generics, Lifetime, LifetimeParam, Path, PathArguments,
    Type,
};

/// A type parameter's name that the item does not have. Hygiene would be enough for
/// the compiler, but its messages print the name.
pub(crate) fn fresh(name: &str, generics: &Generics) -> Ident {
    let mut fresh = Ident::new(name, Span::mixed_site());
    while generics.type_params().any(|param| param.ident == fresh)
        || generics.const_params().any(|param| param.ident == fresh)
    {
        fresh = format_ident!("{fresh}_");
    }
    fresh
}

/// Whether the type depends on the item's parameters. In generic code probes find
/// nothing, since a parameter has only its bounds; such types need bounds.
pub(crate) fn mentions_parameter(ty: &Type, generics: &Generics) -> bool {
    mentions(ty.to_token_stream(), &|ident| {
        ident == "Self" || generics.type_params().any(|param| param.ident == *ident)
    })
}

/// Without parentheses and the invisible group of a macro's fragment.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        ty => ty,
    }
}

/// `Vec` of `std::vec::Vec<T>`.
pub(crate) fn last_name(ty: &Type) -> Option<&Ident> {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}

/// By the last segment, since a type may be written with its path or without.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// Of the last segment.
/// Lifetimes and constants among the arguments are left out.
pub(crate) fn type_arguments(path: &Path) -> Vec<&Type> {
    let Some(PathArguments::AngleBracketed(arguments)) =
        path.segments.last().map(|last| &last.arguments)
    else {
        return vec![];
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Without the invisible group of a macro's fragment; parentheses stay, since they
/// are part of an expression.
pub(crate) fn bare_value(mut value: Expr) -> Expr {
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    value
}

/// In brackets, too.
pub(crate) fn mentions(tokens: TokenStream, expected: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => expected(&ident),
        TokenTree::Group(group) => mentions(group.stream(), expected),
        _ => false,
    })
}

/// As `fresh`, for a lifetime.
pub(crate) fn fresh_lifetime(name: &str, generics: &Generics) -> Lifetime {
    let mut name = name.to_owned();
    while generics
        .lifetimes()
        .any(|param| param.lifetime.to_string() == name)
    {
        name.push('_');
    }
    Lifetime::new(&name, Span::mixed_site())
}

/// In some generated code, an anonymous lifetime would mean another one.
/// `World<'_>` as a state becomes `World<'state>`, and the impl gets the parameter.
/// In a trait's argument, `'_` would be an error.
pub(crate) fn with_named_lifetimes(state: &Type, generics: &mut Generics) -> Type {
    let lifetime = fresh_lifetime("'state", generics);
    let mut replaced = false;
    let named = name_lifetimes(state.to_token_stream(), &lifetime, &mut replaced);
    if replaced {
        generics
            .params
            // Lifetimes come before types.
            .insert(0, GenericParam::Lifetime(LifetimeParam::new(lifetime)));
    }
    syn::parse2(named).unwrap_or_else(|_| state.clone())
}

/// A lifetime is two tokens, a quote and a name.
fn name_lifetimes(tokens: TokenStream, name: &Lifetime, replaced: &mut bool) -> TokenStream {
    let mut named = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(quote) if quote.as_char() == '\'' => match tokens.peek() {
                Some(TokenTree::Ident(ident)) if ident == "_" => {
                    tokens.next();
                    *replaced = true;
                    named.extend(name.to_token_stream());
                }
                _ => named.extend([TokenTree::Punct(quote)]),
            },
            TokenTree::Group(group) => {
                let stream = name_lifetimes(group.stream(), name, replaced);
                named.extend([TokenTree::Group(Group::new(group.delimiter(), stream))]);
            }
            other => named.extend([other]),
        }
    }
    named
}

/// Underlines the entire expression.
/// The spans of the first and the last token. On stable a span cannot be joined,
/// but the compiler joins those of the first and the last token of an expression
/// itself: generated code that begins with the one and ends with the other is
/// underlined from end to end.
pub(crate) fn end_spans(written: &impl ToTokens) -> (Span, Span) {
    let mut tokens = written
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let first = tokens.next().unwrap_or_else(Span::mixed_site);
    let last = tokens.last().unwrap_or(first);
    (of_macro(first), of_macro(last))
}

/// The place of the user's token, with the hygiene of generated code.
fn of_macro(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The same group with these tokens.
pub(crate) fn regrouped(group: &Group, stream: TokenStream) -> Group {
    let mut regrouped = Group::new(group.delimiter(), stream);
    regrouped.set_span(group.span());
    regrouped
}

/// The same name at another place, and with that place's hygiene.
pub(crate) fn respanned(ident: &Ident, at: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(at);
    ident
}

/// A type for a message. Tokens print with spaces between them; these are the ones
/// that a type has.
pub(crate) fn pretty_print(written: &impl ToTokens) -> String {
    let text = written.to_token_stream().to_string();
    [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::pretty_print;

    #[test]
    fn types_are_spelled_as_they_are_written() {
        for ty in ["tools::Search", "a::b::Own<c::D<u8>, E>"] {
            let parsed: syn::Type = syn::parse_str(ty).unwrap();
            assert_eq!(pretty_print(&parsed), ty);
        }
    }
}
