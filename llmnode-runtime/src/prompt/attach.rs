//! What fills `{field:attach}`: images, files and audio as parts of the message.

use llmnode_model::{Attachment, Audio, File, Image};

/// A value that fills `{field:attach}`: an image, a file or audio, or several.
///
/// Your own types implement it by passing on what they hold:
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Image;
/// use llmnode::prompt::{Attachments, PromptAttachment};
///
/// struct Photo {
///     image: Image,
///     taken_by: String,
/// }
///
/// impl PromptAttachment for Photo {
///     fn attach(&self, to: &mut Attachments<'_>) {
///         self.image.attach(to);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `:attach`",
    label = "not an attachment",
    note = "`:attach` takes `llmnode::Image`, `File` and `Audio`, and `Option`, `Vec`, arrays and \
            slices of them; write `{{name}}` for text"
)]
pub trait PromptAttachment {
    /// Passes on what is to be attached, in order.
    fn attach(&self, to: &mut Attachments<'_>);
}

/// Takes the attachments of a value.
pub struct Attachments<'a>(&'a mut dyn FnMut(Attachment));

impl<'a> Attachments<'a> {
    pub(super) fn new(take: &'a mut dyn FnMut(Attachment)) -> Self {
        Attachments(take)
    }

    /// Adds an attachment.
    pub fn push(&mut self, attachment: impl Into<Attachment>) {
        (self.0)(attachment.into());
    }
}

impl std::fmt::Debug for Attachments<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Attachments")
    }
}

macro_rules! single {
    ($($kind:ty),*) => {$(
        impl PromptAttachment for $kind {
            fn attach(&self, to: &mut Attachments<'_>) {
                to.push(self.clone());
            }
        }
    )*};
}
single!(Attachment, Image, File, Audio);

macro_rules! several {
    ($([$($generics:tt)*] $list:ty),*) => {$(
        impl<T: PromptAttachment, $($generics)*> PromptAttachment for $list {
            fn attach(&self, to: &mut Attachments<'_>) {
                self.iter().for_each(|one| one.attach(to));
            }
        }
    )*};
}
several!([] Option<T>, [] Vec<T>, [] [T], [const N: usize] [T; N]);

impl<T: PromptAttachment + ?Sized> PromptAttachment for &T {
    fn attach(&self, to: &mut Attachments<'_>) {
        (**self).attach(to);
    }
}
