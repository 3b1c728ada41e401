//! From arguments and item to a `NodeModel`; all faults of an invocation are reported in one run.
//!
//! The order is that of certainty. Without a prompt nothing else is looked at;
//! without names of fields neither prompts nor steps can be checked. From then on
//! every check runs, whatever the others found, and each is silent where an unknown
//! argument may be the one that it misses.
//!
//! A `NodeModel` comes out only if nothing was found, probes included: probes are
//! faults that the compiler reports.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Fields, Ident, ItemStruct, Type};

use super::args::NodeArgs;
use super::faults::Faults;
use super::field::{self, Mark, Role};
use super::model::NodeModel;
use super::recover::{self, AnswerKind};
use super::smart;
use super::step::{self, Prep};
use super::tools;
use super::variables::Variables;
use crate::choices::Choice;
use crate::crate_path;
use crate::diagnostics::attribute_span;
use crate::macro_args::{items, key, value};
use crate::prompt::source::Source;

pub(crate) fn check<'a>(
    args: &'a NodeArgs,
    item: &'a ItemStruct,
    marks: &[Mark],
    preps: &'a [Option<Prep>],
    faults: &mut Faults,
) -> Option<NodeModel<'a>> {
    // Without its prompt hardly anything is known of the node: what else seems
    // wrong with it may follow from that alone.
    if !check_prompt_is_there(args, item, faults) {
        return None;
    }
    check_combinations(args, item, marks, faults);
    if !check_field_names(item, faults) {
        return None;
    }
    // Checks of the parts, each in its own file.
    let preparation = step::check(args, item, preps, faults);
    smart::check(args, item, marks, faults);
    let history = field::marked(item, marks, Role::History);
    // With a goal, the runtime writes the prompt from the fields: there is no
    // template. `Some(vec![])` stands for a prompt that is there and has no parts
    // of its own.
    let (system, prompt) = if args.goal.is_some() {
        (None, Some(vec![]))
    } else {
        let mut variables = Variables::new(item, args, history, faults);
        let system = args
            .system
            .as_ref()
            .and_then(|argument| variables.read(argument));
        let prompt = args
            .prompt
            .as_ref()
            .and_then(|argument| variables.read(argument));
        // Without a prompt (an unknown argument may be it) each field would be
        // reported as unused.
        if args.prompt.is_some() {
            variables.unused(marks);
        }
        (system, prompt)
    };
    let prompt = prompt.filter(|_| faults.is_clean())?;
    // The compiler has to know the files that were read, or it would not build
    // again after an edit.
    let files = [value(&args.system), value(&args.prompt)]
        .into_iter()
        .flatten();
    Some(NodeModel {
        item,
        args,
        krate: crate_path::resolve(&args.krate),
        system: system.unwrap_or_default(),
        prompt,
        files: files.filter_map(Source::file).collect(),
        history,
        held_model: field::marked(item, marks, Role::Model),
        toolset: field::marked(item, marks, Role::Tools),
        output: value(&args.output),
        state: value(&args.state),
        preparation,
    })
}

/// Whether a list is right is the compiler's to say. What it would say in terms of
/// the generated function is said here.
fn check_choices(args: &NodeArgs, item: &ItemStruct, faults: &mut Faults) {
    let Some(key) = key(&args.choices) else {
        return;
    };
    if args.output.is_none() && !args.has_unknown_keys {
        let message = "`choices` says which values the output may have; add `output = …`";
        return faults.push(Error::new(key.span(), message));
    }
    if let Some(at) = items(&args.choices)
        .iter()
        .find_map(Choice::state)
        .filter(|_| args.state.is_none())
    {
        faults.push(Error::new(
            at,
            "`state` is the program's state; name its type with `state = …`",
        ));
    }
    // A lower-case name at the beginning is a variable, and there is none but the
    // fields, `self` and `state`.
    for name in items(&args.choices)
        .iter()
        .filter_map(Choice::begins_with)
        .filter(|name| !begins_a_list(name, item))
    {
        let message = format!(
            "`{name}` is not a field of the node; a list of the program's state is written \
             `state.inventory`, for its field `inventory`"
        );
        faults.push(Error::new(name.span(), message));
    }
}

/// What the expression of a list may begin with.
fn begins_a_list(name: &Ident, item: &ItemStruct) -> bool {
    let mut fields = item.fields.iter();
    name == "self" || name == "state" || fields.any(|field| field.ident.as_ref() == Some(name))
}

/// At the attribute, since there is no token to underline.
fn check_prompt_is_there(args: &NodeArgs, item: &ItemStruct, faults: &mut Faults) -> bool {
    // An unknown key may be a misspelt `prompt`.
    if args.prompt.is_some() || args.goal.is_some() || args.has_unknown_keys {
        return true;
    }
    let documented = item
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("doc"));
    let remedy = if documented {
        "add `prompt = \"…\"` or `prompt_file = \"…\"`; the doc comment is not sent"
    } else {
        "add `prompt = \"…\"` or `prompt_file = \"…\"`"
    };
    let message = format!("missing `prompt`; {remedy}");
    faults.push(Error::new(attribute_span(&item.ident), message));
    false
}

/// What each argument needs of another one.
fn check_combinations(args: &NodeArgs, item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    // How an answer is read decides which arguments make sense: raw text is never
    // invalid, so nothing of it is asked again.
    let answers = match (&args.output, &args.validate) {
        (Some(_), _) => AnswerKind::Typed,
        _ if args.think.is_some() || args.form.is_some() => AnswerKind::Typed,
        (None, Some(_)) => AnswerKind::ValidatedText,
        // It may also be the output.
        (None, None) if args.has_unknown_keys => AnswerKind::Typed,
        (None, None) => AnswerKind::RawText,
    };
    if let Some(retries) = args
        .retries
        .as_ref()
        .filter(|retries| retries.value.is_some_and(|count| count > 0))
        && answers == AnswerKind::RawText
    {
        let message = "`retries` asks again after an invalid answer, and nothing validates raw \
                       text; add `output = …` or `validate = path`, or drop `retries`";
        faults.push(Error::new(retries.key.span(), message));
    }
    if let Some(exact) = key(&args.exact).filter(|_| answers != AnswerKind::Typed) {
        let message = "`exact` says how JSON is read, and this node's answer is raw text; add \
                       `output = …`, or drop `exact`";
        faults.push(Error::new(exact.span(), message));
    }
    recover::check(args, answers, &mut faults.errors);
    tools::check(args, item, marks, faults);
    check_choices(args, item, faults);
    if let Some(Type::Reference(reference)) = value(&args.state) {
        let message = "`state` names the type itself; write it without `&`";
        faults.push(Error::new(reference.and_token.span(), message));
    }
}

/// A tuple struct has no names for a prompt; without fields there is nothing to
/// check against.
fn check_field_names(item: &ItemStruct, faults: &mut Faults) -> bool {
    if let Fields::Unnamed(fields) = &item.fields {
        let message = "a node's fields are the variables of its prompt, so they need names; write \
                       a struct with named fields";
        faults.push(Error::new(fields.span(), message));
        return false;
    }
    for field in &item.fields {
        if let Some(name) = field.ident.as_ref().filter(|name| name.unraw() == "state") {
            let message = "a field cannot be called `state`, because prompts name the program's \
                           state that way; rename it";
            faults.push(Error::new(name.span(), message));
        }
    }
    true
}
