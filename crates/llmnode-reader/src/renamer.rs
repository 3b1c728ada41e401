//! Between the names of a type's members and those that stand for them on the wire,
//! in JSON that comes in pieces.
//!
//! Only names change, and only where the schema has a member of that name: numbers
//! keep their digits, texts their escapes. What is no JSON passes as it is, so that
//! reading says what is wrong with it.
//!
//! A name is kept back until it ends; everything else goes out as it comes. What
//! each open object or list may be of is followed along with the brackets, as a
//! free member of the same name must keep it.

use crate::check::{Rule, Rules};
use crate::schema::{OutputSchema, Profile, WireNames};

/// Deeper values keep their names: no schema goes as deep.
const MAX_DEPTH: usize = 320;

/// Which names a text gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Those that stand for the type's.
    OfWire,
    /// The type's own.
    OfType,
}

/// Renames the members of one text. Pieces are given in order, and make up the text again.
pub struct Renamer<'s> {
    rules: &'s Rules,
    names: &'s WireNames,
    to: Names,
    open: Vec<Level<'s>>,
    text: Text,
}

/// An object or a list that is not closed.
struct Level<'s> {
    /// What the object or list may be of.
    forms: Vec<&'s Rule>,
    inside: Inside<'s>,
}

/// Where in it the text is.
enum Inside<'s> {
    /// Between an opening bracket or a comma and a name.
    Name,
    /// Behind a name, with what its value may be of.
    Member(Vec<&'s Rule>),
    Item(usize),
}

/// Whether the text is within a string.
enum Text {
    None,
    /// Of a name: as it was written so far.
    Name {
        written: String,
        is_escaped: bool,
    },
    Value {
        is_escaped: bool,
    },
}

impl<'s> Renamer<'s> {
    /// `None`: the API takes the type's names.
    pub fn new(schema: &'s OutputSchema, profile: Profile, to: Names) -> Option<Self> {
        let names = schema.wire_names(profile)?;
        Some(Renamer {
            rules: &schema.rules,
            names,
            to,
            open: Vec::new(),
            text: Text::None,
        })
    }

    /// A whole text.
    pub fn whole(mut self, json: &str) -> String {
        let written = self.piece(json);
        written + &self.end()
    }

