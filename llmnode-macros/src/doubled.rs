//! Two of the macros on one item. The upper one sees the other below it, refuses it, and keeps it from expanding, so
//! that nothing is generated twice.

use std::iter;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::Error;

use crate::diagnostics::Errors;

/// What a macro goes on with.
pub(crate) struct Single {
    pub(crate) arguments: TokenStream,
    pub(crate) item: TokenStream,
    /// Whether another macro does all that this one would.
    pub(crate) replaced: bool,
    pub(crate) errors: Errors,
}

/// Takes the macros off the item that cannot stand below the one called `name`.
pub(crate) fn refuse(name: &str, arguments: TokenStream, item: TokenStream) -> Single {
    let mut single =
        Single { arguments, item: TokenStream::new(), replaced: false, errors: Errors::default() };
    let mut tokens = item.into_iter().peekable();
    while let Some(hash) =
        tokens.next_if(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#'))
    {
        match tokens.next() {
            Some(attribute) if single.takes(name, &attribute) => {}
            attribute => single.item.extend(iter::once(hash).chain(attribute)),
        }
    }
    single.item.extend(tokens);
    single
}

impl Single {
    /// Tells whether the attribute is one to take off.
    fn takes(&mut self, name: &str, attribute: &TokenTree) -> bool {
        let Some(other) = Macro::read(attribute) else { return false };
        let at = other.name.span();
        match (name, other.name.to_string().as_str()) {
            ("llm_output", "validate") => {
                self.errors.push(covered(at));
                true
            }
            ("validate", "llm_output") => {
                if !self.replaced {
                    self.errors.push(covered(Span::call_site().resolved_at(at)));
                }
                self.replaced = true;
                false
            }
            (_, same) if same == name => {
                self.errors.push(Error::new(at, format!("`#[{name}]` is given more than once; keep one")));
                if self.arguments.is_empty() {
                    self.arguments = other.arguments;
                }
                true
            }
            _ => false,
        }
    }
}

fn covered(at: Span) -> Error {
    Error::new(at, "`#[llm_output]` does all that `#[validate]` does on a definition; drop `#[validate]`")
}

/// An attribute that may be one of the macros.
struct Macro {
    name: Ident,
    arguments: TokenStream,
}

impl Macro {
    fn read(attribute: &TokenTree) -> Option<Self> {
        let TokenTree::Group(brackets) = attribute else { return None };
        let (mut name, mut arguments, mut segments) = (None, TokenStream::new(), 0);
        let mut tokens = vec![];
        flatten(brackets.stream(), &mut tokens);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => (name, segments) = (Some(ident), segments + 1),
                TokenTree::Punct(colon) if colon.as_char() == ':' => {}
                TokenTree::Group(group) => arguments = group.stream(),
                _ => return None,
            }
        }
        let found = Self { name: name?, arguments };
        // Derives of other crates have a helper attribute of that name.
        let ours = found.name != "validate" || segments > 1 || found.takes_ours();
        ours.then_some(found)
    }

    /// Whether the arguments are those of `#[validate]`.
    fn takes_ours(&self) -> bool {
        let first = self.arguments.clone().into_iter().next();
        first.is_none_or(|first| ["state", "crate"].contains(&first.to_string().as_str()))
    }
}

/// The tokens of an attribute, without the invisible brackets around what a `macro_rules!` was given.
fn flatten(tokens: TokenStream, flat: &mut Vec<TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flatten(group.stream(), flat),
            token => flat.push(token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::refuse;

    /// The item, the arguments and the number of errors that a macro goes on with.
    fn left(name: &str, item: &str) -> (String, String, usize) {
        let single = refuse(name, Default::default(), item.parse().unwrap());
        let errors = single.errors.into_tokens().unwrap_or_default().to_string();
        let item = single.item.to_string().replace(' ', "");
        (item, single.arguments.to_string(), errors.matches("compile_error").count())
    }

    #[test]
    fn of_two_macros_one_is_left() {
        for (name, item, left_over, arguments, errors) in [
            ("llm_node", "#[llm_node(a = 1)] struct A;", "structA;", "a = 1", 1),
            ("llm_node", "#[a] #[x::llm_node] #[llm_node] struct A;", "#[a]structA;", "", 2),
            ("llm_output", "#[x::validate] struct A;", "structA;", "", 1),
            ("llm_output", "#[validate(state = B)] struct A;", "structA;", "", 1),
            (
                "validate",
                "#[llm_output] #[llm_output] struct A;",
                "#[llm_output]#[llm_output]structA;",
                "",
                1,
            ),
        ] {
            assert_eq!(left(name, item), (left_over.to_owned(), arguments.to_owned(), errors), "{item}");
        }
    }

    #[test]
    fn what_may_stand_together_does() {
        for (name, item) in [
            ("llm_output", "#[validate(schema(function = \"check\"))] struct A;"),
            ("llm_output", "#[llm_node(prompt = \"\")] struct A;"),
            ("llm_node", "#[doc = \"llm_node\"] #[derive(B)] #[path = \"llm_node\"] struct A;"),
            ("llm_node", "#"),
        ] {
            assert_eq!(left(name, item), (item.replace(' ', ""), String::new(), 0));
        }
    }
}
