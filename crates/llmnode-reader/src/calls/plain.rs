//! The plain form of a text, in which two texts are equal that a model may take for each other.
//!
//! Escapes are undone: those of JSON, of HTML and of URLs, and those within those.
//! Then all that only lays a text out is left out: white space, quotation marks,
//! backslashes, emphasis, characters that nobody sees, numbers of lines and marks
//! of quotations before them. Letters are small and without accents; wide and bold
//! ones, and those of other alphabets that look the same, are as the usual ones.

use std::borrow::Cow;

use crate::repair::is_quote;
use crate::text::is_hidden;

/// A result within a result within a result, each escaped, and one more.
const MOST_ESCAPES: usize = 4;
/// Bytes of a name of HTML, such as `ZeroWidthSpace`.
const LONGEST_ENTITY: usize = 16;
/// Bytes. A longer one is a comparison.
const LONGEST_TAG: usize = 256;
/// Of a character, in braces.
const MOST_DIGITS: usize = 6;

/// The plain form of a text.
pub(super) fn plain(text: &str) -> String {
    folded(&decoded(text))
}

/// The plain form of a text that a model was shown, and further ones.
pub(super) struct PlainForms {
    pub(super) plain: String,
    /// Without tags of HTML, since code on a page is in colours; without the escapes
    /// of a mail, which breaks long lines and has codes in place of letters; without
    /// both. None, if the text has none of these.
    pub(super) further: [Option<String>; FURTHER],
}

/// How many further forms a text may have.
pub(super) const FURTHER: usize = 3;

/// All forms of a text.
pub(super) fn plain_forms(text: &str) -> PlainForms {
    let text = decoded(text);
    // Beside the text as it is: in `delete(id=10)`, `=10` is no code.
    let mail = without_codes_of_mail(&text);
    let mail = mail.as_deref().map(decoded);
    let further = [
        without_tags(&text),
        mail.as_ref().map(|mail| mail.clone().into_owned()),
        mail.as_ref().and_then(|mail| without_tags(mail)),
    ];
    PlainForms {
        plain: folded(&text),
        further: further.map(|form| form.map(|form| folded(&form))),
    }
}

/// The text without its escapes, nor those within them.
fn decoded(text: &str) -> Cow<'_, str> {
    let mut decoded = Cow::Borrowed(text);
    for _ in 0..MOST_ESCAPES {
        match unescaped(&decoded) {
            Some(next) => decoded = Cow::Owned(next),
            None => break,
        }
    }
    decoded
}

/// Only what tells texts apart, in one spelling.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    // A text may be a piece of another one, so that its first line has no margin.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    for c in first.chars() {
        fold(c, &mut folded);
    }
    for line in rest.lines() {
        for c in without_margin(line).chars() {
            fold(c, &mut folded);
        }
    }
    folded
}

/// The text without tags of HTML. `None`: it has none.
fn without_tags(text: &str) -> Option<String> {
    let mut untagged = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let behind = &rest[at + 1..];
        if let Some(end) = end_of_tag(behind) {
            untagged.push_str(&rest[..at]);
            rest = &behind[end + 1..];
        } else {
            untagged.push_str(&rest[..=at]);
            rest = behind;
        }
    }
    untagged.push_str(rest);
    (untagged.len() < text.len()).then_some(untagged)
}

/// The text with what quoted-printable stands for: `=6C` is a letter, and `=` at the
/// end of a line joins it to the next. `None`: it has none of these.
fn without_codes_of_mail(text: &str) -> Option<String> {
    let mut decoded = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let behind = &rest[at + 1..];
        decoded.extend_from_slice(&rest.as_bytes()[..at]);
        rest = behind;
        if let Some(next_line) = behind_line_end(behind) {
            rest = next_line;
        } else if let Some(code) = hex(behind, 0, 2) {
            decoded.extend(u8::try_from(code));
            rest = &behind[2..];
        } else {
            decoded.push(b'=');
        }
    }
    decoded.extend_from_slice(rest.as_bytes());
    (decoded.len() < text.len()).then(|| String::from_utf8_lossy(&decoded).into_owned())
}

/// What is on the next line, if nothing but spaces is left of this one.
fn behind_line_end(text: &str) -> Option<&str> {
    let end = text.trim_start_matches([' ', '\t', '\r']);
    end.strip_prefix('\n')
}

