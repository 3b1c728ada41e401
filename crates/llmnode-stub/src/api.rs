//! Which API a request speaks, by its path.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
    Messages,
    Gemini,
}

impl Api {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Answer(Api),
    Embeddings,
    Models(Api),
}

/// `None`: nothing is served there.
pub(super) fn route(method: &str, target: &str) -> Option<Route> {
    let path = path(target);
    match method {
        "GET" => models(path),
        "POST" => post_route(path),
        _ => None,
    }
}

fn models(path: &str) -> Option<Route> {
    match path {
        "/v1/models" => Some(Route::Models(Api::Chat)),
        "/v1beta/models" => Some(Route::Models(Api::Gemini)),
        _ => None,
    }
}

fn post_route(path: &str) -> Option<Route> {
    if is_below(path, "/chat/completions") {
        return Some(Route::Answer(Api::Chat));
    }
    if is_below(path, "/responses") {
        return Some(Route::Answer(Api::Responses));
    }
    if path == "/messages" || is_below(path, "/messages") {
        return Some(Route::Answer(Api::Messages));
    }
    if is_below(path, "/embeddings") {
        return Some(Route::Embeddings);
    }
    gemini(path).map(|_| Route::Answer(Api::Gemini))
}

/// Behind `/v1`, or anywhere behind `/openai`, where Azure has its deployments.
fn is_below(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|base| base == "/v1" || base.starts_with("/openai"))
}

/// The model and the method of `/v1beta/models/{model}:{method}`, behind any prefix.
fn gemini(path: &str) -> Option<(&str, &str)> {
    let (_, name) = path.rsplit_once("/models/")?;
    let (model, method) = name.rsplit_once(':')?;
    let is_known = matches!(method, "generateContent" | "streamGenerateContent");
    is_known.then_some((model, method))
}

/// Without its query. A target is an absolute URL when sent to a proxy.
fn path(target: &str) -> &str {
    let path = match target.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            rest.find('/').map_or("/", |at| &rest[at..])
        }
        _ => target,
    };
    path.split(['?', '#']).next().unwrap_or_default()
}

/// The model that a path names: Gemini's, or an Azure deployment.
pub(super) fn model_of(target: &str) -> Option<&str> {
    let path = path(target);
    if let Some((model, _)) = gemini(path) {
        return Some(model);
    }
    let (_, deployment) = path.split_once("/deployments/")?;
    deployment.split('/').next()
}

/// How Gemini streams: `None` is not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeminiStream {
    Events,
    /// Without `alt=sse`: one JSON list.
    List,
}

pub(super) fn gemini_stream(target: &str) -> Option<GeminiStream> {
    let (_, method) = gemini(path(target))?;
    let by_events = target
        .split(['?', '&'])
        .skip(1)
        .any(|pair| pair == "alt=sse");
    match method {
        "streamGenerateContent" if by_events => Some(GeminiStream::Events),
        "streamGenerateContent" => Some(GeminiStream::List),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_their_api() {
        for (target, expected) in [
            ("/v1/chat/completions", Some(Route::Answer(Api::Chat))),
            (
                "/openai/deployments/d/chat/completions?api-version=1",
                Some(Route::Answer(Api::Chat)),
            ),
            ("/openai/v1/responses", Some(Route::Answer(Api::Responses))),
            ("/v1/responses", Some(Route::Answer(Api::Responses))),
            (
                "http://elsewhere/v1/messages?beta=true",
                Some(Route::Answer(Api::Messages)),
            ),
            ("/messages", Some(Route::Answer(Api::Messages))),
            (
                "/v1beta/models/gemini-3.8-flash:generateContent",
                Some(Route::Answer(Api::Gemini)),
            ),
            (
                "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse",
                Some(Route::Answer(Api::Gemini)),
            ),
            ("/v1beta/models/g:countTokens", None),
            ("/v1/embeddings", Some(Route::Embeddings)),
            ("/chat/completions", None),
            ("/v1/models", None),
        ] {
            assert_eq!(route("POST", target), expected, "{target}");
        }
        assert_eq!(
            route("GET", "/v1/models?x=1"),
            Some(Route::Models(Api::Chat))
        );
        assert_eq!(route("PUT", "/v1/chat/completions"), None);
        assert_eq!(model_of("/v1beta/models/a:generateContent"), Some("a"));
        assert_eq!(
            model_of("/openai/deployments/d/chat/completions"),
            Some("d")
        );
        assert_eq!(
            gemini_stream("/m/models/a:streamGenerateContent?key=k&alt=sse"),
            Some(GeminiStream::Events)
        );
        assert_eq!(
            gemini_stream("/m/models/a:streamGenerateContent"),
            Some(GeminiStream::List)
        );
        assert_eq!(gemini_stream("/m/models/a:generateContent?alt=sse"), None);
    }
}
