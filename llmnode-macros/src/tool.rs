//! `#[tool]`: a node of a function, whose parameters are the arguments that a model writes.
//!
//! What the function takes by value comes from the model. What it takes by reference comes from the program: the state, and the
//! context. `&str` and slices are lent out of the arguments.

pub(crate) mod arguments;
mod emit;
mod parameter;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, FnArg, Item, ItemFn, LitStr, Path, ReturnType, Type};

use crate::diagnostics::Errors;
use crate::generics::bare;
use crate::keyed::{Grammar, Slot, fill, key, parse_arguments, value};
use crate::names::camel_case;
use crate::node::description::description;
use crate::node::time::{Time, Wait};
use crate::values::{filled, text, truth, whole};
use crate::{crate_path, item};
use parameter::Parameter;

const WANTED: &str = "`#[tool]` goes on a function, such as `async fn search(word: String, state: &World) -> Result<Vec<Hit>, ShelfError>`";

const VALUES: [&str; 6] = ["name", "attempts", "wait", "deadline", "idempotent", "crate"];

/// The arguments as given.
#[derive(Default)]
struct ToolArgs {
    name: Slot<LitStr>,
    attempts: Slot<u32>,
    wait: Slot<Wait>,
    deadline: Slot<Time>,
    idempotent: Slot<bool>,
    alone: Slot<()>,
    require_approval: Slot<()>,
    krate: Slot<Path>,
}

impl ToolArgs {
    fn argument(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => fill(&mut self.name, key.clone(), filled(text(input, &key, ""), &key)),
            "attempts" => fill(&mut self.attempts, key.clone(), whole(input, &key, 1)),
            "wait" => fill(&mut self.wait, key, Wait::parse(input)),
            "deadline" => fill(&mut self.deadline, key.clone(), Time::parse_above_zero(input, &key)),
            "idempotent" => fill(&mut self.idempotent, key, truth(input)),
            "alone" => fill(&mut self.alone, key, Ok(())),
            "require_approval" => fill(&mut self.require_approval, key, Ok(())),
            _ => crate_path::parse(input, key, &mut self.krate),
        }
    }
}

/// A tool after all checks.
struct ToolModel<'a> {
    function: &'a ItemFn,
    /// The struct of the arguments.
    ident: Ident,
    name: String,
    parameters: Vec<Parameter>,
    args: &'a ToolArgs,
    krate: Path,
}

impl ToolModel<'_> {
    /// The state that it takes, by itself or in a context.
    fn state(&self) -> Option<&Type> {
        self.parameters.iter().find_map(Parameter::state)
    }
}

/// Expands `#[tool(arguments)] fn ..`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    let (mut errors, mut args) = (Errors::default(), ToolArgs::default());
    let grammar = Grammar { words: &["alone", "require_approval"], ..Grammar::of_values("tool", &VALUES) };
    parse_arguments(arguments, &grammar, &mut errors, |key, input| args.argument(key, input));
    let mut function = match parsed {
        Item::Fn(function) => function,
        other => {
            errors.push(item::misplaced(WANTED, &other));
            let errors = errors.into_tokens();
            return quote!(#other #errors);
        }
    };
    let is_method = function.sig.receiver().is_some();
    let parameters = parameter::parameters(&mut function, &mut errors);
    check(&function, &args, &mut errors);
    let ident = &function.sig.ident;
    let own_name = ident.unraw().to_string();
    let model = ToolModel {
        function: &function,
        ident: Ident::new(&camel_case(&own_name), ident.span()),
        name: value(&args.name).map_or(own_name, LitStr::value),
        parameters,
        krate: crate_path::resolve(value(&args.krate)),
        args: &args,
    };
    let tool = match (errors.is_empty(), is_method) {
        (true, _) => Some(emit::emit(&model)),
        (false, false) => Some(emit::stub(&model)),
        (false, true) => None,
    };
    let errors = errors.into_tokens();
    quote!(#function #tool #errors)
}

fn check(function: &ItemFn, args: &ToolArgs, errors: &mut Errors) {
    let signature = &function.sig;
    if let Some(receiver) = signature.inputs.iter().find(|input| matches!(input, FnArg::Receiver(_))) {
        let message = "a tool is a function without `self`; write it outside of the `impl`, with `state: &World` for what it needs";
        errors.push(Error::new_spanned(receiver, message));
    }
    if let Some(parameter) = signature.generics.params.first() {
        let message = "a tool has one schema, so its function cannot be generic; write the types out";
        errors.push(Error::new_spanned(parameter, message));
    }
    if description(&function.attrs).is_none() {
        let message = "a model chooses a tool by its description; write a doc comment above the function";
        errors.push(Error::new(signature.ident.span(), message));
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
        let message = "`attempts` repeats the tool, and `idempotent = false` forbids it; drop one of them";
        errors.push(Error::new(attempts.span(), message));
    }
}
