//! `key = value`, `key(…)` and `key` arguments, parsed by hand: `syn::Meta` cannot hold types such as `Vec<Item>`.
//!
//! A fault in one argument does not hide those in the next: parsing continues behind the next comma. Nor does it cause
//! further errors: the argument is taken as what it was most likely intended to be.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{Error, Token, token};

use crate::diagnostics::{Errors, list, suggest};
use crate::item;

/// `value` is `None` if it had a fault, which was already reported.
#[derive(Clone)]
pub(crate) struct KeyValue<T> {
    pub(crate) key: Ident,
    pub(crate) value: Option<T>,
}

pub(crate) type Slot<T> = Option<KeyValue<T>>;

pub(crate) fn value<T>(slot: &Slot<T>) -> Option<&T> {
    slot.as_ref().and_then(|keyed| keyed.value.as_ref())
}

pub(crate) fn items<T>(slot: &Slot<Vec<T>>) -> &[T] {
    value(slot).map_or(&[], Vec::as_slice)
}

pub(crate) fn key<T>(slot: &Slot<T>) -> Option<&Ident> {
    slot.as_ref().map(|keyed| &keyed.key)
}

/// A faulty argument fills its slot too, so that it is not also missing.
pub(crate) fn fill<T>(slot: &mut Slot<T>, key: Ident, value: syn::Result<T>) -> syn::Result<()> {
    match value {
        Ok(value) => fill_readable(slot, key, (Some(value), Ok(()))),
        Err(error) => fill_readable(slot, key, (None, Err(error))),
    }
}

/// With what could be read of a faulty value.
pub(crate) fn fill_readable<T>(
    slot: &mut Slot<T>,
    key: Ident,
    (value, result): (Option<T>, syn::Result<()>),
) -> syn::Result<()> {
    *slot = Some(KeyValue { key, value });
    result
}

pub(crate) struct Grammar<'a> {
    pub(crate) owner: &'a str,
    pub(crate) noun: &'a str,
    pub(crate) values: &'a [&'a str],
    pub(crate) lists: &'a [(&'a str, &'a str)],
    pub(crate) flags: &'a [&'a str],
    /// Lists that may be empty, and then are written as flags are.
    pub(crate) bare: &'a [&'a str],
    pub(crate) example: fn(&str) -> &'static str,
    pub(crate) hint: fn(&str) -> Option<String>,
    /// The key that a word of other libraries stands for.
    pub(crate) synonym: fn(&str) -> Option<&'static str>,
}

impl<'a> Grammar<'a> {
    pub(crate) fn of_values(owner: &'a str, values: &'a [&'a str]) -> Self {
        Self {
            owner,
            noun: "argument",
            values,
            lists: &[],
            flags: &[],
            bare: &[],
            example: |_| "…",
            hint: |_| None,
            synonym: |_| None,
        }
    }

    fn keys(&self) -> impl Iterator<Item = &'a str> {
        let lists = self.lists.iter().map(|(key, _)| *key);
        self.values.iter().chain(self.flags).copied().chain(lists)
    }

    fn list(&self, name: &str) -> Option<&'a str> {
        self.lists
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, example)| *example)
    }

    fn knows(&self, name: &str) -> bool {
        self.keys().any(|known| known == name)
    }

    fn near(&self, name: &str) -> Option<&'a str> {
        suggest(name, self.keys()).filter(|_| (self.hint)(name).is_none())
    }

    fn unknown(&self, name: &str) -> String {
        if let Some(hint) = (self.hint)(name) {
            return hint;
        }
        let Self { owner, noun, .. } = self;
        match self.near(name) {
            Some(near) => format!("unknown {noun} `{name}`; did you mean `{near}`?"),
            None => format!(
                "unknown {noun} `{name}`; `{owner}` takes {}",
                list(self.keys())
            ),
        }
    }

    fn begins(&self, input: ParseStream<'_>) -> bool {
        let key = input.call(Ident::parse_any);
        key.is_ok_and(|key| input.peek(Token![=]) || self.keys().any(|known| key == known))
    }
}

/// `take` parses a value, or the contents of the parentheses. Returns whether all keys were known.
pub(crate) fn parse_arguments(
    tokens: TokenStream,
    grammar: &Grammar<'_>,
    errors: &mut Errors,
    take: impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) -> bool {
    if let Err(error) = item::check_depth(&tokens) {
        errors.push(error);
        return false;
    }
    let mut arguments = ArgumentParser {
        grammar,
        seen: vec![],
        take,
        all_known: true,
    };
    let mut faulty = false;
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = arguments
                .next(input)
                .and_then(|()| comma_or_end(input, "argument"))
            {
                faulty = true;
                errors.push(error);
                if grammar.begins(&input.fork()) {
                    continue;
                }
                skip_argument(input, grammar);
            }
            separator(input)?;
        }
        Ok(())
    };
    // After a fault, unread tokens in brackets are not a second error.
    if let Err(error) = parser.parse2(tokens)
        && !faulty
    {
        errors.push(error);
    }
    arguments.all_known
}

fn separator(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![;]) {
        return input.parse::<Token![;]>().map(drop);
    }
    input.parse::<Option<Token![,]>>().map(drop)
}

pub(crate) fn comma_or_end(input: ParseStream<'_>, what: &str) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    let token = input
        .cursor()
        .token_tree()
        .map(|(token, _)| token.to_string())
        .unwrap_or_default();
    Err(input.error(format!(
        "expected `,` before the next {what}, found `{token}`"
    )))
}

