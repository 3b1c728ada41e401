//! What models cost: a table from the program or a file, since prices change without notice.

mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use llmnode_model::internal::is_standard_price;
use llmnode_model::{ApiKind, Request, TokenUsage};

use crate::money::Money;

/// The price of a model's tokens, in any unit that is the same for all prices and limits of a run.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Price;
///
/// const SMALL: Price = Price::per_million(0.25, 2.0).cached(0.025);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    rates: Rates,
    above: Option<(u64, Rates)>,
    batch: Option<TierPrice>,
    flex: Option<TierPrice>,
    /// In tokens.
    window: Option<u32>,
}

/// The price of the same tokens where the provider has more time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TierPrice {
    rates: Rates,
    above: Option<(u64, Rates)>,
}

/// How a request is served, which its price depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PriceTier {
    #[default]
    Standard,
    /// By a batch API.
    Batch,
    /// With `service_tier = "flex"`.
    Flex,
    /// In a way that has a price of its own, which no list has.
    Other,
}

impl PriceTier {
    /// Of a request that is not part of a batch.
    pub(crate) fn of_request(request: &Request, api: Option<ApiKind>) -> Self {
        if request.extra.is_empty() && request.extra_on.is_none() {
            return PriceTier::Standard;
        }
        let mut words = ["service_tier", "speed", "inference_geo"]
            .into_iter()
            .filter_map(|name| extra_word(request, api, name));
        let special = words.find(|word| !is_standard_price(word));
        match special {
            None => PriceTier::Standard,
            Some("flex") => PriceTier::Flex,
            Some(_) => PriceTier::Other,
        }
    }

    /// The method of [`Price`] that sets its price. `None`: every price has it.
    pub(crate) fn setter(self) -> Option<&'static str> {
        match self {
            PriceTier::Standard | PriceTier::Other => None,
            PriceTier::Batch => Some("batch"),
            PriceTier::Flex => Some("flex"),
        }
    }
}

/// The text in an extra field: one of this API alone comes first, as in the body.
fn extra_word<'r>(request: &'r Request, api: Option<ApiKind>, name: &str) -> Option<&'r str> {
    let of_apis = request.extra_on.as_ref();
    let of_api = of_apis.zip(api).and_then(|(all, api)| all.get(&api));
    let field = of_api.and_then(|fields| fields.get(name));
    field.or(request.extra.get(name))?.as_str()
}

/// What a response is billed for, each token once.
///
/// A part that exceeds its whole stands beside it, since some servers count so, and others count the two by different
/// tokenizers. Then their sum is priced, so that a limit of money is kept.
struct Parts {
    /// Of the prompt, without what follows.
    fresh: u64,
    read: u64,
    written_short: u64,
    written_long: u64,
    /// Reasoning included.
    output: u64,
}

impl Parts {
    /// `None`: the usage is incomplete. Where the total exceeds prompt and answer together, the difference is reasoning,
    /// priced like the answer.
    fn of(usage: &TokenUsage) -> Option<Parts> {
        let [read, written, long, reasoning] = [
            usage.cached,
            usage.cache_write,
            usage.cache_write_long,
            usage.reasoning,
        ]
        .map(Option::unwrap_or_default);
        let short = written.checked_sub(long).unwrap_or(written);
        let input = match (usage.input, usage.output, usage.total) {
            (Some(input), ..) => input,
            (None, Some(output), Some(total)) => total.checked_sub(output)?,
            _ => return None,
        };
        let of_cache = read.saturating_add(short).saturating_add(long);
        let fresh = input.checked_sub(of_cache).unwrap_or(input);
        let input = fresh.saturating_add(of_cache);
        let output = match (usage.output, usage.total) {
            (Some(output), None) => output,
            (output, Some(total)) => output.unwrap_or(0).max(total.saturating_sub(input)),
            (None, None) => return None,
        };
        let beside = if reasoning > output { reasoning } else { 0 };
        Some(Parts {
            fresh,
            read,
            written_short: short,
            written_long: long,
            output: output.saturating_add(beside),
        })
    }

    fn input(&self) -> u64 {
        let of_cache = self.read.saturating_add(self.written_short);
        self.fresh
            .saturating_add(of_cache)
            .saturating_add(self.written_long)
    }
}

