mod client;
mod drawn;
mod replies;
mod schemas;

use client::{chat, post};
