//! What a program may set of [`Gemini`]. What all APIs have in common is in
//! `api/settings.rs`; here is what this one has beside it.

use super::{GENERATE, Gemini};
use crate::api::settings::{ClientSettings, client_settings};

/// Builds a [`Gemini`]. Every setting has a default.
/// [`build`](GeminiBuilder::build) checks them together.
///
/// Vertex AI is another base URL, with a token in a header:
///
/// ```
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::Gemini;
///
/// let place = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google";
/// let model = Gemini::builder()
///     .base_url(place)
///     .header("authorization", "Bearer ya29…")
///     .model("gemini-3.8-flash")
///     .build();
/// # let _ = model;
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct GeminiBuilder {
    settings: ClientSettings,
}

impl Gemini {
    /// Builds a model without reading the environment.
    pub fn builder() -> GeminiBuilder {
        let settings = ClientSettings::new(&GENERATE);
        GeminiBuilder { settings }
    }
}

client_settings!(
    GeminiBuilder,
    Gemini,
    "`GEMINI_API_KEY`, or else `GOOGLE_API_KEY`; `GEMINI_BASE_URL` (default \
     `https://generativelanguage.googleapis.com/v1beta`; a loopback server needs no key) and \
     `GEMINI_MODEL` (default: each call names its own)",
    "`http://127.0.0.1:4000/v1beta`, a gateway. Default \
     `https://generativelanguage.googleapis.com/v1beta`"
);

#[cfg(test)]
mod tests {
    use llmnode_model::{Category, ModelError};

    use super::*;

    const KEY: &str = GENERATE.key;
    const OTHER_KEY: &str = "GOOGLE_API_KEY";

    fn from(variables: &[(&str, &str)]) -> Result<GeminiBuilder, ModelError> {
        let variable = |name: &str| {
            let value = variables.iter().find(|(own, _)| *own == name)?.1;
            Some(Ok(value.to_owned()))
        };
        let settings = Gemini::builder().settings.with_variables(variable)?;
        Ok(GeminiBuilder { settings })
    }

    #[test]
    fn without_a_key_the_variables_are_named() {
        let error = from(&[("OPENAI_API_KEY", "sk-1")]).unwrap_err();
        assert_eq!(error.category, Category::ApiKeyError);
        assert_eq!(
            error.message,
            "neither GEMINI_API_KEY nor GOOGLE_API_KEY is set (OPENAI_API_KEY is, and is for \
             `OpenAi`); set one, or `.api_key(..)`"
        );
    }

    #[test]
    fn the_first_of_two_keys_counts() {
        for (variables, source) in [
            (&[(KEY, "AIza1"), (OTHER_KEY, "AIza2")][..], KEY),
            (&[(OTHER_KEY, "AIza2")], OTHER_KEY),
            (&[(KEY, ""), (OTHER_KEY, "AIza2")], OTHER_KEY),
        ] {
            assert_eq!(
                from(variables).unwrap().settings.key.unwrap().source,
                source
            );
        }
    }

    #[test]
    fn the_path_is_appended_once() {
        let vertex = "https://h/v1/projects/p/locations/l/publishers/google";
        for (base, endpoint) in [
            (
                "https://generativelanguage.googleapis.com/v1beta/",
                "https://generativelanguage.googleapis.com/v1beta/models",
            ),
            ("https://h/v1beta/models", "https://h/v1beta/models"),
            (
                vertex,
                "https://h/v1/projects/p/locations/l/publishers/google/models",
            ),
        ] {
            let model = from(&[(KEY, "AIza1"), (GENERATE.base_url, base)])
                .unwrap()
                .build()
                .unwrap();
            assert_eq!(
                format!("{model:?}"),
                format!("Gemini {{ endpoint: {endpoint:?}, model: None, .. }}")
            );
        }
    }
}
