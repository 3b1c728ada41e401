//! The service against a server that fails in every way in which a server can.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use llmnode::stub_server::StubReply;
use llmnode::{Category, Clock, OpenAi, Run, StubServer, TestClock};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app::App;
use crate::desk::Desk;
use crate::good_answer;
use crate::run::{Bill, run, settings};

mod page;

/// What stands in the provider's messages, and must not reach a client.
const SECRET: &str = "org-5417";

/// The service, its model's server, and a clock whose waits cost no time.
struct Service {
    router: Router,
    server: StubServer,
    clock: TestClock,
    run: Run,
}

impl Service {
    async fn new(reply: StubReply) -> Service {
        let clock = TestClock::new();
        Service::with_clock(reply, clock).await
    }

    async fn with_clock(reply: StubReply, clock: TestClock) -> Service {
        let server = StubServer::builder()
            .default_reply(reply)
            .start()
            .await
            .unwrap();
        let model = OpenAi::builder()
            .base_url(server.base_url())
            .model("stub")
            .build()
            .unwrap();
        let bill = Bill::default();
        let run = run(model, bill.clone())
            .with_settings(settings().wait(Duration::from_secs(1)))
            .with_clock(clock.clone());
        let router = App {
            run: run.clone(),
            desk: Desk::with_acme(),
            bill,
        }
        .router();
        Service {
            router,
            server,
            clock,
            run,
        }
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Answered {
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()));
        let began = self.clock.now();
        let response = self.router.clone().oneshot(request.unwrap()).await.unwrap();
        let time = self.clock.now() - began;
        let status = response.status();
        let header = response.headers().get("retry-after");
        let retry_after = header.map(|value| value.to_str().unwrap().parse().unwrap());
        let body = to_bytes(response.into_body(), 100_000).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Answered {
            status,
            retry_after,
            time,
            body,
        }
    }

    /// A ticket for a route of the tenant.
    async fn ticket(&self, route: &str) -> Answered {
        self.send(
            "POST",
            &format!("/tenants/acme/{route}"),
            "I was charged twice.",
        )
        .await
    }
}

struct Answered {
    status: StatusCode,
    retry_after: Option<u64>,
    /// By the clock of the run.
    time: Duration,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[tokio::test]
async fn a_wrong_team_is_corrected_and_both_requests_are_paid_by_the_tenant() {
    let service = Service::new(StubReply::for_request(good_answer)).await;
    service.server.push(
        StubReply::json(json!({"team": "sales", "urgency": "Low", "summary": "?"})).usage(400, 50),
    );
    let answered = service.ticket("triage").await;
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.body);
    let sorted =
        json!({"team": "billing", "urgency": "High", "summary": "A customer was charged twice."});
    let cost = json!({"known": 0.0024, "unknown_calls": 0});
    assert_eq!(
        answered.json(),
        json!({"result": sorted, "used_fallback": null, "cost": &cost})
    );
    let corrected = service.server.requests()[1].messages();
    assert!(
        corrected[3]
            .1
            .contains(r#"allowed: "billing", "defects", "inbox""#),
        "{corrected:?}"
    );
    assert_eq!(
        service.send("GET", "/costs", "").await.json(),
        json!({"acme": cost})
    );
}

#[tokio::test]
async fn each_request_reads_the_tenants_data_of_its_moment() {
    let service = Service::new(StubReply::for_request(good_answer)).await;
    assert_eq!(
        service.ticket("triage").await.json()["result"]["team"],
        "billing"
    );
    let set = service
        .send("PUT", "/tenants/acme/teams", r#"["money", "inbox"]"#)
        .await;
    assert_eq!(set.status, StatusCode::OK, "{}", set.body);
    assert_eq!(
        service.ticket("triage").await.json()["result"]["team"],
        "money"
    );
}

#[tokio::test]
async fn a_text_that_is_not_valid_is_a_422_with_what_is_wrong() {
    let line = json!({"what": "two lamps", "cents": 2_400});
    let wrong =
        StubReply::json(json!({"number": "7", "cents": 2_000, "lines": [line]})).usage(400, 50);
    let service = Service::new(wrong).await;
    let answered = service
        .send(
            "POST",
            "/tenants/acme/invoice",
            "No. 7: two lamps, 24 euros; 20 euros",
        )
        .await;
    assert_eq!(
        answered.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        answered.body
    );
    let violation = json!({"path": "cents", "message": "is 2000, and the lines are 2400 together"});
    assert_eq!(answered.json()["violations"], json!([violation]));
    assert_eq!(
        answered.json()["cost"],
        json!({"known": 0.0024, "unknown_calls": 0})
    );

    let service = Service::new(StubReply::for_request(good_answer)).await;
    let answered = service
        .send(
            "POST",
            "/tenants/acme/invoice",
            "No. 7: two lamps, 24 euros",
        )
        .await;
    assert_eq!(
        (answered.status, &answered.json()["result"]["cents"]),
        (StatusCode::OK, &json!(2_400))
    );
}

#[tokio::test]
async fn a_tenant_that_does_not_exist_costs_nothing() {
    let service = Service::new(StubReply::for_request(good_answer)).await;
    let answered = service
        .send("POST", "/tenants/nobody/triage", "Hello?")
        .await;
    assert_eq!(
        (answered.status, service.server.requests_seen()),
        (StatusCode::NOT_FOUND, 0)
    );
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_call_along() {
    let (seen, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    let reply = StubReply::for_request(move |_| {
        seen.send(()).unwrap();
        StubReply::stall()
    });
    let service = Service::new(reply).await;
    tokio::select! {
        answered = service.ticket("triage") => panic!("{}", answered.body),
        _ = arrivals.recv() => {}
    }
    let calls = service.run.ledger().calls();
    assert_eq!(
        (calls[0].category, &*calls[0].labels["tenant"]),
        (Some(Category::Cancelled), "acme")
    );
}
