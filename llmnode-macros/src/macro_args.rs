//! `key = value`, `key(…)` and `key` arguments, parsed by hand: `syn::Meta` cannot
//! hold types such as `Vec<Item>`.
//!
//! A fault in one argument does not hide those in the next: parsing continues
//! behind the next comma. Nor does it cause further errors: the argument is taken
//! as what it was most likely intended to be.
//!
//! The parser knows no macro. A `Grammar` says which keys there are and of which
//! form; `parse_arguments` walks the arguments and calls the macro's own function
//! for each value. That function fills a `Slot`, which keeps the key for messages
//! and says whether the value had a fault.
//!
//! Where an argument is wrong, three things happen in this order:
//!
//! 1. It is reported, with the key that was most likely meant.
//! 2. It is *guessed*: the value is read as if the key had been right, and its own
//!    errors are dropped. A node with `promt = "…"` then has a prompt, and none of
//!    the errors follows that a node without one would have.
//! 3. The tokens up to the next argument are skipped.

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

/// Empty if the argument was not written at all.
pub(crate) type Slot<T> = Option<KeyValue<T>>;

/// What was read, if there is something.
pub(crate) fn value<T>(slot: &Slot<T>) -> Option<&T> {
    slot.as_ref().and_then(|keyed| keyed.value.as_ref())
}

/// The list of an argument; empty without it.
pub(crate) fn items<T>(slot: &Slot<Vec<T>>) -> &[T] {
    value(slot).map_or(&[], Vec::as_slice)
}

/// The argument's own key, for the place of errors about combinations.
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

/// Which arguments a macro takes, and the words for its messages.
pub(crate) struct Grammar<'a> {
    // The macro, as people write it: `llm_node`.
    pub(crate) owner: &'a str,
    // What a key is called: an argument, a category.
    pub(crate) noun: &'a str,
    // Keys of the form `key = value`.
    pub(crate) values: &'a [&'a str],
    // Keys of the form `key(..)`, with an example of each.
    pub(crate) lists: &'a [(&'a str, &'a str)],
    // Keys that stand alone.
    pub(crate) flags: &'a [&'a str],
    /// Lists that may be empty, and then are written as flags are.
    pub(crate) bare: &'a [&'a str],
    // The value of an example, for a key without one.
    pub(crate) example: fn(&str) -> &'static str,
    // The whole message about a key that is not one, where a remedy is known.
    pub(crate) hint: fn(&str) -> Option<String>,
    /// The key that a word of other libraries stands for.
    pub(crate) synonym: fn(&str) -> Option<&'static str>,
}

impl<'a> Grammar<'a> {
    /// The grammar of a macro that has nothing but values; the others are made from
    /// it by `..`.
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

    /// In the order of messages: values, flags, lists.
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
        self.keys().any(|known_key| known_key == name)
    }

    /// The key that was meant. Not for a word that has a hint: the hint says more.
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

    /// Whether an argument begins here: a known key, or any name before a `=`.
    fn begins(&self, input: ParseStream<'_>) -> bool {
        let key = input.call(Ident::parse_any);
        key.is_ok_and(|key| input.peek(Token![=]) || self.keys().any(|known_key| key == known_key))
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
    // syn reports tokens that are left in brackets when a parser returns. After a
    // fault that is a consequence, and not told.
    let mut faulty = false;
    let parsed = Parser::parse2(
        |input: ParseStream<'_>| arguments.all(input, errors, &mut faulty),
        tokens,
    );
    // After a fault, unread tokens in brackets are not a second error.
    if let Err(error) = parsed
        && !faulty
    {
        errors.push(error);
    }
    arguments.all_known
}

/// A `;` is reported where it stands, and then taken as the comma.
fn separator(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![;]) {
        return input.parse::<Token![;]>().map(drop);
    }
    input.parse::<Option<Token![,]>>().map(drop)
}

/// What stands behind a value that is complete. The message shows the token, since
/// often it is an operator of an expression where a literal is wanted.
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
/// The items of an inner list, whose separators are commas.
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

/// Behind a fault; brackets are one token, so commas in them do not count.
pub(crate) fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) && input.parse::<TokenTree>().is_ok() {}
}

/// One walk over arguments. `seen` has the keys that were read, guessed ones
/// excepted.
struct ArgumentParser<'a, Take> {
    grammar: &'a Grammar<'a>,
    seen: Vec<Ident>,
    take: Take,
    all_known: bool,
}

impl<Take: FnMut(Ident, ParseStream<'_>) -> syn::Result<()>> ArgumentParser<'_, Take> {
    /// All arguments. `faulty`: whether one of them had a fault, which is then in `errors`.
    fn all(
        &mut self,
        input: ParseStream<'_>,
        errors: &mut Errors,
        faulty: &mut bool,
    ) -> syn::Result<()> {
        while !input.is_empty() {
            let read = self.next(input);
            if let Err(error) = read.and_then(|()| comma_or_end(input, "argument")) {
                *faulty = true;
                errors.push(error);
                // The comma was forgotten; the next argument begins at once.
                if self.grammar.begins(&input.fork()) {
                    continue;
                }
                skip_argument(input, self.grammar);
            }
            separator(input)?;
        }
        Ok(())
    }

    /// One argument, by the form that its key has.
    fn next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        // A literal without a key. The first key is the example, since it is the
        // one that is most often meant: the prompt.
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
        // A key with a hint is known to be no misspelling of another, so it hides
        // nothing.
        self.all_known &= (self.grammar.hint)(&name).is_some();
        let meant = self.grammar.near(&name);
        if let Some(meant) = meant.or_else(|| (self.grammar.synonym)(&name)) {
            self.guess(Ident::new(meant, key.span()), input);
        }
        Err(Error::new(key.span(), self.grammar.unknown(&name)))
    }

    /// `key = value`. Whatever is missing, the message is the same, and its place
    /// is the last token that is there.
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

    /// A value behind a flag is read by the guess and dropped.
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

    /// A list without parentheses is the list without items, parsed from no tokens
    /// at all.
    fn bare(&mut self, key: Ident) -> syn::Result<()> {
        self.reject_duplicate(&key)?;
        (|content: ParseStream<'_>| (self.take)(key, content)).parse2(TokenStream::new())
    }

    /// `key(..)`. Another form is reported with the example, and what is in the
    /// brackets is guessed.
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
    /// Only once for a key: a second guess would be a second value.
    fn guess(&mut self, key: Ident, input: ParseStream<'_>) {
        if self.seen.contains(&key) {
            return;
        }
        // `key: value` is the form of a struct, and what some write.
        let colon = input.peek(Token![:]) && !input.peek(Token![::]);
        if input.peek(Token![=]) || colon {
            let _: syn::Result<TokenTree> = input.parse();
        }
        let is_list = self.grammar.list(&key.to_string()).is_some();
        // Brackets are read as a list if the key has one, or if they are
        // parentheses; a value in `[..]` is an expression.
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

    /// The second one is the error. Which of them is meant cannot be known, and the
    /// first is kept.
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

/// The contents of `key(..)`.
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
/// Up to where an argument begins. A known key must follow the comma: in `output =
/// HashMap<String, u32>`, `u32` is none.
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
