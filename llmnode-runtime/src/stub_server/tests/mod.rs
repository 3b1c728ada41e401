mod client;
mod replies;

use client::{chat, post};
