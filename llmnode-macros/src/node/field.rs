//! The helper attributes of a node's fields: `#[node(skip)]`, `#[node(history)]`,
//! `#[node(model)]` and `#[node(tools)]`.
//!
//! The attributes are no macros of their own: the compiler does not know them, and
//! would report each. So they are taken off the item before it is emitted again,
//! whatever they say, and what they say is kept beside the fields, by position.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Field, ItemStruct, Meta, Path, Token};

use super::faults::Faults;
use crate::diagnostics::suggest;

const USAGE: &str = "a field takes `#[node(skip)]`, for one that no prompt uses, \
                     `#[node(history)]`, for the earlier messages of a conversation, \
                     `#[node(model)]`, for the model that the node asks, or `#[node(tools)]`, for \
                     tools that are known at run time";
/// Each role with the word for it.
const NAMES: [(&str, Role); 4] = [
    ("skip", Role::Skip),
    ("history", Role::History),
    ("model", Role::Model),
    ("tools", Role::Tools),
];

/// What a field is for, if it is no variable of the prompt.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Skip,
    History,
    Model,
    Tools,
}

/// What an attribute says of one field.
#[derive(Clone, Copy)]
pub(crate) enum Mark {
    None,
    Of(Role, Span),
    /// Its attribute has a fault, so it must not also be reported as unused.
    Faulty,
}

impl Mark {
    /// The place of the attribute, if the field has this role.
    pub(crate) fn span(self, of: Role) -> Option<Span> {
        match self {
            Self::Of(role, at) if role == of => Some(at),
            _ => None,
        }
    }
}

/// The marks of all fields, in their order.
pub(crate) fn take_attributes(item: &mut ItemStruct, faults: &mut Faults) -> Vec<Mark> {
    for attribute in item
        .attrs
        .extract_if(.., |attribute| attribute.path().is_ident("node"))
    {
        let message =
            "`#[node(…)]` goes on a field; arguments of the node go into `#[llm_node(…)]`";
        faults.push(Error::new_spanned(&attribute, message));
    }
    let mut marks: Vec<_> = item
        .fields
        .iter_mut()
        .map(|field| take_mark(field, faults))
        .collect();
    // A node has one history, one model and one set of tools; a second mark is a
    // fault, and its field is no longer looked at.
    for (role, message) in [
        (
            Role::History,
            "a node has one history, and another field is already marked; join the messages in one \
             field",
        ),
        (
            Role::Model,
            "a node holds one model, and another field is already marked; drop one of them",
        ),
        (
            Role::Tools,
            "a node has one set of tools, and another field is already marked; join them with \
             `Toolset::with`",
        ),
    ] {
        let marked = marks
            .iter_mut()
            .filter_map(|mark| Some((mark.span(role)?, mark)));
        for (at, mark) in marked.skip(1) {
            faults.push(Error::new(at, message));
            *mark = Mark::Faulty;
        }
    }
    marks
}

/// The field of a role, of which there is at most one.
pub(crate) fn marked<'a>(item: &'a ItemStruct, marks: &[Mark], role: Role) -> Option<&'a Field> {
    item.fields
        .iter()
        .zip(marks)
        .find(|(_, mark)| mark.span(role).is_some())
        .map(|(field, _)| field)
}

/// First what is nearly the attribute: `#[skip]`, or `#[llmnode(skip)]`. The mark
/// counts as if it had been written right, except `skip`, which would hide that the
/// field is unused.
fn take_mark(field: &mut Field, faults: &mut Faults) -> Mark {
    let mut mark = Mark::None;
    for attribute in field
        .attrs
        .extract_if(.., |attribute| bare_attribute(attribute).is_some())
    {
        let name = bare_attribute(&attribute).unwrap_or_default();
        let at = attribute.path().span();
        let written = attribute
            .meta
            .to_token_stream()
            .to_string()
            .replace(" (", "(");
        let message = format!("`#[{written}]` marks no field of a node; write `#[node({name})]`");
        faults.push(Error::new(at, message));
        mark = match NAMES.iter().find(|(role_name, _)| *role_name == name) {
            Some((_, role)) if *role != Role::Skip => Mark::Of(*role, at),
            _ => Mark::Faulty,
        };
    }
    for attribute in field
        .attrs
        .extract_if(.., |attribute| attribute.path().is_ident("node"))
    {
        if let Err(error) = read(&attribute, &mut mark) {
            mark = Mark::Faulty;
            faults.push(error);
        }
    }
    mark
}