/// Per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    /// Cached for an hour; `cache_write` is for five minutes.
    cache_write_long: Option<f64>,
}

impl Rates {
    fn of(&self, input: u64, output: u64) -> Money {
        token(self.input)
            .times(input)
            .plus(token(self.output).times(output))
    }

    /// All of the prompt may be written to a cache.
    fn most(&self, input: u64, output: u64) -> Money {
        let dearest = self.of_caches().fold(self.input, f64::max);
        Rates {
            input: dearest,
            ..*self
        }
        .of(input, output)
    }

    fn of_caches(&self) -> impl Iterator<Item = f64> {
        [self.cached, self.cache_write, self.cache_write_long]
            .into_iter()
            .flatten()
    }

    fn are_sound(&self) -> bool {
        self.of_caches()
            .chain([self.input, self.output])
            .all(|rate| Money::from_f64(rate).is_some())
    }
}

impl Price {
    /// Creates the price of a million tokens of the prompt and of a million tokens of the answer, reasoning included.
    /// Both are finite and 0 or more. Anything else is a `config_error` of all calls of the run.
    pub const fn per_million(input: f64, output: f64) -> Self {
        let rates = Rates {
            input,
            output,
            cached: None,
            cache_write: None,
            cache_write_long: None,
        };
        Price {
            rates,
            above: None,
            batch: None,
            flex: None,
            window: None,
        }
    }

    /// Sets how many tokens of a prompt the model takes, which lists of prices have beside them. Default: unknown. It changes
    /// no price: [`Settings::window`](crate::Settings::window) says what goes by it.
    #[must_use]
    pub const fn window(mut self, tokens: u32) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Sets the price of a million tokens of the prompt that come from the provider's cache. Default: the price of
    /// the prompt.
    #[must_use]
    pub const fn cached(mut self, cached: f64) -> Self {
        self.rates.cached = Some(cached);
        self
    }

    /// Sets the prices of a million tokens of the prompt that are written to the provider's cache: kept for five minutes, and
    /// for an hour. Default: what they cost is unknown.
    #[must_use]
    pub const fn cache_write(mut self, five_minutes: f64, hour: f64) -> Self {
        self.rates.cache_write = Some(five_minutes);
        self.rates.cache_write_long = Some(hour);
        self
    }

    /// Sets another price for requests whose prompt has more than so many tokens. It is for the whole request.
    #[must_use]
    pub const fn above(mut self, tokens: u64, price: Price) -> Self {
        self.above = Some((tokens, price.rates));
        self
    }

    /// Sets the price by the provider's batch API: see [`Map::batch_api`](crate::Map::batch_api). Default: what a batch costs is
    /// unknown. It is no fixed part of the price: most providers take half, some four fifths.
    #[must_use]
    pub const fn batch(mut self, price: Price) -> Self {
        self.batch = Some(TierPrice {
            rates: price.rates,
            above: price.above,
        });
        self
    }

    /// Sets the price of requests with `service_tier = "flex"`, which OpenAI answers when it has room. Default: what they cost is
    /// unknown.
    #[must_use]
    pub const fn flex(mut self, price: Price) -> Self {
        self.flex = Some(TierPrice {
            rates: price.rates,
            above: price.above,
        });
        self
    }

    fn in_tier(&self, tier: PriceTier) -> Option<Price> {
        let TierPrice { rates, above } = match tier {
            PriceTier::Standard => return Some(*self),
            PriceTier::Batch => self.batch?,
            PriceTier::Flex => self.flex?,
            PriceTier::Other => return None,
        };
        Some(Price {
            rates,
            above,
            batch: None,
            flex: None,
            window: self.window,
        })
    }

    fn rates(&self, prompt: u64) -> &Rates {
        match &self.above {
            Some((tokens, rates)) if prompt > *tokens => rates,
            _ => &self.rates,
        }
    }

    pub(crate) fn of_tokens(&self, input: u64, output: u64) -> Money {
        self.rates(input).of(input, output)
    }

    /// A shorter prompt may have the higher rates.
    pub(crate) fn most_of_tokens(&self, input: u64, output: u64) -> Money {
        self.rates
            .most(input, output)
            .max(self.rates(input).most(input, output))
    }

