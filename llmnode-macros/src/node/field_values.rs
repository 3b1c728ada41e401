//! The values of a node's own fields, apart from its texts and the state: they tell
//! one call from another where a conversation goes on. Only nodes with tools have
//! such conversations.
//!
//! An agent that waits is continued by a node with the same values; another one
//! would continue a conversation that it never had. The texts are left out, so that
//! a prompt may be reworded in between, and the state, which is meant to change.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use syn::Type;

use super::model::{NodeModel, Part, ValueOrigin};
use super::segments::{history, segment};
use super::with;
use crate::macro_args::items;

/// One message per value, sorted by name, so that a prompt may say them in another
/// order; then the history. `None` for a node that cannot wait.
pub(crate) fn emit(model: &NodeModel<'_>, state: &Type, private: &Ident) -> Option<TokenStream> {
    if items(&model.args.tools).is_empty() && model.toolset.is_none() || model.args.goal.is_some() {
        return None;
    }
    let mut values = BTreeMap::new();
    for part in model.system.iter().chain(&model.prompt) {
        let Some(key) = key(part) else { continue };
        values
            .entry(key)
            .or_insert_with(|| segment(part, model, private));
    }
    let values = values.values();
    let history = history(model, private);
    let with = items(&model.args.with);
    let lent = if with::state(with).is_some() {
        generated!(state)
    } else {
        generated!(_)
    };
    let written = with::with_bindings(with, generated!(#(__to.user(&[#values]);)* #history));
    // A name that is not used would be a warning.
    let to = if values_are_none(model) && model.history.is_none() {
        generated!(_)
    } else {
        generated!(__to)
    };
    Some(generated! {
        fn own_values(
            &self,
            #lent: &#state,
            #to: &mut #private::Prompt
        ) -> ::core::primitive::bool {
            #written
            true
        }
    })
}

/// Whether the prompts have nothing but texts and the state.
fn values_are_none(model: &NodeModel<'_>) -> bool {
    model
        .system
        .iter()
        .chain(&model.prompt)
        .all(|part| key(part).is_none())
}

/// `None`: a text, or a value of the state.
/// The name with its format: `{items}` and `{items:json}` are two values.
fn key(part: &Part) -> Option<String> {
    match part {
        Part::Text(_) => None,
        Part::Checked { field, .. } => Some(field.to_string()),
        Part::Value { origin, format } => match origin {
            ValueOrigin::Field(name) | ValueOrigin::WithVariable(name, _) => {
                Some(format!("{name} {format:?}"))
            }
            ValueOrigin::State { .. } => None,
        },
    }
}
