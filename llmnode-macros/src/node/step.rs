//! What makes a node a step of flows: how it is made from the state, and what
//! happens to its output.
//!
//! Three questions, each with more than one way to answer it:
//!
//! - *How is the node made?* Its fields by `#[prep(..)]` each, the whole by `prep =
//!   path`, or many by `batch = path`.
//! - *Where does its output go?* Into a field by `store = path`, or wherever `post
//!   = path` writes it.
//! - *What does the flow do next?* The output is the action (`action = Type`),
//!   `route = path` decides by the output, or `post` returns it. Without any of
//!   these the step has no action, and the flow an arrow.
//!
//! `check.rs` refuses what answers a question twice, `emit.rs` writes the impl of
//! `Step` or `BatchStep`.

mod attribute;
mod check;
mod emit;
mod store;

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::{Expr, ExprPath, Type};

use crate::literals::{IDEMPOTENT, bool_literal, fill_type, function_path, integer};
use crate::macro_args::{Slot, fill, key, value};

pub(crate) use attribute::{Prep, take_attributes};
pub(crate) use check::check;
pub(crate) use emit::{emit, stub};
use store::StatePath;

/// The arguments of steps, which are arguments of the node as well.
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
    /// The last arm is `idempotent`, by the order in which the keys are asked.
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
            _ => fill(&mut self.idempotent, name, bool_literal(input, IDEMPOTENT)),
        }
    }

    /// An argument by which the node is a step, for the place of a message.
    /// `idempotent` is none: a node is executed by calls, too.
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

    /// Also by the fields' attributes alone.
    pub(crate) fn makes_step(&self, preps: &[Option<Prep>]) -> bool {
        self.any().is_some() || preps.iter().any(Option::is_some)
    }

    /// Whether its action is another type than `()`.
    fn decides(&self) -> bool {
        self.action.is_some() || self.route.is_some()
    }

    pub(crate) fn non_idempotent(&self) -> bool {
        value(&self.idempotent) == Some(&false)
    }
}

/// How a flow makes the node, after all checks.
pub(crate) enum Preparation<'a> {
    Fields(Vec<(&'a syn::Field, &'a Expr)>),
    Function(&'a ExprPath),
    Batch(&'a ExprPath, Option<u32>),
}
