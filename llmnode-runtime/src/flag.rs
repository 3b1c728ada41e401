//! What is worth knowing about an answer that was accepted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something about an accepted answer that is worth knowing.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Flag, Repair};
///
/// assert_eq!(Flag::Fenced.to_string(), "fenced");
/// assert_eq!(Flag::Repaired(Repair::BareKey).to_string(), "repaired: bare_key");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Flag {
    /// The JSON stood in a fence.
    Fenced,
    /// The JSON stood between other text.
    InProse,
    /// The JSON followed what the model wrote while it thought (`<think>`), which was passed over.
    AfterThinking,
    /// The text was no JSON as it stood, and became it by a repair that loses nothing.
    Repaired(Repair),
    /// The JSON was not of the type as it stood, and became it by a change that loses nothing.
    Coerced(Coercion),
    /// The answer stopped at a length limit, and is complete all the same, or is raw text.
    LengthStop,
    /// A validator kept the answer with a warning.
    Warned,
    /// The provider counted less than half of the tokens that the prompt must have had (by its characters, a
    /// quarter of a token each): it may have cut the prompt without a word.
    ShortPrompt,
    /// The provider's total of tokens is not the sum of its parts. All are kept as reported.
    TotalMismatch,
    /// The provider reported a figure of tokens that cannot be: a negative one, a fraction, or a total below one of its
    /// parts. It is unknown.
    ImpossibleUsage,
    /// The provider did not say why the answer ended.
    NoFinishReason,
}

/// A repair of a text that is nearly JSON. Each loses nothing that the model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// A comment was passed over: `// ..`, `/* .. */`, `# ..`.
    Comment,
    /// A comma too many was passed over, or one at the end of a line was missing.
    Comma,
    /// Quotes other than `"` were read as such: `'..'`, `“..”`, `` `..` ``, `"""..."""`, `u'..'`.
    Quotes,
    /// A quotation mark within a string was not escaped.
    InnerQuote,
    /// A quotation mark that ends a string, or a key's, was missing.
    MissingQuote,
    /// A literal of another language was read as JSON's: `True`, `False`, `None`.
    Literal,
    /// A key without quotes.
    BareKey,
    /// A string without quotes.
    BareString,
    /// A control character, or the end of a line, stood raw in a string.
    ControlCharacter,
    /// An escape that JSON does not know, such as `\'`.
    Escape,
    /// White space that JSON does not know, such as a non-breaking space or a byte order mark.
    Space,
    /// A colon between key and value was missing.
    Colon,
    /// A bracket or brace that closes was missing or the wrong one, or braces were doubled: `{{..}}`.
    Closer,
    /// A key was given twice with the same value.
    DuplicateKey,
    /// A call around the JSON was passed over: `callback({..});`.
    Call,
    /// A number was written in a way that JSON does not know, and means one value: `+1`, `.5`, `1.`.
    Number,
}

/// A change of JSON into what its schema asks for. Each loses nothing, and is made only where no other fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Coercion {
    /// A string that holds a number became that number: `"3"`.
    NumberFromString,
    /// A number became the string of its digits, where only a string fits.
    StringFromNumber,
    /// A number without a fraction became an integer: `3.0`.
    Integer,
    /// A string that holds a Boolean became it: `"true"`, `"False"`.
    Boolean,
    /// A string became the one allowed value that it names but for case, white space and punctuation: `" Red "`.
    Choice,
    /// The one allowed value that a text mentions was taken: `The answer is RED.`
    Mentioned,
    /// One value became a list of one.
    List,
    /// Several values side by side became a list.
    Listed,
    /// A list of one became its value.
    Single,
    /// A value became the only member of its object.
    Member,
    /// A `null` stands for what was absent or empty.
    Null,
}

/// One kind of change that was made to read an answer, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// What was done.
    pub flag: Flag,
    /// Where it was done first: `line 2 column 5`, or for a coercion the path in the JSON, `steps[2].item`.
    pub place: String,
    /// How often it was done, 1 or more.
    pub times: u32,
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flag::Repaired(repair) => write!(f, "repaired: {repair}"),
            Flag::Coerced(coercion) => write!(f, "coerced: {coercion}"),
            _ => self.serialize(f),
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// `repaired: comma at line 2 column 5`, and how often if it was more than once: `, 3 times`.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flag.fmt(f)?;
        if !self.place.is_empty() {
            write!(f, " at {}", self.place)?;
        }
        if self.times > 1 { write!(f, ", {} times", self.times) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_written_as_in_json() {
        let note = |flag, place: &str, times| Note { flag, place: place.into(), times }.to_string();
        assert_eq!(Flag::AfterThinking.to_string(), "after_thinking");
        assert_eq!(
            note(Flag::Coerced(Coercion::NumberFromString), "a[1]", 1),
            "coerced: number_from_string at a[1]"
        );
        assert_eq!(
            note(Flag::Repaired(Repair::Comma), "line 1 column 6", 3),
            "repaired: comma at line 1 column 6, 3 times"
        );
        assert_eq!(note(Flag::Coerced(Coercion::Listed), "", 1), "coerced: listed");
    }
}
