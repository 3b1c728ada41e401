//! What a step is prepared from: the state, and not what the arm holds that leads there.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use syn::{Error, Pat};

use super::stop::text;
use super::syntax::{Arm, Exit, Flow, Stop, Target};

/// Refuses a value of a step that names what an arm binds, which is known in that arm alone.
pub(super) fn handed(flow: &Flow, stop: &Stop) -> syn::Result<()> {
    let (Some(values), Some(label)) = (&stop.values, &stop.label) else { return Ok(()) };
    let mut bound = vec![];
    for arm in flow.stops.iter().flat_map(|stop| arms(&stop.exit)) {
        if matches!(&arm.target, Target::Step(to) if text(to) == text(label)) {
            bind(&arm.pattern, &mut bound);
        }
    }
    let Some(used) = bound.iter().find_map(|name| used(name, values.clone())) else { return Ok(()) };
    let message = format!(
        "`{used}` is known only in its arm, where `end(…)` can take it; let `post` write it to the state, and read it from there, such as `state.{used}.clone()`"
    );
    Err(Error::new(used.span(), message))
}

fn arms(exit: &Exit) -> &[Arm] {
    match exit {
        Exit::Arrow(_) => &[],
        Exit::Match(arms) => arms,
    }
}

/// The names that a pattern binds.
fn bind(pattern: &Pat, bound: &mut Vec<Ident>) {
    match pattern {
        Pat::Ident(name) => {
            if text(&name.ident).starts_with(|c: char| !c.is_uppercase()) {
                bound.push(name.ident.clone());
            }
            name.subpat.iter().for_each(|(_, inner)| bind(inner, bound));
        }
        Pat::TupleStruct(variant) => variant.elems.iter().for_each(|inner| bind(inner, bound)),
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|inner| bind(inner, bound)),
        Pat::Struct(variant) => variant.fields.iter().for_each(|field| bind(&field.pat, bound)),
        Pat::Or(or) => or.cases.iter().for_each(|inner| bind(inner, bound)),
        Pat::Paren(inner) => bind(&inner.pat, bound),
        Pat::Reference(inner) => bind(&inner.pat, bound),
        _ => {}
    }
}

/// Where the values name it. Not judged is what may bind the same name by itself.
fn used(name: &Ident, values: TokenStream) -> Option<Ident> {
    let tokens: Vec<TokenTree> = values.into_iter().collect();
    let own = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == '|',
        TokenTree::Ident(word) => word == "let" || word == "match",
        _ => false,
    };
    if tokens.iter().any(own) {
        return None;
    }
    tokens.iter().enumerate().find_map(|(at, token)| match token {
        TokenTree::Group(group) => used(name, group.stream()),
        TokenTree::Ident(found) if found == name => {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let member = before.is_some_and(|before| is(before, '.'));
            let in_path = at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(joint_colon);
            // `name: value` names a field, `name::rest` a module.
            let field = tokens.get(at + 1).is_some_and(|behind| is(behind, ':'));
            (!member && !in_path && !field).then(|| found.clone())
        }
        _ => None,
    })
}

fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn joint_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}