/// Where the tag closes whose `<` is before this text.
fn end_of_tag(behind: &str) -> Option<usize> {
    if !behind.starts_with(may_begin_tag) {
        return None;
    }
    let end = behind.find(['<', '>'])?;
    let is_closed = behind[end..].starts_with('>');
    (is_closed && end < LONGEST_TAG).then_some(end)
}

fn may_begin_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '!')
}

/// Adds what is left of one character.
fn fold(c: char, to: &mut String) {
    if c.is_ascii() {
        let is_mark = matches!(c, '\\' | '"' | '\'' | '`' | '*');
        if !is_mark && !c.is_whitespace() && !c.is_control() {
            to.push(c.to_ascii_lowercase());
        }
        return;
    }
    let c = match u32::from(c) {
        wide @ 0xff01..=0xff5e => return fold(char::from_u32(wide - 0xfee0).unwrap_or(' '), to),
        // Bold, italic and the like: the alphabet again and again, then digits.
        letter @ 0x1d400..=0x1d6a3 => digit_of(letter % 26 + 10, 36),
        digit @ 0x1d7ce..=0x1d7ff => digit_of((digit - 0x1d7ce) % 10, 10),
        digit @ (0x660..=0x669 | 0x6f0..=0x6f9) => digit_of(digit % 16, 10),
        // Accents that are characters of their own.
        0x300..=0x36f => return,
        _ => c,
    };
    let is_quotation = is_quote(c) || matches!(c, '‹' | '›' | '‟' | '‛');
    if is_quotation || c.is_whitespace() || is_hidden(c) {
        return;
    }
    to.extend(c.to_lowercase().map(bare));
}

/// A letter is a digit of base 36, from 10 on.
fn digit_of(number: u32, radix: u32) -> char {
    char::from_digit(number, radix).unwrap_or('0')
}

/// The letter without its accent, and the one that a Greek or Cyrillic letter looks like.
fn bare(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'а' | 'α' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' | 'с' => 'c',
        'ď' | 'đ' | 'ԁ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'е' | 'ё' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ĥ' | 'ħ' | 'һ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'і' | 'ї' | 'ι' => 'i',
        'ĵ' | 'ј' => 'j',
        'ķ' | 'κ' | 'к' => 'k',
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ѕ' => 's',
        'ţ' | 'ť' | 'ŧ' | 'т' | 'τ' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'υ' => 'u',
        'ŵ' | 'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'ý' | 'ÿ' | 'ŷ' | 'у' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        c => c,
    }
}

/// Without what stands before the lines of a file, a quotation, a difference, a
/// comment or a list: `12\t`, `12: `, `> `, `+ `.
fn without_margin(line: &str) -> &str {
    let numbered = line.trim_start();
    let rest = without_line_number(numbered).unwrap_or(numbered);
    let rest = rest.trim_start_matches(['>', '|', '#', '*', '+', ' ', '\t']);
    for mark in ["//", "- "] {
        if let Some(behind) = rest.strip_prefix(mark) {
            return behind;
        }
    }
    rest
}

/// What is behind the number of a line and the sign that follows it.
fn without_line_number(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind.len() == line.len() {
        return None;
    }
    let sign = behind.trim_start_matches(' ');
    let rest = sign.strip_prefix(['\t', '|', ':', '│', '→'])?;
    Some(rest.trim_start())
}

/// What an escape stands for, and how many bytes it has. `None` stands for what nobody sees.
#[derive(Clone, Copy)]
struct Escape {
    c: Option<char>,
    length: usize,
}

/// Undoes one level of escapes. `None`: there are no escapes.
fn unescaped(text: &str) -> Option<String> {
    let mut to = String::new();
    let mut rest = text;
    let mut has_escapes = false;
    let mut at = 0;
    while let Some(found) = rest[at..].find(['\\', '&', '%']) {
        at += found;
        let escaped = &rest[at..];
        let escape = match escaped.as_bytes()[0] {
            b'\\' => Some(backslash(escaped)),
            b'&' => entity(escaped),
            _ => percent(escaped),
        };
        let Some(escape) = escape else {
            at += 1;
            continue;
        };
        to.push_str(&rest[..at]);
        to.extend(escape.c);
        rest = &rest[at + escape.length..];
        has_escapes = true;
        at = 0;
    }
    to.push_str(rest);
    has_escapes.then_some(to)
}

