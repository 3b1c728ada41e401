//! Where in a text the JSON is, in time linear in the text.

use std::fmt;

use serde::de::IgnoredAny;
use serde_json::Value;

/// Characters of the text shown around a syntax error.
const EXCERPT: usize = 30;

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

/// Why no JSON was taken from a text. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadError {
    /// No JSON; `start` is how the text begins.
    Nothing { start: String },
    /// Two values that differ, and where each begins.
    Ambiguous { first: Place, second: Place },
    /// JSON that ends before it is complete: where it begins.
    Truncated { begin: Place, excerpt: String },
    /// JSON with an error in it.
    Syntax { at: Place, what: String, excerpt: String },
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Nothing { start } if start.is_empty() => {
                write!(f, "the answer is empty; answer with one JSON value")
            }
            ReadError::Nothing { start } => {
                write!(f, "no JSON in the answer, which begins {start:?}; answer with one JSON value only")
            }
            ReadError::Ambiguous { first, second } => write!(
                f,
                "two different JSON values, at {first} and at {second}; answer with one JSON value only"
            ),
            ReadError::Truncated { begin, excerpt } => {
                write!(f, "the JSON that begins at {begin} is not complete; it ends in {excerpt:?}")
            }
            ReadError::Syntax { at, what, excerpt } => {
                write!(f, "invalid JSON at {at}: {what}, near {excerpt:?}")
            }
        }
    }
}

/// The one JSON value of `text`: the whole text, else the value in its code fences, else the one in its prose.
///
/// `objects` says that an object is wanted, so that a list in the prose (a citation, say) is no rival of one.
///
/// # Errors
/// No JSON, two values that differ, or JSON that is broken or incomplete; never a part of such.
pub(super) fn find_json(text: &str, objects: bool) -> Result<Found<'_>, ReadError> {
    let whole = trimmed(text);
    if is_json(whole) {
        return Ok(Found { json: whole, source: Source::Whole });
    }
    if let Some(json) = in_fences(text, objects)? {
        return Ok(Found { json, source: Source::Fence });
    }
    match in_prose(text, objects)? {
        Some(json) => Ok(Found { json, source: Source::Prose }),
        None => Err(ReadError::Nothing { start: whole.chars().take(EXCERPT * 2).collect() }),
    }
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
    /// A list where an object is wanted: better than nothing, since the error then says so.
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

fn broken(text: &str, begin: usize, error: &serde_json::Error) -> ReadError {
    if error.is_eof() {
        let end = text.trim_end();
        let from = end.char_indices().rev().nth(EXCERPT - 1).map_or(0, |(at, _)| at).max(begin);
        return ReadError::Truncated {
            begin: place(text, begin),
            excerpt: end[from.min(end.len())..].to_owned(),
        };
    }
    let at = boundary(text, begin + error_offset(&text[begin..], error));
    let from = boundary(text, at.saturating_sub(EXCERPT));
    let to = boundary(text, at + EXCERPT);
    let what = error.to_string();
    let what = what.split_once(" at line ").map_or(what.as_str(), |(what, _)| what).to_owned();
    ReadError::Syntax { at: place(text, at), what, excerpt: text[from..to].to_owned() }
}

/// Where in `text` serde_json met the error: it counts lines from 1, and bytes in them.
fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    line + error.column().saturating_sub(1)
}

/// `at` or the next place after it where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Where `part`, a slice of `text`, begins in it.
fn offset_of(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

fn place(text: &str, offset: usize) -> Place {
    let before = &text[..boundary(text, offset)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
}
