//! `#[tool]`: makes a function a node, whose arguments a model writes.
//!
//! Parameters by value come from the model. References come from the program: the
//! state, and the context. The exceptions are `&str` and slices, which borrow from
//! the arguments.
//!
//! The function stays as it is. Beside it stands a struct with the arguments as
//! owned fields (`owned.rs`), which is a node: its `exec` calls the function. The
//! path is the same as of the other macros:
//!
//! 1. `args.rs` and `parameter.rs` parse the attribute and say of each parameter
//!    where its value comes from.
//! 2. `model.rs` is the tool that is right; on a fault there is none, and the
//!    struct gets stub impls.
//! 3. `emit.rs` writes the struct and its impls, `arguments.rs` how the model's JSON becomes it.

mod args;
pub(crate) mod arguments;
mod emit;
mod model;
mod name;
mod owned;
mod parameter;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Error, FnArg, GenericParam, Item, ItemFn, ItemStruct, LitStr, ReturnType, Type};

use crate::choices::{self, Choice};
use crate::description::doc_text;
use crate::diagnostics::Errors;
use crate::generics::{bare, is_named, mentions};
use crate::macro_args::{Grammar, items, key, parse_arguments, value};
use crate::names::camel_case;
use crate::{cfg, crate_path, item};
use args::{ToolArgs, VALUES, hint};
use model::ToolModel;
pub(crate) use name::check_tool_name;
use name::{taken_by_a_type, tool_name_error};
use parameter::Parameter;

const LISTS: [(&str, &str); 1] = [("choices", choices::EXAMPLE)];

const WANTED: &str = "`#[tool]` goes on a function, such as `async fn search(word: String, state: \
                      &World) -> Result<Vec<Hit>, ShelfError>`";

const ON_A_STRUCT: &str = "`#[tool]` goes on a function; a struct becomes a tool by the word \
                           `tool`: `#[llm_node(tool, prompt = \"…\")]`";

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    if let Some(of_builds) = cfg::split("tool", &arguments, &parsed) {
        return of_builds;
    }
    let mut errors = Errors::default();
    let mut args = ToolArgs::default();
    let grammar = Grammar {
        flags: &["alone", "require_approval"],
        lists: &LISTS,
        hint,
        ..Grammar::of_values("tool", &VALUES)
    };
    // Someone who writes a description as an argument gets the hint that it is a
    // doc comment, and not that one is missing, too.
    let describes = mentions(arguments.clone(), &|key| {
        ["description", "desc", "doc"]
            .iter()
            .any(|word| key == word)
    });
    parse_arguments(arguments, &grammar, &mut errors, |key, input| {
        args.argument(key, input)
    });
    let mut function = match parsed {
        Item::Fn(function) => function,
        Item::Struct(item) => {
            errors.push(Error::new_spanned(item.struct_token, ON_A_STRUCT));
            let stub = stub_of_struct(&item, &args);
            return quote!(#item #stub #errors);
        }
        other => {
            errors.push(item::wrong_item_kind(WANTED, &other));
            return quote!(#other #errors);
        }
    };
    let is_method = function.sig.receiver().is_some();
    let parameters = parameter::parameters(&mut function, &mut errors);
    check(&function, &args, describes, &mut errors);
    let ident = &function.sig.ident;
    let own_name = ident.unraw().to_string();
    let model = ToolModel {
        function: &function,
        ident: Ident::new(&camel_case(&own_name), ident.span()),
        name: value(&args.name).map_or(own_name, LitStr::value),
        parameters,
        krate: crate_path::resolve(&args.krate),
        args: &args,
    };
    check_choices(&model, &mut errors);
    if !is_method && let Some(error) = taken_by_a_type(&function.sig, &model.ident) {
        errors.push(error);
        // The type is there: it stands for the tool where a node lists it.
        let stub = emit::stub(&model.ident, &model.name, &model.krate);
        return quote!(#function #stub #errors);
    }
    // A method gets no stub: a struct cannot stand within an impl.
    let tool = match (errors.is_empty(), is_method) {
        (true, _) => Some(emit::emit(&model)),
        (false, false) => Some(emit::stub_of_function(&model)),
        (false, true) => None,
    };
    let lint = owned_arguments(&model.parameters);
    quote!(#lint #function #tool #errors)
}

/// clippy's pedantic lints propose a reference, which a tool cannot take of most types.
fn owned_arguments(parameters: &[Parameter]) -> Option<TokenStream> {
    let owns = parameters.iter().any(|parameter| {
        matches!(
            parameter,
            Parameter::Argument {
                by_reference: false,
                ..
            }
        )
    });
    owns.then(|| quote!(#[allow(clippy::needless_pass_by_value)]))
}

/// None for a node, which has its own impls.
fn stub_of_struct(item: &ItemStruct, args: &ToolArgs) -> Option<TokenStream> {
    let is_node = item
        .attrs
        .iter()
        .any(|attribute| is_named(attribute.path(), "llm_node"));
    if is_node || !item.generics.params.is_empty() {
        return None;
    }
    let name = item.ident.to_string();
    let krate = crate_path::resolve(&args.krate);
    Some(emit::stub(&item.ident, &name, &krate))
}

/// As for nodes; the state is a parameter here.
fn check_choices(model: &ToolModel<'_>, errors: &mut Errors) {
    if let Some(at) = items(&model.args.choices)
        .iter()
        .find_map(Choice::state)
        .filter(|_| model.state().is_none())
    {
        let message = "`state` is the program's state, and this tool takes none; add a parameter \
                       such as `state: &World`";
        errors.push(Error::new(at, message));
    }
}

/// `describes`: an argument was intended as the description.
/// What the function is, apart from its parameters. Each fault is independent of
/// the others.
fn check(function: &ItemFn, args: &ToolArgs, describes: bool, errors: &mut Errors) {
    let signature = &function.sig;
    if let Some(receiver) = signature
        .inputs
        .iter()
        .find(|input| matches!(input, FnArg::Receiver(_)))
    {
        let message = "a tool is a function without `self`; write it outside of the `impl`, with \
                       `state: &World` for what it needs";
        errors.push(Error::new_spanned(receiver, message));
    }
    // The lifetime belongs to a reference that was already reported.
    let explains_lifetimes = !errors.is_empty();
    if let Some(parameter) = signature.generics.params.first()
        && !(explains_lifetimes && matches!(parameter, GenericParam::Lifetime(_)))
    {
        let message =
            "a tool has one schema, so its function cannot be generic; write the types out";
        errors.push(Error::new_spanned(parameter, message));
    }
    if doc_text(&function.attrs).is_none() && !describes {
        let message =
            "a model chooses a tool by its description; write a doc comment above the function";
        errors.push(Error::new(signature.ident.span(), message));
    }
    if args.name.is_none()
        && let Some(fault) = tool_name_error(&signature.ident.unraw().to_string())
    {
        errors.push(Error::new(signature.ident.span(), fault));
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Some(reference) = owned::reference(ty)
    {
        let message = "a tool cannot return references; return a value of its own, such as a clone";
        errors.push(Error::new_spanned(reference, message));
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Type::ImplTrait(ty) = bare(ty)
    {
        errors.push(Error::new_spanned(
            ty,
            "a tool returns one type; write `async fn` and the type that it returns",
        ));
    }
    if let (Some(idempotent), Some(attempts)) = (value(&args.idempotent), key(&args.attempts))
        && !idempotent
        && value(&args.attempts).is_some_and(|attempts| *attempts > 1)
    {
        let message =
            "`attempts` repeats the tool, and `idempotent = false` forbids it; drop one of them";
        errors.push(Error::new(attempts.span(), message));
    }
}
