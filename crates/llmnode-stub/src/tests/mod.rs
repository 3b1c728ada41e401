mod client;
mod first;
mod lifecycle;
mod protocol;
mod replies;
mod schemas;

use client::{chat, post};
