//! What a server refuses, and what follows.
//!
//! In: an answer with an error. Out: its category, and whether the same call is
//! asked once more in another way. In order:
//!
//! 1. [`message`]: the words of the prompt are taken out of the server's text.
//!    Nobody's text changes how others are asked.
//! 2. [`classify`](crate::http::classify): the category, by the table in `http/rules.rs`.
//! 3. [`reading`]: which part of the request is not wanted, and what is sent in its
//!    place. The words are data: [`fields`] and
//!    [`phrases`] are the lists to extend, [`values`] reads the values and numbers that a text offers.
//! 4. [`beliefs`]: the call is asked in the other way. If that is answered, so are
//!    later calls, for a while.
//! 5. [`quirks`]: what is believed, as the writers of requests use it; [`efforts`]
//!    and [`response_formats`] choose the next best way to ask for thoughts and for
//!    a type.
//!
//! No model is known by its name: what is refused is known from refusals alone.

pub(crate) mod beliefs;
pub(crate) mod effort_fault;
pub(crate) mod efforts;
pub(crate) mod fields;
pub(crate) mod message;
pub(crate) mod parts;
mod phrases;
pub(crate) mod quirks;
pub(crate) mod reading;
pub(crate) mod response_formats;
pub(crate) mod switch;
mod values;
