mod apis;
mod client;
mod lifecycle;
mod protocol;
mod replies;
mod sample;
mod schemas;

use client::{chat, post};