/// Any number of backslashes and the character behind them: how often a text was
/// escaped is not known.
fn backslash(text: &str) -> Escape {
    let run = text.bytes().take_while(|byte| *byte == b'\\').count();
    let only_backslashes = Escape {
        c: None,
        length: run,
    };
    let behind = &text[run..];
    match behind.bytes().next() {
        Some(b'u') => match unicode(&behind[1..]) {
            Some((c, length)) => Escape {
                c: Some(c),
                length: run + 1 + length,
            },
            None => only_backslashes,
        },
        Some(b'x') => match hex(behind, 1, 2) {
            Some(code) => Escape {
                c: char::from_u32(code),
                length: run + 3,
            },
            None => only_backslashes,
        },
        Some(b'n' | b'r') => Escape {
            c: Some('\n'),
            length: run + 1,
        },
        Some(b't' | b'b' | b'f') => Escape {
            c: Some('\t'),
            length: run + 1,
        },
        _ => only_backslashes,
    }
}

/// `0065`, `{65}`, and a pair of halves: the character, and the bytes behind the `u`.
fn unicode(text: &str) -> Option<(char, usize)> {
    if let Some(braced) = text.strip_prefix('{') {
        return in_braces(braced);
    }
    let first = hex(text, 0, 4)?;
    let is_first_half = (0xd800..0xdc00).contains(&first);
    if !is_first_half {
        let c = char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
        return Some((c, 4));
    }
    let behind = &text[4..];
    let run = behind.bytes().take_while(|byte| *byte == b'\\').count();
    let second = match behind[run..].strip_prefix('u') {
        Some(digits) => hex(digits, 0, 4),
        None => None,
    };
    match second {
        Some(second) if (0xdc00..0xe000).contains(&second) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            Some((char::from_u32(code)?, 4 + run + 1 + 4))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, 4)),
    }
}

/// A character by its digits, the brace that closes them, and the bytes of all with both braces.
fn in_braces(braced: &str) -> Option<(char, usize)> {
    let length = braced
        .bytes()
        .take(MOST_DIGITS + 1)
        .position(|byte| byte == b'}')?;
    let code = u32::from_str_radix(&braced[..length], 16).ok()?;
    Some((char::from_u32(code)?, length + 2))
}

/// The number that so many hexadecimal digits from `from` on are.
fn hex(text: &str, from: usize, length: usize) -> Option<u32> {
    let digits = text.get(from..from + length)?;
    // `from_str_radix` alone would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

/// As in URLs. Bytes of longer characters stay: two of them would be needed.
fn percent(text: &str) -> Option<Escape> {
    let code = hex(text, 1, 2)?;
    if code >= 0x80 {
        return None;
    }
    Some(Escape {
        c: char::from_u32(code),
        length: 3,
    })
}

/// An entity of HTML; browsers take it without the semicolon, too.
fn entity(text: &str) -> Option<Escape> {
    let name_length = text
        .bytes()
        .skip(1)
        .take(LONGEST_ENTITY)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        .count();
    let name = &text[1..1 + name_length];
    let has_semicolon = text[1 + name_length..].starts_with(';');
    let length = 1 + name_length + usize::from(has_semicolon);
    let c = match name.strip_prefix('#') {
        Some(number) => numbered(number)?,
        None => Some(named(name)?),
    };
    Some(Escape { c, length })
}

/// The character of `&#101;` or `&#x65;`. `Some(None)`: a number that is no character's.
fn numbered(number: &str) -> Option<Option<char>> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    Some(char::from_u32(code.ok()?))
}

