//! The programs of the README and of the guides by task, with their tests. Each stands here as the page shows it.

#![allow(
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "tests, and programs whose `main` asks a provider"
)]

mod another_provider;
mod approval;
mod caches;
mod evaluate;
mod extract;
mod in_a_library;
mod keep_chat;
mod look;
mod many_rows;
mod many_tools;
mod overnight;
mod survive;
mod tools;

mod readme {
    // In few lines, and not as rustfmt would write it.
    include!("readme.rs");

    #[tokio::test]
    async fn it_shows_what_the_second_request_adds() {
        let page = include_str!("../../README.md");
        let (_, shown) = page
            .split_once("so the second request adds:\n\n```text\n")
            .unwrap();
        let (shown, _) = shown.split_once("\n```").unwrap();
        let model = ScriptedModel::new()
            .reply(r#"{"team": "roofers", "urgent": true}"#)
            .reply(r#"{"team": "repairs", "urgent": true}"#);
        let run = Run::new(model.clone()).with_state(Shop {
            teams: vec!["repairs".into()],
        });
        run.call(&Sort {
            letter: "The roof leaks!".into(),
        })
        .await
        .unwrap();
        assert_eq!(model.requests()[1].messages.last().unwrap().content, shown);
    }
}

/// The page, the program, and how the page's block begins.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        include_str!("../../README.md"),
        include_str!("readme.rs"),
        "```rust\n",
    ),
    (
        include_str!("../../docs/another-provider.md"),
        include_str!("another_provider.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/approval.md"),
        include_str!("approval.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/caches.md"),
        include_str!("caches.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/evaluate.md"),
        include_str!("evaluate.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/extract.md"),
        include_str!("extract.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/in-a-library.md"),
        include_str!("in_a_library.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/keep-a-chat.md"),
        include_str!("keep_chat.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/look.md"),
        include_str!("look.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/many-rows.md"),
        include_str!("many_rows.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/survive.md"),
        include_str!("survive.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/overnight.md"),
        include_str!("overnight.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/tools.md"),
        include_str!("tools.rs"),
        "```rust,no_run\n",
    ),
    (
        include_str!("../../docs/tools.md"),
        include_str!("many_tools.rs"),
        "the others by a search:\n\n```rust,no_run\n",
    ),
];

#[test]
fn each_page_shows_its_program() {
    for &(page, program, begin) in PROGRAMS {
        let (_, block) = page.split_once(begin).unwrap();
        let (block, _) = block.split_once("```\n").unwrap();
        assert_eq!(block, program);
    }
}
