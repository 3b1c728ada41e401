//! Text for messages: cutting without breaking characters or lines, names that are
//! alike, characters that nobody sees.
//!
//! For whoever writes messages about what a model or a server sent: such a text is
//! cut ([`one_line`]) and shown with what a person would not see in it
//! ([`visible`]) before it stands in an error or a log. [`nearest`] and
//! [`misspelling_of`] find the name that was intended.

use std::borrow::Cow;
use std::fmt::{self, Display};

/// The last boundary between characters at or before `at`.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let mut boundary = at;
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}

/// The text on one line, cut at `cap` bytes: control characters and line ends
/// become spaces. A text that is so already is not copied.
pub fn one_line<'t>(text: impl Into<Cow<'t, str>>, cap: usize) -> String {
    let text = text.into();
    let end = floor_char_boundary(&text, cap);
    let is_whole = end == text.len();
    if is_whole && !text.contains(breaks_line) {
        return text.into_owned();
    }
    let mut line = String::with_capacity(end + " …".len());
    for c in text[..end].chars() {
        line.push(if breaks_line(c) { ' ' } else { c });
    }
    if !is_whole {
        line.push_str(" …");
    }
    line
}

/// About `cap` bytes on one line: of a longer text the start, which says what is
/// wrong, and the end, which often has what would be right.
pub fn one_line_shortened(text: String, cap: usize) -> String {
    if text.len() <= cap {
        return one_line(text, cap);
    }
    let head = floor_char_boundary(&text, cap / 4);
    let tail = floor_char_boundary(&text, text.len() - cap * 3 / 4);
    format!(
        "{} … {}",
        one_line(&text[..head], head),
        one_line(&text[tail..], text.len())
    )
}

/// Whether they are one name, written as types are and as nodes are: `ReadFile`, `read_file`.
pub fn same_name(one: &str, other: &str) -> bool {
    without_underscores(one) == without_underscores(other)
}

fn without_underscores(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether they are one name in other letters. Ignores case and what separates
/// words: `unitPrice`, `Unit price`.
pub fn same_letters(one: &str, other: &str) -> bool {
    let one_trimmed = one.trim();
    let other_trimmed = other.trim();
    // `A-` is not `A`, and `-1` is not `1`.
    let same_begin = one_trimmed.starts_with('-') == other_trimmed.starts_with('-');
    let same_end = one_trimmed.ends_with('-') == other_trimmed.ends_with('-');
    same_begin && same_end && letters(one).eq(letters(other))
}

/// The small letters of a name, without what separates its words.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
}

/// The one known name of which this is a misspelling: it has the same letters, or
/// differs by typos in at most one letter of five. `None` where two are as near: a
/// wrong hint is worse than none.
pub fn misspelling_of<'k>(name: &str, names: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const LONGEST_TYPO: usize = 64;
    if name.len() > LONGEST_TYPO {
        return None;
    }
    let letters = small_letters(name);
    let mut nearest: Option<(usize, &str)> = None;
    let mut is_only_one = true;
    for candidate in names {
        if candidate.len() > LONGEST_TYPO {
            continue;
        }
        let other = small_letters(candidate);
        let allowed = letters.len().min(other.len()) / 5;
        let distance = if same_letters(name, candidate) {
            Some(0)
        } else {
            distance(&letters, &other, allowed)
        };
        let Some(distance) = distance else {
            continue;
        };
        match nearest {
            Some((least, _)) if distance > least => {}
            Some((least, _)) if distance == least => is_only_one = false,
            _ => {
                nearest = Some((distance, candidate));
                is_only_one = true;
            }
        }
    }
    let (_, candidate) = nearest?;
    is_only_one.then_some(candidate)
}

