//! The macros of llmnode; use them through the `llmnode` crate.

mod action;
#[cfg(test)]
mod anything;
mod by_hand;
mod configured;
mod crate_path;
mod diagnostics;
mod doubled;
#[cfg(test)]
mod expansions;
mod flow;
mod generics;
mod item;
mod keyed;
mod keys;
mod names;
mod node;
mod output;
mod prompt;
mod show;
mod validate;
mod values;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;

/// Makes a struct a node: its fields fill the variables of a prompt.
#[proc_macro_attribute]
pub fn llm_node(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded("llm_node", node::expand, arguments, item)
}

/// Makes a type one that a model answers with: derives what that needs, and dives into its fields' validators.
#[proc_macro_attribute]
pub fn llm_output(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded("llm_output", output::expand, arguments, item)
}

/// On an impl block: each method is a validator. On a definition with its own derives, by the path
/// `#[llmnode::validate]`: dives into its fields' validators.
#[proc_macro_attribute]
pub fn validate(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded("validate", validate::expand, arguments, item)
}

/// On the one impl of a step that is written by hand: its parts go to `Node`, `Exec` and `Step`.
#[proc_macro_attribute]
pub fn step(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (arguments, item) = (Tokens::from(arguments), Tokens::from(item));
    show::shown("#[step]", show::named(item.clone()), by_hand::expand(arguments, item)).into()
}

/// Declares a flow: its steps, and what follows from what each decides.
#[proc_macro]
pub fn flow(tokens: TokenStream) -> TokenStream {
    let tokens = Tokens::from(tokens);
    show::shown("flow!", flow::named(&tokens), flow::expand(tokens)).into()
}

/// Makes an enum what a step decides: its variants have names, and one is made of a reference to it.
#[proc_macro_derive(Action, attributes(action))]
pub fn action(item: TokenStream) -> TokenStream {
    let item = Tokens::from(item);
    show::shown("#[derive(Action)]", show::named(item.clone()), action::expand(item)).into()
}

fn expanded(
    name: &str,
    expand: fn(Tokens, Tokens) -> Tokens,
    arguments: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let (arguments, item) = (Tokens::from(arguments), Tokens::from(item));
    let mut expansion = keys::completed(name, &arguments, &item);
    let doubled::Single { arguments, item, replaced, errors } = doubled::refuse(name, arguments, item);
    expansion.extend(errors.into_tokens());
    if replaced {
        expansion.extend(item);
    } else {
        expansion.extend(show::shown(
            &format!("#[{name}]"),
            show::named(item.clone()),
            expand(arguments, item),
        ));
    }
    expansion.into()
}
