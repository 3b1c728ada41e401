//! `tools = [Search, Summarize]`: the tools that the model may call.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Attribute, DeriveInput, Error, Generics, ItemStruct, Lit, LitStr, Token, Type, bracketed, token};

use super::Faults;
use super::args::NodeArgs;
use super::bounds::field_type;
use super::description::description;
use super::field::Mark;
use super::model::NodeModel;
use crate::generics::{end_spans, last_name, pretty_print};
use crate::macro_args::{key, value};
use crate::tool::arguments::{Argument, Arguments, ToolFlags};
use crate::tool::tool_name_error;

pub(super) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Vec<Type>> {
    const EXAMPLE: &str = "`tools` takes a list of tools, such as `tools = [Search, Summarize]`";
    if !input.peek(token::Bracket) {
        return Err(Error::new(if input.is_empty() { key.span() } else { input.span() }, EXAMPLE));
    }
    let list;
    bracketed!(list in input);
    let mut tools: Vec<Type> = vec![];
    while !list.is_empty() {
        let tool = tool(&list)?;
        let written = tool.to_token_stream().to_string();
        if tools.iter().any(|one| one.to_token_stream().to_string() == written) {
            return Err(Error::new_spanned(tool, "this tool is listed twice; drop one of them"));
        }
        tools.push(tool);
        if !list.is_empty() {
            list.parse::<Token![,]>()
                .map_err(|error| Error::new(error.span(), "expected `,` before the next tool"))?;
        }
    }
    if tools.is_empty() {
        return Err(Error::new(key.span(), "`tools` lists no tool; add one, or drop `tools`"));
    }
    Ok(tools)
}

fn tool(list: ParseStream<'_>) -> syn::Result<Type> {
    if list.peek(Lit) {
        let written: Lit = list.parse()?;
        return Err(Error::new_spanned(
            written,
            "a tool is listed by its type, not as a text; write `tools = [Search]`",
        ));
    }
    let no_type =
        |error: Error| Error::new(error.span(), "a tool is listed by its type, such as `tools = [Search]`");
    let tool: Type = list.parse().map_err(no_type)?;
    if list.peek(token::Paren) || list.peek(token::Brace) {
        let message = "a tool is listed by its type, and the model makes the calls; write `tools = [Search]`";
        return Err(Error::new_spanned(tool, message));
    }
    if let Some(name) = last_name(&tool).filter(|name| name.to_string().starts_with(char::is_lowercase)) {
        let made = crate::names::camel_case(&name.to_string());
        let whole = type_path(&tool, &made);
        let message = format!(
            "`#[tool] fn {name}` makes the type `{made}`, which is listed; write `tools = [{whole}]`"
        );
        return Err(Error::new_spanned(&tool, message));
    }
    Ok(tool)
}

fn type_path(function: &Type, made: &str) -> String {
    let path = pretty_print(function);
    match path.rsplit_once("::") {
        Some((modules, _)) => format!("{modules}::{made}"),
        None => made.to_owned(),
    }
}

/// If `#[tool]` stayed on the struct, its own error would be at another place.
pub(super) fn refuse_attribute(item: &mut ItemStruct, faults: &mut Faults) {
    for attribute in item.attrs.extract_if(.., |attribute| attribute.path().is_ident("tool")) {
        let message =
            "`#[tool]` goes on a function; on a node, write the word `tool` instead: `#[llm_node(tool, …)]`";
        faults.push(Error::new_spanned(attribute, message));
    }
}

