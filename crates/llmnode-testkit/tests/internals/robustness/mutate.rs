//! Small changes to token streams.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;

/// Tokens that a change may bring in.
const WORDS: [&str; 73] = [
    "prep",
    "store",
    "action",
    "post",
    "batch",
    "false",
    "#[prep(state.a.clone())]",
    "prompt",
    "system",
    "output",
    "state",
    "retries",
    "model",
    "fallback",
    "name",
    "crate",
    "skip",
    "self",
    "Self",
    "super",
    "struct",
    "enum",
    "impl",
    "fn",
    "pub",
    "where",
    "const",
    "type",
    "dyn",
    "r#type",
    "_",
    "'_",
    "'a",
    "T",
    "u8",
    "String",
    "Vec<u8>",
    "node",
    "serde",
    "=",
    ",",
    ",",
    ";",
    ":",
    "::",
    "<",
    ">",
    "&",
    "-",
    "..",
    "=>",
    "#",
    "#[node(skip)]",
    "2",
    "0.5",
    "10s",
    "\"\"",
    "\"{topik} {state.a}\"",
    "\"{\"",
    "b\"x\"",
    "'c'",
    "(a, b)",
    "{ a: u8 }",
    "match { a => end }",
    "match",
    "end",
    "end(a)",
    "todo!()",
    "as",
    "in",
    "->",
    "#[cfg(c)]",
    "if a",
];

/// A change at one of the tokens, counted from outside to inside.
#[derive(Debug, Clone)]
pub(super) struct Change {
    at: prop::sample::Index,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Delete,
    Duplicate,
    SwapWithNext,
    Replace(&'static str),
    Insert(&'static str),
    Enclose(Delimiter),
    Unwrap,
    Truncate,
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let delimiter = prop::sample::select(vec![
        Delimiter::None,
        Delimiter::None,
        Delimiter::Parenthesis,
        Delimiter::Brace,
    ]);
    let word = || prop::sample::select(WORDS.to_vec());
    let kind = prop_oneof![
        Just(Kind::Delete),
        Just(Kind::Duplicate),
        Just(Kind::SwapWithNext),
        word().prop_map(Kind::Replace),
        word().prop_map(Kind::Insert),
        delimiter.prop_map(Kind::Enclose),
        Just(Kind::Unwrap),
        Just(Kind::Truncate),
    ];
    (any::<prop::sample::Index>(), kind).prop_map(|(at, kind)| Change { at, kind })
}

impl Change {
    pub(super) fn apply(&self, tokens: TokenStream) -> TokenStream {
        let size = size(&tokens);
        if size == 0 {
            return tokens;
        }
        self.apply_at(tokens, &mut self.at.index(size))
    }

    fn apply_at(&self, tokens: TokenStream, left: &mut usize) -> TokenStream {
        let mut tokens = tokens.into_iter();
        let mut changed = TokenStream::new();
        while let Some(token) = tokens.next() {
            if *left == 0 {
                *left = usize::MAX;
                changed.extend(self.changed(token, &mut tokens));
                changed.extend(tokens);
                return changed;
            }
            *left -= 1;
            changed.extend([match token {
                TokenTree::Group(group) => {
                    let inside = self.apply_at(group.stream(), left);
                    let mut inside = Group::new(group.delimiter(), inside);
                    inside.set_span(group.span());
                    TokenTree::Group(inside)
                }
                other => other,
            }]);
        }
        changed
    }

    /// The replacement of `token`, which may consume following tokens.
    fn changed(
        &self,
        token: TokenTree,
        rest: &mut impl Iterator<Item = TokenTree>,
    ) -> Vec<TokenTree> {
        let word = |word: &str| word.parse::<TokenStream>().unwrap().into_iter();
        match &self.kind {
            Kind::Delete => vec![],
            Kind::Duplicate => vec![token.clone(), token],
            Kind::SwapWithNext => rest.next().into_iter().chain([token]).collect(),
            Kind::Replace(other) => word(other).collect(),
            Kind::Insert(other) => word(other).chain([token]).collect(),
            Kind::Enclose(delimiter) => {
                vec![TokenTree::Group(Group::new(*delimiter, token.into()))]
            }
            Kind::Unwrap => match token {
                TokenTree::Group(group) => group.stream().into_iter().collect(),
                other => vec![other],
            },
            Kind::Truncate => {
                rest.for_each(drop);
                vec![]
            }
        }
    }
}

fn size(tokens: &TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 1 + size(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(of).sum()
}