    /// The next piece, but for a name that has not ended yet.
    pub fn piece(&mut self, piece: &str) -> String {
        let mut written = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.next(c, &mut written);
        }
        written
    }

    /// What was kept back.
    pub fn end(&mut self) -> String {
        match std::mem::replace(&mut self.text, Text::None) {
            Text::Name { written, .. } => written,
            Text::None | Text::Value { .. } => String::new(),
        }
    }

    /// Takes one character, and writes it unless it belongs to a name.
    fn next(&mut self, c: char, to: &mut String) {
        match &mut self.text {
            Text::Name {
                written,
                is_escaped,
            } => {
                written.push(c);
                if c == '"' && !*is_escaped {
                    let name = self.end();
                    to.push_str(&self.renamed(name));
                } else {
                    *is_escaped = c == '\\' && !*is_escaped;
                }
                return;
            }
            Text::Value { is_escaped } => {
                let ends = c == '"' && !*is_escaped;
                *is_escaped = c == '\\' && !*is_escaped;
                if ends {
                    self.text = Text::None;
                }
            }
            Text::None => match c {
                '"' if self.is_before_name() => {
                    self.text = Text::Name {
                        written: "\"".to_owned(),
                        is_escaped: false,
                    };
                    return;
                }
                '"' => self.text = Text::Value { is_escaped: false },
                '{' => self.begin(Inside::Name),
                '[' => self.begin(Inside::Item(0)),
                '}' | ']' => drop(self.open.pop()),
                ',' => self.comma(),
                _ => {}
            },
        }
        to.push(c);
    }

    fn is_before_name(&self) -> bool {
        match self.open.last() {
            Some(level) => matches!(level.inside, Inside::Name),
            None => false,
        }
    }

    /// Opens an object or a list, with what it may be of by its place.
    fn begin(&mut self, inside: Inside<'s>) {
        let forms = match self.open.last() {
            _ if self.open.len() >= MAX_DEPTH => Vec::new(),
            None => self.rules.forms(self.rules.root_rule()),
            Some(level) => match &level.inside {
                Inside::Name => Vec::new(),
                Inside::Member(forms) => forms.clone(),
                Inside::Item(index) => {
                    let items = level.forms.iter().filter_map(|form| form.item(*index));
                    self.forms_of(items)
                }
            },
        };
        self.open.push(Level { forms, inside });
    }

    /// What values of these rules may be of.
    fn forms_of(&self, numbers: impl Iterator<Item = usize>) -> Vec<&'s Rule> {
        let mut forms = Vec::new();
        for number in numbers {
            forms.extend(self.rules.forms(self.rules.at(number)));
        }
        forms
    }

    /// Another item, or another name.
    fn comma(&mut self) {
        if let Some(level) = self.open.last_mut() {
            level.inside = match level.inside {
                Inside::Item(at) => Inside::Item(at.saturating_add(1)),
                Inside::Name | Inside::Member(_) => Inside::Name,
            };
        }
    }

    /// The name to write. `written`: with its quotes. Also looks up what the
    /// member's value may be of.
    fn renamed(&mut self, written: String) -> String {
        let Some(mut level) = self.open.pop() else {
            return written;
        };
        let name: String = serde_json::from_str(&written).unwrap_or_default();
        let (other, of_type) = match self.to {
            Names::OfWire => (self.names.wire(&name), Some(name.as_str())),
            Names::OfType => (self.names.of_type(&name), self.names.of_type(&name)),
        };
        // A name of the wire that no form here has belongs to a free member.
        let of_type = of_type.filter(|of_type| {
            let mut forms = level.forms.iter();
            forms.any(|form| form.has_property(of_type))
        });
        let member_name = of_type.unwrap_or(&name);
        let members = level
            .forms
            .iter()
            .filter_map(|form| form.member(member_name));
        level.inside = Inside::Member(self.forms_of(members));
        self.open.push(level);
        match other {
            Some(other) if of_type.is_some() => serde_json::Value::from(other).to_string(),
            _ => written,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> OutputSchema {
        OutputSchema::from_value(
            "list_apps",
            json!({"type": "object", "properties": {
                "filter[id]": {"type": "string"},
                "filter_id": {"type": "string"},
                "Straße Nr.": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
                "either": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
                "free": {"type": "object", "additionalProperties": false, "properties": {"raw": {}}},
            }, "$defs": {"Place": {"type": "object", "properties": {
                "": {"type": "number"}, "next[]": {"$ref": "#/$defs/Place"}}}}}),
        )
    }

    const OWN: &str = r#"{"filter[id]": "a \"filter[id]\": {", "filter_id":"b", "Straße Nr.": [{"":1.50}, {"next[]": {"" : 1e999}}], "either": {"next[]": null}, "free": {"raw": {"filter[id]": [{"": 0}]}}}"#;

    #[test]
    fn names_are_changed_where_the_schema_has_them_and_nothing_else() {
        let schema = schema();
        let wire = Renamer::new(&schema, Profile::Anthropic, Names::OfWire)
            .unwrap()
            .whole(OWN);
        assert_eq!(
            wire,
            r#"{"filter_id_e35c4b0c": "a \"filter[id]\": {", "filter_id":"b", "Stra_e_Nr.": [{"member":1.50}, {"next": {"member" : 1e999}}], "either": {"next": null}, "free": {"raw": {"filter[id]": [{"": 0}]}}}"#
        );
        assert_eq!(
            Renamer::new(&schema, Profile::Anthropic, Names::OfType)
                .unwrap()
                .whole(&wire),
            OWN
        );
    }

    #[test]
    fn pieces_make_up_the_whole_wherever_they_are_cut() {
        let schema = schema();
        let wire = Renamer::new(&schema, Profile::Anthropic, Names::OfWire)
            .unwrap()
            .whole(OWN);
        for (at, _) in wire.char_indices() {
            let mut renamer = Renamer::new(&schema, Profile::Anthropic, Names::OfType).unwrap();
            let written = renamer.piece(&wire[..at]) + &renamer.piece(&wire[at..]) + &renamer.end();
            assert_eq!(written, OWN);
        }
    }

    #[test]
    fn what_is_no_json_passes() {
        let schema = schema();
        for text in [
            "",
            "I cannot say.",
            "{\"filter_",
            "]}{\"a\\",
            "\"filter_id_e35c4b0c\"",
            "```json\n[1,",
        ] {
            assert_eq!(
                Renamer::new(&schema, Profile::Anthropic, Names::OfType)
                    .unwrap()
                    .whole(text),
                text
            );
        }
        for profile in [Profile::Function, Profile::Gemini] {
            assert!(Renamer::new(&schema, profile, Names::OfWire).is_none());
        }
    }
}
