//! What makes a node a step of flows: how it is made from the state, and what happens to its output.

mod attribute;
mod check;
mod emit;
mod store;

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::{Expr, ExprPath, Type};

use crate::literals::{bool_literal, fill_type, function_path, integer};
use crate::macro_args::{Slot, fill, key, value};

pub(crate) use attribute::{Prep, take_attributes};
pub(crate) use check::check;
pub(crate) use emit::{emit, stub};
use store::StatePath;

#[derive(Default)]
pub(crate) struct StepArgs {
    prep: Slot<ExprPath>,
    store: Slot<StatePath>,
    action: Slot<Type>,
    route: Slot<ExprPath>,
    post: Slot<ExprPath>,
    batch: Slot<ExprPath>,
    concurrency: Slot<u32>,
    idempotent: Slot<bool>,
}

impl StepArgs {
    pub(crate) fn argument(&mut self, name: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match name.to_string().as_str() {
            "prep" => fill(&mut self.prep, name.clone(), function_path(input, &name)),
            "store" => fill(&mut self.store, name, StatePath::parse(input)),
            "action" => fill_type(&mut self.action, name, input),
            "route" => fill(&mut self.route, name.clone(), function_path(input, &name)),
            "post" => fill(&mut self.post, name.clone(), function_path(input, &name)),
            "batch" => fill(&mut self.batch, name.clone(), function_path(input, &name)),
            "concurrency" => fill(
                &mut self.concurrency,
                name.clone(),
                integer(input, &name, 1),
            ),
            _ => fill(&mut self.idempotent, name, bool_literal(input)),
        }
    }

    fn any(&self) -> Option<&Ident> {
        let functions = [
            key(&self.prep),
            key(&self.batch),
            key(&self.route),
            key(&self.post),
        ];
        let others = [key(&self.store), key(&self.action), key(&self.concurrency)];
        functions.into_iter().chain(others).flatten().next()
    }

    pub(crate) fn makes_step(&self, preps: &[Option<Prep>]) -> bool {
        self.any().is_some() || preps.iter().any(Option::is_some)
    }

    fn decides(&self) -> bool {
        self.action.is_some() || self.route.is_some()
    }

    pub(crate) fn non_idempotent(&self) -> bool {
        value(&self.idempotent) == Some(&false)
    }
}

pub(crate) enum Preparation<'a> {
    Fields(Vec<(&'a syn::Field, &'a Expr)>),
    Function(&'a ExprPath),
    Batch(&'a ExprPath, Option<u32>),
}
