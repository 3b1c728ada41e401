//! The helper attributes of a node's fields: `#[node(skip)]`, `#[node(history)]`, `#[node(model)]` and
//! `#[node(tools)]`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Field, Ident, ItemStruct, Meta, Token};

use super::faults::Faults;
use crate::diagnostics::suggest;

const USAGE: &str = "a field takes `#[node(skip)]`, for one that no prompt uses, `#[node(history)]`, for the earlier \
                     messages of a conversation, `#[node(model)]`, for the model that the node asks, or `#[node(tools)]`, for \
                     tools that are known at run time";
const NAMES: [&str; 4] = ["skip", "history", "model", "tools"];

#[derive(Clone, Copy)]
pub(crate) enum Mark {
    None,
    Skip(Span),
    History(Span),
    Model(Span),
    Tools(Span),
    /// Its attribute has a fault, so it must not also be reported as unused.
    Faulty,
}

pub(crate) fn take_attributes(item: &mut ItemStruct, faults: &mut Faults) -> Vec<Mark> {
    for attribute in item.attrs.extract_if(.., |attribute| attribute.path().is_ident("node")) {
        let message = "`#[node(…)]` goes on a field; arguments of the node go into `#[llm_node(…)]`";
        faults.push(Error::new_spanned(&attribute, message));
    }
    let mut marks: Vec<_> = item.fields.iter_mut().map(|field| take_mark(field, faults)).collect();
    reject_duplicates(&mut marks, faults, |mark| match mark {
        Mark::History(at) => Some((
            at,
            "a node has one history, and another field is already marked; join the messages in one field",
        )),
        _ => None,
    });
    reject_duplicates(&mut marks, faults, |mark| match mark {
        Mark::Model(at) => {
            Some((at, "a node holds one model, and another field is already marked; drop one of them"))
        }
        _ => None,
    });
    reject_duplicates(&mut marks, faults, |mark| match mark {
        Mark::Tools(at) => Some((
            at,
            "a node has one set of tools, and another field is already marked; join them with `Toolset::with`",
        )),
        _ => None,
    });
    marks
}

fn reject_duplicates(marks: &mut [Mark], faults: &mut Faults, of: fn(Mark) -> Option<(Span, &'static str)>) {
    let marked = marks.iter_mut().filter_map(|mark| of(*mark).map(|further| (mark, further)));
    for (mark, (at, message)) in marked.skip(1) {
        faults.push(Error::new(at, message));
        *mark = Mark::Faulty;
    }
}

pub(crate) fn history<'a>(item: &'a ItemStruct, marks: &[Mark]) -> Option<&'a Ident> {
    marked(item, marks, |mark| matches!(mark, Mark::History(_)))
}

pub(crate) fn held_model<'a>(item: &'a ItemStruct, marks: &[Mark]) -> Option<&'a Ident> {
    marked(item, marks, |mark| matches!(mark, Mark::Model(_)))
}

pub(crate) fn toolset<'a>(item: &'a ItemStruct, marks: &[Mark]) -> Option<&'a Ident> {
    marked(item, marks, |mark| matches!(mark, Mark::Tools(_)))
}

fn marked<'a>(item: &'a ItemStruct, marks: &[Mark], is: fn(&Mark) -> bool) -> Option<&'a Ident> {
    let mut fields = item.fields.iter().zip(marks);
    fields.find(|(_, mark)| is(mark)).and_then(|(field, _)| field.ident.as_ref())
}

fn take_mark(field: &mut Field, faults: &mut Faults) -> Mark {
    let mut mark = Mark::None;
    for attribute in field.attrs.extract_if(.., |attribute| bare_attribute(attribute).is_some()) {
        let name = bare_attribute(&attribute).unwrap_or_default();
        let message = format!("`#[{name}]` marks no field of a node; write `#[node({name})]`");
        faults.push(Error::new(attribute.path().span(), message));
        mark = if name == "skip" { Mark::Faulty } else { Mark::History(attribute.path().span()) };
    }
    for attribute in field.attrs.extract_if(.., |attribute| attribute.path().is_ident("node")) {
        if let Err(error) = read(&attribute, &mut mark) {
            mark = Mark::Faulty;
            faults.push(error);
        }
    }
    mark
}

/// `#[skip]` without the `node(…)` around it.
fn bare_attribute(attribute: &Attribute) -> Option<&'static str> {
    let Meta::Path(path) = &attribute.meta else { return None };
    ["skip", "history"].into_iter().find(|name| path.is_ident(name))
}

fn read(attribute: &Attribute, mark: &mut Mark) -> syn::Result<()> {
    let mut empty = true;
    let mut own = false;
    let parsed = attribute.parse_nested_meta(|meta| {
        empty = false;
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let at = meta.path.span();
        let new = match name.as_str() {
            "skip" | "history" | "model" | "tools" if meta.input.peek(Token![=]) => Err(USAGE.to_owned()),
            "skip" => Ok(Mark::Skip(at)),
            "history" => Ok(Mark::History(at)),
            "model" => Ok(Mark::Model(at)),
            "tools" => Ok(Mark::Tools(at)),
            _ => Err(match suggest(&name, NAMES) {
                Some(near) => format!("unknown argument `{name}`; did you mean `{near}`?"),
                None => USAGE.to_owned(),
            }),
        };
        let joined = new.map_err(|message| Error::new(at, message)).and_then(|new| join(*mark, new));
        own = joined.is_err();
        *mark = joined?;
        Ok(())
    });
    match parsed {
        Ok(()) if empty => Err(Error::new_spanned(attribute, USAGE)),
        Err(error) if own => Err(error),
        Err(_) => Err(Error::new_spanned(attribute, USAGE)),
        Ok(()) => Ok(()),
    }
}

fn join(old: Mark, new: Mark) -> syn::Result<Mark> {
    match (old, new) {
        (Mark::Skip(_), Mark::Skip(at)) => Err(Error::new(at, "`skip` is given more than once")),
        (Mark::History(_), Mark::History(at)) => Err(Error::new(at, "`history` is given more than once")),
        (Mark::Skip(at), Mark::History(_)) | (Mark::History(_), Mark::Skip(at)) => Err(Error::new(
            at,
            "the history is sent with every request, so it cannot be skipped; drop `skip`",
        )),
        (Mark::Model(_), Mark::Model(at)) => Err(Error::new(at, "`model` is given more than once")),
        (Mark::Model(at), Mark::Skip(_) | Mark::History(_))
        | (Mark::Skip(_) | Mark::History(_), Mark::Model(at)) => {
            Err(Error::new(at, "the model is not part of a prompt; keep only `#[node(model)]` on the field"))
        }
        (Mark::Tools(_), Mark::Tools(at)) => Err(Error::new(at, "`tools` is given more than once")),
        (Mark::Tools(at), new) | (new, Mark::Tools(at)) if !matches!(new, Mark::None | Mark::Faulty) => {
            Err(Error::new(at, "the tools are not part of a prompt; keep only `#[node(tools)]` on the field"))
        }
        (Mark::Faulty, _) => Ok(Mark::Faulty),
        (_, new) => Ok(new),
    }
}
