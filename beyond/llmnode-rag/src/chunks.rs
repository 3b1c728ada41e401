//! Cuts a text into chunks: at paragraphs, else at sentences, else at words, and never within a grapheme.
//!
//! A text is gone over by windows of a chunk's length. In each, the last place is chosen at which the best kind of border is, but not
//! in its first half; the next window begins before that place by the overlap, at a word. Each byte is so in at most two windows,
//! and no window looks further than a chunk.

use unicode_segmentation::UnicodeSegmentation;

/// No script has longer graphemes. A longer one is cut, unless it fits into a chunk.
const MAX_GRAPHEME_CHARS: usize = 64;

/// How texts are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunker {
    pub(crate) size: usize,
    /// At most; in characters.
    pub(crate) overlap: usize,
}

impl Chunker {
    /// Why no text can be cut so.
    pub(crate) fn fault(self) -> Option<String> {
        let Chunker { size, overlap } = self;
        if size == 0 {
            return Some("chunks of 0 characters hold nothing; write 1 or more".to_owned());
        }
        if overlap <= size / 2 {
            return None;
        }
        Some(format!(
            "chunks of {size} characters cannot overlap by {overlap}; write at most half of the size"
        ))
    }

    /// In order and trimmed. A grapheme of up to 64 characters is not cut, even if it is longer than a chunk.
    pub(crate) fn chunks(self, text: &str) -> Vec<&str> {
        let mut chunks = Vec::new();
        let mut begin = 0;
        // Up to here the text is in a chunk.
        let mut covered = 0;
        while begin < text.len() {
            let rest = &text[begin..];
            // No more bytes than a chunk has characters.
            if rest.len() <= self.size {
                let has_new_text = !text[covered..].trim().is_empty();
                if has_new_text {
                    chunks.push(rest.trim());
                }
                break;
            }
            let window = Window::new(rest, self.size);
            if begin + window.text.len() <= covered {
                // The next grapheme is too long to follow the overlap.
                begin = covered;
                continue;
            }
            let repeated = covered - begin;
            let end = window.cut(repeated);
            covered = begin + end;
            if !rest[repeated..end].trim().is_empty() {
                chunks.push(rest[..end].trim());
            }
            if begin + end == text.len() {
                break;
            }
            begin += window.next_start(end, self.overlap);
        }
        chunks
    }
}

/// As much text as a chunk may have.
struct Window<'t> {
    text: &'t str,
    /// Where a chunk could end.
    ends: Vec<GraphemeEnd>,
    /// It is all that is left.
    is_last: bool,
}

/// The end of a grapheme, counted from the begin of the window.
#[derive(Clone, Copy)]
struct GraphemeEnd {
    bytes: usize,
    characters: usize,
}

impl<'t> Window<'t> {
    fn new(rest: &'t str, size: usize) -> Self {
        let longest = size.max(MAX_GRAPHEME_CHARS);
        // No grapheme is examined beyond this.
        let far = match rest.char_indices().nth(longest + 1) {
            Some((at, _)) => at,
            None => rest.len(),
        };
        let mut graphemes = rest[..far].graphemes(true);
        let first = graphemes.clone().next().unwrap_or_default();
        let is_too_long = first.chars().count() > longest;
        let pieces: &mut dyn Iterator<Item = &str> = if is_too_long {
            &mut first.split("").filter(|character| !character.is_empty())
        } else {
            &mut graphemes
        };
        let mut end = GraphemeEnd {
            bytes: 0,
            characters: 0,
        };
        let mut ends = vec![end];
        for grapheme in pieces {
            let characters = grapheme.chars().count();
            if end.characters + characters > size && end.bytes > 0 {
                break;
            }
            end.bytes += grapheme.len();
            end.characters += characters;
            ends.push(end);
            if end.characters >= size {
                break;
            }
        }
        Window {
            text: &rest[..end.bytes],
            ends,
            is_last: end.bytes == rest.len(),
        }
    }

    fn is_end(&self, at: usize) -> bool {
        self.ends.binary_search_by_key(&at, |end| end.bytes).is_ok()
    }

    /// Where the chunk ends: after the overlap, and not in the first half, so that chunks do not become ever smaller.
    fn cut(&self, repeated: usize) -> usize {
        if self.is_last {
            return self.text.len();
        }
        let half = self.ends[self.ends.len() / 2];
        let least = half.bytes.max(repeated);
        if let Some(end) = self.last_end(self.paragraphs(), least) {
            return end;
        }
        // The last sentence may be incomplete, so the chunk ends before it.
        let sentences = self.text.split_sentence_bound_indices();
        if let Some(end) = self.last_end(sentences.map(|(at, _)| at), least) {
            return end;
        }
        self.last_end(self.words(), least)
            .unwrap_or(self.text.len())
    }

    /// The last of these places behind `least` that is not within a grapheme.
    fn last_end(&self, places: impl Iterator<Item = usize>, least: usize) -> Option<usize> {
        let mut last = None;
        for at in places {
            if at > least && self.is_end(at) {
                last = Some(at);
            }
        }
        last
    }

    /// Where lines begin behind empty ones.
    fn paragraphs(&self) -> impl Iterator<Item = usize> {
        let mut at = 0;
        let mut blank = false;
        self.text.split_inclusive('\n').filter_map(move |line| {
            let begin = at;
            let was_blank = blank;
            at += line.len();
            blank = line.trim().is_empty();
            (was_blank && !blank && begin > 0).then_some(begin)
        })
    }

