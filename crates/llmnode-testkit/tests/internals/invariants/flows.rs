//! `flow!` and `#[derive(Action)]` on any tokens.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use syn::{Expr, File, Item, LitStr, Stmt};

use super::Held;
use crate::diagnostics::Errors;

/// The tokens of an expansion, at any depth.
#[derive(Default)]
struct Found {
    errors: Vec<String>,
    impls: HashSet<String>,
}

impl Found {
    fn item(&mut self, item: &Item) -> Held {
        match item {
            Item::Macro(it) => {
                let name = it
                    .mac
                    .path
                    .segments
                    .last()
                    .map(|last| last.ident.to_string());
                match name.as_deref() {
                    Some("compile_error") => {
                        let message = it
                            .mac
                            .parse_body::<LitStr>()
                            .map_err(|error| error.to_string())?;
                        self.errors.push(message.value());
                    }
                    other => return Err(format!("nobody asked for {other:?}")),
                }
            }
            Item::Const(scope) => {
                let Expr::Block(scope) = &*scope.expr else {
                    return Err("a constant that is no scope".to_owned());
                };
                for statement in &scope.block.stmts {
                    let Stmt::Item(item) = statement else {
                        return Err("a statement".to_owned());
                    };
                    self.item(item)?;
                }
            }
            Item::Impl(it) => {
                let of = it
                    .trait_
                    .as_ref()
                    .and_then(|(path, _)| path.segments.last());
                let of = of.map(|last| last.ident.to_string()).unwrap_or_default();
                if !self.impls.insert(of.clone()) {
                    return Err(format!("two impls of {of}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read(expansion: TokenStream) -> Result<Self, String> {
        let file = syn::parse2::<File>(expansion.clone())
            .map_err(|error| format!("it does not parse: {error}: {expansion}"))?;
        let mut found = Self::default();
        file.items.iter().try_for_each(|item| found.item(item))?;
        Ok(found)
    }

    fn has(&self, impls: &[&str]) -> Held {
        match impls.iter().find(|name| !self.impls.contains(**name)) {
            Some(missing) => Err(format!("no impl of {missing}, and {:?}", self.errors)),
            None => Ok(()),
        }
    }
}

/// Whatever is given: a flow that can be run, or errors, and both where its name can be read.
pub(super) fn flow_holds(tokens: &TokenStream, said_well: &dyn Fn(&str) -> Held) -> Held {
    let found = Found::read(crate::flow::expand(tokens.clone()))?;
    found
        .errors
        .iter()
        .try_for_each(|message| said_well(message))?;
    match crate::flow::read(tokens.clone(), &mut Errors::default()) {
        Some(_) if found.errors.is_empty() => found.has(&["FlowType", "Runnable", "RunFlow"]),
        Some(_) => found.has(&["Runnable", "RunFlow"]),
        None if found.errors.is_empty() => Err("neither a flow nor an error".to_owned()),
        None => Ok(()),
    }
}

/// Whatever is given: both impls, errors, or what the compiler reports itself.
pub(super) fn action_holds(item: &TokenStream, said_well: &dyn Fn(&str) -> Held) -> Held {
    let found = Found::read(crate::action::expand(item.clone()))?;
    found
        .errors
        .iter()
        .try_for_each(|message| said_well(message))?;
    let silent = found.errors.is_empty() && syn::parse2::<syn::ItemEnum>(item.clone()).is_ok();
    if silent {
        found.has(&["Action", "From"])
    } else {
        Ok(())
    }
}
