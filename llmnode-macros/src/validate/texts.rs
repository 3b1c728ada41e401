//! `Err("…".into())` in a validator: `Invalid` is no `From<&str>`, because `?` turns any error into one. Here the text is known,
//! so it is one error that names the remedy, and what is left compiles.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Error, Expr, ImplItem, ItemImpl, Lit, Path, ReturnType};

use super::args::BlockArgs;
use crate::crate_path;
use crate::diagnostics::Errors;
use crate::generics::{mentions, regrouped};

pub(crate) fn mend(block: &ItemImpl, args: &BlockArgs, errors: &mut Errors) -> ItemImpl {
    let mut block = block.clone();
    let krate = crate_path::resolve(&args.krate);
    for member in &mut block.items {
        let ImplItem::Fn(method) = member else { continue };
        let ReturnType::Type(_, returned) = &method.sig.output else { continue };
        if mentions(returned.to_token_stream(), &|name| name == "String" || name == "str") {
            continue;
        }
        let before = errors.is_empty();
        let body = in_body(method.block.to_token_stream(), &krate, errors);
        if before != errors.is_empty()
            && let Ok(body) = syn::parse2(body)
        {
            method.block = body;
        }
    }
    block
}

fn in_body(tokens: TokenStream, krate: &Path, errors: &mut Errors) -> TokenStream {
    let mut mended = TokenStream::new();
    let mut is_error = false;
    for token in tokens {
        let begins = matches!(&token, TokenTree::Ident(name) if name == "Err");
        let token = match token {
            TokenTree::Group(group) if is_error && is_text(group.stream()) => {
                let message =
                    "the error of a validator is an `Invalid`, not a text; write `Err(Invalid::new(\"…\"))`";
                errors.push(Error::new_spanned(group.stream(), message));
                let at = Span::mixed_site().located_at(group.span());
                TokenTree::Group(regrouped(&group, quote_spanned!(at=> #krate::Invalid::new(""))))
            }
            TokenTree::Group(group) => {
                TokenTree::Group(regrouped(&group, in_body(group.stream(), krate, errors)))
            }
            other => other,
        };
        mended.extend([token]);
        is_error = begins;
    }
    mended
}

/// A literal or `format!`, with `.into()` or the like behind it.
fn is_text(tokens: TokenStream) -> bool {
    fn of(written: &Expr) -> bool {
        match written {
            Expr::Lit(literal) => matches!(literal.lit, Lit::Str(_)),
            Expr::Macro(called) => called.mac.path.is_ident("format"),
            Expr::Call(call) => {
                call.func.to_token_stream().to_string() == "String :: from" && call.args.iter().all(of)
            }
            Expr::MethodCall(call) => {
                let converts = ["into", "to_string", "to_owned"].iter().any(|name| call.method == name);
                converts && of(&call.receiver)
            }
            _ => false,
        }
    }
    syn::parse2::<Expr>(tokens).is_ok_and(|written| of(&written))
}
