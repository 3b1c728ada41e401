use llmnode::prelude::*;

struct Shop { teams: Vec<String> }

#[llm_output]
struct Ticket {
    /// One of the teams, spelled as listed. (The model reads this.)
    team: String,
    urgent: bool,
}

#[validate(state)] // each method checks a `Ticket`; `state`: some read the run's state
impl Ticket {
    fn team_exists(&self, shop: &Shop) -> Result<(), Invalid> {
        if shop.teams.contains(&self.team) { return Ok(()) }
        Err(Invalid::at("team", "there is no such team").allowed(&shop.teams))
    }
}

#[llm_node(
    prompt = "Sort this letter:\n{letter:fence}\nTeams:\n{state.teams:list}",
    output = Ticket, state = Shop,
    retries = 2, // up to two more requests after a bad answer
)]
struct Sort { letter: String } // `fence` shows the model where this text ends

#[tokio::test]
async fn an_unknown_team_is_corrected() -> Result<(), NodeError> {
    let model = ScriptedModel::new() // in place of `OpenAi::from_env()?`
        .reply(r#"{"team": "roofers", "urgent": true}"#)
        .reply(r#"{"team": "repairs", "urgent": true}"#);
    let run = Run::new(model).with_state(Shop { teams: vec!["repairs".into()] });
    let ticket = run.call(&Sort { letter: "The roof leaks!".into() }).await?;
    assert_eq!(ticket.team, "repairs"); // the second answer
    Ok(())
}
