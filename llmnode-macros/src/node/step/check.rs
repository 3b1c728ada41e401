//! Flow arguments that parse and yet make no sense together.
//!
//! The output is how a flow makes the node, `None` if it is no step or if that is
//! not clear. All other faults leave it standing.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, ItemStruct};

use super::{Prep, Preparation, StepArgs};
use crate::macro_args::{Slot, items, key, value};
use crate::node::args::NodeArgs;
use crate::node::faults::Faults;
use crate::node::recover::{Action, Stack};

pub(crate) fn check<'a>(
    args: &'a NodeArgs,
    item: &'a ItemStruct,
    preps: &'a [Option<Prep>],
    faults: &mut Faults,
) -> Option<Preparation<'a>> {
    let step = &args.step;
    let prepared = preps.iter().flatten().next();
    if step.any().is_none() && prepared.is_none() {
        return None;
    }
    require_state(args, prepared, faults);
    reject_lifetimes(item, faults);
    check_post(args, faults);
    if step.non_idempotent() {
        check_not_repeated(args, faults);
    }
    preparation(args, item, preps, faults)
}

/// A step without a state would have nothing to read and nowhere to write.
fn require_state(args: &NodeArgs, prepared: Option<&Prep>, faults: &mut Faults) {
    // An unknown key may be a misspelt `state`.
    if args.state.is_some() || args.has_unknown_keys {
        return;
    }
    let (shown, at) = match (args.step.any(), prepared) {
        (Some(key), _) => (key.to_string(), key.span()),
        (None, Some(prep)) => ("#[prep]".to_owned(), prep.at),
        (None, None) => return,
    };
    let message = format!(
        "`{shown}` makes the node a step of flows, which reads and writes the program's state; \
         name its type with `state = …`"
    );
    faults.push(Error::new(at, message));
}

fn reject_lifetimes(item: &ItemStruct, faults: &mut Faults) {
    if let Some(lifetime) = item.generics.lifetimes().next() {
        let message = "a step of flows is made from the state that it later writes to, so it \
                       cannot borrow; let its fields own their values";
        faults.push(Error::new(lifetime.span(), message));
    }
}

/// `post` answers both questions behind the output.
fn check_post(args: &NodeArgs, faults: &mut Faults) {
    let step = &args.step;
    if step.post.is_some() {
        if let Some(store) = key(&step.store) {
            let message = "`post` writes the output itself; drop `store`, or `post`";
            faults.push(Error::new(store.span(), message));
        }
        if let Some(route) = key(&step.route) {
            let message = "`post` returns the action itself; drop `route`, or `post`";
            faults.push(Error::new(route.span(), message));
        }
    } else if let Some(route) =
        key(&step.route).filter(|_| step.action.is_none() && !args.has_unknown_keys)
    {
        let message =
            "`route` decides where a flow goes on; name the type that it returns with `action = …`";
        faults.push(Error::new(route.span(), message));
    }
}

fn is_above_zero(slot: &Slot<u32>) -> bool {
    value(slot).is_some_and(|count| *count > 0)
}

/// A node that has effects is executed at most once: everything that would ask
/// again is refused here, where it is written, since the runtime could only ignore
/// it.
fn check_not_repeated(args: &NodeArgs, faults: &mut Faults) {
    for slot in [&args.retries, &args.transport_retries] {
        if let Some(key) = key(slot).filter(|_| is_above_zero(slot)) {
            refuse_repeat(key, faults);
        }
    }
    let keys = [key(&args.fallback_model), key(&args.wait)];
    for key in keys.into_iter().flatten() {
        refuse_repeat(key, faults);
    }
    // `fallback` and `bubble` execute nothing again.
    for step in items(&args.recover)
        .iter()
        .flat_map(|Stack { steps, .. }| steps.iter().flatten())
    {
        if !matches!(step.action, Action::Fallback | Action::Bubble) {
            refuse_repeat(&step.name, faults);
        }
    }
}

fn refuse_repeat(at: &Ident, faults: &mut Faults) {
    let message = format!(
        "`idempotent = false` says that the node is never executed again; drop `{at}`, or \
         `idempotent`"
    );
    faults.push(Error::new(at.span(), message));
}

/// The three ways exclude each other; which one it is follows from the first that
/// is there.
fn preparation<'a>(
    args: &'a NodeArgs,
    item: &'a ItemStruct,
    preps: &'a [Option<Prep>],
    faults: &mut Faults,
) -> Option<Preparation<'a>> {
    let StepArgs {
        prep,
        batch,
        concurrency,
        ..
    } = &args.step;
    if let Some(concurrency) =
        key(concurrency).filter(|_| batch.is_none() && !args.has_unknown_keys)
    {
        let message = "`concurrency` bounds the nodes of a batch; add `batch = path`, or drop it";
        faults.push(Error::new(concurrency.span(), message));
    }
    if let Some(batch) = batch {
        let prepared = preps.iter().flatten().next().map(|prep| prep.at);
        if let Some(at) = key(prep).map(|key| key.span()).or(prepared) {
            let message = "`batch = path` makes all nodes of the batch; drop it, or `prep`";
            faults.push(Error::new(at, message));
        }
        return batch
            .value
            .as_ref()
            .map(|path| Preparation::Batch(path, value(concurrency).copied()));
    }
    if let Some(prep) = prep {
        if let Some(field) = preps.iter().flatten().next() {
            let message = "`prep = path` makes the whole node; drop it, or `#[prep]`";
            faults.push(Error::new(field.at, message));
        }
        return prep.value.as_ref().map(Preparation::Function);
    }
    let mut fields = vec![];
    for (field, prep) in item.fields.iter().zip(preps) {
        match prep {
            Some(prep) => fields.push((field, prep.written.as_ref()?)),
            None if args.has_unknown_keys => {}
            None => faults.push(unprepared(field)),
        }
    }
    Some(Preparation::Fields(fields))
}

/// At the field, with its name in the remedy.
fn unprepared(field: &syn::Field) -> Error {
    let name = field
        .ident
        .as_ref()
        .map(|name| name.unraw().to_string())
        .unwrap_or_default();
    let message = format!(
        "nothing prepares the field `{name}` of this step; mark it \
         `#[prep(state.{name}.clone())]`, or name a function that makes the node with `prep = \
         path`"
    );
    Error::new(
        field
            .ident
            .as_ref()
            .map_or(field.span(), |name| name.span()),
        message,
    )
}