/// The known name that was most likely intended; `None`: none is near. Of two that
/// are as near, the first.
pub fn nearest<'k>(name: &str, names: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const LONGEST_TYPO: usize = 64;
    let letters = small_letters(name);
    if letters.len() > LONGEST_TYPO {
        return None;
    }
    let mut nearest: Option<(usize, &str)> = None;
    for candidate in names {
        if candidate.len() > 4 * LONGEST_TYPO {
            continue;
        }
        let other = small_letters(candidate);
        let allowed = letters.len().max(other.len()).div_ceil(3);
        // Nearer than the last one, and than a name of which no letter is right.
        let limit = match nearest {
            Some((least, _)) => least.min(other.len()),
            None => other.len(),
        };
        let Some(most) = limit.checked_sub(1) else {
            continue;
        };
        if let Some(distance) = distance(&letters, &other, most.min(allowed)) {
            nearest = Some((distance, candidate));
        }
    }
    nearest.map(|(_, candidate)| candidate)
}

fn small_letters(name: &str) -> Vec<char> {
    name.to_lowercase().chars().collect()
}

/// How many letters are changed, added, left out or swapped with their neighbour.
/// `None`: more than `most`.
///
/// Row by row of the table of distances between the begins of both. A swap reaches
/// two rows up, so the search ends only where both exceed `most`.
fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut above = row.clone();
    let mut next = row.clone();
    let mut least_above = 0;
    for (index, letter) in one.iter().enumerate() {
        next[0] = index + 1;
        let mut least_of_row = next[0];
        for (column, candidate) in other.iter().enumerate() {
            let changed = row[column] + usize::from(letter != candidate);
            let left_out = row[column + 1] + 1;
            let added = next[column] + 1;
            let mut least = changed.min(left_out).min(added);
            let is_swapped = index > 0
                && column > 0
                && one[index - 1] == *candidate
                && other[column - 1] == *letter;
            if is_swapped {
                least = least.min(above[column - 1] + 1);
            }
            next[column + 1] = least;
            least_of_row = least_of_row.min(least);
        }
        if least_of_row > most && least_above > most {
            return None;
        }
        least_above = least_of_row;
        std::mem::swap(&mut above, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    let distance = row[other.len()];
    (distance <= most).then_some(distance)
}

/// Writes all, with the text between each two.
///
/// # Errors
/// The formatter's.
pub fn write_joined<T: Display>(
    all: &[T],
    between: &str,
    to: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            to.write_str(between)?;
        }
        write!(to, "{one}")?;
    }
    Ok(())
}

/// `1 call`, `2 calls`.
pub fn plural(number: impl Into<u128>, what: &str) -> String {
    let number = number.into();
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// Whether a person does not see this character, or sees others in another order
/// because of it: control characters but line ends and tabs, zero-width ones, those
/// that change the direction of a text, and spaces that look like the usual one.
pub fn is_hidden(c: char) -> bool {
    is_unseen(c) || is_like_a_space(c)
}

/// As [`is_hidden`], without the spaces.
pub fn is_unseen(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    let unseen = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    control || unseen
}

/// Spaces of other widths: a text with one is not the text that it looks like.
fn is_like_a_space(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}'
    )
}

/// Writes each character that a person does not see as JSON writes it, such as
/// `\u202e`: within a string of JSON it is the same text.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(shown)
}

