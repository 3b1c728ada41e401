//! `tools = [Search, Summarize]`: the tools that the model may call.
//!
//! Tools are listed by their types, since a model makes their values. Whether a
//! type is a tool, and one for the node's state, the compiler says at its place in
//! the list. Tools that are known at run time alone are a field of the node.

mod check;
mod emit;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Error, Lit, Token, Type, bracketed, token};

use crate::generics::{last_name, pretty_print};

pub(crate) use check::{check, refuse_attribute};
pub(crate) use emit::{as_tool, emit, item, strip_derive_attributes};

/// At least one type, none twice: two tools of one name could not be told apart by
/// a model.
pub(super) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Vec<Type>> {
    const EXAMPLE: &str = "`tools` takes a list of types, such as `tools = [Search, Summarize]`; \
         tools that are known at run time are a field: `#[node(tools)] tools: Toolset`";
    if !input.peek(token::Bracket) {
        return Err(Error::new(
            if input.is_empty() {
                key.span()
            } else {
                input.span()
            },
            EXAMPLE,
        ));
    }
    let list;
    bracketed!(list in input);
    let mut tools: Vec<Type> = vec![];
    while !list.is_empty() {
        let tool = tool(&list)?;
        let written = tool.to_token_stream().to_string();
        if tools
            .iter()
            .any(|one| one.to_token_stream().to_string() == written)
        {
            return Err(Error::new_spanned(
                tool,
                "this tool is listed twice; drop one of them",
            ));
        }
        tools.push(tool);
        if !list.is_empty() {
            list.parse::<Token![,]>()
                .map_err(|error| Error::new(error.span(), "expected `,` before the next tool"))?;
        }
    }
    if tools.is_empty() {
        return Err(Error::new(
            key.span(),
            "`tools` lists no tool; add one, or drop `tools`",
        ));
    }
    Ok(tools)
}

/// What is often in the list and is no type of a tool: a text, a call, the function
/// that `#[tool]` stands on.
fn tool(list: ParseStream<'_>) -> syn::Result<Type> {
    if list.peek(Lit) {
        let written: Lit = list.parse()?;
        return Err(Error::new_spanned(
            written,
            "a tool is listed by its type, not as a text; write `tools = [Search]`",
        ));
    }
    let tool: Type = list.parse().map_err(|error: Error| {
        Error::new(
            error.span(),
            "a tool is listed by its type, such as `tools = [Search]`",
        )
    })?;
    if list.peek(token::Paren) || list.peek(token::Brace) {
        let message =
            "a tool is listed by its type, and the model makes the calls; write `tools = [Search]`";
        return Err(Error::new_spanned(tool, message));
    }
    if let Some(name) =
        last_name(&tool).filter(|name| name.to_string().starts_with(char::is_lowercase))
    {
        let type_name = crate::names::camel_case(&name.to_string());
        let whole = type_path(&tool, &type_name);
        let message = format!(
            "`#[tool] fn {name}` makes the type `{type_name}`, which is listed; write `tools = \
             [{whole}]`; tools that are known at run time, such as an MCP server's, are a field: \
             `#[node(tools)] tools: Toolset`"
        );
        return Err(Error::new_spanned(&tool, message));
    }
    Ok(tool)
}

/// `tools::search` of the function becomes `tools::Search`.
fn type_path(function: &Type, type_name: &str) -> String {
    let path = pretty_print(function);
    match path.rsplit_once("::") {
        Some((modules, _)) => format!("{modules}::{type_name}"),
        None => type_name.to_owned(),
    }
}
