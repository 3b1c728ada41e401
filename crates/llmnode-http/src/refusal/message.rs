//! The words of a refusal without those of the request.
//!
//! A server may quote the prompt in its refusal, and the prompt is somebody's text:
//! what stands in it must not change how others are asked. So the runs of words
//! that stand in the request as well are taken out before anything is read. In: the
//! server's text, and the request's body. Out: the text in lower case, decoded,
//! with blanks for white space, and `…` for what was quoted.
//!
//! 1. The text is decoded: escapes of JSON twice, since gateways quote what they
//!    got, and entities of HTML.
//! 2. Text and body are compared word by word, so that other quotation marks,
//!    escapes and white space make no difference.
//! 3. Words of ours, such as the name of a field or of an effort, stay: a server
//!    that refuses `low` means the setting, though the answer's schema has a `low`
//!    as well. What is quoted counts only if it could be misread: see
//!    [`Vocabulary`].

use std::collections::HashMap;

use serde_json::Value;

use super::fields::NAMES;

/// Words of the server's text that are read; what it means stands at its beginning.
const MOST_WORDS: usize = 1000;
/// Places of one word in the server's text that are compared.
const MOST_PLACES: usize = 64;
/// Runs of this length are quoted, whatever they say.
const LONG_RUN: usize = 4;

/// Members whose strings are words of the API's, not of the prompt.
const OWN_MEMBERS: [&str; 18] = [
    "detail",
    "effort",
    "encrypted_content",
    "format",
    "include",
    "media_type",
    "mimeType",
    "mode",
    "reasoning_effort",
    "responseMimeType",
    "role",
    "signature",
    "status",
    "thinkingLevel",
    "thoughtSignature",
    "tool_choice",
    "ttl",
    "type",
];

/// Members whose names are the model's or a tool's, as well as all below.
const FREE_MEMBERS: [&str; 4] = ["args", "arguments", "input", "response"];

/// `text`: the server's. `body`: what was sent. `model`: its name, which may have a
/// field's name in it.
pub(crate) fn without_prompt(text: &str, body: &Value, model: &str) -> String {
    let text = decoded(text);
    let mut words = words(&text);
    words.truncate(MOST_WORDS);
    let mut quoted = Quoted::new(&words, &text);
    quoted.strike(model);
    strings(body, false, &mut |string| quoted.strike(string));
    quoted.rest()
}

/// In lower case, with a blank for each white space.
pub(crate) fn decoded(text: &str) -> String {
    let mut text = text.to_lowercase();
    for _ in 0..2 {
        if text.contains('\\') {
            text = unescaped(&text);
        }
        if text.contains('&') {
            text = without_entities(&text);
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `\"` and `\u0041`, as JSON in JSON has them.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n' | 't' | 'r') => out.push(' '),
            Some('u') => {
                let digits: String = rest.clone().take(4).collect();
                let number = u32::from_str_radix(&digits, 16).ok();
                match number.and_then(char::from_u32) {
                    Some(decoded) if digits.len() == 4 => {
                        out.extend(decoded.to_lowercase());
                        rest.nth(3);
                    }
                    _ => out.push(' '),
                }
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// `&quot;`, `&#34;` and `&#x22;`, as web pages of gateways have them. An ampersand
/// that begins none of them stays.
fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        if let Some((name, rest)) = piece.split_once(';')
            && let Some(c) = entity(name)
        {
            out.push(c);
            out.push_str(rest);
        } else {
            out.push('&');
            out.push_str(piece);
        }
    }
    out
}

/// The character of an entity, by its number or its name.
fn entity(name: &str) -> Option<char> {
    const LONGEST: usize = 8;
    const NAMED: [(&str, char); 6] = [
        ("amp", '&'),
        ("apos", '\''),
        ("gt", '>'),
        ("lt", '<'),
        ("nbsp", ' '),
        ("quot", '"'),
    ];
    if name.len() > LONGEST {
        return None;
    }
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(number);
    }
    let (_, c) = NAMED.iter().find(|(listed, _)| *listed == name)?;
    Some(*c)
}

/// All strings of the body that are the prompt's: texts, names of tools and files,
/// values that the state allows.
fn strings(value: &Value, is_free: bool, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(values) => {
            for value in values {
                strings(value, is_free, found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                // Names of a schema's properties are the program's; one with blanks
                // in it is somebody's text.
                if is_free || name.contains(char::is_whitespace) {
                    found(name);
                }
                let is_own = !is_free && OWN_MEMBERS.contains(&name.as_str());
                if !is_own || !is_word(value) {
                    let below = value.is_object() && FREE_MEMBERS.contains(&name.as_str());
                    strings(value, is_free || below, found);
                }
            }
        }
        _ => {}
    }
}

fn is_word(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(values) => values.iter().all(Value::is_string),
        _ => false,
    }
}

