// Cause: A validator of the output `Assignment` reads `Team`, but the node does not declare that state.
// Mend: add `state = Team` to the attribute of `Assign`.
// Token: output = Assignment
// Token: Assignment
// Token: #[llm_node(prompt = "Who should do this?\n{task:fence}", output = Assignment, retries = 2)]
// Token: llm_node
// Token: Assign
use llmnode::prelude::*;

struct Team {
    members: Vec<String>,
}

#[llm_output]
struct Assignment {
    owner: String,
}

#[validate(state)]
impl Assignment {
    fn owner_is_in_the_team(&self, state: &Team) -> Result<(), Invalid> {
        if state.members.contains(&self.owner) {
            return Ok(());
        }
        Err(Invalid::at("owner", "is not in the team").allowed(&state.members))
    }
}

#[llm_node(prompt = "Who should do this?\n{task:fence}", output = Assignment, retries = 2)]
struct Assign {
    task: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply(r#"{"owner": "Eve"}"#).reply(r#"{"owner": "Bob"}"#);
    let run = Run::new(model).with_state(Team { members: vec!["Ada".into(), "Bob".into()] });
    let assignment = run.call(&Assign { task: "Paint the fence.".into() }).await?;
    assert_eq!(assignment.owner, "Bob");
    Ok(())
}
