//! The values of arguments. Each fault has words of our own: syn's name no remedy.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprPath, Lit, LitStr, Token, Type};

use crate::keyed::end;

/// A string literal; `what` says why it has to be one.
pub(crate) fn text(input: ParseStream<'_>, key: &Ident, what: &str) -> syn::Result<LitStr> {
    let wanted = format!("`{key}` takes a string literal{what}");
    match literal(input, &wanted)? {
        Lit::Str(text) => whole_text(text),
        other => Err(Error::new_spanned(other, wanted)),
    }
}

/// A string literal that ends where it seems to.
pub(crate) fn whole_text(text: LitStr) -> syn::Result<LitStr> {
    if text.suffix().is_empty() {
        return Ok(text);
    }
    // Quotation marks in the text: what follows the first of them sticks to the literal.
    Err(Error::new(
        text.span(),
        "the string literal ends at its second `\"`; write `\\\"` in the text, or a raw string: `r#\"…\"#`",
    ))
}

/// A text with something in it.
pub(crate) fn filled(text: syn::Result<LitStr>, key: &Ident) -> syn::Result<LitStr> {
    let text = text?;
    if text.value().trim().is_empty() {
        return Err(Error::new(text.span(), format!("`{key}` is empty")));
    }
    Ok(text)
}

/// A whole number of at least `least`.
pub(crate) fn whole(input: ParseStream<'_>, key: &Ident, least: u32) -> syn::Result<u32> {
    whole_such_as(input, key, least, &format!("{key} = {}", least.max(2)))
}

/// The same, with an example of how it is written.
pub(crate) fn whole_such_as(
    input: ParseStream<'_>,
    key: &Ident,
    least: u32,
    example: &str,
) -> syn::Result<u32> {
    let wanted = format!("`{key}` takes a whole number, such as `{example}`");
    let given = literal(input, &wanted)?;
    let wrong = |message: String| Err(Error::new_spanned(&given, message));
    match &given {
        Lit::Int(number) if number.suffix().is_empty() => match number.base10_parse::<u32>() {
            Ok(parsed) if parsed >= least => Ok(parsed),
            Ok(_) => wrong(format!("`{key}` is at least {least}")),
            Err(_) => wrong(format!("`{key}` is at most {}", u32::MAX)),
        },
        _ => wrong(wanted),
    }
}

/// A number from 0, with or without a fraction.
pub(crate) fn number(input: ParseStream<'_>, key: &Ident) -> syn::Result<f64> {
    let wanted = format!("`{key}` takes a number, such as `{key} = 0.2`");
    if input.peek(Token![-]) {
        return Err(other_than(input, &format!("`{key}` is at least 0")));
    }
    let given = literal(input, &wanted)?;
    let digits = match &given {
        Lit::Float(number) if number.suffix().is_empty() => number.base10_digits(),
        Lit::Int(number) if number.suffix().is_empty() => number.base10_digits(),
        _ => return Err(Error::new_spanned(given, wanted)),
    };
    match digits.parse::<f64>() {
        Ok(parsed) if parsed.is_finite() => Ok(parsed),
        _ => Err(Error::new_spanned(&given, wanted)),
    }
}

/// A type.
pub(crate) fn ty(input: ParseStream<'_>, key: &Ident) -> syn::Result<Type> {
    let ahead = input.fork();
    if let Ok(Expr::Lit(literal)) = ahead.parse::<Expr>() {
        return Err(Error::new(literal.span(), format!("`{key}` takes a type; write it without quotes")));
    }
    // Read ahead: what a type leaves unread within brackets would be a second error.
    match input.fork().parse::<Type>() {
        Ok(_) => input.parse(),
        Err(_) => Err(Error::new(input.span(), format!("`{key}` takes a type"))),
    }
}

/// The path of a function.
pub(crate) fn function(input: ParseStream<'_>, key: &Ident) -> syn::Result<ExprPath> {
    let ahead = input.fork();
    if ahead.parse::<ExprPath>().is_ok() && end(&ahead, "argument").is_ok() {
        return input.parse();
    }
    Err(other_than(input, &format!("`{key}` takes the path of a function, such as `{key} = my_function`")))
}

/// A literal without a sign; `wanted` says which.
fn literal(input: ParseStream<'_>, wanted: &str) -> syn::Result<Lit> {
    if !input.peek(Token![-]) && input.fork().parse::<Lit>().is_ok() {
        input.parse()
    } else {
        Err(other_than(input, wanted))
    }
}

/// Something else stands here than what is `wanted`. It is read ahead, and only for where it ends: what an expression
/// leaves unread within brackets would be a second error.
pub(crate) fn other_than(input: ParseStream<'_>, wanted: &str) -> Error {
    match input.fork().parse::<Expr>() {
        Ok(other) => Error::new_spanned(other, wanted),
        Err(_) => Error::new(input.span(), wanted),
    }
}
