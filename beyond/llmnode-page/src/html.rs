//! A writer of HTML. Names of elements and attributes are written in this crate; everything else is text, and is escaped.

/// HTML that is being written.
#[derive(Debug, Default)]
pub struct Html(String);

/// Names and values of attributes.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Returns what was written.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What this crate wrote, and nobody else.
    pub fn markup(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Appends what was written elsewhere.
    pub fn append(&mut self, other: Html) {
        self.0.push_str(&other.0);
    }

    /// Writes a text.
    pub fn text(&mut self, text: impl AsRef<str>) {
        escape(&mut self.0, text.as_ref(), &['&', '<', '>', '\r', '\0']);
    }

    /// An element without content, such as `meta`.
    pub fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(&mut self.0, value, &['&', '<', '>', '"', '\r', '\0']);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// Writes an element with its content.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Html),
    ) {
        self.void(name, attributes);
        content(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Writes an element that holds a text. The class may be empty.
    pub fn leaf(&mut self, name: &'static str, class: &str, text: impl AsRef<str>) {
        let attributes: Attributes<'_> = if class.is_empty() {
            &[]
        } else {
            &[("class", class)]
        };
        self.element(name, attributes, |html| html.text(text));
    }

    /// Writes a section with a heading.
    pub fn section(&mut self, heading: &'static str, content: impl FnOnce(&mut Html)) {
        self.element("section", &[("aria-label", heading)], |html| {
            html.leaf("h2", "", heading);
            content(html);
        });
    }

    /// Text as somebody wrote it.
    pub fn verbatim(&mut self, text: &str) {
        // A parser drops the first line break.
        self.element("pre", &[], |html| {
            html.markup("\n");
            html.text(text);
        });
    }
}

/// `special`: what is something else than itself there. Quotes are common in texts, and mean nothing in them.
fn escape(html: &mut String, text: &str, special: &[char]) {
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (before, after) = rest.split_at(at);
        html.push_str(before);
        html.push_str(match after.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            Some(b'"') => "&quot;",
            Some(b'\r') => "&#13;",
            // HTML cannot have it.
            _ => "\u{2400}",
        });
        rest = &after[1..];
    }
    html.push_str(rest);
}