    /// `None`: the usage is incomplete, or a rate for cache writes is missing.
    pub(crate) fn of(&self, usage: &TokenUsage) -> Option<Money> {
        let parts = Parts::of(usage)?;
        let rates = self.rates(parts.input());
        let read = cost_at(rates.cached.or(Some(rates.input)), parts.read)?;
        let written_short = cost_at(rates.cache_write, parts.written_short)?;
        let written_long = cost_at(rates.cache_write_long, parts.written_long)?;
        let written = written_short.plus(written_long);
        Some(rates.of(parts.fresh, parts.output).plus(read).plus(written))
    }

    pub(crate) fn lacks_cache_write(&self, usage: &TokenUsage) -> bool {
        Parts::of(usage).is_some_and(|parts| {
            let rates = self.rates(parts.input());
            cost_at(rates.cache_write, parts.written_short).is_none()
                || cost_at(rates.cache_write_long, parts.written_long).is_none()
        })
    }

    fn is_sound(&self) -> bool {
        let of_tiers = [self.batch, self.flex].into_iter().flatten();
        let has_sound_tiers = of_tiers
            .map(|tier| (tier.rates, tier.above))
            .all(|(rates, above)| are_sound(&rates, above));
        are_sound(&self.rates, self.above) && has_sound_tiers
    }
}

fn are_sound(rates: &Rates, above: Option<(u64, Rates)>) -> bool {
    rates.are_sound() && above.is_none_or(|(_, rates)| rates.are_sound())
}

/// No tokens cost nothing, also where their rate is not known.
fn cost_at(rate: Option<f64>, tokens: u64) -> Option<Money> {
    match tokens {
        0 => Some(Money::default()),
        tokens => Some(token(rate?).times(tokens)),
    }
}

fn token(per_million: f64) -> Money {
    Money::from_f64(per_million / 1e6).unwrap_or_default()
}

/// The prices of models: [typed](Prices::model), [from a file](Prices::open), or the catalog of the feature `prices`.
///
/// A model is looked up by the name that its provider reports, then by the name in the request, which may be a registered
/// one, then by [`ChatModel::model`](crate::ChatModel::model). A listed name also applies to its snapshots, such as
/// `gpt-x-2025-01-31`, `gpt-x-0613`, `gpt-x@20250131` and `gpt-x-latest`, unless they are listed themselves. It never
/// applies to another model whose name begins with it, such as `gpt-x-mini`.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Price, Prices, TokenUsage};
///
/// let prices = Prices::new()
///     .model("gpt-x", Price::per_million(2.0, 8.0).cached(0.5))
///     .model("local", Price::per_million(0.0, 0.0));
/// let usage = TokenUsage::new(1_000, 100);
/// assert_eq!(prices.cost("gpt-x-2025-01-31", &usage), Some(0.0028));
/// assert_eq!(prices.cost("gpt-x-mini", &usage), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
    /// Known in advance, so that no call looks through a list of thousands.
    faulty: BTreeSet<String>,
    created_on: Option<String>,
    tiers: Tiers,
}

/// The tables of the tiers, made when they are first asked for.
#[derive(Clone, Debug, Default)]
struct Tiers {
    batch: OnceLock<Box<Prices>>,
    flex: OnceLock<Box<Prices>>,
    /// Empty, but for the date of the list.
    other: OnceLock<Box<Prices>>,
}

/// They follow from the prices.
impl PartialEq for Tiers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Prices {
    /// Creates an empty table.
    pub fn new() -> Self {
        Prices::default()
    }

