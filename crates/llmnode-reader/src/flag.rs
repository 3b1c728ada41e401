//! What is worth knowing about an accepted answer.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Something about an accepted answer that is worth knowing.
///
/// The kinds of repairs and changes are texts, since more of them may come;
/// llmnode's guide on reading lists them. Flags that are not about reading, such as
/// [`LengthStop`](Flag::LengthStop), are set by llmnode.
///
/// ```
/// # use llmnode_reader as llmnode;
/// use llmnode::Flag;
///
/// assert_eq!(Flag::Fenced.to_string(), "fenced");
/// assert_eq!(Flag::Repaired("bare_key".into()).to_string(), "repaired: bare_key");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Flag {
    /// The JSON was in a code fence.
    Fenced,
    /// The JSON was between other text.
    InProse,
    /// The answer followed the model's thoughts (`<think>`), which stood in its
    /// text and were skipped.
    AfterThinking,
    /// The text became JSON by a repair of this kind, such as `comma`. Nothing was lost.
    Repaired(Cow<'static, str>),
    /// The JSON came to fit the type by a change of this kind, such as `choice`. Nothing was lost.
    #[serde(alias = "coerced")]
    Fitted(Cow<'static, str>),
    /// The answer stopped at a length limit. It is complete anyway, or raw text.
    LengthStop,
    /// The model wrote white space after a complete answer until it was stopped, or
    /// the connection broke behind one, and its tokens were not reported: those of
    /// the answer are an estimate.
    EstimatedUsage,
    /// A validator accepted the answer with a warning.
    Warned,
    /// The answer was corrected, and a value is now exactly the bound that the
    /// complaint named, such as the 15 of "must be at least 15". Small models copy
    /// it, whatever the text says.
    AtBound,
    /// The provider counted less than half of the tokens that the prompt must have
    /// by its characters. It may have cut the prompt.
    ShortPrompt,
    /// The provider's total of tokens is not the sum of its parts. All are kept as reported.
    TotalMismatch,
    /// The provider reported an impossible number of tokens: a negative one, a
    /// fraction, or a total below a part. It counts as unknown. Or it reported more
    /// reasoning than answer, which stays as reported; its cost is that of both.
    ImpossibleUsage,
    /// The provider bills the answer by more than its tokens at the standard price:
    /// it says that it served it in a tier, at a speed or at a place that has a price
    /// of its own, or that it ran tools that it bills apiece. The cost is unknown.
    OtherPrice,
    /// The model wrote a call of a tool as its text. The tool was executed.
    CallInText,
    /// The model wrote a call of a tool that stands in what it was shown. The tool
    /// was not executed.
    QuotedCall,
    /// The model had to call a function, and wrote a text or called another one
    /// instead. From now on it is free to, and the last answer is asked for in
    /// another way.
    FreeChoice,
    /// The answer has this property, which a graph may not write, so it was left out.
    NotWritten(Cow<'static, str>),
    /// The provider did not say why the answer ended.
    NoFinishReason,
    /// The provider ended the answer with a word that nobody knows, which is in the record as
    /// `finish_reason`: it may be incomplete.
    UnknownFinish,
    /// The provider sent something that is no character, such as half of one. The
    /// answer has U+FFFD in its place.
    Unreadable,
    /// What another model put beside its answers, such as signed thoughts, was not
    /// sent to this one.
    CarriedLeft,
}

/// One kind of change that was made to read an answer, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The change.
    pub flag: Flag,
    /// The first place: `line 2 column 5`, or for a change of the value its path in
    /// the JSON, `steps[2].item`.
    pub place: String,
    /// How often it was made, 1 or more.
    pub times: u32,
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flag::Repaired(kind) => write!(f, "repaired: {kind}"),
            Flag::Fitted(kind) => write!(f, "fitted: {kind}"),
            Flag::NotWritten(member) => write!(f, "not_written: {member}"),
            _ => self.serialize(f),
        }
    }
}

/// As in `repaired: comma at line 2 column 5, 3 times`.
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flag.fmt(f)?;
        if !self.place.is_empty() {
            write!(f, " at {}", self.place)?;
        }
        if self.times > 1 {
            write!(f, ", {} times", self.times)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_written_as_in_json() {
        let note = |flag, place: &str, times| {
            Repair {
                flag,
                place: place.into(),
                times,
            }
            .to_string()
        };
        assert_eq!(Flag::AfterThinking.to_string(), "after_thinking");
        assert_eq!(
            note(Flag::Fitted("number_from_text".into()), "a[1]", 1),
            "fitted: number_from_text at a[1]"
        );
        assert_eq!(
            note(Flag::Repaired("comma".into()), "line 1 column 6", 3),
            "repaired: comma at line 1 column 6, 3 times"
        );
    }

    #[test]
    fn flags_of_older_ledgers_are_read() {
        let flag: Flag = serde_json::from_str(r#"{"coerced":"choice"}"#).unwrap();
        assert_eq!(flag, Flag::Fitted("choice".into()));
        assert_eq!(
            serde_json::to_string(&flag).unwrap(),
            r#"{"fitted":"choice"}"#
        );
    }
}
