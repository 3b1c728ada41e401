//! The difference of two texts, line by line.

/// With more pairs of lines, common lines are not searched for.
const PAIRS: usize = 1_000_000;

const CONTEXT: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Line<'t> {
    Both(&'t str),
    Expected(&'t str),
    Found(&'t str),
}

/// `-` marks lines that are only expected, `+` those only found. Equal lines are
/// shown only near a difference. Trailing blanks and control characters of changed
/// lines are visible.
pub(crate) fn diff(expected: &str, found: &str) -> String {
    let expected: Vec<&str> = expected.split('\n').collect();
    let found: Vec<&str> = found.split('\n').collect();
    let lines = compare(&expected, &found);
    let mut text = String::new();
    let mut hidden = 0;
    for (index, line) in lines.iter().enumerate() {
        let near = index.saturating_sub(CONTEXT)..lines.len().min(index + CONTEXT + 1);
        if lines[near].iter().all(|line| matches!(line, Line::Both(_))) {
            hidden += 1;
            continue;
        }
        note_hidden(&mut text, std::mem::take(&mut hidden));
        text += &match line {
            Line::Both(line) => format!("  {line}\n"),
            Line::Expected(line) => format!("- {}\n", visible(line)),
            Line::Found(line) => format!("+ {}\n", visible(line)),
        };
    }
    note_hidden(&mut text, hidden);
    text
}

fn note_hidden(text: &mut String, lines: usize) {
    if lines > 0 {
        *text += &format!(
            "  … {lines} equal line{}\n",
            if lines == 1 { "" } else { "s" }
        );
    }
}

fn visible(line: &str) -> String {
    let kept = line.trim_end_matches(' ');
    let escaped = kept.chars().map(|c| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.into()
        }
    });
    escaped.collect::<String>() + &"·".repeat(line.len() - kept.len())
}

/// Common beginning and end, and the longest common subsequence between them.
fn compare<'t>(expected: &[&'t str], found: &[&'t str]) -> Vec<Line<'t>> {
    let head = equal_lines(expected.iter().zip(found));
    let expected_rest = &expected[head..];
    let found_rest = &found[head..];
    let tail = equal_lines(expected_rest.iter().rev().zip(found_rest.iter().rev()));
    let expected_middle = &expected_rest[..expected_rest.len() - tail];
    let found_middle = &found_rest[..found_rest.len() - tail];
    let mut lines: Vec<_> = expected[..head].iter().copied().map(Line::Both).collect();
    // From each pair of positions, the way that leaves more common lines is taken.
    let longest = longest_common(expected_middle, found_middle);
    let mut i = 0;
    let mut j = 0;
    while i < expected_middle.len() || j < found_middle.len() {
        let line = match (expected_middle.get(i), found_middle.get(j)) {
            (Some(one), Some(other)) if one == other => Line::Both(one),
            (Some(one), Some(_)) if longest(i + 1, j) >= longest(i, j + 1) => Line::Expected(one),
            (_, Some(other)) => Line::Found(other),
            (Some(one), None) => Line::Expected(one),
            (None, None) => break,
        };
        i += usize::from(!matches!(line, Line::Found(_)));
        j += usize::from(!matches!(line, Line::Expected(_)));
        lines.push(line);
    }
    lines.extend(
        expected[expected.len() - tail..]
            .iter()
            .copied()
            .map(Line::Both),
    );
    lines
}

/// How many pairs are equal before the first that is not.
fn equal_lines<'a>(pairs: impl Iterator<Item = (&'a &'a str, &'a &'a str)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// By the positions from which both texts are compared; all 0 if there are too many pairs.
fn longest_common(expected: &[&str], found: &[&str]) -> impl Fn(usize, usize) -> u32 {
    let (rows, columns) = match expected.len().saturating_mul(found.len()) {
        ..=PAIRS => (expected.len(), found.len()),
        _ => (0, 0),
    };
    let mut lengths = vec![vec![0; columns + 1]; rows + 1];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            lengths[i][j] = if expected[i] == found[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    move |i, j| {
        lengths
            .get(i)
            .and_then(|row| row.get(j))
            .copied()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changed_lines_stand_side_by_side() {
        assert_eq!(diff("a\nb\nc", "a\nx\nc"), "  a\n- b\n+ x\n  c\n");
        assert_eq!(diff("a\nb", "a\nb\nc"), "  a\n  b\n+ c\n");
    }

    #[test]
    fn far_lines_are_counted_and_blanks_shown() {
        let head = "1\n2\n3\n4\n5\n";
        let text = diff(&format!("{head}a"), &format!("{head}a \t  "));
        assert_eq!(text, "  … 2 equal lines\n  3\n  4\n  5\n- a\n+ a \\t··\n");
    }

    #[test]
    fn very_long_texts_are_compared_too() {
        let (one, other) = ("a\n".repeat(2000), "b\n".repeat(2000));
        assert_eq!(diff(&one, &other).lines().count(), 4001);
    }

    proptest! {
        #[test]
        fn the_lines_of_both_texts_are_all_there(one in "[ab\n]{0,24}", other in "[ab\n]{0,24}") {
            let (e, f): (Vec<_>, Vec<_>) = (one.split('\n').collect(), other.split('\n').collect());
            let lines = compare(&e, &f);
            let side = |left: bool| lines.iter().filter_map(move |line| match line {
                Line::Both(text) => Some(*text),
                Line::Expected(text) => left.then_some(*text),
                Line::Found(text) => (!left).then_some(*text),
            });
            prop_assert!(side(true).eq(e.iter().copied()) && side(false).eq(f.iter().copied()));
        }
    }
}
