//! A model or a key that belongs to another provider, by how its name begins.
//!
//! Only for a hint behind a refusal, and only at the hosts of the three providers:
//! elsewhere any name may be right.

/// The beginnings of its names and keys; the first is the example of the hint.
struct Provider {
    name: &'static str,
    host: &'static str,
    models: &'static [&'static str],
    /// Longer prefixes of other providers are matched first.
    keys: &'static [&'static str],
}

const PROVIDERS: [Provider; 3] = [
    Provider {
        name: "Anthropic",
        host: "api.anthropic.com",
        models: &["claude-"],
        keys: &["sk-ant-"],
    },
    Provider {
        name: "Google",
        host: "generativelanguage.googleapis.com",
        models: &["gemini-"],
        keys: &["AIza"],
    },
    Provider {
        name: "OpenAI",
        host: "api.openai.com",
        models: &["gpt-", "o1", "o3", "o4", "chatgpt-"],
        keys: &["sk-"],
    },
];

/// The provider of this host, and the other one that this word belongs to. Gateways
/// and self-hosted servers accept any.
fn other(
    host: &str,
    word: &str,
    begins: impl Fn(&Provider) -> &'static [&'static str],
) -> Option<(&'static Provider, &'static Provider)> {
    let of_host = PROVIDERS.iter().find(|provider| provider.host == host)?;
    let of = PROVIDERS
        .iter()
        .find(|provider| begins(provider).iter().any(|begin| word.starts_with(begin)))?;
    (of.name != of_host.name).then_some((of_host, of))
}

pub(crate) fn model_hint(host: &str, model: &str) -> String {
    other(host, model, |provider| provider.models).map_or_else(String::new, |(of_host, of)| {
        format!(
            "; {}'s names begin with {}; {model} is one of {}'s",
            of_host.name, of_host.models[0], of.name
        )
    })
}

pub(crate) fn key_hint(host: &str, key: &str) -> String {
    other(host, key, |provider| provider.keys).map_or_else(String::new, |(_, of)| {
        format!(", which begins like one of {}'s", of.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_anothers_is_noticed() {
        for (host, model, hint) in [
            (
                "api.anthropic.com",
                "gpt-5",
                "; Anthropic's names begin with claude-; gpt-5 is one of OpenAI's",
            ),
            (
                "generativelanguage.googleapis.com",
                "claude-x",
                "; Google's names begin with gemini-; claude-x is one of Anthropic's",
            ),
            ("api.openai.com", "gpt-x", ""),
            ("api.openai.com", "ft:mine", ""),
            ("127.0.0.1:4000", "claude-x", ""),
        ] {
            assert_eq!(model_hint(host, model), hint);
        }
        for (host, key, hint) in [
            (
                "api.openai.com",
                "sk-ant-1",
                ", which begins like one of Anthropic's",
            ),
            (
                "api.anthropic.com",
                "sk-1",
                ", which begins like one of OpenAI's",
            ),
            (
                "api.openai.com",
                "AIza1",
                ", which begins like one of Google's",
            ),
            ("api.anthropic.com", "sk-ant-1", ""),
            ("gateway.example", "sk-1", ""),
        ] {
            assert_eq!(key_hint(host, key), hint);
        }
    }
}
