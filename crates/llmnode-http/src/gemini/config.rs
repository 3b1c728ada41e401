//! The builder of [`Gemini`].

use llmnode_model::ModelError;

use super::{GENERATE, Gemini};
use crate::api::settings::{ClientSettings, client_settings, env_var};

/// Builds a [`Gemini`]. Every setting has a default. [`build`](GeminiBuilder::build) checks them together.
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
///     .model("gemini-3-flash")
///     .build();
/// # let _ = model;
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct GeminiBuilder {
    settings: ClientSettings,
}

impl Gemini {
    /// Creates the model that the environment names: `GEMINI_API_KEY`, or else `GOOGLE_API_KEY`; `GEMINI_BASE_URL` (default
    /// `https://generativelanguage.googleapis.com/v1beta`; a loopback server needs no key) and `GEMINI_MODEL` (default: each
    /// call names its own).
    ///
    /// # Errors
    /// The errors of [`GeminiBuilder::from_env`] and [`GeminiBuilder::build`].
    pub fn from_env() -> Result<Gemini, ModelError> {
        GeminiBuilder::from_env()?.build()
    }

    /// Builds a model without reading the environment.
    pub fn builder() -> GeminiBuilder {
        let settings = ClientSettings::new(&GENERATE);
        GeminiBuilder { settings }
    }
}

impl GeminiBuilder {
    /// Reads `GEMINI_API_KEY` or else `GOOGLE_API_KEY`, `GEMINI_BASE_URL` and `GEMINI_MODEL` from the environment. An empty
    /// variable counts as absent. Settings on the builder afterwards replace them.
    ///
    /// # Errors
    /// `api_key_error` if there is neither key nor base URL; `config_error` for a variable that is not Unicode.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(env_var)
    }

    fn from_variables(variable: impl Fn(&str) -> Option<Result<String, ()>>) -> Result<Self, ModelError> {
        let settings = Gemini::builder().settings.with_variables(variable)?;
        Ok(GeminiBuilder { settings })
    }
}

client_settings!(
    GeminiBuilder,
    Gemini,
    "`http://127.0.0.1:4000/v1beta`, a gateway. Default `https://generativelanguage.googleapis.com/v1beta`"
);

#[cfg(test)]
mod tests {
    use llmnode_model::Category;

    use super::*;

    const KEY: &str = GENERATE.key;
    const OTHER_KEY: &str = "GOOGLE_API_KEY";

    fn from(variables: &[(&str, &str)]) -> Result<GeminiBuilder, ModelError> {
        let variables = variables.to_vec();
        GeminiBuilder::from_variables(|name| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| Ok((*value).to_owned()))
        })
    }

    #[test]
    fn without_a_key_the_variables_are_named() {
        let error = from(&[("OPENAI_API_KEY", "sk-1")]).unwrap_err();
        assert_eq!(error.category, Category::ApiKeyError);
        assert_eq!(
            error.message,
            "neither GEMINI_API_KEY nor GOOGLE_API_KEY is set (OPENAI_API_KEY is, and is for `OpenAi`); set one, or \
             `.api_key(..)`"
        );
    }

    #[test]
    fn the_first_of_two_keys_counts() {
        for (variables, source) in [
            (&[(KEY, "AIza1"), (OTHER_KEY, "AIza2")][..], KEY),
            (&[(OTHER_KEY, "AIza2")], OTHER_KEY),
            (&[(KEY, ""), (OTHER_KEY, "AIza2")], OTHER_KEY),
        ] {
            assert_eq!(from(variables).unwrap().settings.key.unwrap().source, source);
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
            (vertex, "https://h/v1/projects/p/locations/l/publishers/google/models"),
        ] {
            let model = from(&[(KEY, "AIza1"), (GENERATE.base_url, base)]).unwrap().build().unwrap();
            assert_eq!(format!("{model:?}"), format!("Gemini {{ endpoint: {endpoint:?}, model: None, .. }}"));
        }
    }
}