/// A word and where it begins.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    begin: usize,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices() {
        match begin {
            None if is_part(c) => begin = Some(at),
            Some(from) if !is_part(c) => {
                words.push(Word {
                    text: &text[from..at],
                    begin: from,
                });
                begin = None;
            }
            _ => {}
        }
    }
    words.extend(begin.map(|from| Word {
        text: &text[from..],
        begin: from,
    }));
    words
}

/// `max_tokens` is one word.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The server's words, and which of them are quotations.
struct Quoted<'t> {
    text: &'t str,
    words: &'t [Word<'t>],
    places: HashMap<&'t str, Vec<usize>>,
    is_quoted: Vec<bool>,
    vocabulary: Vocabulary,
    /// For each word of the text: how long the run is that ends there, and at which
    /// word of the prompt.
    runs: Vec<(usize, usize)>,
}

impl<'t> Quoted<'t> {
    fn new(words: &'t [Word<'t>], text: &'t str) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, word) in words.iter().enumerate() {
            let places = places.entry(word.text).or_default();
            if places.len() < MOST_PLACES {
                places.push(at);
            }
        }
        let runs = vec![(0, 0); words.len()];
        let is_quoted = vec![false; words.len()];
        Quoted {
            text,
            words,
            places,
            is_quoted,
            vocabulary: Vocabulary::new(),
            runs,
        }
    }

    /// Strikes what stands in this string as well.
    fn strike(&mut self, string: &str) {
        let string = string.to_lowercase();
        self.strike_words(&string);
        if string.contains(['\\', '&']) {
            self.strike_words(&decoded(&string));
        }
        if string.contains('<') {
            self.strike_words(&without_tags(&string));
        }
    }

    /// The longest common runs, by the usual table of which one row is kept.
    fn strike_words(&mut self, string: &str) {
        self.runs.fill((0, 0));
        let prompt = words(string);
        for (before, word) in prompt.iter().enumerate() {
            let length = before + 1;
            let Some(places) = self.places.get(word.text) else {
                continue;
            };
            // From the last place on: a run continues the one before it, of the word before.
            for at in places.clone().into_iter().rev() {
                let (longest, end) = match at.checked_sub(1) {
                    Some(one) => self.runs[one],
                    None => (0, 0),
                };
                let run = if end == before && before > 0 {
                    longest + 1
                } else {
                    1
                };
                self.runs[at] = (run, length);
                let begin = at + 1 - run;
                let is_whole = run == prompt.len();
                let run = &self.words[begin..=at];
                if self.vocabulary.is_misleading(run, is_whole) {
                    self.is_quoted[begin..=at].fill(true);
                }
            }
        }
    }

    /// What is left.
    fn rest(&self) -> String {
        let mut rest = String::with_capacity(self.text.len());
        let mut end = 0;
        for (word, is_quoted) in self.words.iter().zip(&self.is_quoted) {
            rest.push_str(&self.text[end..word.begin]);
            rest.push_str(if *is_quoted { "…" } else { word.text });
            end = word.begin + word.text.len();
        }
        // What is beyond the words that are compared is not read.
        if self.words.len() < MOST_WORDS {
            rest.push_str(&self.text[end..]);
        }
        rest
    }
}

fn without_tags(text: &str) -> String {
    let mut pieces = text.split('<');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let behind = match piece.split_once('>') {
            Some((_, behind)) => behind,
            None => piece,
        };
        out.push(' ');
        out.push_str(behind);
    }
    out
}

/// The words by which refusals are read.
struct Vocabulary {
    fields: Vec<&'static str>,
}

