//! An answer in sections, each below a line `[[ ## name ## ]]`.

use super::text::strip;

pub(super) type Section<'a> = (&'a str, String);

/// Like DSPy, also ends lines at `U+0085` and the like, even within JSON. The first section of a name counts.
pub(super) fn split(answer: &str) -> Vec<Section<'_>> {
    let mut found: Vec<(Option<&str>, Vec<&str>)> = vec![(None, Vec::new())];
    for line in answer.lines() {
        match header(line) {
            Some((name, rest)) => {
                let rest = strip(rest);
                found.push((
                    Some(name),
                    if rest.is_empty() {
                        Vec::new()
                    } else {
                        vec![rest]
                    },
                ));
            }
            None => {
                if let Some((_, lines)) = found.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (name, lines) in found {
        if let Some(name) = name.filter(|name| !sections.iter().any(|(earlier, _)| earlier == name))
        {
            sections.push((name, strip(&lines.join("\n")).to_owned()));
        }
    }
    sections
}

fn header(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = strip(line).strip_prefix("[[ ## ")?.split_once(" ## ]]")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn sections_end_where_the_next_begins() {
        let answer = "Sure.\n[[ ## b ## ]]\ntrue\n\n  [[ ## a ## ]] one\ntwo\n[[ ## b ## ]]\nfalse\n[[ ## completed ## ]]";
        let sections = split(answer);
        let sections: Vec<_> = sections
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        assert_eq!(
            sections,
            [("b", "true"), ("a", "one\ntwo"), ("completed", "")]
        );
    }

    #[test]
    fn what_is_no_line_of_a_section_is_text() {
        for answer in [
            "",
            "[[ ## ## ]]",
            "[[ ## a b ## ]]",
            "see [[ ## a ## ]]",
            "[[ ##a## ]]",
        ] {
            assert_eq!(split(answer), [], "{answer}");
        }
    }
}