    /// Sets the price of a model.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        let name = name.into();
        if is_faulty(&name, &price) {
            self.faulty.insert(name.clone());
        } else {
            self.faulty.remove(&name);
        }
        self.models.insert(name, price);
        self.tiers = Tiers::default();
        self
    }

    /// The same models at the prices of this tier; those without one are left out.
    pub(crate) fn in_tier(&self, tier: PriceTier) -> &Prices {
        let table = match tier {
            PriceTier::Standard => return self,
            PriceTier::Batch => &self.tiers.batch,
            PriceTier::Flex => &self.tiers.flex,
            PriceTier::Other => &self.tiers.other,
        };
        table.get_or_init(|| {
            let models = self.models.iter();
            let priced =
                models.filter_map(|(name, price)| Some((name.clone(), price.in_tier(tier)?)));
            Box::new(Prices {
                models: priced.collect(),
                faulty: BTreeSet::new(),
                created_on: self.created_on.clone(),
                tiers: Tiers::default(),
            })
        })
    }

    fn from_models(models: BTreeMap<String, Price>, created_on: Option<String>) -> Prices {
        let faulty = models.iter().filter(|(name, price)| is_faulty(name, price));
        Prices {
            faulty: faulty.map(|(name, _)| name.clone()).collect(),
            models,
            created_on,
            tiers: Tiers::default(),
        }
    }

    /// Returns the cost of a response. `None`: the model has no price, its price is not a number of 0 or more, or the usage
    /// is unknown.
    pub fn cost(&self, model: &str, usage: &TokenUsage) -> Option<f64> {
        self.of(model)
            .filter(|price| price.is_sound())?
            .of(usage)
            .map(Money::to_f64)
    }

    pub(crate) fn of(&self, model: &str) -> Option<&Price> {
        self.listed(model).map(|listed| listed.price)
    }

    /// The entry of a model: its own, or that of the model of which it is a version.
    pub(crate) fn listed(&self, model: &str) -> Option<Listed<'_>> {
        if self.models.is_empty() {
            return None;
        }
        if let Some((name, price)) = self.models.get_key_value(model) {
            return Some(Listed { name, price });
        }
        // From the right, so that the longest is found.
        for (end, _) in model.rmatch_indices(VERSION_SEPARATORS) {
            let shorter = model.get(..end)?;
            let Some((name, price)) = self.models.get_key_value(shorter) else {
                continue;
            };
            if is_snapshot(model, name) {
                return Some(Listed { name, price });
            }
        }
        None
    }

    /// The price of a response. `asked`: the entry of the model that the request went to. `answered`: the model that the
    /// answer names.
    ///
    /// A server can name any model. So an answer that names a cheaper one does not make the request cheaper, unless that is a
    /// version of the model that was asked.
    pub(crate) fn of_response<'p>(
        &'p self,
        of_asked: Option<Listed<'p>>,
        answered: Option<&str>,
        usage: &TokenUsage,
    ) -> Option<Listed<'p>> {
        let answered = answered.and_then(|model| self.listed(model));
        let (Some(of_asked), Some(answered)) = (of_asked, answered) else {
            return of_asked.or(answered);
        };
        let is_version = is_snapshot(answered.name, of_asked.name);
        // What the asked one costs may be unknown; then a price of another model does not make it known.
        let cost = of_asked.price.of(usage);
        let is_dearer = cost.is_some_and(|cost| answered.price.of(usage) > Some(cost));
        if is_version || is_dearer {
            return Some(answered);
        }
        Some(of_asked)
    }

    /// The entry of the first of these names that has one.
    pub(crate) fn first_listed<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<Listed<'_>> {
        names.into_iter().find_map(|name| self.listed(name))
    }

    /// The tokens of the window of the first of these names that has an entry.
    pub(crate) fn window<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<u64> {
        self.first_listed(names)?.price.window.map(u64::from)
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let name = self.faulty.first()?;
        let price = self.models.get(name)?;
        if name.trim().is_empty() {
            return Some("a model's name is empty".to_owned());
        }
        Some(format!(
            "{name:?} has {price:?}; a price must be a number, 0 or more"
        ))
    }
}

/// An entry of the table of prices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'p> {
    pub(crate) name: &'p str,
    pub(crate) price: &'p Price,
}

fn is_faulty(name: &str, price: &Price) -> bool {
    name.trim().is_empty() || !price.is_sound()
}

const VERSION_SEPARATORS: [char; 5] = ['-', '@', ':', '_', '.'];

