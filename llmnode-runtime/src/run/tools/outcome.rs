//! The outcome of a tool call: what the model reads, and what the ledger says.

use std::borrow::Cow;
use std::time::Duration;

use llmnode_model::ext::FoundTools;
use llmnode_model::{CallId, Category, Group, Image, Message};
use llmnode_reader::text::{one_line, plural};

use super::value::ToolReply;
use crate::error::NodeError;
use crate::pause::{Asked, Asks, CallState, MOST_ROUNDS};
use crate::text::capped;

/// The most of a result that the model reads, in bytes.
pub const MAX_RESULT: usize = 64 * 1024;

/// The most images of a result that the model sees.
pub const MAX_IMAGES: usize = 16;

/// The most bytes of the images of a result, as they are sent.
pub const MAX_IMAGE_BYTES: usize = 8 << 20;

/// The most of what a tool says went wrong, in bytes.
const MAX_FAULT_BYTES: usize = 2048;

/// What a call of a tool came to: what the model reads, or why it reads nothing
/// yet, and what the record says.
pub(in crate::run) struct ToolOutcome {
    pub(super) effect: ToolEffect,
    pub(super) label: Cow<'static, str>,
    pub(super) call: Option<CallId>,
    pub(super) decided: bool,
    pub(super) edited: Option<String>,
    /// The tools that are found with it.
    pub(super) found: Option<FoundTools>,
}

pub(super) enum ToolEffect {
    Result(ToolReply),
    /// The model reads that the tool failed or did not run.
    Failure(String),
    Waits(CallState),
    Stopped(NodeError),
}

impl ToolOutcome {
    fn new(effect: ToolEffect, label: impl Into<Cow<'static, str>>) -> Self {
        ToolOutcome {
            effect,
            label: label.into(),
            call: None,
            decided: false,
            edited: None,
            found: None,
        }
    }

    pub(super) fn done(reply: ToolReply, call: Option<CallId>) -> Self {
        ToolOutcome {
            call,
            ..ToolOutcome::new(ToolEffect::Result(reply), "ok")
        }
    }

    pub(super) fn refused(label: &'static str, text: impl Into<String>) -> Self {
        ToolOutcome::new(ToolEffect::Failure(text.into()), label)
    }

    pub(super) fn denied(why: &str) -> Self {
        ToolOutcome::refused(
            "denied",
            format!("not allowed: {}", one_line(why, MAX_FAULT_BYTES)),
        )
    }

    pub(super) fn invalid_arguments(complaints: &str) -> Self {
        ToolOutcome::refused(
            "invalid_arguments",
            format!("These arguments were not accepted:{complaints}"),
        )
    }

    pub(super) fn waits(state: CallState) -> Self {
        ToolOutcome::new(ToolEffect::Waits(state), "waiting")
    }

    /// `rounds`: how often the tool has asked before.
    pub(super) fn asks(asks: &Asks, arguments: &str, rounds: u32) -> Self {
        if rounds >= MOST_ROUNDS {
            let why = format!("the tool has asked {rounds} times, and may not ask again");
            return ToolOutcome::refused("error", why);
        }
        let questions = Asked::new(asks.clone(), arguments, rounds + 1);
        ToolOutcome::waits(CallState::Asked(Box::new(questions)))
    }

    pub(super) fn stopped(error: NodeError) -> Self {
        let call = error.record().map(|record| record.id);
        ToolOutcome {
            call,
            ..ToolOutcome::new(ToolEffect::Stopped(error), "aborted")
        }
    }

    /// Code of the tool outside its node, such as its serialization.
    pub(super) fn panicked() -> Self {
        ToolOutcome::of_error(NodeError::new(Category::Panic, ""), None)
    }

    /// A tool's own message is for the model; that of a transport is not: it may
    /// name servers, files or keys.
    ///
    /// A panic and a limit end the call of the tool, not the agent, which may do
    /// without its result. All else of the group stop ends the agent, too.
    pub(super) fn of_error(error: NodeError, deadline: Option<Duration>) -> Self {
        let call = error.record().map(|record| record.id);
        let category = error.category();
        let message = match category {
            Category::ExecError => one_line(error.message(), MAX_FAULT_BYTES),
            Category::Timeout => match deadline {
                Some(deadline) => format!("the tool timed out after {deadline:?}"),
                None => "the tool timed out".to_owned(),
            },
            Category::LimitExceeded | Category::Panic => format!("the tool failed ({category})"),
            Category::Paused => match error.paused() {
                Some(paused) => {
                    return ToolOutcome {
                        call,
                        ..ToolOutcome::waits(CallState::Within(Box::new(paused)))
                    };
                }
                None => return ToolOutcome::stopped(error),
            },
            _ if category.group() == Group::Stop => return ToolOutcome::stopped(error),
            _ => format!("the tool failed ({category})"),
        };
        let label = if category == Category::ExecError {
            "error"
        } else {
            category.as_str()
        };
        ToolOutcome {
            call,
            ..ToolOutcome::new(ToolEffect::Failure(message), label)
        }
    }

    pub(super) fn finding(mut self, found: FoundTools) -> Self {
        self.found = Some(found);
        self
    }

    pub(super) fn edited(mut self, arguments: Option<&str>) -> Self {
        self.edited = arguments.map(str::to_owned).or(self.edited);
        if let (ToolEffect::Waits(CallState::Within(paused)), Some(arguments)) =
            (&mut self.effect, arguments)
        {
            paused.0.edited = Some(arguments.to_owned());
        }
        self
    }
}

impl ToolEffect {
    pub(super) fn into_state(
        self,
        id: &str,
        found: Option<FoundTools>,
    ) -> Result<CallState, NodeError> {
        match self {
            ToolEffect::Result(ToolReply { text, images }) => {
                let (images, left_out) = capped_images(images);
                let message =
                    Message::tool(id, capped(text, MAX_RESULT)).text(images_left_out(left_out));
                let message = message.finding(found);
                Ok(CallState::ended(
                    images.into_iter().fold(message, Message::attach),
                ))
            }
            ToolEffect::Failure(text) => {
                let message = Message::tool(id, text).failed();
                Ok(CallState::ended(message.finding(found)))
            }
            ToolEffect::Waits(state) => Ok(state),
            ToolEffect::Stopped(error) => Err(error),
        }
    }
}

/// The first images that a model sees, and how many are left out.
fn capped_images(mut images: Vec<Image>) -> (Vec<Image>, usize) {
    let before = images.len();
    let mut bytes = 0_usize;
    images.truncate(MAX_IMAGES);
    images.retain(|image| {
        let fits = bytes + image.as_url().len() <= MAX_IMAGE_BYTES;
        bytes += if fits { image.as_url().len() } else { 0 };
        fits
    });
    let left_out = before - images.len();
    (images, left_out)
}

/// What the model reads about images that it does not see; empty if there are none.
pub fn images_left_out(number: usize) -> String {
    if number == 0 {
        return String::new();
    }
    let images = plural(number as u64, "image");
    let mebibytes = MAX_IMAGE_BYTES >> 20;
    format!(
        "\n[{images} left out: a result shows {MAX_IMAGES} of {mebibytes} MiB together at most]"
    )
}
