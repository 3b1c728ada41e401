//! Checks a parsed flow: labels, targets, paths to the end.
//!
//! What can be known from the flow's own tokens is checked here: that labels are
//! there once and targets exist, that all steps are reached and the end is, too.
//! What depends on types (which actions a step has, whether it takes this state) is
//! left to the compiler, in code that `emit.rs` spans at the step.
//!
//! The checks depend on each other in one direction: paths are only looked at if
//! all labels and targets are known, since a misspelt target would also be an
//! unreached step.

use quote::ToTokens;
use syn::{Error, Ident, Type};

use super::parse_util::non_static_lifetime;
use super::pattern::{bare_variant, catch_all_pattern, is_open_ended};
use super::reachability::Graph;
use super::step::text;
use super::syntax::{Arm, Exit, Flow, FlowStep, Target};
use crate::diagnostics::{Errors, any_of, list, unknown};
use crate::generics::{bare, last_name, type_arguments};

/// What `emit.rs` has to know beyond the tree.
pub(crate) struct CheckedFlow {
    // One for each step, empty if it has none, in which case it is faulty.
    pub(crate) labels: Vec<String>,
    /// The compiler would report their faults again.
    pub(crate) faulty: Vec<bool>,
}

impl CheckedFlow {
    /// The number of a step, by which the generated table and its arms name it.
    pub(crate) fn index(&self, label: &syn::Ident) -> Option<usize> {
        let label = text(label);
        self.labels.iter().position(|one| *one == label)
    }
}

pub(crate) fn check(flow: &Flow, errors: &mut Errors) -> CheckedFlow {
    let labels = flow
        .step_list
        .iter()
        .map(|stop| stop.label.as_ref().map_or_else(String::new, text))
        .collect();
    let mut checked = CheckedFlow {
        labels,
        faulty: vec![false; flow.step_list.len()],
    };
    if flow.step_list.is_empty() {
        let message = format!(
            "`{0}` has no steps; write `{0}(World): First => end`",
            flow.ident
        );
        errors.push(Error::new(flow.ident.span(), message));
    }
    // All checks of a step are made before the next step: errors come out in the
    // order of the source.
    let mut labelled = true;
    for (index, stop) in flow.step_list.iter().enumerate() {
        let label = label(index, stop, &checked);
        labelled &= label.is_ok();
        let checks = [
            label,
            check_type(stop),
            check_arms(flow, &stop.exit),
            check_end_value(flow, stop),
        ];
        for check in checks {
            if let Err(error) = check {
                checked.faulty[index] = true;
                errors.push(error);
            }
        }
        reject_catch_all(&stop.exit, errors);
    }
    if targets(flow, &checked, errors) && labelled {
        let stuck = check_reachability(flow, &checked, errors);
        for step in stuck {
            // An arm that is missing may be the one that leads out.
            checked.faulty[step] |= matches!(flow.step_list[step].exit, Exit::Match(_));
        }
    }
    checked
}

/// A label is there, is not `end`, and belongs to no earlier step.
fn label(index: usize, stop: &FlowStep, checked: &CheckedFlow) -> syn::Result<()> {
    let Some(label) = &stop.label else {
        let message = "steps side by side need a label; write `(…) as Gather`";
        return Err(Error::new_spanned(&stop.ty, message));
    };
    let text = text(label);
    if text == "end" {
        let message =
            "`end` marks the end of a flow, so it cannot label a step; choose another label";
        return Err(Error::new(label.span(), message));
    }
    // `index` finds the first one, so the error is at the second. The proposed name
    // is that of the inner type, `Batch<Summarize> as Summarize`, if that is free.
    if checked.index(label) != Some(index) {
        let (shown, proposed) = match inner_type_name(&stop.ty) {
            Some(inner) if checked.index(inner).is_none() => (shown(&stop.ty), self::text(inner)),
            _ => (text.clone(), format!("Next{text}")),
        };
        let message = format!(
            "two steps are called `{text}`; give this one a label of its own, such as `{shown} as \
             {proposed}`"
        );
        return Err(Error::new(label.span(), message));
    }
    Ok(())
}