/// A fault in one item does not hide those in the next.
pub(crate) fn parse_list(
    input: ParseStream<'_>,
    mut item: impl FnMut(ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut errors = Errors::default();
    while !input.is_empty() {
        if let Err(error) = item(input) {
            errors.push(error);
            skip_to_comma(input);
        }
        let _: syn::Result<Token![,]> = input.parse();
    }
    errors.into_result()
}

pub(crate) fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) && input.parse::<TokenTree>().is_ok() {}
}

struct ArgumentParser<'a, Take> {
    grammar: &'a Grammar<'a>,
    seen: Vec<Ident>,
    take: Take,
    all_known: bool,
}

impl<Take: FnMut(Ident, ParseStream<'_>) -> syn::Result<()>> ArgumentParser<'_, Take> {
    fn next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if !input.peek(syn::Ident::peek_any) {
            self.all_known = false;
            let value: TokenTree = input.parse()?;
            let first = self.grammar.keys().next().unwrap_or_default();
            return Err(Error::new(
                value.span(),
                format!("an argument has a name, such as `{first} = …`"),
            ));
        }
        let key = input.call(Ident::parse_any)?;
        let name = key.to_string();
        if self.grammar.flags.contains(&name.as_str()) {
            return self.flag(key, input);
        }
        if self.grammar.bare.contains(&name.as_str()) && ends(input) {
            return self.bare(key);
        }
        if self.grammar.knows(&name) {
            return match self.grammar.list(&name) {
                Some(example) => self.list(key, example, input),
                None => self.value(key, input),
            };
        }
        self.all_known &= (self.grammar.hint)(&name).is_some();
        let meant = self.grammar.near(&name);
        if let Some(meant) = meant.or_else(|| (self.grammar.synonym)(&name)) {
            self.guess(Ident::new(meant, key.span()), input);
        }
        Err(Error::new(key.span(), self.grammar.unknown(&name)))
    }

    fn value(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let at = if ends(input) {
            key.span()
        } else {
            input.span()
        };
        let equals: Option<Token![=]> = input.parse()?;
        if equals.is_some() && !ends(input) {
            self.reject_duplicate(&key)?;
            return (self.take)(key, input);
        }
        let at = if equals.is_some() { key.span() } else { at };
        let example = (self.grammar.example)(&key.to_string());
        let error = Error::new(
            at,
            format!("`{key}` takes a value; write `{key} = {example}`"),
        );
        self.guess(key, input);
        Err(error)
    }

    fn flag(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        if !input.is_empty() && !input.peek(Token![,]) {
            let message = format!("`{key}` takes no value; write `{key}` alone, or drop it");
            let error = Error::new(input.span(), message);
            self.guess(key, input);
            return Err(error);
        }
        self.reject_duplicate(&key)?;
        (self.take)(key, input)
    }

    fn bare(&mut self, key: Ident) -> syn::Result<()> {
        self.reject_duplicate(&key)?;
        (|content: ParseStream<'_>| (self.take)(key, content)).parse2(TokenStream::new())
    }

    fn list(&mut self, key: Ident, example: &str, input: ParseStream<'_>) -> syn::Result<()> {
        let content = match parenthesized(input, &key, example) {
            Ok(content) => content,
            Err(error) => {
                self.guess(key, input);
                return Err(error);
            }
        };
        self.reject_duplicate(&key)?;
        (self.take)(key, &content)
    }

    /// Guesses what a faulty argument means, so that nothing else fails because of it.
    fn guess(&mut self, key: Ident, input: ParseStream<'_>) {
        if self.seen.contains(&key) {
            return;
        }
        let colon = input.peek(Token![:]) && !input.peek(Token![::]);
        if input.peek(Token![=]) || colon {
            let _: syn::Result<TokenTree> = input.parse();
        }
        let is_list = self.grammar.list(&key.to_string()).is_some();
        let group = input
            .fork()
            .parse::<Group>()
            .ok()
            .filter(|_| is_list || input.peek(token::Paren));
        let _: syn::Result<()> = match group {
            Some(group) => {
                let _: syn::Result<Group> = input.parse();
                (|content: ParseStream<'_>| (self.take)(key, content)).parse2(group.stream())
            }
            None if is_list => Ok(()),
            None => (self.take)(key, input),
        };
    }

    fn reject_duplicate(&mut self, key: &Ident) -> syn::Result<()> {
        if self.seen.contains(key) {
            return Err(Error::new(
                key.span(),
                format!("`{key}` is given more than once"),
            ));
        }
        self.seen.push(key.clone());
        Ok(())
    }
}

/// Whether nothing more of an argument follows.
fn ends(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

fn no_list(key: &Ident, example: &str, at: Span) -> Error {
    let message = format!("`{key}` takes a list in parentheses; write `{example}`");
    Error::new(at, message)
}

fn parenthesized<'a>(
    input: ParseStream<'a>,
    key: &Ident,
    example: &str,
) -> syn::Result<ParseBuffer<'a>> {
    if !input.peek(token::Paren) {
        let at = if input.peek(Token![=]) {
            input.span()
        } else {
            key.span()
        };
        return Err(no_list(key, example, at));
    }
    let content;
    syn::parenthesized!(content in input);
    if content.is_empty() {
        return Err(Error::new(
            key.span(),
            format!("`{key}` is empty; drop it or write `{example}`"),
        ));
    }
    Ok(content)
}

/// A comma in a type's angle brackets is not followed by a key, and does not end the argument.
fn skip_argument(input: ParseStream<'_>, grammar: &Grammar<'_>) {
    while !input.is_empty() {
        let begins = (input.peek(Token![,]) || input.peek(Token![;])) && {
            let ahead = input.fork();
            let _ = separator(&ahead);
            ahead.is_empty() || grammar.begins(&ahead)
        };
        if begins || input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}
