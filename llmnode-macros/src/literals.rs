//! Parsers for the values of arguments. Errors are worded here, because syn's name no remedy.
//!
//! Each parser takes the key, since its message names it: "`retries` takes a whole
//! number, such as `retries = 2`". Where the user's meaning is clear although the
//! form is wrong (a type in quotes, an output that borrows), the slot is filled
//! with what was meant *and* the error is reported, so that the rest of the node is
//! checked against it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprPath, Lit, LitBool, LitStr, Token, Type, TypeReference, parse_quote};

use crate::generics::pretty_print;
use crate::macro_args::{Slot, comma_or_end, fill, fill_readable};

/// `what` replaces the example of the message.
pub(crate) fn text(input: ParseStream<'_>, key: &Ident, what: &str) -> syn::Result<LitStr> {
    let example = format!(", such as `{key} = \"…\"`");
    let what = if what.is_empty() {
        example.as_str()
    } else {
        what
    };
    let expected = format!("`{key}` takes a string literal{what}");
    match literal(input, &expected)? {
        Lit::Str(text) => reject_suffix(text),
        other => Err(Error::new_spanned(other, expected)),
    }
}

pub(crate) fn reject_suffix(text: LitStr) -> syn::Result<LitStr> {
    if text.suffix().is_empty() {
        return Ok(text);
    }
    // After an unescaped `"`, the rest of the text is the literal's suffix.
    Err(Error::new(
        text.span(),
        "the string literal ends at its second `\"`; write `\\\"` in the text, or a raw string: \
         `r#\"…\"#`",
    ))
}

/// An empty text is refused where it would be sent or shown; a blank prompt is
/// reported by `node/variables.rs`, which knows its file.
pub(crate) fn non_empty(text: syn::Result<LitStr>, key: &Ident) -> syn::Result<LitStr> {
    let text = text?;
    if text.value().trim().is_empty() {
        return Err(Error::new(text.span(), format!("`{key}` is empty")));
    }
    Ok(text)
}

/// At least `least`. Without a suffix: `2u8` would be read as a number and not be
/// one.
pub(crate) fn integer(input: ParseStream<'_>, key: &Ident, least: u32) -> syn::Result<u32> {
    integer_with_example(input, key, least, &format!("{key} = {}", least.max(2)))
}

/// With an example of its own, where the number stands among others.
pub(crate) fn integer_with_example(
    input: ParseStream<'_>,
    key: &Ident,
    least: u32,
    example: &str,
) -> syn::Result<u32> {
    let expected = format!("`{key}` takes a whole number, such as `{example}`");
    let found = literal(input, &expected)?;
    let message = match &found {
        Lit::Int(number) if number.suffix().is_empty() => match number.base10_parse::<u32>() {
            Ok(parsed) if parsed >= least => return Ok(parsed),
            Ok(_) => format!("`{key}` must be at least {least}"),
            Err(_) => format!("`{key}` must be at most {}", u32::MAX),
        },
        _ => expected,
    };
    Err(Error::new_spanned(&found, message))
}

/// A number with or without decimals: `1` is what people write for `1.0`.
pub(crate) fn number(input: ParseStream<'_>, key: &Ident) -> syn::Result<f64> {
    let expected = format!("`{key}` takes a number, such as `{key} = 0.2`");
    // A minus is no part of a literal, and "takes a number" would be no help for
    // `-1`.
    if input.peek(Token![-]) {
        return Err(unexpected(input, &format!("`{key}` must be at least 0")));
    }
    let found = literal(input, &expected)?;
    let digits = match &found {
        Lit::Float(number) if number.suffix().is_empty() => number.base10_digits(),
        Lit::Int(number) if number.suffix().is_empty() => number.base10_digits(),
        _ => return Err(Error::new_spanned(found, expected)),
    };
    match digits.parse::<f64>() {
        Ok(parsed) if parsed.is_finite() => Ok(parsed),
        _ => Err(Error::new_spanned(&found, expected)),
    }
}

