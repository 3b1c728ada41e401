//! `key = value` and `key(…)` arguments, parsed by hand: `syn::Meta` cannot hold types such as `Vec<Item>`.
//!
//! A fault in one argument does not hide those in the next: parsing goes on behind the comma that follows it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{Error, Token, token};

use crate::diagnostics::{Errors, list, suggest};
use crate::item;

/// An argument that was given. Its value is absent if it had a fault, which is then reported already.
#[derive(Clone)]
pub(crate) struct Keyed<T> {
    pub(crate) key: Ident,
    pub(crate) value: Option<T>,
}

/// A slot that an argument goes into.
pub(crate) type Slot<T> = Option<Keyed<T>>;

/// The value in a slot, if there is one without a fault.
pub(crate) fn value<T>(slot: &Slot<T>) -> Option<&T> {
    slot.as_ref().and_then(|keyed| keyed.value.as_ref())
}

/// The key of a slot, if it was given.
pub(crate) fn key<T>(slot: &Slot<T>) -> Option<&Ident> {
    slot.as_ref().map(|keyed| &keyed.key)
}

/// Stores what an argument was parsed to.
pub(crate) fn fill<T>(slot: &mut Slot<T>, key: Ident, value: syn::Result<T>) -> syn::Result<()> {
    match value {
        Ok(value) => *slot = Some(Keyed { key, value: Some(value) }),
        Err(error) => {
            *slot = Some(Keyed { key, value: None });
            return Err(error);
        }
    }
    Ok(())
}

/// Which arguments there are.
pub(crate) struct Grammar<'a> {
    /// What takes them, in messages.
    pub(crate) owner: &'a str,
    /// What one of them is, in messages.
    pub(crate) noun: &'a str,
    /// The keys of `key = value`.
    pub(crate) values: &'a [&'a str],
    /// The keys of `key(…)`, each with an example.
    pub(crate) lists: &'a [(&'a str, &'a str)],
    /// The value of a `key = value` in examples.
    pub(crate) example: fn(&str) -> &'static str,
    /// What is wrong with a key that is known and yet none of these.
    pub(crate) refused: fn(&str) -> Option<String>,
}

impl<'a> Grammar<'a> {
    /// Nothing but `key = value`.
    pub(crate) fn of_values(owner: &'a str, values: &'a [&'a str]) -> Self {
        Self { owner, noun: "argument", values, lists: &[], example: |_| "…", refused: |_| None }
    }

    fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.values.iter().copied().chain(self.lists.iter().map(|(key, _)| *key))
    }

    /// The example of a key of `key(…)`.
    fn list(&self, name: &str) -> Option<&'a str> {
        self.lists.iter().find(|(key, _)| *key == name).map(|(_, example)| *example)
    }

    fn unknown(&self, name: &str) -> String {
        if let Some(refused) = (self.refused)(name) {
            return refused;
        }
        let Self { owner, noun, .. } = self;
        match suggest(name, self.keys()) {
            Some(near) => format!("unknown {noun} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {noun} `{name}`; `{owner}` takes {}", list(self.keys())),
        }
    }

    /// Whether an argument begins here.
    fn begins(&self, input: ParseStream<'_>) -> bool {
        let key = input.call(Ident::parse_any);
        key.is_ok_and(|key| input.peek(Token![=]) || self.keys().any(|known| key == known))
    }
}

/// Parses `key = value, key(…), …` and hands each key to `take`, which parses its value, or what its parentheses
/// hold. Tells whether every argument had a key that is known.
pub(crate) fn parse_arguments(
    tokens: TokenStream,
    grammar: &Grammar<'_>,
    errors: &mut Errors,
    mut take: impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) -> bool {
    if let Err(error) = item::shallow(&tokens) {
        errors.push(error);
        return false;
    }
    let mut seen: Vec<Ident> = vec![];
    let (mut all_known, mut faulty) = (true, false);
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let before = seen.len();
            let parsed = argument(input, grammar, &mut seen, &mut take);
            all_known &= parsed.is_ok() || seen.len() > before;
            if let Err(error) = parsed.and_then(|()| end(input, "argument")) {
                faulty = true;
                errors.push(error);
                if grammar.begins(&input.fork()) {
                    continue;
                }
                skip_argument(input, grammar);
            }
            let _: Option<Token![,]> = input.parse()?;
        }
        Ok(())
    };
    // What a fault left unread within brackets would be a second one.
    if let Err(error) = parser.parse2(tokens)
        && !faulty
    {
        errors.push(error);
    }
    all_known
}

/// A comma or the end has to come.
pub(crate) fn end(input: ParseStream<'_>, what: &str) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    let token = input.cursor().token_tree().map(|(token, _)| token.to_string()).unwrap_or_default();
    Err(input.error(format!("expected `,` before the next {what}, found `{token}`")))
}

fn argument(
    input: ParseStream<'_>,
    grammar: &Grammar<'_>,
    seen: &mut Vec<Ident>,
    take: &mut impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    if !input.peek(syn::Ident::peek_any) {
        let value: TokenTree = input.parse()?;
        let first = grammar.keys().next().unwrap_or_default();
        return Err(Error::new(value.span(), format!("an argument has a name, such as `{first} = …`")));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.to_string();
    let list = grammar.list(&name);
    if list.is_none() && !grammar.values.contains(&name.as_str()) {
        return Err(Error::new(key.span(), grammar.unknown(&name)));
    }
    if let Some(example) = list {
        first_of(key.clone(), seen)?;
        return take(key.clone(), &parenthesized(input, &key, example)?);
    }
    let valueless = |at| {
        let example = (grammar.example)(&name);
        Error::new(at, format!("`{name}` takes a value; write `{name} = {example}`"))
    };
    let ends = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
    if !input.peek(Token![=]) {
        return Err(valueless(if ends(input) { key.span() } else { input.span() }));
    }
    input.parse::<Token![=]>()?;
    if ends(input) {
        return Err(valueless(key.span()));
    }
    first_of(key.clone(), seen)?;
    take(key, input)
}

/// What the parentheses of `key(…)` hold.
fn parenthesized<'a>(input: ParseStream<'a>, key: &Ident, example: &str) -> syn::Result<ParseBuffer<'a>> {
    let wrong = |at: Span| Error::new(at, format!("`{key}` takes a list in parentheses; write `{example}`"));
    if !input.peek(token::Paren) {
        return Err(wrong(if input.peek(Token![=]) { input.span() } else { key.span() }));
    }
    let content;
    syn::parenthesized!(content in input);
    if content.is_empty() {
        return Err(Error::new(key.span(), format!("`{key}` is empty; drop it or write `{example}`")));
    }
    Ok(content)
}

fn first_of(key: Ident, seen: &mut Vec<Ident>) -> syn::Result<()> {
    if seen.contains(&key) {
        return Err(Error::new(key.span(), format!("`{key}` given more than once")));
    }
    seen.push(key);
    Ok(())
}

/// Goes to the comma behind which a next argument begins, or to the end. A comma inside a type's angle brackets
/// is followed by neither `key =` nor a key that is known.
fn skip_argument(input: ParseStream<'_>, grammar: &Grammar<'_>) {
    while !input.is_empty() {
        let begins = input.peek(Token![,]) && {
            let ahead = input.fork();
            let _ = ahead.parse::<Token![,]>();
            ahead.is_empty() || grammar.begins(&ahead)
        };
        if begins || input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}