/// Words that say of a field that it is refused.
const REFUSING: [&str; 28] = [
    "allowed",
    "available",
    "cannot",
    "complex",
    "deprecated",
    "disabled",
    "does",
    "doesn",
    "enabled",
    "exceeds",
    "incompatible",
    "invalid",
    "large",
    "mandatory",
    "maximum",
    "must",
    "not",
    "one",
    "only",
    "permitted",
    "support",
    "supported",
    "supports",
    "unavailable",
    "unknown",
    "unrecognized",
    "unsupported",
    "use",
];

/// Values of our settings.
/// Together with names of fields they make up sentences of ours.
const VALUES: [&str; 20] = [
    "adaptive",
    "any",
    "auto",
    "between_tools",
    "developer",
    "enabled",
    "function",
    "high",
    "json",
    "low",
    "max",
    "medium",
    "minimal",
    "none",
    "object",
    "required",
    "string",
    "system",
    "user",
    "xhigh",
];

impl Vocabulary {
    fn new() -> Self {
        let fields = NAMES
            .iter()
            .flat_map(|(name, _)| name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        Vocabulary {
            fields: fields.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// A few words alone may stand in any text. They are taken for a quotation if
    /// they are a whole string of the request and not only words of ours, or if
    /// they say both which field and that it is refused.
    fn is_misleading(&self, run: &[Word<'_>], is_whole: bool) -> bool {
        if run.len() >= LONG_RUN {
            return true;
        }
        let names_field = run.iter().any(|word| self.fields.contains(&word.text));
        let refuses = run.iter().any(|word| REFUSING.contains(&word.text));
        if names_field && refuses {
            return true;
        }
        is_whole && !run.iter().all(|word| self.is_ours(word.text))
    }

    fn is_ours(&self, word: &str) -> bool {
        self.fields.contains(&word) || REFUSING.contains(&word) || VALUES.contains(&word)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rest(text: &str, body: &Value) -> String {
        without_prompt(text, body, "m")
    }

    #[test]
    fn what_is_quoted_goes_in_any_writing() {
        let prompt = "Say: \"the temperature\n is not supported\" <b>now</b> & then";
        let body = json!({"messages": [{"role": "user", "content": prompt}]});
        for quoted in [
            prompt.to_owned(),
            json!(prompt).to_string(),
            json!(json!(prompt).to_string()).to_string(),
            "SAY: &quot;The Temperature &#10;is not supported&#x22; &lt;b&gt;now&lt;/b&gt; &amp; \
             then"
                .to_owned(),
            "the temperature  is not suppor".to_owned(),
            "temperature is not supported now then".to_owned(),
        ] {
            let rest = rest(&format!("Bad input: {quoted}. Try again"), &body);
            assert!(
                rest.starts_with("bad input: ") && rest.ends_with(". try again"),
                "{rest}"
            );
            assert!(
                !rest.contains("temperature") && !rest.contains("not supported"),
                "{rest}"
            );
        }
    }

    #[test]
    fn the_servers_own_words_stay() {
        let body = json!({
            "temperature": 0.2,
            "messages": [{"role": "user", "content": "How high is the temperature? It is not supported to be low."}],
            "response_format": {"json_schema": {"schema": {"properties": {"temperature": {"enum": ["low", "high"]}}}}},
        });
        for text in [
            "'temperature' is not supported with this model",
            "unsupported parameter: 'temperature'",
            "supported values are: 'low', 'medium', and 'high'",
        ] {
            assert_eq!(rest(text, &body), text);
        }
    }

    #[test]
    fn names_and_values_are_the_prompts_too() {
        let body = json!({
            "tools": [{"function": {"name": "thinking_unsupported", "parameters": {"properties": {"a": {"enum": [
                "stream unavailable"]}}}}}],
            "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f",
                "arguments": "{\"q\":\"tools\\nunsupported\"}"}}]},
                {"role": "user", "content": [{"type": "file", "filename": "reasoning-not-supported.pdf"}]}],
        });
        for quoted in [
            "thinking_unsupported",
            "stream unavailable",
            "tools unsupported",
            "reasoning-not-supported.pdf",
        ] {
            let rest = rest(&format!("no: '{quoted}'"), &body);
            assert!(
                !rest.contains("unavailable") && !rest.contains("supported"),
                "{rest}"
            );
        }
    }
}
