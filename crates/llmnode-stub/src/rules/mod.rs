//! What providers refuse, as data.
//!
//! A request comes in with the provider whose rules apply, if there is one, and goes out as nothing (it is taken) or as a
//! [`Refusal`]: the status and the words of that provider. The provider's own rules are asked first, in the order of the
//! file, then those for `all`, which every server of an API would refuse in some words.
//!
//! The rules are in `chat.json`, `responses.json`, `messages.json` and `gemini.json`, one file for each API. Each rule has
//!
//! - `id`, `providers` (names of [`Provider`], or `all`) and `refuses`, which says in words what is refused;
//! - `when`: conditions on the request, all of which hold for what is refused ([`condition`] has their vocabulary);
//! - `status` and `body`: what the provider answers. `{model}`, `{place}` (`messages[1].content`), `{dotted}`
//!   (`messages.1.content`), `{index}`, `{name}`, `{id}`, `{value}` and `{context}` in it are
//!   filled in;
//! - `source`: public threads (`owner/repository#number`), packages (`name version file`) or documents (a URL), with `; ` between
//!   them, and `read`, the day on which it said so. `words`: the text follows what the provider writes of other fields;
//! - `refused`, a body that it refuses, and `taken`, the places in which the nearest body that it takes is different (`null`
//!   is removed). For Gemini and Azure `model` stands beside them, since the path has it.
//!
//! `models.json` names groups of models, and when a provider's models think although nothing asks for it: the rules on what
//! has to go back are about their answers. Names of models belong here and not in the library, which learns from refusals.

mod condition;
mod data;
mod kept;
mod pointer;
mod provider;
mod refusal;
mod schema;
mod turns;

#[cfg(test)]
mod tests;

pub use provider::Provider;
pub use refusal::{Refusal, refusal};

pub(super) use kept::keep;
pub(super) use refusal::{no_such_path, refused, thinks};
