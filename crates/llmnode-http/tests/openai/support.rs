//! Helpers of these tests.

use std::marker::PhantomData;

use llmnode_http::{OpenAi, OpenAiBuilder};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, ChatModel, Completion, Cx, Exec, LlmOutput, Message, ModelError, Node, NodeFacts,
    Request, Role, Sink, TokenUsage,
};
use llmnode_stub::{StubReply, StubServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A key that must never be seen.
pub(crate) const CANARY: &str = "sk-canary-0123456789abcdef";

pub(crate) async fn server(script: impl IntoIterator<Item = StubReply>) -> StubServer {
    StubServer::builder().script(script).start().await.unwrap()
}

pub(crate) fn builder(base_url: &str) -> OpenAiBuilder {
    OpenAi::builder().base_url(base_url).model("m")
}

pub(crate) fn model(base_url: &str) -> OpenAi {
    builder(base_url).build().unwrap()
}

/// What a model reported during an attempt.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) id: Option<String>,
    pub(crate) refused: Vec<String>,
}

impl Sink for Seen {
    fn request_id(&mut self, id: &str) {
        self.id = Some(id.to_owned());
    }

    fn refused(&mut self, part: &str) {
        self.refused.push(part.to_owned());
    }

    fn usage(&mut self, _: TokenUsage) {}
}

pub(crate) fn request() -> Request {
    Request::new(vec![Message::new(Role::User, "Hello?")])
}

/// One request to the model.
pub(crate) async fn ask(model: &OpenAi) -> Result<Completion, ModelError> {
    model.complete(&request(), &mut Seen::default()).await
}

/// One reply of a server, as an error.
pub(crate) async fn error_of(reply: StubReply) -> ModelError {
    let server = server([reply]).await;
    ask(&model(&server.base_url())).await.unwrap_err()
}

/// A node that asks for text.
pub(crate) struct Greet;

impl Node for Greet {
    type Output = String;
    const NAME: &'static str = "greet";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Greet {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Greet {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::text("Hello?")]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

/// A node that asks for a type.
pub(crate) struct Ask<T>(pub(crate) PhantomData<T>);

impl<T: LlmOutput> Node for Ask<T> {
    type Output = T;
    const NAME: &'static str = "ask";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync, T: LlmOutput> Exec<S> for Ask<T> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<T, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync, T: LlmOutput> LlmNode<S> for Ask<T> {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::text("Fill in the form.")]);
    }

    fn output(&self) -> OutputSpec<T, S> {
        OutputSpec::json(|_| {}, |_, _| {})
    }
}

/// Why every server of its API would refuse this request, as an answer that no test expects.
fn refused(request: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let path = head.split(' ').nth(1)?;
    let refusal = llmnode_stub::refusal(None, path, &serde_json::from_str(body).ok()?)?;
    Some(format!(
        "HTTP/1.1 418 {}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        refusal.rule
    ))
}

/// A server that reads each connection's request, and then does with the connection what `act` does; its base URL.
pub(crate) async fn raw_server<F>(act: impl Fn(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 64 * 1024];
            let count = stream.read(&mut request).await.unwrap_or(0);
            if let Some(refusal) = refused(&request[..count]) {
                let _ = stream.write_all(refusal.as_bytes()).await;
                continue;
            }
            tokio::spawn(act(stream));
        }
    });
    base_url
}

/// A base URL on which nobody listens.
pub(crate) async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

/// A raw server that answers with these bytes and closes.
pub(crate) async fn sends(bytes: impl Into<Vec<u8>>) -> String {
    let bytes = bytes.into();
    raw_server(move |mut stream| {
        let bytes = bytes.clone();
        async move {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

/// A client as programs make it, which follows redirects.
#[cfg(feature = "http-client")]
pub(crate) fn client() -> llmnode_http::reqwest::Client {
    let headers = [("x-own".parse().unwrap(), "yes".parse().unwrap())]
        .into_iter()
        .collect();
    llmnode_http::reqwest::Client::builder()
        .default_headers(headers)
        .build()
        .unwrap()
}
