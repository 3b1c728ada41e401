//! `key = value` arguments, parsed by hand: `syn::Meta` cannot hold types such as `Vec<Item>`.
//!
//! A fault in one argument does not hide those in the next: parsing goes on behind the comma that follows it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, ExprUnary, Lit, LitStr, Token, Type, UnOp};

use crate::diagnostics::{Errors, list, suggest};

/// An argument that was given. Its value is absent if it had a fault, which is then reported already.
#[derive(Clone)]
pub(crate) struct Keyed<T> {
    pub(crate) key: Ident,
    pub(crate) value: Option<T>,
}

/// A slot that an argument goes into.
pub(crate) type Slot<T> = Option<Keyed<T>>;

/// The value in a slot, if there is one without a fault.
pub(crate) fn value<T>(slot: &Slot<T>) -> Option<&T> {
    slot.as_ref().and_then(|keyed| keyed.value.as_ref())
}

/// Stores what an argument was parsed to.
pub(crate) fn fill<T>(slot: &mut Slot<T>, key: Ident, value: syn::Result<T>) -> syn::Result<()> {
    match value {
        Ok(value) => *slot = Some(Keyed { key, value: Some(value) }),
        Err(error) => {
            *slot = Some(Keyed { key, value: None });
            return Err(error);
        }
    }
    Ok(())
}

/// Parses `key = value, …` and hands each key to `take`, which parses its value. Tells whether every argument had
/// a key that is known.
pub(crate) fn parse_arguments(
    tokens: TokenStream,
    macro_name: &str,
    keys: &[&str],
    errors: &mut Errors,
    mut take: impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) -> bool {
    let mut seen: Vec<Ident> = vec![];
    let mut all_known = true;
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let before = seen.len();
            if let Err(error) = argument(input, macro_name, keys, &mut seen, &mut take) {
                all_known &= seen.len() > before;
                errors.push(error);
                skip_argument(input);
            } else if !input.is_empty() && !input.peek(Token![,]) {
                let token =
                    input.cursor().token_tree().map(|(token, _)| token.to_string()).unwrap_or_default();
                errors.push(input.error(format!("expected `,` before the next argument, found `{token}`")));
                skip_argument(input);
            }
            let _: Option<Token![,]> = input.parse()?;
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
    }
    all_known
}

fn argument(
    input: ParseStream<'_>,
    macro_name: &str,
    keys: &[&str],
    seen: &mut Vec<Ident>,
    take: &mut impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    if !input.peek(syn::Ident::peek_any) {
        let value: TokenTree = input.parse()?;
        let message = format!("an argument has a name, such as `{} = …`", keys[0]);
        return Err(Error::new(value.span(), message));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.to_string();
    if !keys.contains(&name.as_str()) {
        return Err(Error::new(key.span(), unknown(&name, macro_name, keys)));
    }
    if !input.peek(Token![=]) {
        return Err(Error::new(key.span(), format!("`{name}` takes a value; write `{name} = …`")));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new(key.span(), format!("`{name}` takes a value; write `{name} = …`")));
    }
    if seen.contains(&key) {
        return Err(Error::new(key.span(), format!("`{name}` given more than once")));
    }
    seen.push(key.clone());
    take(key, input)
}

fn unknown(name: &str, macro_name: &str, keys: &[&str]) -> String {
    match suggest(name, keys.iter().copied()) {
        Some(near) => format!("unknown argument `{name}`; did you mean `{near}`?"),
        None => format!("unknown argument `{name}`; `{macro_name}` takes {}", list(keys.iter().copied())),
    }
}

/// Goes to the comma behind which a next argument begins, or to the end. A comma inside a type's angle brackets
/// is followed by no `key =`.
fn skip_argument(input: ParseStream<'_>) {
    while !input.is_empty() {
        let begins = input.peek(Token![,]) && {
            let ahead = input.fork();
            let _ = ahead.parse::<Token![,]>();
            ahead.is_empty() || (ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![=]))
        };
        if begins || input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// A string literal; `what` says why it has to be one.
pub(crate) fn text(input: ParseStream<'_>, key: &Ident, what: &str) -> syn::Result<LitStr> {
    match expression(input)? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.suffix().is_empty() => Ok(text),
        // Quotation marks in the text: what follows the first of them sticks to the literal.
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Err(Error::new(
            text.span(),
            "the string literal ends at its second `\"`; write `\\\"` in the text, or a raw string: `r#\"…\"#`",
        )),
        other => Err(Error::new_spanned(other, format!("`{key}` takes a string literal{what}"))),
    }
}

/// A whole number of at least `least`.
pub(crate) fn whole(input: ParseStream<'_>, key: &Ident, least: u32) -> syn::Result<u32> {
    let given = expression(input)?;
    let wrong = |message: String| Error::new_spanned(&given, message);
    let example = least.max(2);
    match &given {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => match number.base10_parse::<u32>() {
            Ok(parsed) if parsed >= least => Ok(parsed),
            Ok(_) => Err(wrong(format!("`{key}` is at least {least}"))),
            Err(_) => Err(wrong(format!("`{key}` is at most {}", u32::MAX))),
        },
        _ => Err(wrong(format!("`{key}` takes a whole number, such as `{key} = {example}`"))),
    }
}

/// A number from 0, with or without a fraction.
pub(crate) fn number(input: ParseStream<'_>, key: &Ident) -> syn::Result<f64> {
    let given = expression(input)?;
    let parsed = match &given {
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_parse::<f64>().ok(),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse::<u32>().ok().map(f64::from),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => {
            return Err(Error::new_spanned(&given, format!("`{key}` is at least 0")));
        }
        _ => None,
    };
    let message = || format!("`{key}` takes a number, such as `{key} = 0.2`");
    parsed.filter(|number| number.is_finite()).ok_or_else(|| Error::new_spanned(&given, message()))
}

/// A type.
pub(crate) fn ty(input: ParseStream<'_>, key: &Ident) -> syn::Result<Type> {
    let ahead = input.fork();
    if let Ok(Expr::Lit(literal)) = ahead.parse::<Expr>() {
        return Err(Error::new(literal.span(), format!("`{key}` takes a type; write it without quotes")));
    }
    let start = input.span();
    input.parse().map_err(|_| Error::new(start, format!("`{key}` takes a type")))
}

/// An expression, out of the invisible groups that a macro's fragment comes in.
fn expression(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut given: Expr = input.parse()?;
    while let Expr::Group(group) = given {
        given = *group.expr;
    }
    Ok(given)
}