/// Refuses what syn takes for a type and an output cannot be: trait objects of the
/// old form (`A + B`, which is also what a sum looks like) and `impl Trait`.
fn ty(input: ParseStream<'_>, key: &Ident) -> syn::Result<Type> {
    let ahead = input.fork();
    if let Ok(Expr::Lit(literal)) = ahead.parse::<Expr>() {
        return Err(Error::new(
            literal.span(),
            format!("`{key}` takes a type; write it without quotes"),
        ));
    }
    let expected = format!("`{key}` takes a type");
    match parse_fully(input) {
        Err(at) => Err(Error::new(at, expected)),
        Ok(Type::TraitObject(object)) if object.dyn_token.is_none() => {
            Err(Error::new_spanned(object, expected))
        }
        // Generated code writes references to it, and `&dyn A + B` does not parse.
        Ok(Type::TraitObject(object))
            if object.bounds.len() > 1 || object.bounds.trailing_punct() =>
        {
            Ok(parse_quote!((#object)))
        }
        Ok(Type::ImplTrait(bounds)) => Err(Error::new_spanned(bounds, expected)),
        Ok(ty) => Ok(ty),
    }
}

/// A type in quotes, as serde's attributes have it: what was meant. Lower letters
/// are more likely a text.
fn quoted_type(input: ParseStream<'_>) -> Option<Type> {
    let path: syn::Path = input.fork().parse::<LitStr>().ok()?.parse().ok()?;
    let name = path.segments.last()?.ident.to_string();
    name.starts_with(char::is_uppercase)
        .then(|| parse_quote!(#path))
}

/// syn would report unread tokens in brackets, such as the `&` of `(u8 &)`, in its own words.
fn parse_fully<T: Parse>(input: ParseStream<'_>) -> Result<T, Span> {
    let start = input.span();
    let ahead = input.fork();
    ahead.parse::<T>().map_err(|_| start)?;
    let mut tokens = TokenStream::new();
    while input.cursor() != ahead.cursor() {
        tokens.extend([input.parse::<TokenTree>().map_err(|_| start)?]);
    }
    syn::parse2(tokens).map_err(|error| error.span())
}

/// The argument `output` has two forms of its own that are reported with what to
/// write.
pub(crate) fn fill_type(
    slot: &mut Slot<Type>,
    key: Ident,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    let meant = quoted_type(input);
    match ty(input, &key) {
        Ok(Type::Slice(list)) if key == "output" => {
            let item = &list.elem;
            let message = format!("a list is written `Vec<{}>`", pretty_print(item));
            let error = Error::new_spanned(&list, message);
            fill_readable(
                slot,
                key,
                (Some(parse_quote!(::std::vec::Vec<#item>)), Err(error)),
            )
        }
        Ok(Type::Reference(reference)) if key == "output" => {
            let (owned, error) = owned_output(&reference);
            fill_readable(slot, key, (Some(owned), Err(error)))
        }
        Ok(item) if key == "output" && input.peek(syn::token::Bracket) => {
            let brackets: TokenTree = input.parse()?;
            let message = format!("a list is written `Vec<{}>`", pretty_print(&item));
            let error = Error::new(brackets.span(), message);
            fill_readable(
                slot,
                key,
                (Some(parse_quote!(::std::vec::Vec<#item>)), Err(error)),
            )
        }
        Ok(ty) => fill(slot, key, Ok(ty)),
        Err(error) => fill_readable(slot, key, (meant, Err(error))),
    }
}

/// What was meant by an output that borrows, and what to write.
fn owned_output(reference: &TypeReference) -> (Type, Error) {
    let (owned, remedy): (Type, _) = match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => (
            parse_quote!(::std::string::String),
            "leave `output` out for the raw text, or write `String`".to_owned(),
        ),
        Type::Slice(list) => {
            let item = &list.elem;
            let remedy = format!("write `Vec<{}>`", pretty_print(item));
            (parse_quote!(::std::vec::Vec<#item>), remedy)
        }
        owned => (owned.clone(), "write the type without `&`".to_owned()),
    };
    let message = format!("an output owns its values; {remedy}");
    (owned, Error::new_spanned(reference, message))
}

/// A path and nothing behind it: a closure or a call is refused, with the signature
/// of the function that is wanted.
pub(crate) fn function_path(input: ParseStream<'_>, key: &Ident) -> syn::Result<ExprPath> {
    let expected = format!(
        "`{key}` takes the path of a function, such as `{key} = my_function`{}",
        signature(key)
    );
    // Read ahead, since a path is also the beginning of a call.
    let ahead = input.fork();
    if ahead.parse::<ExprPath>().is_ok() && comma_or_end(&ahead, "argument").is_ok() {
        return parse_fully(input).map_err(|at| Error::new(at, expected));
    }
    Err(unexpected(input, &expected))
}

/// What the function looks like, for those who gave its value or wrote a closure.
fn signature(key: &Ident) -> String {
    let of_a_stateful_node = match key.to_string().as_str() {
        "fallback" => "fn my_function(node: &Self, state: &State, error: &NodeError) -> Output",
        "validate" => {
            "fn my_function(answer: &Output, state: &State, attempt: &AttemptInfo) -> Result<(), \
             Invalid>"
        }
        "prep" => return ", with `fn my_function(state: &State) -> Self`".to_owned(),
        "route" => {
            return ", with `fn my_function(output: &Output, state: &State) -> Action`".to_owned();
        }
        "post" => {
            return ", with `fn my_function(self, output: Output, state: &mut State) -> Action`"
                .to_owned();
        }
        "batch" => return ", with `fn my_function(state: &State) -> Vec<Self>`".to_owned(),
        _ => return String::new(),
    };
    format!(", with `{of_a_stateful_node}`, without `state` if the node has none")
}

/// A negative number is two tokens; it is refused with the words for the key.
fn literal(input: ParseStream<'_>, expected: &str) -> syn::Result<Lit> {
    if !input.peek(Token![-]) && input.fork().parse::<Lit>().is_ok() {
        input.parse()
    } else {
        Err(unexpected(input, expected))
    }
}

/// What `idempotent` takes, of tools and steps.
pub(crate) const IDEMPOTENT: &str =
    "`idempotent` takes `false`, for a node that must never be executed a second time";

/// `true` or `false`.
pub(crate) fn bool_literal(input: ParseStream<'_>, expected: &str) -> syn::Result<bool> {
    match input.fork().parse::<LitBool>() {
        Ok(_) => input
            .parse::<LitBool>()
            .map(|bool_literal| bool_literal.value),
        Err(_) => Err(unexpected(input, expected)),
    }
}

/// Looks ahead for the end of the value: unread tokens in brackets would be a second error.
pub(crate) fn unexpected(input: ParseStream<'_>, expected: &str) -> Error {
    match input.fork().parse::<Expr>() {
        Ok(other) => Error::new_spanned(other, expected),
        Err(_) => Error::new(input.span(), expected),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;
    use quote::ToTokens;
    use syn::parse::{ParseStream, Parser};

    use super::{Ident, function_path, ty};

    fn key() -> Ident {
        Ident::new("key", Span::call_site())
    }

    #[test]
    fn types() {
        let read = |written: &str| {
            let parser = |input: ParseStream<'_>| ty(input, &key());
            parser
                .parse_str(written)
                .map(|ty| ty.to_token_stream().to_string().replace(' ', ""))
        };
        for (written, found) in [
            ("Vec<(u8, &'static str)>", "Vec<(u8,&'staticstr)>"),
            ("dyn Store", "dynStore"),
            ("dyn Store + Sync", "(dynStore+Sync)"),
            ("dyn Store +", "(dynStore+)"),
        ] {
            assert_eq!(read(written).unwrap(), found);
        }
        for (written, fault) in [
            ("\"World\"", "`key` takes a type; write it without quotes"),
            ("+", "`key` takes a type"),
            ("(u8 &)", "`key` takes a type"),
            ("'a + World", "`key` takes a type"),
            ("World + Sync", "`key` takes a type"),
            ("impl World", "`key` takes a type"),
            ("World + recover(,)", "`key` takes a type"),
        ] {
            assert_eq!(read(written).unwrap_err().to_string(), fault, "{written}");
        }
    }

    #[test]
    fn functions() {
        let parser = |input: ParseStream<'_>| function_path(input, &key()).map(drop);
        assert!(parser.parse_str("Self::a::<(u8, B)>").is_ok());
        for written in ["5", "a()", "a::<(u8 &)>", "|a| a"] {
            let fault = parser.parse_str(written).unwrap_err().to_string();
            assert!(
                fault.starts_with("`key` takes the path of a function"),
                "{written}: {fault}"
            );
        }
    }
}
