//! How a text is read: leniently, exactly, or only if it is nothing but the JSON.

use super::check::CheckMode;
use super::schema::OutputSchema;
use super::target::Target;

/// Reads JSON out of the text of a model, as nodes do.
///
/// serde_json reads clean JSON of the type, unless that would lose something: a
/// repeated property, or a number that would be rounded. Otherwise the reader looks
/// for the JSON after thoughts, in code fences and between other text, repairs it,
/// and makes it fit the type, if nothing is lost.
///
/// ```
/// # use llmnode_reader as llmnode;
/// use llmnode::Reader;
///
/// let reading = Reader::new().value("Here it is:\n```json\n{\"count\": 3}\n```")?;
/// assert_eq!(reading.value["count"], 3);
/// assert_eq!(reading.repairs[0].flag, llmnode::Flag::Fenced);
/// # Ok::<_, llmnode::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    exact: bool,
    whole_text: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new()
    }
}

impl Reader {
    /// Creates a reader with repair and typed reading, as nodes have it.
    pub const fn new() -> Self {
        Reader {
            exact: false,
            whole_text: false,
        }
    }

    /// Sets whether JSON is accepted only as it is: nothing is repaired or changed
    /// to fit a type. It is still found in fences and between text. Default: no.
    ///
    /// ```
    /// # use llmnode_reader as llmnode;
    /// use llmnode::Reader;
    ///
    /// let text = "{\"sizes\": ['small', 7,]}";
    /// assert!(Reader::new().value(text).is_ok());
    /// assert!(Reader::new().exact(true).value(text).is_err());
    /// ```
    #[must_use]
    pub const fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// For texts that another program wrote, or that were already cut out of an
    /// answer: nothing may surround the JSON.
    ///
    /// ```
    /// # use llmnode_reader as llmnode;
    /// let reader = llmnode::Reader::new().whole_text();
    /// assert!(reader.value("[1]").is_ok());
    /// assert!(reader.value("Here it is: [1]").is_err());
    /// ```
    #[must_use]
    pub const fn whole_text(self) -> Self {
        Reader {
            exact: true,
            whole_text: true,
        }
    }

    /// What a text is read as by this reader. `None`: as any JSON.
    pub(super) fn target(self, schema: Option<&OutputSchema>) -> Target<'_> {
        let Reader { exact, whole_text } = self;
        Target {
            schema,
            mode: CheckMode::Type,
            exact,
            whole_text,
            extra_check: &|_, _| Vec::new(),
        }
    }
}