/// For the suggested label: `Summarize` for `Batch<Summarize>`.
fn inner_type_name(ty: &Type) -> Option<&Ident> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    type_arguments(&path.path)
        .first()
        .and_then(|inner| last_name(inner))
}

/// A type as the user would write it; tokens are printed with spaces between them.
fn shown(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// What the compiler would report in the words of generated code.
fn check_type(stop: &FlowStep) -> syn::Result<()> {
    if let Some(at) = non_static_lifetime(&stop.ty) {
        let message = "a step owns its values, so that it can run again; drop the lifetime";
        return Err(Error::new(at, message));
    }
    // The runtime has impls for tuples of these lengths.
    if let Type::Tuple(tuple) = bare(&stop.ty)
        && !(2..=8).contains(&tuple.elems.len())
    {
        let message =
            "two to eight steps can run side by side, such as `(Weather, News) as Gather`";
        return Err(Error::new_spanned(tuple, message));
    }
    Ok(())
}

/// Texts and numbers cannot all be listed, so these may have a catch-all.
/// A `_` would take actions that are added to the enum later, without a word. For
/// enums the compiler then reports the missing arm, which is the reason to have
/// actions at all.
fn reject_catch_all(exit: &Exit, errors: &mut Errors) {
    let Exit::Match(arms) = exit else { return };
    if arms.iter().any(|arm| is_open_ended(&arm.pattern)) {
        return;
    }
    for Arm { pattern, .. } in arms {
        if let Some(all) = catch_all_pattern(pattern) {
            let message = format!(
                "`{}` would also match actions that are added later; name the actions, so that the \
                 compiler reports missing ones",
                all.to_token_stream()
            );
            errors.push(Error::new_spanned(all, message));
        }
    }
}

/// An arm `Search` is the variant of that name, unless a step has the name: then it would be the node. With a second name
/// beside it, that cannot be the action's type.
fn check_arms(flow: &Flow, exit: &Exit) -> syn::Result<()> {
    let Exit::Match(arms) = exit else {
        return Ok(());
    };
    let names: Vec<&Ident> = arms
        .iter()
        .filter_map(|arm| bare_variant(&arm.pattern))
        .collect();
    let is_alone = names.iter().all(|name| *name == names[0]);
    let Some(name) = names
        .iter()
        .find(|name| is_step(flow, name))
        .filter(|_| !is_alone)
    else {
        return Ok(());
    };
    let message = format!(
        "`{name}` is a step here; write the variant with its type: `Action::{name}` for a type `Action`"
    );
    Err(Error::new(name.span(), message))
}

/// Whether a step's type is the name alone.
fn is_step(flow: &Flow, name: &Ident) -> bool {
    flow.step_list
        .iter()
        .any(|stop| matches!(bare(&stop.ty), Type::Path(path) if path.path.is_ident(name)))
}

/// Whether `end` has a value must fit the flow's own action: a flow decides
/// something for the flow around it, or nothing.
fn check_end_value(flow: &Flow, stop: &FlowStep) -> syn::Result<()> {
    let name = &flow.ident;
    let decides = flow.action.as_ref().is_some_and(|action| !is_unit(action));
    for target in stop.exit.targets() {
        match target {
            Target::End(end, None) if decides => {
                let message = format!("`{name}` returns a value; pass it to `end(…)`");
                return Err(Error::new(end.span(), message));
            }
            Target::End(end, Some(action)) if flow.action.is_none() => {
                let message = format!(
                    "`{name}` returns nothing; add a type, `{name}(…) -> Type: …`, or write \
                     `{end}` alone"
                );
                return Err(Error::new_spanned(action, message));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_unit(ty: &Type) -> bool {
    matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Whether all targets are labels. The error of one is at its arrow.
fn targets(flow: &Flow, checked: &CheckedFlow, errors: &mut Errors) -> bool {
    let mut all_exist = true;
    for target in flow.step_list.iter().flat_map(|stop| stop.exit.targets()) {
        let Target::Step(label) = target else {
            continue;
        };
        if checked.index(label).is_some() {
            continue;
        }
        all_exist = false;
        errors.push(Error::new(
            label.span(),
            unknown_label(&text(label), flow, checked),
        ));
    }
    all_exist
}

/// A step `Batch<Summarize>` is called `Batch`, and many write the inner name: then
/// the remedy is a label and no other spelling.
fn unknown_label(label: &str, flow: &Flow, checked: &CheckedFlow) -> String {
    if let Some(stop) = flow.step_list.iter().find(|stop: &&FlowStep| {
        inner_type_name(&stop.ty).is_some_and(|inner| text(inner) == label)
    }) {
        let shown = shown(&stop.ty);
        return format!(
            "no step is called `{label}`; write `{shown} as {label}` where `{shown}` stands"
        );
    }
    let mut labels: Vec<&str> = checked.labels.iter().map(String::as_str).collect();
    labels.retain(|label| !label.is_empty());
    labels.push("end");
    let all = format!("there are {}", list(labels.iter().copied()));
    unknown("no step is called", label, labels, &all)
}

/// Dead ends are reported only if every step is reachable. Returns them.
fn check_reachability(flow: &Flow, checked: &CheckedFlow, errors: &mut Errors) -> Vec<usize> {
    // Two kinds of faults. A step that nothing leads to is reported first, and
    // alone: what is unreached often does not lead to the end either, for the same
    // reason.
    let graph = graph(flow, checked);

    let unreached = graph.unreached();
    for step in &unreached {
        let message = format!(
            "no step leads to `{}`, and the flow begins with `{}`; add an arrow to it, or drop it",
            checked.labels[*step], checked.labels[0]
        );
        errors.push(Error::new(step_name(flow, *step).span(), message));
    }
    let stuck = graph.stuck();
    let Some(first) = stuck.first().filter(|_| unreached.is_empty()) else {
        return vec![];
    };
    // If no step leads to the end, the fault is the flow's; otherwise it is at the
    // first step from which there is no way out.
    let (at, message) = if stuck.len() == graph.edges.len() {
        let message = format!("`{}` never ends: no step leads to `end`", flow.ident);
        (&flow.ident, message)
    } else {
        let names = any_of(stuck.iter().map(|step| &*checked.labels[*step]));
        (
            step_name(flow, *first),
            format!("no path leads from {names} to `end`, so the flow would never end"),
        )
    };
    errors.push(Error::new(at.span(), message));
    stuck
}

/// Where a fault of the step is reported.
fn step_name(flow: &Flow, step: usize) -> &Ident {
    let label = flow.step_list[step].label.as_ref();
    label.unwrap_or(&flow.ident)
}

/// Edges by numbers, and whether a step may end the flow.
fn graph(flow: &Flow, checked: &CheckedFlow) -> Graph {
    let mut edges = vec![];
    let mut out = vec![];
    for step in &flow.step_list {
        edges.push(successors(step, checked));
        out.push(leads_out(step));
    }
    Graph { edges, out }
}

/// Targets that do not exist were reported; they lead nowhere.
fn successors(step: &FlowStep, checked: &CheckedFlow) -> Vec<usize> {
    let mut found = vec![];
    for target in step.exit.targets() {
        if let Target::Step(label) = target {
            found.extend(checked.index(label));
        }
    }
    found
}

/// Whether the flow may end after the step. An empty `match` counts: the step has
/// no action, so the flow never continues from it.
fn leads_out(step: &FlowStep) -> bool {
    let targets = step.exit.targets();
    targets.is_empty()
        || targets
            .iter()
            .any(|target| !matches!(target, Target::Step(_)))
}
