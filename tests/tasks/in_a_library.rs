use std::error::Error;
use std::fmt;
use std::sync::Arc;

use llmnode::prelude::*;

/// Where a letter goes.
#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// One of the teams, spelled as listed.
    pub team: String,
    pub urgent: bool,
}

#[validate(state)]
impl Ticket {
    fn team_exists(&self, teams: &Teams) -> Result<(), Invalid> {
        if teams.names.contains(&self.team) {
            return Ok(());
        }
        Err(Invalid::at("team", "there is no such team").allowed(&teams.names))
    }
}

struct Teams {
    names: Vec<String>,
}

#[llm_node(
    name = "letters_sort", // in the program's ledger and logs
    prompt = "Sort this letter:\n{letter:fence}\nTeams:\n{state.names:list}",
    output = Ticket,
    state = Teams,
    retries = 1,
)]
struct Sort<'a> {
    letter: &'a str,
}

/// Sorts letters among teams.
#[derive(Clone)]
pub struct Sorter {
    run: Run<Arc<Teams>>,
}

impl Sorter {
    /// The program's run brings its model, its limits and its ledger.
    pub fn new<S>(run: &Run<S>, teams: Vec<String>) -> Self {
        let teams = Arc::new(Teams { names: teams });
        Sorter {
            run: run.with_state(teams),
        }
    }

    /// Finds the team for a letter.
    ///
    /// # Errors
    /// If the model gives no valid answer. See [`SortError::is_temporary`].
    pub async fn sort(&self, letter: &str) -> Result<Ticket, SortError> {
        let ticket = self.run.call(&Sort { letter }).await;
        ticket.map_err(|error| SortError { error })
    }
}

/// Why a letter was not sorted.
#[derive(Debug)]
pub struct SortError {
    error: NodeError,
}

impl SortError {
    /// Whether it may work later.
    pub fn is_temporary(&self) -> bool {
        self.error.category().group() == Group::Transport
    }
}

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the letter was not sorted")
    }
}

impl Error for SortError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[tokio::test]
async fn the_programs_ledger_has_the_librarys_calls() -> Result<(), SortError> {
    let model = ScriptedModel::new()
        .reply(r#"{"team": "roofers", "urgent": true}"#)
        .reply(r#"{"team": "repairs", "urgent": true}"#);
    let run = Run::new(model); // the program's
    let sorter = Sorter::new(&run, vec!["repairs".into()]);
    let ticket = sorter.sort("The roof leaks!").await?;
    assert_eq!(ticket.team, "repairs");
    assert_eq!(run.ledger().calls()[0].node, "letters_sort");
    Ok(())
}

#[tokio::test]
async fn a_busy_provider_is_temporary() {
    let busy = || Reply::failure(Category::RateLimitError);
    let model = ScriptedModel::new()
        .reply(busy())
        .reply(busy())
        .reply(busy());
    let run = Run::new(model).with_clock(llmnode::testing::TestClock::new());
    let error = Sorter::new(&run, vec![]).sort("..").await.unwrap_err();
    assert!(error.is_temporary());
}
