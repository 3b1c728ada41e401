//! `Err("…".into())` in a validator: `Invalid` is no `From<&str>`, because `?`
//! turns any error into one. Here the text is known, so it is one error that names
//! the remedy, and what is left compiles.

use quote::ToTokens;
use syn::{
    Block, Error, Expr, ExprCall, ImplItem, ItemImpl, Lit, Path, ReturnType, Stmt, Type,
    parse_quote,
};

use super::args::BlockArgs;
use crate::crate_path;
use crate::diagnostics::Errors;
use crate::generics::{bare, last_name, mentions, type_arguments};

/// The block with the texts replaced. Methods whose error may be a text are left
/// alone: their type says `String`, or another type than `Invalid`.
pub(crate) fn mend(block: &ItemImpl, args: &BlockArgs, errors: &mut Errors) -> ItemImpl {
    let mut block = block.clone();
    let mut mender = Mender {
        krate: crate_path::resolve(&args.krate),
        errors,
    };
    for member in &mut block.items {
        let ImplItem::Fn(method) = member else {
            continue;
        };
        let ReturnType::Type(_, returned) = &method.sig.output else {
            continue;
        };
        let may_be_text = mentions(returned.to_token_stream(), &|name| {
            name == "String" || name == "str"
        });
        if !may_be_text && !has_other_error(returned) {
            mender.block(&mut method.block, true);
        }
    }
    block
}

/// `Result<(), Box<dyn Error>>`, whose type is the mistake.
fn has_other_error(returned: &Type) -> bool {
    let Type::Path(path) = bare(returned) else {
        return false;
    };
    match type_arguments(&path.path)[..] {
        [_, error] => last_name(error).is_none_or(|name| name != "Invalid"),
        // `anyhow::Result<()>`
        _ => path.path.segments.len() == 2,
    }
}

/// Goes through the statements of one method.
struct Mender<'a> {
    krate: Path,
    errors: &'a mut Errors,
}

/// Only what the method returns is judged: other results in it may well have a text as their error.
impl Mender<'_> {
    /// `is_returned`: the block's value is the method's.
    fn block(&mut self, block: &mut Block, is_returned: bool) {
        let last = block.stmts.len().saturating_sub(1);
        for (index, statement) in block.stmts.iter_mut().enumerate() {
            match statement {
                Stmt::Expr(written, None) => self.value(written, is_returned && index == last),
                Stmt::Expr(written, Some(_)) => self.value(written, false),
                _ => {}
            }
        }
    }

    /// A value is returned if it is the last of the method's block, or behind a
    /// `return`. Loops return nothing.
    fn value(&mut self, written: &mut Expr, is_returned: bool) {
        match written {
            Expr::Return(returned) => {
                if let Some(returned) = &mut returned.expr {
                    self.value(returned, true);
                }
            }
            Expr::Block(inner) => self.block(&mut inner.block, is_returned),
            Expr::If(branches) => {
                self.block(&mut branches.then_branch, is_returned);
                if let Some((_, other)) = &mut branches.else_branch {
                    self.value(other, is_returned);
                }
            }
            Expr::Match(arms) => arms
                .arms
                .iter_mut()
                .for_each(|arm| self.value(&mut arm.body, is_returned)),
            Expr::ForLoop(inner) => self.block(&mut inner.body, false),
            Expr::While(inner) => self.block(&mut inner.body, false),
            Expr::Loop(inner) => self.block(&mut inner.body, false),
            Expr::Call(call) if is_returned && is_err(&call.func) => self.error(call),
            _ => {}
        }
    }

    /// Replaced by an `Invalid` without text, so that the method compiles.
    fn error(&mut self, call: &mut ExprCall) {
        let Some(text) = call.args.first().filter(|text| is_text(text)) else {
            return;
        };
        let message = "the error of a validator is an `Invalid`, not a text; write \
                       `Err(Invalid::new(\"…\"))`";
        self.errors.push(Error::new_spanned(text, message));
        let krate = &self.krate;
        call.args = std::iter::once::<Expr>(parse_quote!(#krate::Invalid::new(""))).collect();
    }
}

fn is_err(function: &Expr) -> bool {
    matches!(function, Expr::Path(path) if path.path.is_ident("Err"))
}

/// A literal or `format!`, with `.into()` or the like behind it.
fn is_text(written: &Expr) -> bool {
    match written {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Str(_)),
        Expr::Macro(called) => called.mac.path.is_ident("format"),
        Expr::Call(call) => {
            call.func.to_token_stream().to_string() == "String :: from"
                && call.args.iter().all(is_text)
        }
        Expr::MethodCall(call) => {
            let converts = ["into", "to_string", "to_owned"]
                .iter()
                .any(|name| call.method == name);
            converts && is_text(&call.receiver)
        }
        _ => false,
    }
}
