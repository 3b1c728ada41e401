//! The values found in a text, of which only one may be left, unless all are wanted.

use std::borrow::Cow;
use std::ops::Range;

use super::error::{Places, ReadError, nothing, place, syntax};
use super::find::{Found, Search, trimmed};
use super::json::canonical;
use super::repair::{Parsed, Repairs};
use crate::flag::{Flag, Note};

/// More values side by side than this are no answer.
const MOST: usize = 1000;

/// The values found so far.
pub(super) struct Candidates<'t, 'f> {
    search: Search<'t, 'f>,
    wanted: Option<Candidate<'t>>,
    /// Those after the first, where all are wanted.
    further: Vec<Candidate<'t>>,
    /// Where the first list is where an object is wanted, so that the error can say so.
    unwanted: Option<usize>,
    /// What is wrong with the first text that was perhaps meant as JSON.
    doubtful: Option<ReadError>,
}

struct Candidate<'t> {
    part: Range<usize>,
    json: Cow<'t, str>,
    repairs: Repairs,
    flags: &'static [Flag],
    /// Whether it is too little to be the answer where there is other text: `{}`.
    mention: bool,
    /// In its canonical form, when there is a second one to compare it with.
    canonical: Option<String>,
}

impl<'t, 'f> Candidates<'t, 'f> {
    pub(super) fn new(search: Search<'t, 'f>) -> Self {
        Candidates { search, wanted: None, further: Vec::new(), unwanted: None, doubtful: None }
    }

    /// Adds a part of the text that is JSON.
    pub(super) fn add_json(
        &mut self,
        part: Range<usize>,
        repairs: &Repairs,
        flags: &'static [Flag],
    ) -> Result<(), ReadError> {
        let json = Cow::Borrowed(&self.search.text[part.clone()]);
        self.add(part, json, repairs.clone(), flags)
    }

    /// Adds a list or an object.
    pub(super) fn add_parsed(
        &mut self,
        begin: usize,
        parsed: &Parsed<'_>,
        mut repairs: Repairs,
        flags: &'static [Flag],
    ) -> Result<(), ReadError> {
        if parsed.is_strict() {
            return self.add_json(begin..parsed.end, &repairs, flags);
        }
        if let Some((at, key)) = &parsed.conflict {
            let key: String = key.chars().take(40).collect();
            let words = format!("the key {key:?} stands twice in one object, with different values");
            return Err(syntax(self.search.text, *at, words));
        }
        if let Some(at) = parsed.name {
            let words = "a name that stands for a value; write the value, or put a string in quotes";
            return Err(syntax(self.search.text, at, words.to_owned()));
        }
        repairs.extend(&parsed.repairs);
        let mut json = String::with_capacity(parsed.end - begin + 64);
        parsed.json.write(&mut json);
        self.add(begin..parsed.end, Cow::Owned(json), repairs, flags)
    }

    fn add(
        &mut self,
        part: Range<usize>,
        json: Cow<'t, str>,
        repairs: Repairs,
        flags: &'static [Flag],
    ) -> Result<(), ReadError> {
        if self.search.wanted.object && !json.starts_with('{') {
            self.unwanted.get_or_insert(part.start);
            return Ok(());
        }
        match &mut self.wanted {
            Some(first) if !self.search.every => {
                if first.is(&json) {
                    return Ok(());
                }
                let place = |at| place(self.search.text, at);
                return Err(ReadError::Ambiguous {
                    first: place(first.part.start),
                    second: place(part.start),
                });
            }
            Some(_) if self.further.len() >= MOST => return Err(ReadError::Tangled),
            _ => {}
        }
        let inner = json.get(1..json.len() - 1).map_or("", str::trim);
        let mention = inner.is_empty() && flags.contains(&Flag::InProse);
        let candidate = Candidate { part, json, repairs, flags, mention, canonical: None };
        match &self.wanted {
            None => self.wanted = Some(candidate),
            Some(_) => self.further.push(candidate),
        }
        Ok(())
    }

    /// Notes what is wrong with a text that was perhaps not meant as JSON.
    pub(super) fn doubt(&mut self, error: impl FnOnce() -> ReadError) {
        self.doubtful.get_or_insert_with(error);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_none() && self.unwanted.is_none()
    }

    /// Whether there is one of what is wanted.
    pub(super) fn has_one(&self) -> bool {
        self.wanted.is_some()
    }

    /// How many are there is not asked, only whether one came.
    pub(super) fn len(&self) -> usize {
        usize::from(self.wanted.is_some()) + usize::from(self.unwanted.is_some())
    }

    /// All that were found; none, if the text has nothing that was perhaps meant as JSON.
    pub(super) fn every(self) -> Result<Vec<Found<'t>>, ReadError> {
        let text = self.search.text;
        match (self.wanted, self.doubtful) {
            (None, Some(doubt)) => Err(doubt),
            (first, _) => {
                let all = first.into_iter().chain(self.further).filter(|one| !one.mention);
                let mut places = Places::of(text);
                Ok(all
                    .map(|one| Found { notes: one.notes(&mut places), json: one.json, part: one.part })
                    .collect())
            }
        }
    }

    /// The one that was found.
    pub(super) fn only(self) -> Result<Found<'t>, ReadError> {
        let text = self.search.text;
        match (self.wanted, self.unwanted) {
            (Some(one), _) if one.mention => Err(ReadError::Mention { at: place(text, one.part.start) }),
            (Some(one), _) => {
                Ok(Found { notes: one.notes(&mut Places::of(text)), json: one.json, part: one.part })
            }
            (None, Some(at)) => Err(ReadError::NoObject { at: place(text, at) }),
            (None, None) => Err(self.doubtful.unwrap_or_else(|| nothing(trimmed(text)))),
        }
    }
}

impl Candidate<'_> {
    fn is(&mut self, json: &str) -> bool {
        if self.json == json {
            return true;
        }
        if self.canonical.is_none() {
            self.canonical = canonical(&self.json);
        }
        self.canonical.is_some() && self.canonical == canonical(json)
    }

    fn notes(&self, places: &mut Places<'_>) -> Vec<Note> {
        let around = self.flags.iter().map(|flag| (*flag, self.part.start, 1));
        let repairs = self.repairs.iter().map(|made| (Flag::Repaired(made.repair), made.at, made.times));
        let note = |(flag, at, times)| Note { flag, place: places.at(at).to_string(), times };
        around.chain(repairs).map(note).collect()
    }
}
