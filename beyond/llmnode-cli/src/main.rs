//! Checks and runs graphs of llmnode: see `llmnode-graph --help`.

mod args;
mod check;
mod hints;
mod location;
mod mcp;
mod node_types;
mod page;
mod placeholders;
mod report;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod stores;
mod table;
mod terminal;

use std::process::ExitCode;

use self::args::{Command, USAGE};

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(mistake) => {
            // The whole list would push the mistake off the screen.
            terminal::print_line(&format!(
                "{mistake}\n`llmnode-graph help` lists the commands and options"
            ));
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Help => terminal::print(USAGE).map(|()| true),
        Command::Schema => check::schema(),
        Command::Check(options) => check::check(&options),
        Command::Run(options) => run::run(&options),
        #[cfg(feature = "serve")]
        Command::Serve(options) => serve::serve(options),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) => Err(
            "`serve` is not in this build: install llmnode-cli with its default features".into(),
        ),
        Command::Page { file, output } => page::page(&file, output.as_deref()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            terminal::print_line(&error.to_string());
            ExitCode::from(2)
        }
    }
}
