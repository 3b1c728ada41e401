//! An approval that is made before a deployment and decided after it: what may have changed, and that it runs once.

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply};
use llmnode_restate::{Client, Decision, Outcome, Taken, Worker};
use serde_json::json;

use crate::decisions::waits;
use crate::support::{Process, Restate, spawn};
use crate::work::{Site, World, effect, world};

/// Which deployment a worker has.
const DEPLOYED: &str = "LLMNODE_DEPLOYED";

/// Pays an amount in euros.
#[tool(require_approval)]
fn pay(amount: u32, world: &World) -> String {
    effect(&format!("pay {amount} {}", world.topic));
    format!("{amount} paid")
}

/// Looks at an order.
#[tool]
fn look() -> &'static str {
    "a lamp"
}

#[llm_node(system = "Be brief.", prompt = "Order {order}.", tools = [Pay], state = World, store = answer)]
struct Serve {
    #[prep(state.topic.clone())]
    order: String,
}

flow! { Shop(World): Serve => end }

/// Another system text, another prompt, another setting, and a tool more.
mod polite {
    use super::*;

    #[llm_node(
        system = "Be polite.",
        prompt = "The order {order}, please.",
        tools = [Look, Pay],
        state = World,
        store = answer,
        temperature = 0.5
    )]
    struct Serve {
        #[prep(state.topic.clone())]
        order: String,
    }

    flow! { pub(super) Shop(World): Serve => end }
}

/// The approved tool means something else.
mod cents {
    use super::*;

    /// Pays an amount in cents.
    #[tool(require_approval)]
    fn pay(amount: u32, world: &World) -> String {
        effect(&format!("pay {amount} cents {}", world.topic));
        format!("{amount} paid")
    }

    #[llm_node(system = "Be brief.", prompt = "Order {order}.", tools = [Pay], state = World, store = answer)]
    struct Serve {
        #[prep(state.topic.clone())]
        order: String,
    }

    flow! { pub(super) Shop(World): Serve => end }
}

/// The node is for another order.
mod another_order {
    use super::*;

    #[llm_node(system = "Be brief.", prompt = "Order {order}.", tools = [Pay], state = World, store = answer)]
    struct Serve {
        #[prep(format!("{}-b", state.topic))]
        order: String,
    }

    flow! { pub(super) Shop(World): Serve => end }
}

pub(crate) fn with_shop(worker: Worker) -> Worker {
    match std::env::var(DEPLOYED).as_deref() {
        Ok("polite") => worker.flow("shop", world, || polite::Shop),
        Ok("cents") => worker.flow("shop", world, || cents::Shop),
        Ok("another order") => worker.flow("shop", world, || another_order::Shop),
        _ => worker.flow("shop", world, || Shop),
    }
}

/// Calls the tool, and then answers.
fn reply(request: &LoggedRequest) -> StubReply {
    match request.messages().iter().any(|(role, _)| role == "tool") {
        false => StubReply::call("pay", json!({"amount": 20})),
        true => StubReply::text("You have your 20 euros back."),
    }
}

/// Restate, and a run that waits for an approval on the workers as they were before.
struct Waiting {
    restate: Restate,
    site: Site,
    port: u16,
    worker: Process,
    model: StubServer,
}

impl Waiting {
    async fn on(id: &str) -> Self {
        let stub = StubServer::builder().default_reply(StubReply::for_request(reply));
        let model = stub.start().await.unwrap();
        let restate = Restate::start().await;
        let site = Site::new(id, model.base_url());
        let (port, worker) = site.worker();
        restate.register(port).await;
        let runs = restate.client();
        runs.start("shop", id, &World::on(id)).await.unwrap();
        waits(&runs, "shop", id).await;
        Waiting {
            restate,
            site,
            port,
            worker,
            model,
        }
    }

    /// The worker's program is replaced at its address, and then a person approves.
    async fn approved_after(mut self, deployment: &str, id: &str) -> Approved {
        assert!(self.worker.terminate());
        let mut command = self.site.command(self.port);
        command.env(DEPLOYED, deployment);
        self.worker = spawn(command);
        let runs = self.restate.client();
        // As a person's browser shows it: from before the deployment.
        let status = waits(&runs, "shop", id).await;
        let decision = Decision::all(&status, Approval::yes());
        let taken = runs.decide("shop", id, &decision).await.unwrap();
        assert_eq!(taken, Taken::Now);
        Approved {
            runs,
            site: self.site,
            model: self.model,
            _restate: self.restate,
            _worker: self.worker,
        }
    }
}

struct Approved {
    runs: Client,
    site: Site,
    model: StubServer,
    _restate: Restate,
    _worker: Process,
}

impl Approved {
    fn done(&self) -> Vec<String> {
        let effects = self.site.effects().into_iter();
        effects.map(|(_, what)| what).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn an_approval_goes_on_after_a_deployment_with_another_system_text() {
    let waiting = Waiting::on("deployed").await;
    let approved = waiting.approved_after("polite", "deployed").await;
    let ended = approved.runs.result("shop", "deployed").await;
    let outcome: Outcome<World> = ended.unwrap();
    assert_eq!(outcome.state.answer, "You have your 20 euros back.");
    assert_eq!((outcome.usage.requests, outcome.unknown), (2, 0));
    assert_eq!(approved.done(), ["pay 20 deployed"]);
    // What goes on is the node as it is now.
    let requests = approved.model.requests();
    assert_eq!(requests.len(), 2);
    let messages = requests[1].messages();
    assert_eq!(messages[0].1, "Be polite.");
    assert_eq!(messages[1].1, "The order deployed, please.");
    assert!(requests[1].body().contains("Looks at an order"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn an_approval_of_something_else_is_refused_after_a_deployment() {
    for deployment in ["cents", "another order"] {
        let id = deployment.replace(' ', "-");
        let waiting = Waiting::on(&id).await;
        let approved = waiting.approved_after(deployment, &id).await;
        let ended = approved.runs.result::<World, ()>("shop", &id).await;
        let refused = ended.unwrap_err();
        assert_eq!(refused.category(), Category::ConfigError, "{refused}");
        assert_eq!(approved.done(), [""; 0], "{deployment}");
        assert_eq!(approved.model.requests_seen(), 1, "{deployment}");
    }
}
