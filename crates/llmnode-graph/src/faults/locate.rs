//! Finds where in the text of a file a JSON pointer leads.

use std::ops::Range;

/// The bytes to mark for a pointer: a value, or the name or first bracket of an object or list. If it is missing,
/// those of what would contain it. The text has to be JSON.
pub fn locate(text: &str, pointer: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut scan = Scan { text: text.as_bytes(), at: start };
    scan.blanks();
    let mut found = scan.at..scan.at + 1;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let Some(span) = scan.enter(&part) else { break };
        found = span;
    }
    let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (start, end) = (boundary(found.start), boundary(found.end));
    start.min(end)..end
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or_default()
    }

    fn blanks(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn enter(&mut self, part: &str) -> Option<Range<usize>> {
        let (open, close) = match self.peek() {
            b'{' => (b'{', b'}'),
            b'[' => (b'[', b']'),
            _ => return None,
        };
        self.at += 1;
        let mut index = 0;
        loop {
            self.blanks();
            if self.peek() == close || self.at >= self.text.len() {
                return None;
            }
            let mut name = None;
            let mut is_it = open == b'[' && part.parse() == Ok(index);
            if open == b'{' {
                let start = self.at;
                self.value();
                let written = &self.text[start..self.at];
                is_it = serde_json::from_slice::<String>(written).is_ok_and(|name| name == part);
                name = Some(start..self.at);
                self.blanks();
                self.at += 1;
                self.blanks();
            }
            if is_it {
                let start = self.at;
                if matches!(self.peek(), b'{' | b'[') {
                    return Some(name.unwrap_or(start..start + 1));
                }
                let mut value = Scan { text: self.text, at: start };
                value.value();
                return Some(start..value.at);
            }
            self.value();
            self.blanks();
            if self.peek() == b',' {
                self.at += 1;
            }
            index += 1;
        }
    }

    fn value(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => return,
                byte if byte.is_ascii_whitespace() && depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() {
            match self.peek() {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_what_they_name() {
        let text = "\u{feff}{\"a\": [1, {\"b/c\": \"x\\\"y\", \"d\": {}}], \"\\u0065\": null}";
        let shown = |pointer: &str| &text[locate(text, pointer)];
        assert_eq!(shown("/a/0"), "1");
        assert_eq!(shown("/a/1"), "{");
        assert_eq!(shown("/a/1/b~1c"), "\"x\\\"y\"");
        assert_eq!(shown("/a/1/d"), "\"d\"");
        assert_eq!(shown("/e"), "null");
        assert_eq!(shown("/a"), "\"a\"");
        // What is not there is shown by what would hold it.
        assert_eq!(shown("/a/1/zz/y"), "{");
        assert_eq!(shown("/nowhere"), "{");
        assert_eq!(shown(""), "{");
    }

    #[test]
    fn whatever_the_text_is_nothing_panics() {
        for text in
            ["", "{", "[", "{\"a", "{\"a\":", "[1,", "\"", "{\"a\": \"\\", "é", "{é: 1}", "[]]", "{,}"]
        {
            for pointer in ["", "/a", "/0", "/a/b/0", "/1"] {
                let span = locate(text, pointer);
                assert!(span.start <= span.end && span.end <= text.len(), "{text} {pointer}");
            }
        }
    }
}
