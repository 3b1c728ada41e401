//! Placeholders that are well formed, but probably not what the author wanted.
//!
//! A hint must be right nearly always, since there is no way around an error. So
//! each looks at more than the placeholder: at the field's type, the words around
//! it, or whether there is a state. Where the types decide, the hint is left to the
//! compiler.

use std::ops::Range;

use proc_macro2::{Span, TokenStream};
use syn::{Error, Type};

use super::Variables;
use crate::diagnostics::suggest;
use crate::generics::{bare, is_named, last_name, type_arguments};
use crate::node::without_display::{WithoutDisplay, may_be_attachment, takes_text};
use crate::prompt::display_check;
use crate::prompt::fault::{Fault, FaultKind};
use crate::prompt::source::Source;
use crate::prompt::spec;
use crate::prompt::template::{Format, Piece, Template, Variable};

/// Words in names of fields that hold money: before them, a dollar sign is text.
const SUMS: [&str; 24] = [
    "amount", "balance", "bill", "bonus", "budget", "cost", "credit", "debt", "dollar", "earning",
    "expense", "fare", "fee", "income", "money", "pay", "price", "revenue", "salary", "spend",
    "sum", "tax", "total", "usd",
];

fn is_sum(name: &str) -> bool {
    let name = name.to_lowercase();
    SUMS.iter().any(|word| name.contains(word))
}

/// By the type's name.
fn is_text(ty: &Type) -> bool {
    match bare(ty) {
        Type::Reference(reference) => is_text(&reference.elem),
        ty => last_name(ty).is_some_and(|name| name == "String" || name == "str" || name == "Name"),
    }
}

/// The lock that a type is, also behind pointers.
fn lock(ty: &Type) -> Option<&'static str> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let lock_name = ["Mutex", "RwLock"]
        .into_iter()
        .find(|one| is_named(&path.path, one));
    let pointer = ["Arc", "Rc", "Box"]
        .into_iter()
        .any(|pointer| is_named(&path.path, pointer));
    lock_name.or_else(|| lock(type_arguments(&path.path).first().filter(|_| pointer)?))
}

fn reads_state(piece: &Piece) -> bool {
    matches!(
        piece,
        Piece::Variable {
            variable: Variable::State(_),
            ..
        }
    )
}

