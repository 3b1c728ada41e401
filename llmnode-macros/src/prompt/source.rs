//! Where the text of a prompt comes from: a literal, several in a `concat!`, or a file.
//!
//! The text is one string for the grammar. For places, the literals stay beside it,
//! each with the byte at which it begins: a variable in the third literal of a
//! `concat!` is underlined there. A file has no literal; its messages have its
//! name, line and column.

use std::ops::Range;

use proc_macro2::{Ident, Span};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Macro, Token};

use super::file;
use super::locate::{Position, position};
use crate::generics::bare_value;
use crate::literals::{reject_suffix, text};

/// The end of messages about a prompt that is no literal.
const CHECKED: &str = ", so that its variables can be checked";

/// The text, and where it was written.
pub(crate) struct Source {
    text: String,
    literals: Vec<(usize, LitStr)>,
    file: Option<LitStr>,
    at: Span,
}

impl Source {
    /// A literal or a `concat!` of some. Constants and other macros cannot be read
    /// here, so their variables could not be checked.
    pub(crate) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        match input.fork().parse::<Expr>().ok().and_then(macro_call) {
            Some(call) if is_std_macro(&call, "concat") => {
                input.parse::<Expr>()?;
                Ok(Self::new(concat_literals(&call, key)?, call.span()))
            }
            Some(call) if is_std_macro(&call, "include_str") => {
                let path = call.tokens.to_string();
                let message =
                    format!("`{key}` is read when the macro expands; write `{key}_file = {path}`");
                Err(Error::new_spanned(call, message))
            }
            _ => {
                let remedy = format!(
                    "{CHECKED}; write the text itself, with fields in braces, or `{key}_file = \
                     \"…\"`"
                );
                let literal = text(input, key, &remedy)?;
                let at = literal.span();
                Ok(Self::new(vec![literal], at))
            }
        }
    }

    /// Joins the literals, as `concat!` would.
    fn new(literals: Vec<LitStr>, at: Span) -> Self {
        let mut text = String::new();
        let literals = literals
            .into_iter()
            .map(|literal| {
                let start = text.len();
                text.push_str(&literal.value());
                (start, literal)
            })
            .collect();
        Self {
            text,
            literals,
            file: None,
            at,
        }
    }

    /// The text of a file.
    pub(crate) fn read(path: LitStr) -> syn::Result<Self> {
        let text = file::read(&path)?;
        let at = path.span();
        Ok(Self {
            text,
            literals: vec![],
            file: Some(path),
            at,
        })
    }

    pub(crate) fn file(&self) -> Option<&LitStr> {
        self.file.as_ref()
    }

    /// `choose_md` for `prompts/choose.md`, in errors that name a type. A name
    /// without a dot may be a type's.
    pub(crate) fn file_type(&self) -> Option<Ident> {
        let path = self.file.as_ref()?.value();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let dotted = name.contains('.');
        let name: String = name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let name = syn::parse_str(&name).ok().filter(|_| dotted);
        let mut name: Ident = name.unwrap_or_else(|| Ident::new("prompt_file", Span::mixed_site()));
        name.set_span(Span::mixed_site());
        Some(name)
    }

    /// What the grammar reads.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The literal that has the byte, or the whole argument.
    pub(crate) fn span(&self, offset: usize) -> Span {
        self.literal_at(offset)
            .map_or(self.at, |(_, literal)| literal.span())
    }

    /// The literal that has the placeholder, with its range in it. `None` if the
    /// placeholder goes over the end of a literal, or is in a file.
    pub(crate) fn literal(&self, range: &Range<usize>) -> Option<(&LitStr, Range<usize>)> {
        let (start, literal) = self.literal_at(range.start)?;
        let inside = range.start - start..range.end - start;
        (inside.end <= literal.value().len()).then_some((literal, inside))
    }

    pub(crate) fn only_literal(&self) -> Option<&LitStr> {
        if let [(_, literal)] = &self.literals[..] {
            Some(literal)
        } else {
            None
        }
    }

    /// For messages: `2:8`, or `prompts/choose.md:2:8`.
    pub(crate) fn location(&self, offset: usize) -> String {
        let position = self.position(offset);
        match &self.file {
            Some(file) => format!("{}:{position}", file.value()),
            None => position.to_string(),
        }
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        position(&self.text, offset)
    }

    fn literal_at(&self, offset: usize) -> Option<&(usize, LitStr)> {
        // Backwards: an empty literal begins at the same byte as the next one.
        self.literals
            .iter()
            .rev()
            .find(|(start, _)| *start <= offset)
    }
}

fn macro_call(value: Expr) -> Option<Macro> {
    if let Expr::Macro(call) = bare_value(value) {
        Some(call.mac)
    } else {
        None
    }
}

/// By its name alone, or with a path into the standard library.
fn is_std_macro(call: &Macro, name: &str) -> bool {
    let path: Vec<_> = call
        .path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [last] => last == name,
        ["core" | "std", last] => last == name,
        _ => false,
    }
}

fn concat_literals(call: &Macro, key: &Ident) -> syn::Result<Vec<LitStr>> {
    let items = Punctuated::<Expr, Token![,]>::parse_terminated
        .parse2(call.tokens.clone())
        .map_err(|error| Error::new(error.span(), expected(key, " with commas between them")))?;
    items.into_iter().map(|item| piece(item, key)).collect()
}

/// `concat!` takes other literals, too; as parts of a prompt they are rather a
/// mistake.
fn piece(item: Expr, key: &Ident) -> syn::Result<LitStr> {
    match bare_value(item) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => reject_suffix(text),
        other => Err(Error::new_spanned(other, expected(key, CHECKED))),
    }
}

fn expected(key: &Ident, rest: &str) -> String {
    format!("`concat!` in `{key}` takes string literals{rest}")
}
