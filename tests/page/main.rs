//! Recordings of runs and their pages.

#![allow(clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

mod desk;
mod runs;

use std::path::{Path, PathBuf};

use llmnode::Recording;

fn content() -> Recording {
    Recording::new().with_content(true)
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// For `scripts/browser` and for people: writes the pages to `LLMNODE_PAGES`.
#[tokio::test]
async fn write_the_pages() {
    let Some(folder) = std::env::var_os("LLMNODE_PAGES").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, recording: &Recording| {
        std::fs::write(folder.join(format!("{name}.html")), recording.page()).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), recording.to_json()).unwrap();
    };
    let recording = content();
    runs::done(&recording).await;
    write("done", &recording);
    let recording = content();
    runs::failed(&recording).await;
    write("failed", &recording);
    let recording = content();
    runs::paused(&recording).await;
    write("paused", &recording);
    let recording = content();
    runs::approved(&recording).await;
    write("approved", &recording);
    let recording = content();
    runs::fallback(&recording).await;
    write("fallback", &recording);
    let recording = content();
    runs::replayed(&recording, &folder).await;
    write("replayed", &recording);
    let recording = Recording::new();
    runs::done(&recording).await;
    write("figures", &recording);
}
