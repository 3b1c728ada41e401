//! Templates of a graph's file: a text with `{{ name }}` in it.
//!
//! Inserted values are text, and are not read as templates.

use std::borrow::Cow;
use std::fmt;

/// A text with placeholders for values.
///
/// `{{ name }}` is the value of that key of the state; `{{ a.b }}` is the member `b` of `a`, `{{ a.0 }}` its first item; `context.` in
/// front, as the files of React Flow have it, changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(String),
}

/// A name that a template reads and that has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingName(
    /// The name.
    pub String,
);

impl fmt::Display for MissingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{{{{ {} }}}}`: the state has no such value", self.0)
    }
}

impl std::error::Error for MissingName {}

impl Template {
    /// Returns faulty parts separately, and leaves them out.
    pub(crate) fn parse(text: &str) -> (Self, Vec<String>) {
        let mut parts = Vec::new();
        let mut wrong = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let place = text[..text.len() - after.len()].chars().count() - 1;
            // If another one begins before it ends, it is not closed.
            let inner = &after[..after.find("{{").unwrap_or(after.len())];
            match inner.split_once("}}") {
                Some((name, _)) => {
                    rest = &after[name.len() + 2..];
                    match refused(name.trim()) {
                        Some(why) => wrong.push(format!("the `{{{{` at character {place} {why}")),
                        None => parts.push(Part::Name(name.trim().to_owned())),
                    }
                }
                None => {
                    wrong.push(format!(
                        "the `{{{{` at character {place} is not closed by `}}}}`"
                    ));
                    rest = &after[inner.len()..];
                }
            }
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        (Template { parts }, wrong)
    }

    /// Returns the names that it reads, in order. A name that it reads twice is listed twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Name(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Returns the name, if the text is a single `{{ name }}` and nothing else: then it is the value itself.
    pub fn sole(&self) -> Option<&str> {
        match &*self.parts {
            [Part::Name(name)] => Some(name),
            _ => None,
        }
    }

    /// Returns the text with the values inserted.
    ///
    /// # Errors
    /// A name that has no value.
    pub fn render<'v>(
        &self,
        mut value: impl FnMut(&str) -> Option<Cow<'v, str>>,
    ) -> Result<String, MissingName> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Name(name) => {
                    text.push_str(&value(name).ok_or_else(|| MissingName(name.clone()))?);
                }
            }
        }
        Ok(text)
    }

    /// Names in single braces: probably meant for values, and sent as they are.
    pub(crate) fn braced(&self) -> impl Iterator<Item = &str> {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Name(_) => None,
        });
        texts
            .flat_map(|text| text.split('{').skip(1))
            .filter_map(|rest| {
                let name = rest.split_once('}')?.0.trim();
                refused(name).is_none().then_some(name)
            })
    }
}

/// Why a name is none. `None`: it is one.
fn refused(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("is followed by no name: write `{{ name }}`".to_owned());
    }
    let has_empty_part = name.split('.').any(str::is_empty);
    if !has_empty_part && name.chars().all(is_in_name) {
        return None;
    }
    let shown: String = name.chars().take(40).collect();
    // As in many languages: `list[0]`.
    if let Some(index) = shown.strip_suffix(']')
        && let Some((list, item)) = index.split_once('[')
        && refused(list).is_none()
        && refused(item).is_none()
    {
        return Some(format!("is followed by {shown:?}: write `{list}.{item}`"));
    }
    let remedy = "use letters, digits, `_` and `-`, and `.` before a member";
    Some(format!(
        "is followed by {shown:?}, which is not a name: {remedy}"
    ))
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The parts of a name. `context.` in front is React Flow's, and means nothing.
pub(crate) fn path(name: &str) -> impl Iterator<Item = &str> {
    let path = name.strip_prefix("context.").unwrap_or(name);
    path.split('.')
}

/// The value of the state that a name is in.
pub(crate) fn key(name: &str) -> &str {
    path(name).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Template {
        let (template, wrong) = Template::parse(text);
        assert_eq!(wrong, [""; 0]);
        template
    }

    fn wrong(text: &str) -> String {
        Template::parse(text).1.join("; ")
    }

    #[test]
    fn names_are_found_in_order() {
        let template = parse("a {{ x }}{{y.z}} b {{ context.q }} {{x}}");
        assert_eq!(
            template.names().collect::<Vec<_>>(),
            ["x", "y.z", "context.q", "x"]
        );
        assert_eq!(
            template.names().map(key).collect::<Vec<_>>(),
            ["x", "y", "q", "x"]
        );
    }

    #[test]
    fn a_text_that_is_one_name_is_that_value() {
        assert_eq!(parse("{{ x }}").sole(), Some("x"));
        for other in ["{{ x }} ", "{{x}}{{y}}", "x", ""] {
            assert_eq!(parse(other).sole(), None, "{other:?}");
        }
    }

    #[test]
    fn values_are_inserted_once() {
        let template = parse("<{{ a }}> { {{ b }} }}");
        let values = |name: &str| match name {
            "a" => Some(Cow::Borrowed("{{ b }}")),
            "b" => Some(Cow::Borrowed("2")),
            _ => None,
        };
        assert_eq!(template.render(values).unwrap(), "<{{ b }}> { 2 }}");
        assert_eq!(
            parse("{{ c }}").render(values),
            Err(MissingName("c".to_owned()))
        );
    }

    #[test]
    fn every_mistake_is_reported_and_the_rest_is_read() {
        let (template, wrong) = Template::parse("{{ a {{ b }} {{ c d }} {{ e }} {{ f[0] }} {{");
        assert_eq!(template.names().collect::<Vec<_>>(), ["b", "e"]);
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(wrong[2].ends_with("\"f[0]\": write `f.0`"), "{wrong:?}");
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        assert!(wrong("é {{ x").contains("at character 3 is not closed"));
        assert!(wrong("{{ }}").contains("is followed by no name"));
        assert!(wrong("{{ a b }}").contains("\"a b\""));
        assert!(wrong("{{ a..b }}").contains("is not a name"));
        assert!(wrong("{{ {{ x }} }}").contains("at character 1 is not closed"));
        assert!(wrong("{{ a {{ b }}").contains("at character 1 is not closed"));
    }
}
