//! Keys that complete in an editor and show their docs under the cursor, and spans
//! that lead to one place.
//!
//! While rust-analyzer expands, the expansion also imports each identifier in the
//! place of a key from a module that has an item for every key. The compiler never
//! sees these imports: it would only spend time on them.
//!
//! Generated tokens have spans of the program's, so that the compiler underlines
//! what is wrong. An editor takes each of them for what stands there, so while
//! rust-analyzer expands, only the program's own tokens keep a place in it.

use std::collections::HashSet;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use crate::crate_path;
use crate::generics::regrouped;

/// Whether rust-analyzer expands, and not the compiler.
/// By the name of the program: rust-analyzer expands in a server of its own. There
/// is no other way to know it, and what depends on it is only for the eye.
pub(crate) fn is_editor() -> bool {
    static EDITOR: LazyLock<bool> = LazyLock::new(|| {
        let program = std::env::current_exe().unwrap_or_default();
        program
            .file_stem()
            .is_some_and(|name| name.to_string_lossy().starts_with("rust-analyzer"))
    });
    *EDITOR
}

/// Nothing while the compiler expands.
pub(crate) fn completion_imports(
    name: &str,
    arguments: &TokenStream,
    item: &TokenStream,
) -> TokenStream {
    if is_editor() {
        imports(name, arguments, item)
    } else {
        TokenStream::new()
    }
}

/// The expansion, in which generated names have no place in the program while
/// rust-analyzer expands.
pub(crate) fn with_own_places(written: &[&TokenStream], expansion: TokenStream) -> TokenStream {
    if !is_editor() {
        return expansion;
    }
    let mut written_tokens = HashSet::new();
    for tokens in written {
        gather((*tokens).clone(), &mut written_tokens);
    }
    placed(expansion, &written_tokens)
}

/// The tokens that the user wrote, by text and place.
fn gather(tokens: TokenStream, written_tokens: &mut HashSet<String>) {
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            gather(group.stream(), written_tokens);
        } else {
            written_tokens.insert(text_and_place(&token));
        }
    }
}

/// Whatever the names mean there.
/// Places print as byte ranges of a file. The same token with another hygiene is
/// the same place.
fn text_and_place(token: &TokenTree) -> String {
    format!("{token} {:?}", token.span().resolved_at(Span::mixed_site()))
}

/// Literals stay: the variables of a prompt are found in copies of it that are blank but for one.
fn placed(tokens: TokenStream, written_tokens: &HashSet<String>) -> TokenStream {
    let tokens = tokens.into_iter();
    tokens
        .map(|token| placed_token(token, written_tokens))
        .collect()
}

fn placed_token(mut token: TokenTree, written_tokens: &HashSet<String>) -> TokenTree {
    match &token {
        TokenTree::Group(group) => regrouped(group, placed(group.stream(), written_tokens)).into(),
        TokenTree::Literal(_) => token,
        _ if written_tokens.contains(&text_and_place(&token)) => token,
        _ => {
            token.set_span(Span::mixed_site().resolved_at(token.span()));
            token
        }
    }
}

