//! Where in a text the JSON is, in time linear in the text.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::error::{ReadError, boundary, broken, error_offset, nothing, offset_of, place};

/// JSON found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// Valid JSON, without anything around it.
    pub(super) json: &'a str,
    pub(super) source: Source,
}

/// Where in a text its JSON was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The text is JSON, but for white space and a byte order mark around it.
    Whole,
    /// In a code fence.
    Fence,
    /// Between other words.
    Prose,
}

/// The one JSON value of `text`: the whole text, else the value in its code fences, else the one in its prose.
///
/// `objects` says that an object is wanted: a list in the prose (a citation, say) is then no rival of one, and
/// no stand-in for one either, though serde would fill a struct from it.
///
/// # Errors
/// No JSON, two values that differ, or JSON that is broken or incomplete; never a part of such.
pub(super) fn find_json(text: &str, objects: bool) -> Result<Found<'_>, ReadError> {
    let whole = trimmed(text);
    let found = if is_json(whole) {
        Found { json: whole, source: Source::Whole }
    } else if let Some(json) = in_fences(text, objects)? {
        Found { json, source: Source::Fence }
    } else if let Some(json) = in_prose(text, objects)? {
        Found { json, source: Source::Prose }
    } else {
        return Err(nothing(whole));
    };
    if objects && !found.json.starts_with('{') {
        return Err(ReadError::NoObject { at: place(text, offset_of(text, found.json)) });
    }
    Ok(found)
}

/// The text without white space, byte order marks and zero-width characters around it.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
    })
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The values found so far, of which only one may be left.
struct Candidates<'a> {
    text: &'a str,
    objects: bool,
    wanted: Option<Candidate<'a>>,
    /// The first list where an object is wanted, so that the error can say so.
    unwanted: Option<&'a str>,
}

struct Candidate<'a> {
    json: &'a str,
    /// Parsed when there is a second one to compare it with.
    value: Option<Value>,
}

impl<'a> Candidates<'a> {
    fn new(text: &'a str, objects: bool) -> Self {
        Candidates { text, objects, wanted: None, unwanted: None }
    }

    fn add(&mut self, json: &'a str) -> Result<(), ReadError> {
        if self.objects && !json.starts_with('{') {
            self.unwanted.get_or_insert(json);
            return Ok(());
        }
        let Some(first) = &mut self.wanted else {
            self.wanted = Some(Candidate { json, value: None });
            return Ok(());
        };
        if first.is(json) {
            return Ok(());
        }
        let place = |part| place(self.text, offset_of(self.text, part));
        Err(ReadError::Ambiguous { first: place(first.json), second: place(json) })
    }

    fn only(self) -> Option<&'a str> {
        self.wanted.map(|one| one.json).or(self.unwanted)
    }
}

impl Candidate<'_> {
    fn is(&mut self, json: &str) -> bool {
        if self.json == json {
            return true;
        }
        if self.value.is_none() {
            self.value = serde_json::from_str(self.json).ok();
        }
        self.value.is_some() && self.value == serde_json::from_str(json).ok()
    }
}

/// The value in the text's code fences.
fn in_fences(text: &str, objects: bool) -> Result<Option<&str>, ReadError> {
    let mut candidates = Candidates::new(text, objects);
    let mut open: Option<Fence<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match &open {
            None => open = Fence::opened_by(line, at),
            Some(fence) if fence.is_closed_by(line) => {
                block(text, &text[fence.content..start], fence.tag, &mut candidates)?;
                open = None;
            }
            Some(_) => {}
        }
    }
    if let Some(fence) = open {
        block(text, &text[fence.content..], fence.tag, &mut candidates)?;
    }
    Ok(candidates.only())
}

/// The content of one fence: a candidate, an error if it was meant to be one, or other code.
fn block<'a>(text: &str, content: &'a str, tag: &str, found: &mut Candidates<'a>) -> Result<(), ReadError> {
    let content = trimmed(content);
    let meant = tag.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("json"));
    match serde_json::from_str::<IgnoredAny>(content) {
        Ok(_) if found.objects && !content.starts_with(['{', '[']) => Ok(()),
        Ok(_) => found.add(content),
        Err(error) if meant || (tag.is_empty() && looks_like_json(content)) => {
            Err(broken(text, offset_of(text, content), &error))
        }
        Err(_) => Ok(()),
    }
}

/// An open code fence.
struct Fence<'a> {
    mark: char,
    length: usize,
    tag: &'a str,
    content: usize,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str, content: usize) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let tag = line.trim_start_matches(mark);
        let length = line.len() - tag.len();
        // Not code within the line, nor JSON that begins on the fence's own line.
        (length >= 3 && !tag.contains([mark, '{', '['])).then(|| Fence {
            mark,
            length,
            tag: tag.trim_start(),
            content,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// The value between other words. Braces of the prose are skipped with all that they enclose.
fn in_prose(text: &str, objects: bool) -> Result<Option<&str>, ReadError> {
    let mut candidates = Candidates::new(text, objects);
    let mut pairs: Option<Vec<(usize, usize)>> = None;
    let mut at = 0;
    while let Some(begin) = text[at..].find(['{', '[']).map(|found| at + found) {
        let rest = &text[begin..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        at = match stream.next() {
            Some(Ok(_)) => {
                let end = begin + stream.byte_offset();
                candidates.add(&text[begin..end])?;
                end
            }
            Some(Err(error)) if error.is_eof() || looks_like_json(rest) => {
                return Err(broken(text, begin, &error));
            }
            Some(Err(error)) => {
                let pairs = pairs.get_or_insert_with(|| pairs_in(text));
                let closer =
                    pairs.binary_search_by_key(&begin, |pair| pair.0).map_or(begin, |at| pairs[at].1);
                // Never before the place of the error, so that no part of the text is parsed twice.
                boundary(text, (closer + 1).max(begin + error_offset(rest, &error)))
            }
            None => begin + 1,
        };
    }
    Ok(candidates.only())
}

/// Whether this was meant to be JSON, as far as its first characters show.
fn looks_like_json(text: &str) -> bool {
    let list = text.strip_prefix('[').map(str::trim_start);
    let object = list.unwrap_or(text).strip_prefix('{').map(str::trim_start);
    [list, object].into_iter().flatten().any(|inner| inner.starts_with('"'))
}

/// The places of all braces and brackets that have a partner, by their opener. The two kinds don't mind each
/// other, since prose needn't nest them well.
fn pairs_in(text: &str) -> Vec<(usize, usize)> {
    let (mut braces, mut brackets, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => braces.push(at),
            b'[' => brackets.push(at),
            b'}' => pairs.extend(braces.pop().map(|open| (open, at))),
            b']' => pairs.extend(brackets.pop().map(|open| (open, at))),
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}
