//! One parser for JSON and for what is nearly JSON: in one pass, without recursion, and without a guess.
//!
//! Where it repairs nothing, the text was JSON. A repair is made only where one reading is left; else the text is
//! refused at the place that has two.

mod ahead;
mod bare;
mod comment;
mod fault;
mod frame;
mod notes;
mod number;
mod scan;
mod string;
mod structure;

pub(super) use ahead::begins_with_a_string;
pub(super) use bare::word_in_brackets;
pub(super) use fault::{Fault, What};
pub(super) use notes::Repairs;
pub(super) use scan::{Fuel, is_quote, skip_blank};

use self::scan::Scan;
use self::structure::Parser;
use super::json::Json;
use crate::flag::Repair;

/// Lists and objects within each other, at most; as in serde_json.
pub(super) const DEPTH: usize = 127;

/// A list or an object, read.
#[derive(Debug)]
pub(super) struct Parsed<'t> {
    pub(super) json: Json<'t>,
    /// Where it ends in the text.
    pub(super) end: usize,
    pub(super) repairs: Repairs,
    /// A key that stands twice in one object with different values, and where the object begins. serde_json
    /// minds it, or not; in repaired text it is an error.
    pub(super) conflict: Option<(usize, String)>,
    /// Where a name without quotes stands for a value: `{"name": string}`. An error too, but not of words in braces.
    pub(super) name: Option<usize>,
}

impl Parsed<'_> {
    /// Whether it is a list of one string without quotes, which is no address.
    pub(super) fn is_one_word(&self) -> bool {
        self.repairs.has(Repair::BareString)
            && matches!(&self.json, Json::Array(items) if matches!(&items[..], [Json::String(word)] if !word.contains("://")))
    }

    /// Whether it is an object in which nothing but words stands, keys and values without quotes.
    pub(super) fn is_words(&self) -> bool {
        let (mut keys, mut words) = (0, 0);
        matches!(self.json, Json::Object(_))
            && counts(&self.json, &mut keys, &mut words)
            && keys == self.repairs.times(Repair::BareKey)
            && words == self.repairs.times(Repair::BareString)
    }

    /// Whether it is refused all the same: for a key that stands twice, or a name that stands for a value.
    pub(super) fn is_doubtful(&self) -> bool {
        self.conflict.is_some() || self.name.is_some()
    }

    /// Whether the text is JSON as it stands. JSON may have a key twice.
    pub(super) fn is_strict(&self) -> bool {
        self.repairs.none_but_duplicates()
    }
}

/// Counts the keys and strings of a value; `false` if there is something else in it, or nothing.
fn counts(json: &Json<'_>, keys: &mut usize, words: &mut usize) -> bool {
    match json {
        Json::String(_) => *words += 1,
        Json::Array(items) => return !items.is_empty() && items.iter().all(|item| counts(item, keys, words)),
        Json::Object(members) => {
            *keys += members.len();
            return !members.is_empty() && members.iter().all(|(_, value)| counts(value, keys, words));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => return false,
    }
    true
}

/// Reads the list or object that begins at `begin`, up to its end or that of the text.
///
/// # Errors
/// The first place that isn't JSON, or (`lenient`) that cannot be repaired without loss.
pub(super) fn parse<'t>(
    text: &'t str,
    begin: usize,
    lenient: bool,
    fuel: &Fuel,
) -> Result<Parsed<'t>, Fault> {
    if let Some((words, at)) = no_member(text, begin) {
        return Err(Fault { what: What::is(words), at, reached: at, sure: false });
    }
    Parser::new(text, begin, lenient, fuel).run()
}

/// What is wrong behind a brace that is one of a template or of code, and where. These have many: no need to set up a
/// parser for each.
fn no_member(text: &str, begin: usize) -> Option<(&'static str, usize)> {
    let inner = text[begin..].strip_prefix('{')?.trim_ascii_start();
    let at = text.len() - inner.len();
    match inner.as_bytes().first()? {
        byte if b"{[(<|%=*&^!?;+@~)>\\".contains(byte) => Some(("expected a key in quotes", at)),
        byte if byte.is_ascii_alphabetic() => {
            let name = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            inner[name..].starts_with('}').then_some(("expected a colon after the key", at + name))
        }
        _ => None,
    }
}

/// What is wrong with the JSON from `begin` to the end of the text, if that is a string, a list or an object.
pub(super) fn flaw(text: &str, begin: usize) -> Option<Fault> {
    let fuel = Fuel::of(text);
    if text[begin..].starts_with(['{', '[']) {
        return parse(text, begin, false, &fuel).err();
    }
    let mut scan =
        Scan { text, at: begin, lenient: false, repairs: Repairs::default(), sure: false, fuel: &fuel };
    text[begin..].starts_with('"').then(|| scan.string(string::Role::Item).err()).flatten()
}

/// The first key that stands twice with different values in one object of JSON.
pub(super) fn doubled_key(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    let parsed = text.starts_with(['{', '[']).then(|| parse(text, 0, false, &Fuel::of(text)))?;
    parsed.ok()?.conflict.map(|(_, key)| key)
}

/// The tree of a text that is JSON; `None` if it isn't, or has a key twice with different values.
pub(super) fn tree(text: &str) -> Option<Json<'_>> {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    let fuel = Fuel::of(text);
    if text.starts_with(['{', '[']) {
        let Parsed { json, end, conflict, .. } = parse(text, 0, false, &fuel).ok()?;
        return (end == text.len() && conflict.is_none()).then_some(json);
    }
    let mut scan =
        Scan { text, at: 0, lenient: false, repairs: Repairs::default(), sure: false, fuel: &fuel };
    let scalar = match text {
        "null" => return Some(Json::Null),
        "true" => return Some(Json::Bool(true)),
        "false" => return Some(Json::Bool(false)),
        _ if text.starts_with('"') => Json::String(scan.string(string::Role::Item).ok()?),
        _ => Json::Number(scan.number().ok()?),
    };
    (scan.at == text.len()).then_some(scalar)
}
