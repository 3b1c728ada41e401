use axum::Router;
use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::routing::post;
use llmnode::prelude::*;

/// Where a letter goes.
#[llm_output]
struct Ticket {
    team: Team,
    /// One sentence.
    summary: String,
}

#[llm_output]
enum Team {
    Billing,
    Repairs,
    Other,
}

#[llm_node(prompt = "Sort this letter:\n{letter:fence}", output = Ticket, retries = 2, deadline = 20s)]
struct Sort {
    letter: String,
}

/// `POST /sort` takes a letter and returns its ticket as JSON.
fn app(run: Run) -> Router {
    Router::new().route("/sort", post(sort)).with_state(run)
}

async fn sort(State(run): State<Run>, letter: String) -> Result<Json<Ticket>, StatusCode> {
    match run.call(&Sort { letter }).await {
        Ok(ticket) => Ok(Json(ticket)),
        Err(error) => {
            eprintln!("{error:#}"); // one line, for the operator: it may quote the letter
            Err(status(error.category()))
        }
    }
}

/// 413 and 422: the client has to change the letter. 409 and 502 to 504: it can ask again later. 500: the operator has to act.
fn status(category: Category) -> StatusCode {
    use Category::*;
    match category {
        ContextLengthError => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal | ContentFilter => StatusCode::UNPROCESSABLE_ENTITY,
        RateLimitError | QuotaError | LimitExceeded => StatusCode::SERVICE_UNAVAILABLE,
        ServerError | Network => StatusCode::BAD_GATEWAY,
        Timeout => StatusCode::GATEWAY_TIMEOUT,
        // What came back cannot be used, after the retries that its category has.
        SchemaError | ValidationError | EmptyResponse | TruncatedOutput | BadResponse => {
            StatusCode::BAD_GATEWAY
        }
        // Only with tools that wait for a person, and with chats.
        Paused => StatusCode::ACCEPTED,
        Conflict => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::new(OpenAi::from_env()?); // one run for the whole service
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app(run)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    async fn answered(model: ScriptedModel) -> (StatusCode, String) {
        let request = Request::post("/sort").body(Body::from("The roof leaks!"));
        let response = app(Run::new(model))
            .oneshot(request.unwrap())
            .await
            .unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 10_000).await;
        (status, String::from_utf8(body.unwrap().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_letter_becomes_a_ticket() {
        let ticket = r#"{"team":"Repairs","summary":"The roof leaks."}"#;
        let answer = answered(ScriptedModel::new().reply(ticket)).await;
        assert_eq!(answer, (StatusCode::OK, ticket.to_owned()));
    }

    #[tokio::test]
    async fn the_client_does_not_read_what_the_provider_said() {
        let model = ScriptedModel::new().reply(Reply::failure(Category::ApiKeyError));
        let answer = answered(model).await;
        assert_eq!(answer, (StatusCode::INTERNAL_SERVER_ERROR, String::new()));
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_used_is_no_fault_of_the_client() {
        let cut = Reply::text(r#"{"team": "Rep"#).finish_reason("length");
        let page_of_a_proxy = Reply::failure(Category::BadResponse);
        for model in [
            ScriptedModel::new().script(["", ""]), // empty twice: nobody asks a third time
            ScriptedModel::new().reply(cut),
            ScriptedModel::new().reply(page_of_a_proxy),
        ] {
            let answer = answered(model).await;
            assert_eq!(answer, (StatusCode::BAD_GATEWAY, String::new()));
        }
    }
}
