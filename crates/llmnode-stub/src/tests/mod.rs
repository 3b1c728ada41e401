mod client;
mod drawn;
mod lifecycle;
mod protocol;
mod replies;
mod schemas;

use client::{chat, post};
