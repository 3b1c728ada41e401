use llmnode::prelude::*;
use serde_json::{Value, json};

#[llm_node(
    system = "You help developers. Use the tools.",
    prompt = "{question}",
    turns = 10
)]
struct Desk {
    question: String,
    #[node(tools)]
    tools: Toolset,
}

/// The tools of two MCP servers, say: `Mcp::http(url).connect().await?.tools()`.
async fn ask(
    run: &Run,
    github: Toolset,
    jira: Toolset,
    question: &str,
) -> Result<String, NodeError> {
    let tools = github
        .with(jira)
        .deferred()
        .always(["github_search_issues"]);
    let question = question.into();
    run.call(&Desk { question, tools }).await
}

/// A hundred tools of a server.
fn server(name: &str) -> Toolset {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let mut tools = Toolset::new();
    for thing in [
        "issues", "branches", "reviews", "labels", "releases", "sprints", "teams", "boards",
        "wikis", "hooks",
    ] {
        for verb in [
            "search", "show", "create", "change", "delete", "copy", "move", "close", "lock",
            "count",
        ] {
            let run = |_: Value| async { Ok::<_, BoxError>("done") };
            let says = format!("{verb}s {thing}.");
            tools =
                tools.json_function(format!("{name}_{verb}_{thing}"), says, schema.clone(), run);
        }
    }
    tools
}

#[tokio::test]
async fn of_200_tools_those_that_fit_are_listed() -> Result<(), NodeError> {
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("jira_close_sprints", json!({"id": "7"})))
        .reply("It is closed.");
    let run = Run::new(model.clone());
    let answer = ask(
        &run,
        server("github"),
        server("jira"),
        "Close the sprint 7 of Jira.",
    )
    .await?;
    assert_eq!(answer, "It is closed.");
    let first = &model.requests()[0];
    let listed: Vec<&str> = first.tools.iter().map(|tool| &*tool.name).collect();
    assert!(listed.contains(&"jira_close_sprints"), "{listed:?}");
    assert!(
        listed.contains(&"github_search_issues") && listed.len() <= 8,
        "{listed:?}"
    );
    Ok(())
}