/// An import for each key that is written, in the form that makes an editor
/// complete it and show its documentation. Keys that do not exist are imported as
/// well, since completion starts from an incomplete one.
fn imports(name: &str, arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut found = vec![];
    keys(name, arguments.clone(), &mut found);
    helpers(item.clone(), &mut found);
    let krate = crate_path::written(arguments);
    // As a list: for an incomplete key, the editor looks at the surrounding tokens.
    let uses = found.iter().map(|(module, keys)| {
        let module = Ident::new(module, Span::mixed_site());
        quote!(use #krate::__private::keys::#module::{#(#keys as _,)*};)
    });
    quote!(const _: () = { #(#uses)* };)
}

/// The keys of one list of arguments, and by recursion those of the lists in it.
/// `module` is the module with the items of such keys.
fn keys(module: &str, arguments: TokenStream, found: &mut Vec<(String, Vec<Ident>)>) {
    let mut here = vec![];
    let mut key: Option<Ident> = None;
    // Whether a key may begin here: at the start, and behind a comma that is not
    // within `<..>`.
    let mut begins = true;
    let mut angles = 0;
    for token in arguments {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' && angles <= 0 => {
                (begins, key) = (true, None);
                continue;
            }
            TokenTree::Punct(punct) => {
                angles += i32::from(punct.as_char() == '<') - i32::from(punct.as_char() == '>')
            }
            TokenTree::Ident(ident) if begins => {
                // An item's name cannot be a keyword such as `crate`.
                here.extend(syn::parse_str::<Ident>(&ident.to_string()).map(|_| ident.clone()));
                key = Some(ident);
            }
            TokenTree::Group(group) => {
                if let Some(inside) = key
                    .as_ref()
                    .and_then(|key| list(module, key, group.delimiter()))
                {
                    keys(inside, group.stream(), found);
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
        begins = false;
    }
    found.push((module.to_owned(), here));
}

/// Which lists of arguments have keys in them, and the module of those.
fn list(module: &str, key: &Ident, delimiter: Delimiter) -> Option<&'static str> {
    match (module, delimiter) {
        ("llm_node", Delimiter::Parenthesis) if key == "limits" => Some("limits"),
        ("llm_node", Delimiter::Parenthesis) if key == "recover" => Some("recover"),
        ("recover", Delimiter::Bracket) => Some("steps"),
        _ => None,
    }
}

/// The keys of `#[node(..)]` on fields, wherever they stand in the item.
fn helpers(item: TokenStream, found: &mut Vec<(String, Vec<Ident>)>) {
    for token in item {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let mut inside = group.stream().into_iter();
        match (inside.next(), inside.next()) {
            (Some(TokenTree::Ident(node)), Some(TokenTree::Group(arguments))) if node == "node" => {
                keys("field", arguments.stream(), found);
            }
            _ => helpers(group.stream(), found),
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::imports;

    fn imported(arguments: TokenStream, item: TokenStream) -> Vec<String> {
        let text = imports("llm_node", &arguments, &item)
            .to_string()
            .replace(' ', "")
            .replace("as_,", " ");
        let parts = text.split("__private::keys::").skip(1);
        parts
            .map(|part| part.split("};").next().unwrap().trim().to_owned())
            .collect()
    }

    #[test]
    fn identifiers_at_key_positions_are_imported() {
        let arguments = quote! {
            prompt = "{a}", out, output = Map<String, Vec<u8>>, crate = ::other,
            limits(requests = 5, tok), recover(schema_error = [retry(2, 1s), fall], answer)
        };
        let item = quote! { struct Ask { #[node(sk)] a: u8, #[serde(rename = "c")] b: u8 } };
        assert_eq!(
            imported(arguments.clone(), item),
            [
                "limits::{requests tok",
                "steps::{retry fall",
                "recover::{schema_error answer",
                "llm_node::{prompt out output limits recover",
                "field::{sk",
            ]
        );
        assert!(
            imports("llm_node", &arguments, &quote!())
                .to_string()
                .contains("use :: other :: __private")
        );
    }

    #[test]
    fn an_argument_that_is_not_written_yet_does_no_harm() {
        for arguments in [
            "",
            "prompt =",
            ", , 5 = >",
            "limits(",
            "crate",
            "crate = ",
            "crate = 5",
            "< , >> a ,",
        ] {
            let Ok(arguments) = arguments.parse() else {
                continue;
            };
            imported(arguments, quote!(struct));
        }
    }

    /// Every key of the macros completes.
    #[test]
    fn every_key_has_an_item() {
        let runtime = include_str!("../../src/__private/keys.rs");
        let has = |module: &str, key: &str| {
            let (_, items) = runtime.split_once(&format!("\n    {module} {{\n")).unwrap();
            let (items, _) = items.split_once("\n    }\n").unwrap();
            items
                .lines()
                .any(|line| line.ends_with(&format!("\" {key}")))
        };
        for key in crate::node::keys().filter(|key| *key != "crate") {
            assert!(
                has("llm_node", key),
                "describe `{key}` in src/__private/keys.rs"
            );
        }
    }
}
