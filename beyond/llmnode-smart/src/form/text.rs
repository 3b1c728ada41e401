//! Python's functions on texts, as far as DSPy's messages depend on them.

/// Python counts some separators as white space that Unicode does not.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.splitlines()`.
pub(super) fn lines(text: &str) -> Vec<&str> {
    const ENDS: [char; 10] = [
        '\n', '\r', '\x0b', '\x0c', '\x1c', '\x1d', '\x1e', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((at, end)) = rest.char_indices().find(|(_, c)| ENDS.contains(c)) else {
            found.push(rest);
            break;
        };
        found.push(&rest[..at]);
        let width = if rest[at..].starts_with("\r\n") {
            2
        } else {
            end.len_utf8()
        };
        rest = &rest[at + width..];
    }
    found
}

/// `inspect.cleandoc`, which DSPy applies to instructions.
pub(crate) fn clean_doc(text: &str) -> String {
    let expanded = expand_tabs(text);
    let lines: Vec<&str> = expanded.split('\n').collect();
    let (first, rest) = lines
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (*first, rest));
    let margin = rest
        .iter()
        .filter(|line| !strip(line).is_empty())
        .map(|line| line.chars().take_while(|c| is_space(*c)).count())
        .min()
        .unwrap_or_default();
    let mut cleaned = vec![first.trim_start_matches(is_space).to_owned()];
    cleaned.extend(
        rest.iter()
            .map(|line| line.chars().skip(margin).collect::<String>()),
    );
    while cleaned.last().is_some_and(String::is_empty) {
        cleaned.pop();
    }
    let blank = cleaned.iter().take_while(|line| line.is_empty()).count();
    cleaned[blank..].join("\n")
}

/// `str.expandtabs()`.
fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let width = 8 - column % 8;
                expanded.extend(std::iter::repeat_n(' ', width));
                column += width;
            }
            '\n' | '\r' => {
                expanded.push(c);
                column = 0;
            }
            c => {
                expanded.push(c);
                column += 1;
            }
        }
    }
    expanded
}

fn common_length(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count()
}

/// `textwrap.dedent`.
pub(super) fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| {
            let is_blank = line.chars().all(|c| c == ' ' || c == '\t');
            if is_blank { "" } else { line }
        })
        .collect();
    let indents = lines.iter().filter(|line| !line.is_empty()).map(|line| {
        let width = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[..width]
    });
    let margin = indents
        .reduce(|a, b| &a[..common_length(a, b)])
        .unwrap_or_default()
        .len();
    lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// DSPy's prefix: `max_age2` becomes `Max Age 2:`.
pub(crate) fn prefix(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let behind = letters.get(at + 1);
        let begins = match before {
            None => false,
            Some(_) if *c == '_' => true,
            Some(before) if c.is_ascii_uppercase() => {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || behind.is_some_and(char::is_ascii_lowercase) && before != '_'
            }
            Some(before) => {
                c.is_ascii_digit() && before.is_ascii_alphabetic()
                    || c.is_ascii_alphabetic() && before.is_ascii_digit()
            }
        };
        if begins || *c == '_' {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| *c != '_') {
            word.push(*c);
        }
    }
    let words: Vec<_> = words
        .iter()
        .filter(|word| !word.is_empty())
        .map(|word| capitalised(word))
        .collect();
    words.join(" ") + ":"
}

fn capitalised(word: &str) -> String {
    if word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase) {
        return word.to_owned();
    }
    let mut letters = word.chars();
    let first = letters
        .next()
        .map(|c| c.to_uppercase().collect::<String>())
        .unwrap_or_default();
    first + &letters.as_str().to_lowercase()
}