    /// Where words begin behind space.
    fn words(&self) -> impl Iterator<Item = usize> {
        let mut blank = false;
        self.text.char_indices().filter_map(move |(at, char)| {
            let was_blank = std::mem::replace(&mut blank, char.is_whitespace());
            (was_blank && !blank).then_some(at)
        })
    }

    /// At a word if possible, and always after this chunk's start.
    fn next_start(&self, end: usize, overlap: usize) -> usize {
        let end_index = self.ends.partition_point(|place| place.bytes < end);
        let characters = self.end_at(end_index).characters;
        let first = self
            .ends
            .partition_point(|place| place.characters + overlap < characters);
        let begin = self.end_at(first.max(1)).bytes;
        let word = self
            .words()
            .find(|at| *at >= begin && *at < end && self.is_end(*at));
        word.unwrap_or(begin).min(end)
    }

    /// The end with this index, or the last one.
    fn end_at(&self, index: usize) -> GraphemeEnd {
        self.ends[index.min(self.ends.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str, size: usize, overlap: usize) -> Vec<&str> {
        Chunker { size, overlap }.chunks(text)
    }

    #[test]
    fn paragraphs_then_sentences_then_words() {
        assert_eq!(
            cut("One two.\n\nThree four.\n\nFive.", 24, 0),
            ["One two.\n\nThree four.", "Five."]
        );
        assert_eq!(
            cut("One two. Three four. Five six.", 24, 0),
            ["One two. Three four.", "Five six."]
        );
        assert_eq!(
            cut("one two three four five", 12, 0),
            ["one two", "three four", "five"]
        );
        assert_eq!(
            cut("onetwothreefourfive", 8, 0),
            ["onetwoth", "reefourf", "ive"]
        );
        assert_eq!(cut("a\r\n\r\nb", 100, 10), ["a\r\n\r\nb"]);
        assert!(cut(" \n\n ", 10, 2).is_empty() && cut("", 10, 2).is_empty());
    }

    #[test]
    fn the_next_chunk_repeats_the_end_of_the_last_from_a_word_on() {
        assert_eq!(
            cut("alpha beta gamma delta epsilon zeta", 18, 8),
            ["alpha beta gamma", "gamma delta", "delta epsilon zeta"]
        );
    }

    #[test]
    fn a_grapheme_longer_than_a_chunk_stays_whole() {
        let family = "👩‍👩‍👧‍👦";
        assert_eq!(cut(&family.repeat(3), 2, 1), [family, family, family]);
    }

    #[test]
    fn a_grapheme_of_any_length_does_not_make_a_chunk_of_any_length() {
        let marks = format!("a{} word", "\u{301}".repeat(100_000));
        for (size, overlap) in [(10, 0), (1000, 200)] {
            let chunks = cut(&marks, size, overlap);
            assert!(
                chunks
                    .iter()
                    .all(|chunk| chunk.chars().count() <= size.max(MAX_GRAPHEME_CHARS)),
                "{size}"
            );
            assert!(
                chunks.len() < 2 * 100_000 / size + 2 && chunks.last().unwrap().ends_with("word")
            );
        }
        let stack = format!("a{}", "\u{301}".repeat(40));
        assert_eq!(
            cut(&stack.repeat(2), 10, 0),
            [stack.as_str(), stack.as_str()]
        );
    }

    #[test]
    fn what_cannot_be_cut_so_is_refused() {
        assert!(
            Chunker {
                size: 0,
                overlap: 0
            }
            .fault()
            .is_some()
        );
        assert!(
            Chunker {
                size: 10,
                overlap: 6
            }
            .fault()
            .unwrap()
            .contains("at most half")
        );
        assert_eq!(
            Chunker {
                size: 10,
                overlap: 5
            }
            .fault(),
            None
        );
    }

    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "a",
            "word ",
            "Ende. ",
            "\n",
            "\r\n",
            "\n\n",
            " ",
            "é",
            "e\u{301}",
            " \u{301}",
            "👩‍👩‍👧",
            "🇩🇪",
            "字",
            "。",
            "क्षि",
            "\u{200d}",
            "\t",
            "Is it? ",
        ]);
        prop::collection::vec(pieces, 0..120).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_grapheme_is_cut(text in texts(), size in 1_usize..40, part in 0_usize..=100) {
            let overlap = size / 2 * part / 100;
            let chunks = cut(&text, size, overlap);
            let graphemes: std::collections::BTreeSet<usize> =
                text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            let mut covered = 0;
            for chunk in &chunks {
                // Each is a slice of the text.
                let begin = chunk.as_ptr() as usize - text.as_ptr() as usize;
                let end = begin + chunk.len();
                prop_assert!(begin <= covered || text[covered..begin].trim().is_empty(), "a gap before {begin}");
                prop_assert!(end > covered, "a chunk adds something");
                covered = end;
                let whole = graphemes.contains(&begin) && graphemes.contains(&end);
                // The blanks around a chunk may be a part of its first or last grapheme.
                prop_assert!(whole || text[begin..].trim_start() != &text[begin..] || has_blank_grapheme(&text), "{chunk:?}");
                prop_assert!(chunk.chars().count() <= size || chunk.graphemes(true).count() == 1, "{chunk:?}");
            }
            prop_assert!(text[covered..].trim().is_empty());
        }
    }

    /// A blank with a mark on it is one grapheme, of which trimming takes the blank.
    fn has_blank_grapheme(text: &str) -> bool {
        text.graphemes(true).any(|one| {
            one.chars().count() > 1 && one.contains(char::is_whitespace) && one != "\r\n"
        })
    }
}