impl Variables<'_> {
    /// The history needs no placeholder.
    pub(super) fn history_inserted(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Variable {
                variable: Variable::Field(name),
                ..
            } = &segment.kind
            else {
                continue;
            };
            if self.history.as_ref() == Some(name) {
                let message = format!(
                    "the history `{name}` is sent before the user message without being named; \
                     drop `{{{name}}}`"
                );
                self.misuse(prompt, &segment.range, &message);
            }
        }
    }

    /// `{{field}}` is the text `{field}`, but a variable in other template languages.
    pub(super) fn mustache(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Text(_) = segment.kind else {
                continue;
            };
            let text = &prompt.text()[segment.range.clone()];
            for (open, _) in text.match_indices("{{") {
                let inside = &text[open + 2..];
                let Some(length) = inside
                    .find(['{', '}'])
                    .filter(|&end| inside[end..].starts_with("}}"))
                else {
                    continue;
                };
                let name = inside[..length].trim();
                let is_state = self.has_state && name.starts_with("state.");
                if is_state || self.names().any(|existing| existing == *name) {
                    let start = segment.range.start + open;
                    let message = format!(
                        "`{{{{{name}}}}}` is the text `{{{name}}}`; write `{{{name}}}` for its \
                         value"
                    );
                    self.fault(prompt, &(start..start + length + 4), &message);
                }
            }
        }
    }

    /// One for a prompt: the first.
    pub(super) fn stateless(&mut self, prompt: &Source, template: &Template) {
        if self.has_state {
            return;
        }
        let first = template
            .segments
            .iter()
            .find(|segment| reads_state(&segment.kind));
        if let Some(segment) = first {
            let written = &prompt.text()[segment.range.clone()];
            let message =
                format!("`{written}` reads the program's state; name its type with `state = …`");
            self.misuse(prompt, &segment.range, &message);
        }
    }

    /// Providers take media in user messages alone.
    pub(super) fn attachments(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            if let Piece::Variable {
                format: Format::Attach,
                ..
            } = segment.kind
            {
                let written = &prompt.text()[segment.range.clone()];
                let message = format!("the system message is text; move `{written}` to `prompt`");
                self.fault(prompt, &segment.range, &message);
            }
        }
    }

    /// Types of the standard library that are known to have no text, with the
    /// formats that they do have.
    pub(super) fn without_display(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Variable {
                variable: Variable::Field(name),
                format,
            } = &segment.kind
            else {
                continue;
            };
            if !takes_text(format) || self.history.as_ref() == Some(name) {
                continue;
            }
            if let Some(textless) = self
                .field(name)
                .and_then(|field| WithoutDisplay::of(&field.ty))
            {
                self.misuse(prompt, &segment.range, &textless.message(name));
            }
        }
    }

    /// Only the compiler knows whether the type has `Display`; by its name, it probably has not.
    pub(super) fn display_check(
        &self,
        prompt: &Source,
        placeholder: &Range<usize>,
        name: &str,
        key: Span,
    ) -> Option<TokenStream> {
        let ty = &self.field(name)?.ty;
        may_be_attachment(ty, name, &self.item.generics)
            .then(|| display_check::check(prompt, placeholder, name, ty, key))
            .flatten()
    }

    /// The field that the placeholder names.
    fn field(&self, name: &str) -> Option<&syn::Field> {
        self.item
            .fields
            .iter()
            .find(|field| super::name(field).as_deref() == Some(name))
    }

    /// A shell's or JavaScript's `${name}`. Before a number or a sum the dollar sign is meant.
    pub(super) fn dollars(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Variable {
                variable: Variable::Field(name),
                format: Format::Plain,
            } = &segment.kind
            else {
                continue;
            };
            let is_text = self.field(name).is_some_and(|field| is_text(&field.ty));
            if prompt.text()[..segment.range.start].ends_with('$') && is_text && !is_sum(name) {
                let message = format!(
                    "`${{{name}}}` writes a dollar sign before the text; write `{{{name}}}`, or \
                     `USD {{{name}}}` for a sum of money"
                );
                self.misuse(
                    prompt,
                    &(segment.range.start - 1..segment.range.end),
                    &message,
                );
            }
        }
    }

    /// A prompt cannot lock the state.
    pub(super) fn locked(&mut self, state: &Type, template: &Template) {
        // The error is at the argument `state`, where the type is written.
        let first = template
            .segments
            .iter()
            .find_map(|segment| match &segment.kind {
                Piece::Variable {
                    variable: Variable::State(path),
                    ..
                } => Some(path.join(".")),
                _ => None,
            });
        let Some((path, lock)) = first.zip(lock(state)) else {
            return;
        };
        let guard = if lock == "Mutex" { "lock()" } else { "read()" };
        let message = format!(
            "a prompt does not lock the `{lock}` of a state; declare the value by `with(n = \
             state.{guard}.unwrap().{path}.clone())` and write `{{n}}`, or name a state whose \
             fields have locks of their own"
        );
        self.faults.push(Error::new_spanned(state, message));
    }

    /// Formats of other languages.
    pub(super) fn filter_hint(&self, prompt: &Source, fault: &Fault) -> Option<String> {
        let FaultKind::UnknownFilter(filter) = &fault.kind else {
            return None;
        };
        // The name before the colon of this placeholder.
        let name = prompt.text()[..fault.range.start]
            .rsplit('{')
            .next()?
            .trim_end_matches(':');
        let owner = if name.starts_with("state.") {
            ""
        } else {
            "self."
        };
        if filter.starts_with('%') {
            return Some(format!(
                "`{filter}` is a format of dates; declare the text by `with(n = \
                 {owner}{name}.format(\"{filter}\").to_string())`, and write `{{n}}`"
            ));
        }
        if filter.ends_with('p') && spec::check(&filter[..filter.len() - 1]).is_ok() {
            return Some(format!(
                "`:{filter}` would write an address; write `{{{name}}}` for the value"
            ));
        }
        // `{price:.2f}` of Python, `{n:03d}` of C: the format without its letter is
        // one of std.
        let number = filter
            .strip_suffix(['f', 'd', 's', 'g', 'i', 'u'])
            .filter(|rest| spec::check(rest).is_ok())?;
        let colon = if number.is_empty() { "" } else { ":" };
        Some(format!(
            "a format has no letter for the type here; write `{{{name}{colon}{number}}}`"
        ))
    }

    /// `{user.name}` where `user` is no field: a misspelt field, or a part of the
    /// state.
    pub(super) fn field_access_hint(&self, prompt: &Source, fault: &Fault) -> Option<String> {
        let FaultKind::FieldAccess(path) = &fault.kind else {
            return None;
        };
        let (first, inside) = path.split_once('.')?;
        if first == "self" || self.names().any(|name| name == first) {
            return None;
        }
        let names: Vec<_> = self.names().collect();
        let node = &self.node;
        if let Some(near) = suggest(first, names.iter().map(String::as_str)) {
            return Some(format!(
                "`{first}` is not a field of `{node}`; did you mean `{near}`?"
            ));
        }
        // What stands behind the path, so that the remedy keeps the format.
        let format = prompt.text()[fault.range.end..]
            .split('}')
            .next()
            .unwrap_or_default();
        let written = format!("{{state.{inside}{format}}}");
        Some(if self.has_state {
            format!(
                "`{first}` is not a field of `{node}`; the state is named `state`: write \
                 `{written}`"
            )
        } else {
            format!(
                "`{first}` is not a field of `{node}`; for a part of the program's state name its \
                 type with `state = …`, and write `{written}`"
            )
        })
    }
}
