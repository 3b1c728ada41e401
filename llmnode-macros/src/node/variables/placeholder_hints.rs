//! Placeholders that are well formed, but probably not what the author wanted.

use std::ops::Range;

use proc_macro2::{Span, TokenStream};

use super::Variables;
use crate::diagnostics::suggest;
use crate::node::without_display::{WithoutDisplay, may_be_attachment, takes_text};
use crate::prompt::display_check;
use crate::prompt::fault::{Fault, FaultKind};
use crate::prompt::source::Source;
use crate::prompt::template::{Format, Piece, Template, Variable};

impl Variables<'_> {
    /// The history needs no placeholder.
    pub(super) fn history_inserted(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Variable { variable: Variable::Field(name), .. } = &segment.kind else { continue };
            if self.history.as_ref() == Some(name) {
                let message = format!(
                    "the history `{name}` is sent before the user message without being named; drop `{{{name}}}`"
                );
                self.misuse(prompt, &segment.range, &message);
            }
        }
    }

    /// `{{field}}` is the text `{field}`, but a variable in other template languages.
    pub(super) fn mustache(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Text(_) = segment.kind else { continue };
            let text = &prompt.text()[segment.range.clone()];
            for (open, _) in text.match_indices("{{") {
                let inside = &text[open + 2..];
                let Some(length) = inside.find(['{', '}']).filter(|&end| inside[end..].starts_with("}}"))
                else {
                    continue;
                };
                let name = inside[..length].trim();
                let is_state = self.has_state && name.starts_with("state.");
                if is_state || self.names().any(|known| known == *name) {
                    let start = segment.range.start + open;
                    let message = format!(
                        "`{{{{{name}}}}}` is the text `{{{name}}}`; write `{{{name}}}` for its value"
                    );
                    self.fault(prompt, &(start..start + length + 4), &message);
                }
            }
        }
    }

    pub(super) fn stateless(&mut self, prompt: &Source, template: &Template) {
        let is_state = |kind: &Piece| matches!(kind, Piece::Variable { variable: Variable::State(_), .. });
        let first = template.segments.iter().find(|segment| is_state(&segment.kind));
        if let Some(segment) = first.filter(|_| !self.has_state) {
            let written = &prompt.text()[segment.range.clone()];
            let message = format!("`{written}` reads the program's state; name its type with `state = …`");
            self.misuse(prompt, &segment.range, &message);
        }
    }

    pub(super) fn attachments(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            if let Piece::Variable { format: Format::Attach, .. } = segment.kind {
                let written = &prompt.text()[segment.range.clone()];
                let message = format!("the system message is text; move `{written}` to `prompt`");
                self.fault(prompt, &segment.range, &message);
            }
        }
    }

    pub(super) fn without_display(&mut self, prompt: &Source, template: &Template) {
        for segment in &template.segments {
            let Piece::Variable { variable: Variable::Field(name), format } = &segment.kind else { continue };
            if !takes_text(format) || self.history.as_ref() == Some(name) {
                continue;
            }
            if let Some(textless) = self.field(name).and_then(|field| WithoutDisplay::of(&field.ty)) {
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
        let check = || display_check::check(prompt, placeholder, name, ty, key);
        may_be_attachment(ty, name, &self.item.generics).then(check).flatten()
    }

    fn field(&self, name: &str) -> Option<&syn::Field> {
        self.item.fields.iter().find(|field| super::name(field).as_deref() == Some(name))
    }

    pub(super) fn field_access_hint(&self, prompt: &Source, fault: &Fault) -> Option<String> {
        let FaultKind::FieldAccess(path) = &fault.kind else { return None };
        let (first, inside) = path.split_once('.')?;
        if first == "self" || self.names().any(|name| name == first) {
            return None;
        }
        let names: Vec<_> = self.names().collect();
        let node = &self.node;
        if let Some(near) = suggest(first, names.iter().map(String::as_str)) {
            return Some(format!("`{first}` is not a field of `{node}`; did you mean `{near}`?"));
        }
        let format = prompt.text()[fault.range.end..].split('}').next().unwrap_or_default();
        let written = format!("{{state.{inside}{format}}}");
        Some(if self.has_state {
            format!("`{first}` is not a field of `{node}`; the state is named `state`: write `{written}`")
        } else {
            format!(
                "`{first}` is not a field of `{node}`; for a part of the program's state name its type with `state = …`, and \
                 write `{written}`"
            )
        })
    }
}