pub(super) fn check(args: &NodeArgs, item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    let of_itself = |tool: &&Type| last_name(tool).is_some_and(|name| *name == item.ident);
    if let Some(tool) = value(&args.tools).and_then(|tools| tools.iter().find(of_itself)) {
        let message = "a node cannot be its own tool: it would call itself forever; drop it from the list";
        faults.push(Error::new_spanned(tool, message));
    }
    let set = marks.iter().find_map(|mark| match mark {
        Mark::Tools(at) => Some(*at),
        _ => None,
    });
    // A `Toolset` without its mark is reported at the field.
    let unmarked =
        || item.fields.iter().any(|field| last_name(&field.ty).is_some_and(|name| name == "Toolset"));
    if let (Some(turns), None, None, false) = (key(&args.turns), key(&args.tools), set, unmarked()) {
        let message = "`turns` counts the responses of a node with tools; add `tools = [..]` or a field \
                       `#[node(tools)] tools: Toolset`, or drop `turns`";
        faults.push(Error::new(turns.span(), message));
    }
    if args.tool.is_none() {
        return;
    }
    if let Some(at) = set {
        let message =
            "a model writes the fields of a tool, and cannot write tools; drop the field, or drop `tool`";
        faults.push(Error::new(at, message));
    }
    if let Some(fault) = value(&args.name).and_then(|name| tool_name_error(&name.value())) {
        faults.push(Error::new(value(&args.name).map_or_else(Span::call_site, LitStr::span), fault));
    }
    if description(&item.attrs).is_none() {
        let message = "a model chooses a tool by its description; write a doc comment above the struct";
        faults.push(Error::new(item.ident.span(), message));
    }
    if let Some(parameter) = item.generics.params.first() {
        let message = "a tool is read from JSON, so its struct has no lifetimes and is not generic; drop them, or drop `tool`";
        faults.push(Error::new_spanned(parameter, message));
    }
}

/// Spanned at each tool of the list, where one that does not fit is reported.
pub(super) fn emit(model: &NodeModel<'_>, state: &Type, private: &Ident) -> Option<TokenStream> {
    if model.tools.is_empty() && model.toolset.is_none() {
        return None;
    }
    let here = Span::mixed_site();
    let adds: TokenStream = model
        .tools
        .iter()
        .map(|tool| {
            let (at, end) = end_spans(tool);
            let add = if model.state.is_some() { "add" } else { "add_to_stateless" };
            let add = Ident::new(add, here.located_at(at));
            let to = Ident::new("__to", here.located_at(at));
            quote_spanned!(here.located_at(end)=> #to.#add::<#tool>();)
        })
        .collect();
    let set = model.toolset.as_ref().and_then(|field| {
        let at = here.located_at(end_spans(field_type(model, field)?).0);
        Some(quote_spanned!(at=> __to.extend(&self.#field);))
    });
    let turns = model.turns.map(|turns| {
        let turns = Literal::u32_unsuffixed(turns);
        quote_spanned!(here=> __to.turns(#turns);)
    });
    Some(quote_spanned! {here=>
        fn tools(&self, __to: &mut #private::Tools<#state>) { #adds #set #turns }
    })
}

/// On a tool, attributes of serde and schemars are for the arguments.
pub(super) fn item(model: &NodeModel<'_>) -> TokenStream {
    let mut item = model.item.clone();
    if model.is_tool {
        strip_derive_attributes(&mut item);
    }
    quote!(#item)
}

/// The struct itself does not have these derives.
pub(super) fn strip_derive_attributes(item: &mut ItemStruct) {
    item.fields.iter_mut().for_each(|field| field.attrs.retain(|attribute| !is_of_derives(attribute)));
}

fn is_of_derives(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

pub(super) fn as_tool(
    model: &NodeModel<'_>,
    state: &Type,
    generics: &Generics,
    private: &Ident,
) -> Option<TokenStream> {
    if !model.is_tool {
        return None;
    }
    let fields = model.item.fields.iter().filter_map(|field| {
        let kept = |attribute: &&Attribute| is_of_derives(attribute) || attribute.path().is_ident("doc");
        Some(Argument {
            name: field.ident.as_ref()?,
            ty: &field.ty,
            attributes: field.attrs.iter().filter(kept).collect(),
        })
    });
    let mut input = DeriveInput::from(model.item.clone());
    input.attrs.retain(|attribute| attribute.path().is_ident("doc"));
    let output = model.output.as_ref().map_or_else(|| end_spans(&model.item.ident), end_spans);
    let arguments = Arguments { input, list: fields.collect(), output, krate: &model.krate };
    let (header, _, _) = generics.split_for_impl();
    let tool =
        arguments.tool(&header.to_token_stream(), &state.to_token_stream(), ToolFlags::default(), private);
    let validation = arguments.validation();
    Some(quote!(#tool #validation))
}
