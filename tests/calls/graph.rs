//! A graph from JSON compared with the same steps as a `flow!`: the same requests, byte for byte.

use llmnode::flow::Step;
use llmnode::graph::{Graph, Registry, State};
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServer};
use llmnode::{Message, OpenAi, Role};
use serde_json::json;

/// A plan, research with a tool, a loop as long as the router says so, an answer of a type.
fn file() -> String {
    json!({"format": "llmnode/graph", "version": 1, "inputs": {"topic": {"type": "string"}},
        "nodes": [
            {"id": "plan", "type": "agent", "data": {"isStart": true, "system_prompt": "You plan for {{ topic }}.", "prompt": "Plan.", "save_as": "plan"}},
            {"id": "search", "type": "agent", "data": {"prompt": "Research {{ topic }}.", "tools": ["look_up"], "max_iterations": 3, "save_as": "notes"}},
            {"id": "judge", "type": "router", "data": {"source": "notes", "routes": [{"condition": "contains", "value": "again", "handle": "again"}]}},
            {"id": "sum", "type": "agent", "data": {"prompt": "Sum up {{ notes }}.", "output_schema": schemars::schema_for!(Summary)}}],
        "edges": [
            {"source": "plan", "target": "search"}, {"source": "search", "target": "judge"},
            {"source": "judge", "target": "search", "sourceHandle": "again"}, {"source": "judge", "target": "sum"},
            {"source": "sum", "target": "END"}]})
    .to_string()
}

/// Looks something up.
#[tool]
fn look_up(word: String) -> String {
    format!("{word} is a leaf")
}

#[derive(Default)]
struct World {
    topic: String,
    plan: String,
    notes: String,
    words: u32,
    /// What was said so far, by whom.
    said: Vec<(&'static str, String)>,
}

impl World {
    /// The conversation as one agent sees it.
    fn seen_by(&self, own: &str) -> Vec<Message> {
        let seen = |(name, text): &(&str, String)| match *name == own {
            true => Message::assistant(text),
            false => Message::user(format!("{name} says:\n```\n{text}\n```")),
        };
        self.said.iter().map(seen).collect()
    }
}

#[llm_node(system = "You plan for {topic}.", prompt = "Plan.", state = World, post = Plan::keep)]
struct Plan {
    #[prep(state.topic.clone())]
    topic: String,
}

impl Plan {
    fn keep(self, plan: String, world: &mut World) {
        world.said.push(("plan", plan.clone()));
        world.plan = plan;
    }
}

#[llm_node(prompt = "Research {topic}.", state = World, tools = [LookUp], turns = 3, post = Search::keep)]
struct Search {
    #[prep(state.topic.clone())]
    topic: String,
    #[node(history)]
    #[prep(state.seen_by("search"))]
    history: Vec<Message>,
}

impl Search {
    fn keep(self, notes: String, world: &mut World) {
        world.said.push(("search", notes.clone()));
        world.notes = notes;
    }
}

#[derive(Action)]
enum Verdict {
    Again,
    Enough,
}

struct Judge(String);

#[llmnode::step]
impl Step<World> for Judge {
    type Output = ();
    type Action = Verdict;

    async fn prep(world: &World) -> Result<Self, llmnode::BoxError> {
        Ok(Judge(world.notes.clone()))
    }
    async fn exec(&self, _: &llmnode::Cx<'_, World>) -> Result<(), llmnode::BoxError> {
        Ok(())
    }
    fn post(self, (): (), _: &mut World) -> Result<Verdict, llmnode::BoxError> {
        Ok(if self.0.to_lowercase().contains("again") {
            Verdict::Again
        } else {
            Verdict::Enough
        })
    }
}

#[llm_output]
#[schemars(rename = "sum")]
struct Summary {
    words: u32,
}

#[llm_node(prompt = "Sum up {notes}.", state = World, output = Summary, post = Sum::keep)]
struct Sum {
    #[prep(state.notes.clone())]
    notes: String,
    #[node(history)]
    #[prep(state.seen_by("sum"))]
    history: Vec<Message>,
}

impl Sum {
    fn keep(self, sum: Summary, world: &mut World) {
        world.words = sum.words;
    }
}

flow! { Report(World):
    Plan => Search,
    Search => Judge,
    Judge => match { Verdict::Again => Search, Verdict::Enough => Sum },
    Sum => end,
}

fn script() -> Vec<StubReply> {
    vec![
        StubReply::text("First, look."),
        StubReply::call("look_up", json!({"word": "tea"})),
        StubReply::text("Look again."),
        StubReply::text("Tea is a leaf."),
        StubReply::text(r#"{"words": 4}"#),
    ]
}

fn bodies(server: &StubServer) -> Vec<String> {
    server
        .requests()
        .iter()
        .map(LoggedRequest::body)
        .map(str::to_owned)
        .collect()
}

fn model(server: &StubServer) -> OpenAi {
    OpenAi::builder()
        .base_url(server.base_url())
        .without_key()
        .model("m")
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_graph_and_a_flow_make_the_same_requests() {
    let (of_graph, of_flow) = (
        StubServer::builder()
            .script(script())
            .start()
            .await
            .unwrap(),
        StubServer::builder()
            .script(script())
            .start()
            .await
            .unwrap(),
    );
    let registry = Registry::new()
        .tools(llmnode::Toolset::new().tool::<LookUp>())
        .build()
        .unwrap();
    let graph = Graph::parse(&file(), &registry).unwrap();
    let mut run = registry
        .run(model(&of_graph))
        .with_state(graph.start(json!({"topic": "tea"})).unwrap());
    run.flow(&graph).await.unwrap();
    let mut typed = Run::new(model(&of_flow)).with_state(World {
        topic: "tea".to_owned(),
        ..World::default()
    });
    typed.flow(Report).await.unwrap();

    let state: &State = run.state();
    let world = typed.state();
    assert_eq!(
        (&state["plan"], &state["notes"]),
        (&json!(world.plan), &json!(world.notes))
    );
    assert_eq!(state["words"], json!(world.words));
    let (graph, flow) = (bodies(&of_graph), bodies(&of_flow));
    assert_eq!(graph.len(), 5);
    assert_eq!(graph, flow);
    assert_eq!(
        state
            .messages()
            .filter(|message| message.role == Role::Assistant)
            .count(),
        4
    );
}