/// What a terminal, a log or a prompt may show as the begin of a new line, or worse.
fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Builds a regex, given the limit of its program in bytes, and returns it with the
/// longest text to search in. The time of a search is at most the size of the
/// program times that of the text. A regex does not report its size, so this finds
/// the smallest limit that lets it pass.
///
/// # Errors
/// The pattern is invalid, or its program is larger than 16 KiB.
pub fn bounded_regex<R, E>(build: impl Fn(usize) -> Result<R, E>) -> Result<(R, usize), E> {
    const STEP: usize = 256;
    const MOST: usize = 16 * 1024;
    /// Bytes of the program times bytes of the text.
    const WORK: usize = 50 << 20;
    let regex = build(MOST)?;
    let mut low = 1;
    let mut high = MOST / STEP;
    while low < high {
        let middle = (low + high) / 2;
        if build(middle * STEP).is_ok() {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok((regex, WORK / (high * STEP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_does_not_see_is_written_out() {
        let text = "pay\u{202e} 5\u{200b}\u{9b}\u{1b}\u{e0041}\ta\nb";
        assert_eq!(
            visible(text),
            "pay\\u202e 5\\u200b\\u009b\\u001b\\udb40\\udc41\ta\nb"
        );
        let read: String =
            serde_json::from_str(&format!("\"{}\"", visible("a\u{202e}\u{e0041}b"))).unwrap();
        assert_eq!(read, "a\u{202e}\u{e0041}b");
        assert_eq!(visible("Ärger, 北京, 😀"), "Ärger, 北京, 😀");
    }

    #[test]
    fn cuts_between_characters() {
        assert_eq!(one_line("häuser\nboot", 2), "h …");
        assert_eq!(one_line("häuser\nboot\u{2028}x", 100), "häuser boot x");
    }

    #[test]
    fn the_nearest_name_is_one_slip_away() {
        let names = ["search", "answer", "end"];
        for (name, meant) in [
            ("serch", Some("search")),
            ("Answer", Some("answer")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), meant, "{name}");
        }
        assert_eq!(
            nearest("bat", ["cart", "cat", "hat"]),
            Some("cat"),
            "the first of the nearest"
        );
        assert_eq!(distance(&['a', 'b', 'c'], &['a', 'c'], 1), Some(1));
        assert_eq!(distance(&['a', 'b', 'c'], &['b', 'a', 'c'], 1), Some(1));
        assert!(
            same_letters("unitPrice", "Unit price")
                && !same_letters("c++", "c")
                && !same_letters("A-", "a")
        );
        assert!(same_name("ReadFile", "read_file") && !same_name("Read", "read_file"));
    }

    #[test]
    fn a_distance_that_is_not_too_long_is_found() {
        fn steps(one: &[char], other: &[char]) -> usize {
            let (Some((last, rest)), Some((other_last, other_rest))) =
                (one.split_last(), other.split_last())
            else {
                return one.len().max(other.len());
            };
            let changed = steps(rest, other_rest) + usize::from(last != other_last);
            let least = changed
                .min(steps(rest, other) + 1)
                .min(steps(one, other_rest) + 1);
            match (rest.split_last(), other_rest.split_last()) {
                (Some((before, rest)), Some((other_before, other_rest)))
                    if (before, last) == (other_last, other_before) =>
                {
                    least.min(steps(rest, other_rest) + 1)
                }
                _ => least,
            }
        }
        let words = |letters: u32| {
            (0..3_usize.pow(letters)).map(move |at| {
                (0..letters)
                    .map(|digit| ['a', 'b', 'c'][at / 3_usize.pow(digit) % 3])
                    .collect::<Vec<_>>()
            })
        };
        let others: Vec<Vec<char>> = words(3).step_by(7).chain(words(4).step_by(5)).collect();
        for (one, other) in
            words(5).flat_map(|one| others.iter().map(move |other| (one.clone(), other)))
        {
            let all = steps(&one, other);
            for most in 0..6 {
                let found = Some(all).filter(|all| *all <= most);
                assert_eq!(
                    distance(&one, other, most),
                    found,
                    "{one:?} {other:?} {most}"
                );
            }
        }
    }

    #[test]
    fn a_misspelled_name_is_known_again_and_another_word_is_not() {
        let names = [
            "Paid",
            "unit_price",
            "quantity",
            "Sad",
            "Bad",
            "node-1",
            "node-2",
        ];
        for (name, meant) in [
            ("paid", Some("Paid")),
            ("Unit Price", Some("unit_price")),
            ("quantitiy", Some("quantity")),
            ("Mad", None),
            ("node-3", None),
            ("", None),
        ] {
            assert_eq!(misspelling_of(name, names), meant, "{name}");
        }
    }

    #[test]
    fn keeps_both_ends_of_a_long_text() {
        assert_eq!(one_line_shortened("äöü\n".to_owned(), 8), "äöü ");
        assert_eq!(
            one_line_shortened("aaaabbbbccccääää".to_owned(), 8),
            "aa … äää"
        );
        for cap in 0..20 {
            let line = one_line_shortened("ä€".repeat(9), cap);
            assert!(line.len() <= cap + 8, "{line}");
        }
    }
}
