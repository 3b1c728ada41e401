//! Checks a node with a goal.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Error, Field, ItemStruct, LitStr, Type};

use crate::generics::bare;
use crate::macro_args::{key, value};
use crate::node::args::NodeArgs;
use crate::node::faults::Faults;
use crate::node::field::Mark;

#[cfg(not(feature = "smart"))]
mod off {
    pub(super) const MESSAGE: &str = "`goal` needs the feature `smart` of llmnode; add it in \
                                      Cargo.toml: `features = [\"smart\"]`";
}

/// Without a goal, only whether there is something that belongs to one.
pub(crate) fn check(args: &NodeArgs, item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    let Some(goal) = key(&args.goal) else {
        let of_goal = [key(&args.form), key(&args.think)].into_iter().flatten();
        for alone in of_goal.filter(|_| !args.has_unknown_keys) {
            let message = format!(
                "`{alone}` belongs to a node with `goal`; write `goal = \"…\"` in place of \
                 `prompt`, or drop `{alone}`"
            );
            faults.push(Error::new(alone.span(), message));
        }
        return;
    };
    #[cfg(not(feature = "smart"))]
    faults.push(Error::new(goal.span(), off::MESSAGE));
    check_combinations(args, goal, faults);
    fields(item, marks, faults);
    if let Some(parameter) = item.generics.params.first() {
        let message = "a node with `goal` is read from JSON, as examples in programs are, so its \
                       struct has no lifetimes and is not generic; drop them";
        faults.push(Error::new_spanned(parameter, message));
    } else {
        item.fields
            .iter()
            .for_each(|field| check_owned(field, faults));
    }
    if let Some(text) = value(&args.goal) {
        reject_placeholders(text, item, faults);
    }
}

/// Arguments that would be a second source of the messages.
fn check_combinations(args: &NodeArgs, goal: &Ident, faults: &mut Faults) {
    let others = [
        (key(&args.prompt), "the fields are sent as they are"),
        (key(&args.system), "the goal is the system message"),
        (key(&args.with), "there is no prompt to name it"),
        (
            key(&args.examples),
            "examples stand in a program: `Program::with_demos`",
        ),
    ];
    for (other, why) in others {
        if let Some(other) = other {
            let message =
                format!("`{other}` cannot be combined with `{goal}`: {why}; drop one of them");
            faults.push(Error::new(other.span(), message));
        }
    }
}

/// Every field is an input; a mark would say that one is not.
fn fields(item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    if item.fields.is_empty() {
        let message = "a node with `goal` has its inputs as fields, and there is none; add one";
        faults.push(Error::new(item.ident.span(), message));
    }
    for mark in marks {
        if let Mark::Of(_, at) = mark {
            let message = "every field of a node with `goal` is an input; drop the attribute, or \
                           write a `prompt`";
            faults.push(Error::new(*at, message));
        }
    }
}

/// References only: other types that borrow have a lifetime, which the struct would
/// declare.
fn check_owned(field: &Field, faults: &mut Faults) {
    if let Type::Reference(reference) = bare(&field.ty) {
        let message = "a node with `goal` is read from JSON, as examples in programs are, so its \
                       fields own what they hold; write `String` or `Vec<T>`";
        faults.push(Error::new_spanned(reference, message));
    }
}

/// A goal that was a prompt before. `{word}` in a goal is text if no field has the
/// name.
fn reject_placeholders(goal: &LitStr, item: &ItemStruct, faults: &mut Faults) {
    let text = goal.value();
    let names = item
        .fields
        .iter()
        .filter_map(|field| field.ident.as_ref().map(|name| name.unraw().to_string()));
    for name in names.filter(|name| text.contains(&format!("{{{name}}}"))) {
        let message = format!(
            "a goal has no variables: every field is sent below its name; write `{name}` without \
             braces"
        );
        faults.push(Error::new(goal.span(), message));
    }
}