/// Whether only a date or version follows the listed name: three digits or more. Fewer are another model (`x-4-5`).
fn is_snapshot(model: &str, listed: &str) -> bool {
    let Some(rest) = model.strip_prefix(listed) else {
        return false;
    };
    // Fine-tuned models cost what their base model costs: `ft:gpt-x:our-org::id`.
    if listed.starts_with("ft:") && rest.starts_with(':') {
        return true;
    }
    let Some(version) = rest.strip_prefix(VERSION_SEPARATORS) else {
        return false;
    };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    let dated = digits >= 3
        && version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    dated || version == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: Option<u64>, output: Option<u64>, total: Option<u64>) -> TokenUsage {
        let mut usage = TokenUsage::default();
        [usage.input, usage.output, usage.total] = [input, output, total];
        usage
    }

    const MILLION: u64 = 1_000_000;
    const PRICE: Price = Price::per_million(2.0, 8.0);

    fn cost(price: Price, usage: TokenUsage) -> Option<f64> {
        Prices::new().model("m", price).cost("m", &usage)
    }

    #[test]
    fn two_figures_of_three_tell_what_a_response_cost() {
        let of = |input, output, total| cost(PRICE, usage(input, output, total));
        assert_eq!(of(Some(MILLION), Some(MILLION), None), Some(10.0));
        assert_eq!(of(Some(MILLION), None, Some(2 * MILLION)), Some(10.0));
        assert_eq!(of(None, Some(MILLION), Some(2 * MILLION)), Some(10.0));
        assert_eq!(
            of(Some(MILLION), Some(MILLION), Some(3 * MILLION)),
            Some(18.0),
            "reasoning beside"
        );
        assert_eq!(
            of(Some(MILLION), Some(MILLION), Some(1)),
            Some(10.0),
            "a total too small"
        );
        for (input, output, total) in [
            (Some(1), None, None),
            (None, Some(1), None),
            (None, None, Some(1)),
        ] {
            assert_eq!(of(input, output, total), None);
        }
        assert_eq!(cost(PRICE, TokenUsage::default()), None);
    }

    #[test]
    fn a_tier_is_that_of_the_api_which_is_asked() {
        let mut request = Request::new(Vec::new());
        let fields = |tier: &str| {
            let fields = serde_json::json!({"service_tier": tier});
            fields.as_object().cloned().unwrap_or_default()
        };
        request.extra = fields("auto");
        let of_responses = BTreeMap::from([(ApiKind::Responses, fields("flex"))]);
        request.extra_on = Some(Box::new(of_responses));
        let of = |api| PriceTier::of_request(&request, api);
        assert_eq!(of(Some(ApiKind::Responses)), PriceTier::Flex);
        assert_eq!(of(Some(ApiKind::Anthropic)), PriceTier::Standard);
        assert_eq!(of(None), PriceTier::Standard);
        request.extra = fields("priority");
        assert_eq!(PriceTier::of_request(&request, None), PriceTier::Other);
    }

    #[test]
    fn a_cached_prompt_has_its_own_price() {
        let cached = |cached| {
            let mut usage = TokenUsage::new(MILLION, 0);
            usage.cached = cached;
            usage
        };
        assert_eq!(
            cost(PRICE, cached(Some(MILLION / 2))),
            Some(2.0),
            "the same, if not set"
        );
        let price = PRICE.cached(0.5);
        assert_eq!(cost(price, cached(Some(MILLION / 2))), Some(1.25));
        assert_eq!(cost(price, cached(Some(MILLION))), Some(0.5));
        let mut beside = cached(Some(4 * MILLION));
        beside.total = Some(5 * MILLION);
        assert_eq!(cost(price, beside), Some(4.0), "counted beside the rest");
    }

    #[test]
    fn a_server_that_names_a_cheaper_model_does_not_make_the_answer_cheaper() {
        let prices = Prices::new()
            .model("large", Price::per_million(2.0, 8.0))
            .model("large-2026-01-01", Price::per_million(1.0, 4.0))
            .model("embed", Price::per_million(0.02, 0.0))
            .model("dearest", Price::per_million(20.0, 80.0));
        let usage = TokenUsage::new(1_000, 100);
        let of = |of_asked: &'static str, answered| {
            prices
                .of_response(prices.listed(of_asked), answered, &usage)
                .map(|listed| listed.name)
        };
        assert_eq!(of("large", Some("embed")), Some("large"));
        assert_eq!(of("large", Some("dearest")), Some("dearest"));
        assert_eq!(
            of("large", Some("large-2026-01-01")),
            Some("large-2026-01-01"),
            "a version of it"
        );
        assert_eq!(of("large", Some("unknown")), Some("large"));
        assert_eq!(of("large", None), Some("large"));
        assert_eq!(
            of("router", Some("embed")),
            Some("embed"),
            "the asked name has no price"
        );
        assert_eq!(of("router", Some("unknown")), None);
    }

    /// Hit, written, kept for an hour, and reasoning.
    fn with_parts(usage: TokenUsage, parts: [Option<u64>; 4]) -> TokenUsage {
        let mut usage = usage;
        [
            usage.cached,
            usage.cache_write,
            usage.cache_write_long,
            usage.reasoning,
        ] = parts;
        usage
    }

    #[test]
    fn case_w28_reads_and_writes_of_a_cache_cost_what_they_come_to_by_hand() {
        let price = Price::per_million(3.0, 15.0)
            .cached(0.3)
            .cache_write(3.75, 6.0);
        for (input, output, parts, by_hand) in [
            // 3 × 3 + 4,512 × 0.3 + 6 × 15 = 9 + 1,353.6 + 90
            (4_515, 6, [Some(4_512), Some(0), Some(0), None], 0.001_452_6),
            // 3 × 3 + 4,566 × 6 + 6 × 15 = 9 + 27,396 + 90
            (
                4_569,
                6,
                [Some(0), Some(4_566), Some(4_566), None],
                0.027_495,
            ),
            // 3 × 3 + 4,566 × 3.75 + 6 × 15 = 9 + 17,122.5 + 90
            (4_569, 6, [Some(0), Some(4_566), None, None], 0.017_221_5),
            // 3 × 3 + 4,512 × 0.3 + 566 × 3.75 + 4,000 × 6 + 6 × 15 = 9 + 1,353.6 + 2,122.5 + 24,000 + 90
            (
                9_081,
                6,
                [Some(4_512), Some(4_566), Some(4_000), None],
                0.027_575_1,
            ),
            // 100 × 3 + 13 × 15 = 300 + 195, reasoning within
            (100, 13, [Some(0), Some(0), None, Some(7)], 0.000_495),
        ] {
            let usage = with_parts(TokenUsage::new(input, output), parts);
            assert_eq!(cost(price, usage), Some(by_hand), "{usage:?}");
        }
    }

    #[test]
    fn writes_without_a_price_have_no_cost() {
        let of = |price, parts| cost(price, with_parts(TokenUsage::new(10, 5), parts));
        let price = PRICE.cached(0.5).cache_write(2.5, 4.0);
        let written = [None, Some(10), None, None];
        assert!(of(PRICE.cached(0.5), written).is_none() && of(price, written).is_some());
        assert!(
            of(PRICE, [None, Some(0), Some(0), None]).is_some(),
            "nothing was written"
        );
    }

    /// A server's words, as `Effect-TS/effect#8170` and others have them: 293 tokens of an answer, 321 of them reasoning.
    #[test]
    fn a_part_over_its_whole_stands_beside_it() {
        let price = Price::per_million(2.0, 8.0)
            .cached(0.5)
            .cache_write(2.5, 4.0);
        for (input, output, parts, by_hand) in [
            // 100 × 2 + (293 + 321) × 8
            (100, 293, [None, None, None, Some(321)], 0.005_112),
            // 10 × 2 + 5,000 × 0.5 + 300 × 2.5 + 5 × 8
            (10, 5, [Some(5_000), Some(300), None, None], 0.003_31),
            // 10 × 2 + 6 × 0.5 + 5 × 2.5 + 5 × 8
            (10, 5, [Some(6), Some(5), None, None], 0.000_075_5),
            // 1 × 2 + 4 × 2.5 + 5 × 4 + 5 × 8
            (10, 5, [None, Some(4), Some(5), None], 0.000_072),
        ] {
            let usage = with_parts(TokenUsage::new(input, output), parts);
            assert_eq!(cost(price, usage), Some(by_hand), "{usage:?}");
        }
    }

    #[test]
    fn no_figures_are_too_odd() {
        let price = PRICE.cached(f64::MAX).cache_write(f64::MAX, 0.0);
        let figures = [None, Some(0), Some(1), Some(u64::MAX)];
        for number in 0..4_usize.pow(7) {
            let figure = |place| figures[number / 4_usize.pow(place) % 4];
            let usage = usage(figure(0), figure(1), figure(2));
            let usage = with_parts(usage, [figure(3), figure(4), figure(5), figure(6)]);
            assert!(
                cost(price, usage).is_none_or(|cost| cost.is_finite() && cost >= 0.0),
                "{usage:?}"
            );
        }
    }

    #[test]
    fn a_price_that_is_no_number_is_a_fault_until_it_is_replaced() {
        let prices = Prices::new()
            .model("x", PRICE)
            .model("y", Price::per_million(f64::NAN, 8.0));
        assert!(
            prices
                .fault()
                .is_some_and(|fault| fault.starts_with("\"y\" has"))
        );
        assert_eq!(prices.model("y", PRICE).fault(), None);
        assert_eq!(
            Prices::new().model(" ", PRICE).fault().as_deref(),
            Some("a model's name is empty")
        );
        let listed = BTreeMap::from([("y".to_owned(), Price::per_million(-1.0, 8.0))]);
        assert!(Prices::from_models(listed, None).fault().is_some());
    }

    #[test]
    fn a_snapshot_has_the_price_of_the_longest_listed_name() {
        let at = |price| Price::per_million(price, 0.0);
        let prices = Prices::new()
            .model("x", at(1.0))
            .model("x-4", at(4.0))
            .model("x-4-0613", at(5.0))
            .model("ft:x-4", at(9.0));
        let found = |model| prices.of(model).map(|price| price.rates.input);
        for (model, price) in [
            ("x", Some(1.0)),
            ("x-4", Some(4.0)),
            ("x-4-0613", Some(5.0)),
            ("x-4-0314", Some(4.0)),
            ("x-4-2024-08-06", Some(4.0)),
            ("x-4@20240806", Some(4.0)),
            ("ft:x-4:our-org::9", Some(9.0)),
            ("ft:x-4-mini:our-org::9", None),
            ("x-4-latest", Some(4.0)),
            ("x-002", Some(1.0)),
            ("x-4-5", None),
            ("x-4o", None),
            ("x-4-mini-2024-07-18", None),
            ("xy", None),
            ("", None),
        ] {
            assert_eq!(found(model), price, "{model:?}");
        }
    }

    #[test]
    fn a_long_prompt_has_the_other_price_for_all_of_it() {
        let price = Price::per_million(2.0, 8.0)
            .cached(0.5)
            .cache_write(2.5, 4.0);
        let price = price.above(1_000, Price::per_million(4.0, 12.0).cached(1.0));
        let of =
            |input, output, parts| cost(price, with_parts(TokenUsage::new(input, output), parts));
        assert_eq!(of(1_000, 100, [None; 4]), Some(0.002_8));
        // 1,001 × 4 + 100 × 12
        assert_eq!(of(1_001, 100, [None; 4]), Some(0.005_204));
        // 1 × 4 + 1,000 × 1 + 100 × 12
        assert_eq!(
            of(1_001, 100, [Some(1_000), None, None, None]),
            Some(0.002_204)
        );
        let written = [None, Some(500), None, None];
        assert!(of(1_000, 1, written).is_some() && of(1_001, 1, written).is_none());
        let lacks =
            |input| price.lacks_cache_write(&with_parts(TokenUsage::new(input, 1), written));
        assert!(!lacks(1_000) && lacks(1_001));
        assert_eq!(price.most_of_tokens(1_001, 0).to_f64(), 0.004_004);
        assert!(
            Prices::new()
                .model("m", price.above(9, Price::per_million(f64::NAN, 0.0)))
                .fault()
                .is_some()
        );
    }

    #[test]
    fn absurd_prices_have_a_fault() {
        for absurd in [f64::NAN, f64::INFINITY, -1.0] {
            for price in [
                PRICE.cached(absurd),
                PRICE.cache_write(absurd, 0.0),
                PRICE.cache_write(0.0, absurd),
                Price::per_million(absurd, 0.0),
                Price::per_million(0.0, absurd),
            ] {
                assert!(
                    Prices::new()
                        .model("m", price)
                        .fault()
                        .unwrap()
                        .contains("\"m\"")
                );
                assert_eq!(
                    cost(price, usage(Some(1), Some(1), None)),
                    None,
                    "unknown, not 0"
                );
            }
        }
        assert!(Prices::new().model(" ", PRICE).fault().is_some());
        assert_eq!(
            Prices::new()
                .model("free", Price::per_million(0.0, 0.0))
                .fault(),
            None
        );
    }
}
