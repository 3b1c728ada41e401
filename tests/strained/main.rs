//! Correct programs that strain the macros compile without a lint, and run.
#![deny(warnings, clippy::pedantic)]
#![forbid(unsafe_code)]

mod programs;

#[tokio::test]
async fn all_programs_run() {
    programs::run_all().await;
}
