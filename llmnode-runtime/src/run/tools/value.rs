//! What tools return, and why they fail.

use std::any::Any;
use std::fmt;

use llmnode_model::{BoxError, Category, Image};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::NodeError;

/// The output of a tool, as the model reads it: a text as it is, `()` as "done",
/// anything else as JSON.
#[diagnostic::on_unimplemented(
    message = "a model cannot read `{Self}`",
    label = "`{Self}` has no `Serialize`",
    note = "a tool returns a text or any type with `serde::Serialize`; put `#[llm_output]` or `#[derive(Serialize)]` on the type"
)]
pub trait ToolValue {
    /// What the model reads.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    fn reply(&self) -> Replied;
}

/// What a model reads of an output, or why it cannot be written.
pub type Replied = Result<ToolReply, BoxError>;

/// What a model reads of an output.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn reply<T: ToolValue>(output: &T) -> Replied {
    output.reply()
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> ToolValue for T {
    fn reply(&self) -> Replied {
        if let Some(reply) = (self as &dyn Any).downcast_ref::<ToolReply>() {
            return Ok(reply.clone());
        }
        Ok(match serde_json::to_value(self)? {
            Value::String(text) => ToolReply::new(text),
            Value::Null => ToolReply::new("done"),
            value => ToolReply::new(value.to_string()),
        })
    }
}

/// The result of a tool that returns images: a text, followed by images. If a
/// provider takes no images in results, they follow in a user message. A model sees
/// at most 16 images of a reply, of 8 MiB together; their text says how many are
/// left out.
///
/// Only this type makes an image of a result: a text that is a `data:` URL stays a
/// text.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Image, ToolReply};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chart = Image::bytes("image/png", b"...")?;
/// let reply = ToolReply::new("The sales of this year:").image(chart);
/// # let _ = reply;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolReply {
    pub(super) text: String,
    pub(super) images: Vec<Image>,
}

impl ToolReply {
    /// Creates a reply of text.
    pub fn new(text: impl Into<String>) -> Self {
        ToolReply {
            text: text.into(),
            images: Vec::new(),
        }
    }

    /// Adds an image.
    #[must_use]
    pub fn image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Changes the text, for example to remove what a model must not read.
    #[must_use]
    pub fn map_text(mut self, change: impl FnOnce(&str) -> String) -> Self {
        self.text = change(&self.text);
        self
    }
}

/// Its text.
impl fmt::Display for ToolReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// It serializes as its text.
impl Serialize for ToolReply {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl fmt::Debug for ToolReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ToolReply {{ text: {} bytes, images: {} }}",
            self.text.len(),
            self.images.len()
        )
    }
}

/// An error of a tool that ends the call of the agent. A tool may fail with any
/// other error, which the model reads and may find a way around.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, ToolError};
///
/// fn read(shelf: Result<String, std::io::Error>) -> Result<String, BoxError> {
///     Ok(shelf.map_err(ToolError::abort)?)
/// }
/// ```
pub struct ToolError(BoxError);

impl ToolError {
    /// Creates an error that ends the agent's call as
    /// [`aborted`](Category::Aborted). The model does not see it.
    pub fn abort(error: impl Into<BoxError>) -> Self {
        ToolError(error.into())
    }
}

impl From<ToolError> for BoxError {
    fn from(error: ToolError) -> Self {
        NodeError::from(error).into()
    }
}

impl From<ToolError> for NodeError {
    fn from(ToolError(error): ToolError) -> Self {
        let message = format!("a tool ended the call: {error}");
        NodeError::new(Category::Aborted, message).with_source(error)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolError(abort)")
    }
}

/// A `Result`, whatever its error is.
pub trait ResultOf {
    /// Its value.
    type Value;
    /// Its error.
    type Error;
    /// Itself.
    ///
    /// # Errors
    /// Its own.
    fn result(self) -> Result<Self::Value, Self::Error>;
}

impl<T, E> ResultOf for Result<T, E> {
    type Value = T;
    type Error = E;

    fn result(self) -> Result<T, E> {
        self
    }
}

/// An error of a tool.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "`{Self}` cannot be turned into an error",
    note = "write `llmnode::BoxError`, which any error with `Send` and `Sync` becomes, or `String`, or another type with \
            `std::error::Error`, `Send` and `Sync`"
)]
pub trait ToolFailure {
    /// The error as the runtime has it.
    fn failure(self) -> BoxError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> ToolFailure for E {
    fn failure(self) -> BoxError {
        self.into()
    }
}

/// What a function of a [`Toolset`](crate::Toolset) returns.
#[diagnostic::on_unimplemented(
    message = "a function of a `Toolset` returns a future of a `Result`, and this one returns `{Self}`",
    label = "not a future of a `Result`",
    note = "write `|argument: String| async move {{ Ok::<_, BoxError>(..) }}`"
)]
pub trait ToolFuture: Send + 'static {
    /// What the model reads.
    fn replied(self) -> impl Future<Output = Replied> + Send;
}

#[diagnostic::do_not_recommend]
impl<T, E, F> ToolFuture for F
where
    T: ToolValue,
    E: ToolFailure,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    async fn replied(self) -> Replied {
        self.await.map_err(ToolFailure::failure)?.reply()
    }
}

/// What a tool's function returned, as `Exec` has it.
///
/// # Errors
/// Its own.
pub fn fallible<R: ResultOf<Error: ToolFailure>>(result: R) -> Result<R::Value, BoxError> {
    result.result().map_err(ToolFailure::failure)
}
