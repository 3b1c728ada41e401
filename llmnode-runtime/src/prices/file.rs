//! Lists of prices that others keep: LiteLLM's, and files of ours.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use serde_json::{Map, Value};

use super::{Price, Prices, Rates, TierPrice};

/// LiteLLM prefixes the names of these providers' models, which no other provider uses.
const PREFIXES: [&str; 5] = ["deepseek/", "gemini/", "mistral/", "moonshot/", "xai/"];

const MEMBERS: [(&str, &str); 5] = [
    ("input", "input_cost_per_token"),
    ("output", "output_cost_per_token"),
    ("cached", "cache_read_input_token_cost"),
    ("cache_write", "cache_creation_input_token_cost"),
    (
        "cache_write_long",
        "cache_creation_input_token_cost_above_1hr",
    ),
];

impl Prices {
    /// Reads a list of prices from a file: LiteLLM's `model_prices_and_context_window.json`, whose prices are in US dollars, or
    /// one such as
    ///
    /// ```json
    /// {"made": "2026-11-27", "models": {
    ///     "gpt-x": {"input": 2.0, "output": 8.0, "cached": 0.5, "window": 128000},
    ///     "claude-x": {"input": 3.0, "output": 15.0, "cached": 0.3, "cache_write": 3.75, "cache_write_long": 6.0,
    ///         "above": {"tokens": 200000, "input": 6.0, "output": 22.5}, "batch": {"input": 1.5, "output": 7.5}}}}
    /// ```
    ///
    /// with the prices of a million tokens, as [`Price`] has them. What is not listed stays unknown: a model without the prices
    /// of prompt and answer, and one whose answers depend on more than that and the size of the prompt: thoughts or speech with a price
    /// of their own. Sound in a prompt costs what text does.
    /// [`model`](Prices::model) adds to the list.
    ///
    /// ```no_run
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Price, Prices};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let prices = Prices::open("model_prices.json")?.model("our-llama", Price::per_million(0.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The file cannot be read, or has no price.
    pub fn open(path: impl AsRef<Path>) -> Result<Prices> {
        let path = path.as_ref();
        let shown = path.display();
        let text = fs::read(path)
            .map_err(|error| Error::new(error.kind(), format!("{shown}: {error}")))?;
        let file: Value = serde_json::from_slice(&text).map_err(|error| {
            Error::new(
                ErrorKind::InvalidData,
                format!("{shown}: not JSON: {error}"),
            )
        })?;
        let prices = read(&file);
        if prices.models.is_empty() {
            let fault = "it has no price; write {\"models\": {\"gpt-x\": {\"input\": 2.0, \"output\": 8.0}}}, or take LiteLLM's list";
            return Err(Error::new(
                ErrorKind::InvalidData,
                format!("{shown}: {fault}"),
            ));
        }
        Ok(prices)
    }

    /// Returns a list of prices that was made from a public one (feature `prices`): of OpenAI, Anthropic, Google, DeepSeek,
    /// Mistral, xAI and Moonshot, in US dollars, without discounts. [`made`](Prices::made) is its day. Prices change: a newer
    /// model is not listed, and [`open`](Prices::open) reads a newer list.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Prices, TokenUsage};
    ///
    /// let prices = Prices::catalog();
    /// assert_eq!(prices.cost("claude-sonnet-5-5", &TokenUsage::new(1_000, 100)), Some(0.003));
    /// ```
    #[cfg(feature = "prices")]
    pub fn catalog() -> Prices {
        serde_json::from_str(include_str!("catalog.json"))
            .map(|file| read(&file))
            .unwrap_or_default()
    }

    /// Returns the day on which the list was made, such as `"2026-11-27"`, if its file says so. LiteLLM's does not.
    pub fn made(&self) -> Option<&str> {
        self.created_on.as_deref()
    }
}

fn read(file: &Value) -> Prices {
    let made = file.get("made").and_then(Value::as_str).map(str::to_owned);
    if let Some(models) = file.get("models").and_then(Value::as_object) {
        return Prices::from_models(priced(models, ours), made);
    }
    let mut models = file
        .as_object()
        .map(|entries| priced(entries, litellms))
        .unwrap_or_default();
    let short = models.iter().filter_map(|(name, price)| {
        let prefix = PREFIXES.iter().find(|prefix| name.starts_with(**prefix))?;
        Some((name[prefix.len()..].to_owned(), *price))
    });
    for (name, price) in short.collect::<Vec<_>>() {
        models.entry(name).or_insert(price);
    }
    Prices::from_models(models, made)
}

/// The entries that have a price which can be used.
fn priced(
    entries: &Map<String, Value>,
    read: fn(&Value) -> Option<Price>,
) -> BTreeMap<String, Price> {
    let mut priced = BTreeMap::new();
    for (name, entry) in entries {
        if let Some(price) = read(entry).filter(Price::is_sound) {
            priced.insert(name.clone(), price);
        }
    }
    priced
}

fn ours(entry: &Value) -> Option<Price> {
    let standard = our_tier(entry)?;
    Some(Price {
        rates: standard.rates,
        above: standard.above,
        batch: entry.get("batch").and_then(our_tier),
        flex: entry.get("flex").and_then(our_tier),
        window: tokens(entry, "window"),
    })
}

fn tokens(entry: &Value, member: &str) -> Option<u32> {
    u32::try_from(entry.get(member)?.as_u64()?).ok()
}

fn our_tier(entry: &Value) -> Option<TierPrice> {
    let rates = our_rates(entry, None)?;
    let above = match entry.get("above") {
        None => None,
        Some(above) => Some((
            above.get("tokens")?.as_u64()?,
            our_rates(above, Some(rates))?,
        )),
    };
    Some(TierPrice { rates, above })
}

fn our_rates(entry: &Value, base: Option<Rates>) -> Option<Rates> {
    rates(|at| entry.get(MEMBERS[at].0)?.as_f64(), base)
}

fn litellms(entry: &Value) -> Option<Price> {
    let thoughts = entry.get("output_cost_per_reasoning_token");
    if entry.get("tiered_pricing").is_some()
        || has_fee(entry)
        || entry.get("output_cost_per_audio_token").is_some()
        || thoughts.is_some_and(|price| price != &entry["output_cost_per_token"])
    {
        return None;
    }
    let mut sizes = entry.as_object()?.keys().filter_map(|name| size(name));
    let size = sizes.next();
    if sizes.any(|other| Some(other) != size) {
        return None;
    }
    let standard = litellms_tier(entry, size, "")?;
    Some(Price {
        rates: standard.rates,
        above: standard.above,
        batch: litellms_cheap_tier(entry, size, "_batches"),
        flex: litellms_cheap_tier(entry, size, "_flex"),
        window: tokens(entry, "max_input_tokens"),
    })
}

/// Of a long prompt, the list may not know what it costs in a batch: then no price of the tier is known.
fn litellms_cheap_tier(entry: &Value, size: Option<u64>, end: &str) -> Option<TierPrice> {
    if let Some(size) = size {
        entry.get(format!("input_cost_per_token_above_{size}k_tokens{end}"))?;
    }
    litellms_tier(entry, size, end)
}

/// `size`: in thousands of tokens, of prompts that have prices of their own. `end`: of the names of the tier's members.
fn litellms_tier(entry: &Value, size: Option<u64>, end: &str) -> Option<TierPrice> {
    let rates = litellms_rates(entry, "", end, None)?;
    let above = match size {
        None => None,
        Some(size) => {
            let long = format!("_above_{size}k_tokens");
            let above = litellms_rates(entry, &long, end, Some(rates))?;
            Some((size.checked_mul(1_000)?, above))
        }
    };
    Some(TierPrice { rates, above })
}

/// `long`: what the names of the members of long prompts have behind those of short ones.
fn litellms_rates(entry: &Value, long: &str, end: &str, base: Option<Rates>) -> Option<Rates> {
    // Of embeddings, the list has no price of an answer in a batch: there is none.
    let has_no_answer = entry.get("output_cost_per_token").and_then(Value::as_f64) == Some(0.0);
    rates(
        |at| match entry.get(format!("{}{long}{end}", MEMBERS[at].1)) {
            Some(Value::Number(cost)) => Some(cost.as_f64()? * 1e6),
            _ if at == 1 && has_no_answer => Some(0.0),
            _ => None,
        },
        base,
    )
}

/// Whether a request costs something beside its tokens. The fees of a search (`search_context_cost_per_query`) are for a tool
/// that most requests do not use, but Perplexity's models always search.
fn has_fee(entry: &Value) -> bool {
    let always_searches = entry
        .get("litellm_provider")
        .is_some_and(|provider| provider == "perplexity");
    let has_search_fee = entry.get("search_context_cost_per_query").is_some();
    is_due(entry, "input_cost_per_request")
        || is_due(entry, "input_cost_per_query")
        || (always_searches && has_search_fee)
}

fn is_due(entry: &Value, member: &str) -> bool {
    entry
        .get(member)
        .and_then(Value::as_f64)
        .is_some_and(|fee| fee > 0.0)
}

fn size(name: &str) -> Option<u64> {
    let rest = name
        .strip_prefix("input")
        .or_else(|| name.strip_prefix("output"))?;
    rest.strip_prefix("_cost_per_token_above_")?
        .strip_suffix("k_tokens")?
        .parse()
        .ok()
}

/// In the order of [`MEMBERS`]. `base`: the rates of shorter prompts.
fn rates(member: impl Fn(usize) -> Option<f64>, base: Option<Rates>) -> Option<Rates> {
    Some(Rates {
        input: member(0).or(base.map(|base| base.input))?,
        output: member(1).or(base.map(|base| base.output))?,
        cached: member(2),
        cache_write: member(3),
        cache_write_long: member(4),
    })
}

#[cfg(test)]
mod tests {
    use llmnode_model::TokenUsage;
    use serde_json::json;

    use super::super::PriceTier;
    use super::*;

    fn price(file: &Value, model: &str) -> Option<Price> {
        read(file).of(model).copied()
    }

    #[test]
    fn litellms_list_is_read_member_by_member() {
        let file = json!({
            "sample_spec": {"input_cost_per_token": "a number", "output_cost_per_token": 0.0},
            "claude-x": {"litellm_provider": "anthropic", "input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5,
                "cache_read_input_token_cost": 3e-7, "cache_creation_input_token_cost": 3.75e-6,
                "cache_creation_input_token_cost_above_1hr": 6e-6, "max_tokens": 9,
                "input_cost_per_token_batches": 1.5e-6, "output_cost_per_token_batches": 7.5e-6,
                "cache_read_input_token_cost_batches": 1.5e-7, "input_cost_per_token_flex": 1.0},
            "gemini/gemini-x": {"input_cost_per_token": 1.25e-6, "output_cost_per_token": 1e-5, "cache_read_input_token_cost": null,
                "output_cost_per_token_above_200k_tokens": 1.5e-5, "input_cost_per_token_above_200k_tokens": 2.5e-6,
                "cache_read_input_token_cost_above_200k_tokens": 2.5e-7, "input_cost_per_token_above_200k_tokens_flex": 1.0},
            "groq/gemini-x": {"input_cost_per_token": 1.0, "output_cost_per_token": 1.0},
            "three-sizes": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6,
                "input_cost_per_token_above_32k_tokens": 2e-6, "input_cost_per_token_above_128k_tokens": 3e-6},
            "thinks": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "output_cost_per_reasoning_token": 2e-6},
            "draws": {"output_cost_per_image": 0.1},
            "speaks": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "output_cost_per_audio_token": 2e-6},
            "by-request": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "input_cost_per_request": 0.005},
            "by-query": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "input_cost_per_query": 0.001},
            "owes": {"input_cost_per_token": -1.0, "output_cost_per_token": 1e-6},
            "odd": 3,
        });
        let claude = Price::per_million(3.0, 15.0)
            .cached(0.3)
            .cache_write(3.75, 6.0);
        let usage = |price: Price| {
            let mut usage = TokenUsage::new(10_000, 7);
            [usage.cached, usage.cache_write, usage.cache_write_long] =
                [Some(3_000), Some(2_000), Some(500)];
            price.of(&usage)
        };
        assert_eq!(price(&file, "claude-x").and_then(usage), usage(claude));
        let listed = price(&file, "claude-x").unwrap();
        let batch = Price::per_million(1.5, 7.5).cached(0.15);
        assert_eq!(listed.in_tier(PriceTier::Batch), Some(batch));
        assert_eq!(usage(batch), None, "writes to a cache have no price there");
        assert_eq!(
            listed.in_tier(PriceTier::Flex),
            None,
            "half of a price is none"
        );
        let gemini = Price::per_million(1.25, 10.0)
            .above(200_000, Price::per_million(2.5, 15.0).cached(0.25));
        for name in ["gemini/gemini-x", "gemini-x", "gemini-x-002"] {
            assert_eq!(price(&file, name), Some(gemini), "{name}");
        }
        assert_eq!(gemini.in_tier(PriceTier::Batch), None, "never a guess");
        for name in [
            "sample_spec",
            "three-sizes",
            "thinks",
            "draws",
            "speaks",
            "by-request",
            "by-query",
            "owes",
            "odd",
            "x",
        ] {
            assert_eq!(price(&file, name), None, "{name}");
        }
        assert_eq!(read(&file).made(), None);
    }

    #[test]
    fn a_file_of_ours_has_the_price_of_a_million() {
        let file = json!({"made": "2026-11-24", "models": {
            "a": {"input": 3, "output": 15.0, "cached": 0.3, "cache_write": 3.75, "cache_write_long": 6.0},
            "b": {"input": 1, "output": 2, "cached": "dear", "above": {"tokens": 9, "input": 4}},
            "c": {"input": 1},
            "d": {"input": 1, "output": 2, "above": {"input": 4}},
        }});
        let prices = read(&file);
        assert_eq!(prices.made(), Some("2026-11-24"));
        assert_eq!(
            prices.of("a"),
            Some(
                &Price::per_million(3.0, 15.0)
                    .cached(0.3)
                    .cache_write(3.75, 6.0)
            )
        );
        assert_eq!(
            prices.of("b"),
            Some(&Price::per_million(1.0, 2.0).above(9, Price::per_million(4.0, 2.0)))
        );
        assert_eq!((prices.of("c"), prices.of("d")), (None, None));
    }

    #[test]
    fn what_is_no_list_says_so() {
        let folder = std::env::temp_dir().join(format!("llmnode-prices-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("prices.json");
        for (text, wanted) in [
            ("{", "not JSON"),
            ("{}", "it has no price; write {"),
            ("[1]", "or take LiteLLM's list"),
        ] {
            fs::write(&path, text).unwrap();
            let error = Prices::open(&path).unwrap_err().to_string();
            assert!(
                error.contains(wanted) && error.contains("prices.json: "),
                "{error}"
            );
        }
        fs::write(&path, r#"{"models": {"m": {"input": 1, "output": 2}}}"#).unwrap();
        assert!(Prices::open(&path).unwrap().of("m").is_some());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Prices::open(&path).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(feature = "prices")]
    #[test]
    fn the_catalog_has_all_of_its_models() {
        let text = include_str!("catalog.json");
        let file: Value = serde_json::from_str(text).unwrap();
        let prices = Prices::catalog();
        assert_eq!(
            prices.models.len(),
            file["models"].as_object().unwrap().len()
        );
        assert_eq!(
            (prices.made(), prices.fault()),
            (file["made"].as_str(), None)
        );
        assert!(text.len() < 100_000 && file["source"].is_string() && file["licence"].is_string());
        for model in [
            "gpt-4o-2024-08-06",
            "claude-sonnet-5-20260301",
            "gemini-2.5-pro",
            "deepseek-chat",
            "grok-4.7",
        ] {
            assert!(prices.of(model).is_some(), "{model}");
        }
        assert_eq!(prices.of("llama-9"), None);
    }
}