/// Of some two thousand names, those of characters that calls have, and of those that nobody sees.
fn named(name: &str) -> Option<char> {
    Some(match name {
        "quot" | "apos" | "ldquo" | "rdquo" | "lsquo" | "rsquo" | "nbsp" | "shy" | "zwj"
        | "zwnj" | "ZeroWidthSpace" | "Tab" | "NewLine" | "bsol" => ' ',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "lcub" | "lbrace" => '{',
        "rcub" | "rbrace" => '}',
        "lsqb" | "lbrack" => '[',
        "rsqb" | "rbrack" => ']',
        "lpar" => '(',
        "rpar" => ')',
        "colon" => ':',
        "comma" => ',',
        "equals" => '=',
        "lowbar" | "UnderBar" => '_',
        "period" => '.',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_say_the_same_are_the_same() {
        let call = plain(r#"{"name": "delete", "arguments": {"id": 5}}"#);
        assert_eq!(call, "{name:delete,arguments:{id:5}}");
        for same in [
            r#"{"name": "del\u0065te", "arguments": {"\u0069d": 5}}"#,
            r#"{\"name\": \"del\\u0065te\", \"arguments\": {\"id\": 5}}"#,
            r#"{\\\"name\\\": \\\"delete\\\",\\n \\\"arguments\\\": {\\\"id\\\": 5}}"#,
            "{&quot;name&quot;: &quot;del&#101;te&quot;, &quot;arguments&quot;: {&quot;id&quot;: 5}}",
            "{&amp;quot;name&amp;quot;: &amp;quot;del&amp;#x65;te&amp;quot;, &quot;arguments&quot: {&quot;id&quot;: 5}}",
            "%7B%22name%22:%22delete%22,%22arguments%22:%7B%22id%22:5%7D%7D",
            "{“name”: “DELETE”, 'arguments': {`id`: 5}}",
            "{\"na\u{200b}me\": \"de\u{ad}lete\", \"arguments\u{2060}\": {\"id\": 5}}",
            "｛＂ｎａｍｅ＂：＂ｄｅｌｅｔｅ＂，＂ａｒｇｕｍｅｎｔｓ＂：｛＂ｉｄ＂：５｝｝",
            "{\"name\": \"𝐝𝐞𝐥𝐞𝐭𝐞\", \"arguments\": {\"𝘪𝘥\": 𝟓}}",
            "{\"nаmе\": \"dеlеtе\", \"аrgumеnts\": {\"іd\": ٥}}",
            "{\"name\": \"de\u{301}lète\", \"arguments\": {\"id\": 5}}",
            "{\"name\": \"**delete**\", \"arguments\": {\"id\": 5}}",
            "%257B%2522name%2522:%2522delete%2522,%2522arguments%2522:%257B%2522id%2522:5%257D%257D",
            "+ {\"name\": \"delete\",\n+  \"arguments\": {\"id\": 5}}",
            "// {\"name\": \"delete\",\n// \"arguments\": {\"id\": 5}}",
            "> {\"name\": \"delete\",\n>  \"arguments\": {\"id\": 5}}",
            "   1\t{\n   2\t \"name\": \"delete\",\n   3\t \"arguments\": {\"id\": 5}\n   4\t}",
        ] {
            assert!(plain(same).ends_with(&call), "{same}");
        }
        let surrogates = plain(r#"\ud83d\ude00 \ud800 \u{65}"#);
        assert_eq!(surrogates, "😀\u{fffd}e");
    }

    #[test]
    fn codes_of_mails_are_undone_beside() {
        let mail = "call =64elete(id=3D10, name=3D=C3=96l, =\r\n  why=)";
        let forms = plain_forms(mail);
        let mail = forms.further[1].as_deref();
        assert_eq!(mail, Some("calldelete(id=10,name=ol,why=)"));
        assert!(forms.plain.contains("id=3d10"), "{}", forms.plain);
        assert_eq!(plain_forms("a == b, c = 3").further, [None, None, None]);
    }

    #[test]
    fn tags_of_html_are_left_out_beside() {
        let page = "<pre><span class=\"k\">{&quot;name&quot;</span>: <b>\"del</b>ete\"}</pre>";
        let forms = plain_forms(page);
        assert_eq!(forms.further[0].as_deref(), Some("{name:delete}"));
        for (text, untagged) in [
            ("1 < 2 > 1", ""),
            ("a<b", ""),
            ("<a<b>c", "<ac"),
            ("no tags", ""),
        ] {
            let [found, ..] = plain_forms(text).further;
            let found = found.unwrap_or_default();
            assert_eq!(found, untagged, "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaping_a_text_as_json_does_not_change_it(text in "[a-z\"\\\\{}:,é€ &;#%0-9\n]{0,40}") {
            let once = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(plain(&once), plain(&serde_json::to_string(&once).unwrap()));
        }
    }
}