/// Which of the names the path is.
fn named(path: &Path, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| path.is_ident(name))
}

/// `#[skip]` without the `node(…)` around it, or with another name in its place.
fn bare_attribute(attribute: &Attribute) -> Option<&'static str> {
    match &attribute.meta {
        Meta::Path(path) => named(path, &["skip", "history"]),
        Meta::List(list)
            if named(
                &list.path,
                &["llm_node", "llmnode", "llm", "prompt", "field"],
            )
            .is_some() =>
        {
            named(
                &list.parse_args().ok()?,
                &["skip", "history", "model", "tools"],
            )
        }
        _ => None,
    }
}

/// Reads one attribute into the mark. syn's own errors are replaced by the usage;
/// ours are told apart by `own`.
fn read(attribute: &Attribute, mark: &mut Mark) -> syn::Result<()> {
    let mut empty = true;
    let mut is_worded = false;
    let parsed = attribute.parse_nested_meta(|meta| {
        empty = false;
        let name = meta
            .path
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        let has_value = meta.input.peek(Token![=]);
        let joined = with_role(*mark, &name, has_value, meta.path.span());
        is_worded = joined.is_err();
        *mark = joined?;
        Ok(())
    });
    match parsed {
        Ok(()) if empty => Err(Error::new_spanned(attribute, USAGE)),
        Err(error) if is_worded => Err(error),
        Err(_) => Err(Error::new_spanned(attribute, USAGE)),
        Ok(()) => Ok(()),
    }
}

/// Of two roles.
/// The mark with one more role, by its name in the attribute.
fn with_role(mark: Mark, name: &str, has_value: bool, at: Span) -> syn::Result<Mark> {
    let role = NAMES
        .iter()
        .find(|(role_name, _)| *role_name == name)
        .map(|(_, role)| *role);
    match role {
        Some(_) if has_value => Err(Error::new(at, USAGE)),
        Some(role) if mark.span(role).is_some() => {
            let message = format!("`{name}` is given more than once");
            Err(Error::new(at, message))
        }
        Some(role) => join(mark, Mark::Of(role, at)),
        None => Err(Error::new(at, unknown_role(name))),
    }
}

fn unknown_role(name: &str) -> String {
    match suggest(name, NAMES.map(|(role_name, _)| role_name)) {
        Some(near) => format!("unknown argument `{name}`; did you mean `{near}`?"),
        None => USAGE.to_owned(),
    }
}

/// Two roles of one field contradict each other. Which word is wrong follows from
/// the role that cannot be part of a prompt at all.
fn join(old: Mark, new: Mark) -> syn::Result<Mark> {
    if !matches!(old, Mark::Of(..)) {
        return Ok(if matches!(old, Mark::Faulty) {
            old
        } else {
            new
        });
    }
    let (at, message) = if let Some(at) = span_of_either(old, new, Role::Tools) {
        (
            at,
            "the tools are not part of a prompt; keep only `#[node(tools)]` on the field",
        )
    } else if let Some(at) = span_of_either(old, new, Role::Model) {
        (
            at,
            "the model is not part of a prompt; keep only `#[node(model)]` on the field",
        )
    } else {
        let message =
            "the history is sent with every request, so it cannot be skipped; drop `skip`";
        let skip = span_of_either(old, new, Role::Skip);
        (skip.unwrap_or_else(Span::call_site), message)
    };
    Err(Error::new(at, message))
}

/// Where the role is written, if one of the two marks is it.
fn span_of_either(old: Mark, new: Mark, role: Role) -> Option<Span> {
    old.span(role).or(new.span(role))
}
