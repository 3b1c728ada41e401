//! Why a limit refuses a request, as a message: which limit, for what, how much was
//! spent, and where it is set.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use llmnode_model::{Category, TokenUsage};
use llmnode_reader::text::{one_line, plural};

use super::quantity::Quantity;
use crate::money::Money;
use crate::prices::{Price, PriceTier};

/// What a limit is for.
pub(super) enum Scope {
    Call(Cow<'static, str>),
    /// All calls of a node, by its type.
    Node(&'static str),
    /// The same by its name.
    Named(String),
    Flow(Cow<'static, str>),
    Map,
    Run,
}

impl Scope {
    /// Where the program sets such a limit.
    pub(super) fn setter(&self) -> &'static str {
        match self {
            Scope::Call(_) => "`Call::limits` or `Settings::limits`",
            Scope::Node(_) => "`limits(..)` of the node or `Run::with_node_limits`",
            Scope::Named(_) => "`Run::with_limits_of`",
            Scope::Flow(_) => "`limits` of the flow",
            Scope::Map => "`Map::limits`",
            Scope::Run => "`Run::with_limits`",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Call(node) => write!(f, "the call of `{node}`"),
            Scope::Node(node) => write!(f, "all calls of `{node}`"),
            Scope::Named(node) => write!(f, "all calls of `{node}`"),
            Scope::Flow(flow) => write!(f, "the flow `{flow}`"),
            Scope::Map => f.write_str("the map"),
            Scope::Run => f.write_str("the run"),
        }
    }
}

/// Whether a refusal is one of the limits of a map.
pub(crate) fn is_of_map(message: &str) -> bool {
    message.contains(&format!(" for {} is reached", Scope::Map))
}

/// Which figure is missing, so that a limit cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    Usage,
    Price {
        model: String,
        /// When the table of prices was made that lacks it.
        prices_made: Option<String>,
    },
    /// It has a price, but none for how it is asked.
    TierPrice {
        model: String,
        /// The method of `Price` that sets it.
        setter: &'static str,
    },
    /// The model wrote to a cache, for which its price has no rate.
    CacheWrite(String),
    /// It is billed by more than the tokens at a price that a list has.
    OtherPrice,
    Model,
}

impl Unknown {
    pub(super) fn price(model: &str, prices_made: Option<&str>) -> Self {
        Unknown::Price {
            model: one_line(model, 200),
            prices_made: prices_made.map(|date| one_line(date, 40)),
        }
    }

    /// The same where the price depends on how the model is asked.
    pub(super) fn price_in(tier: PriceTier, model: &str, prices_made: Option<&str>) -> Self {
        if tier == PriceTier::Other {
            return Unknown::OtherPrice;
        }
        match tier.setter() {
            Some(setter) => Unknown::TierPrice {
                model: one_line(model, 200),
                setter,
            },
            None => Unknown::price(model, prices_made),
        }
    }

    /// Why a price could not be applied to this usage.
    pub(super) fn cost(model: &str, price: &Price, usage: &TokenUsage) -> Self {
        if price.lacks_cache_write(usage) {
            Unknown::CacheWrite(one_line(model, 200))
        } else {
            Unknown::Usage
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Requests, tokens or money.
    Spent {
        limit: String,
        spent: String,
    },
    Tools {
        limit: String,
        executed: u64,
        count: u64,
    },
    Late(Duration),
    /// Requests of a batch have reserved what is left, in words.
    InBatch {
        limit: String,
        batch: String,
    },
    /// A figure that the limit needs is unknown.
    Unenforceable {
        limit: String,
        unknown: Unknown,
    },
}

impl Refusal {
    pub(super) fn requests(limit: u64, quantity: Quantity) -> Self {
        Refusal::Spent {
            limit: plural(limit, "request"),
            spent: quantity.spent.to_string(),
        }
    }

    pub(super) fn tokens(limit: u64, quantity: Quantity) -> Self {
        Refusal::Spent {
            limit: plural(limit, "token"),
            spent: quantity.spent.to_string(),
        }
    }

    pub(super) fn money(limit: Money, quantity: Quantity) -> Self {
        Refusal::Spent {
            limit: in_money(limit),
            spent: Money(quantity.spent).to_string(),
        }
    }

    pub(super) fn requests_in_batch(limit: u64, batch: String) -> Self {
        Refusal::InBatch {
            limit: plural(limit, "request"),
            batch,
        }
    }

    pub(super) fn tokens_in_batch(limit: u64, batch: String) -> Self {
        Refusal::InBatch {
            limit: plural(limit, "token"),
            batch,
        }
    }

    pub(super) fn money_in_batch(limit: Money, batch: String) -> Self {
        Refusal::InBatch {
            limit: in_money(limit),
            batch,
        }
    }

    pub(super) fn tools(limit: u64, executed: u64, count: u64) -> Self {
        Refusal::Tools {
            limit: plural(limit, "tool call"),
            executed,
            count,
        }
    }

    pub(super) fn unknown_tokens(limit: u64, unknown: Unknown) -> Self {
        Refusal::Unenforceable {
            limit: plural(limit, "token"),
            unknown,
        }
    }

    pub(super) fn unknown_money(limit: Money, unknown: Unknown) -> Self {
        Refusal::Unenforceable {
            limit: in_money(limit),
            unknown,
        }
    }

    pub(super) fn category(&self) -> Category {
        match self {
            Refusal::Spent { .. }
            | Refusal::Tools { .. }
            | Refusal::Late(_)
            | Refusal::InBatch { .. } => Category::LimitExceeded,
            Refusal::Unenforceable { .. } => Category::LimitUnenforceable,
        }
    }

    pub(super) fn message(&self, scope: &Scope) -> String {
        let setter = scope.setter();
        match self {
            Refusal::Spent { limit, spent } => {
                format!(
                    "the limit of {limit} for {scope} is reached: {spent} spent; it is set by \
                     {setter}"
                )
            }
            Refusal::Tools {
                limit,
                executed,
                count,
            } => format!(
                "the limit of {limit} for {scope} is reached: {executed} executed, and the model \
                 calls {count} more; it is set by {setter}"
            ),
            Refusal::Late(limit) => {
                format!("the time limit of {limit:?} for {scope} is reached; it is set by {setter}")
            }
            Refusal::InBatch { limit, batch } => format!(
                "the limit of {limit} for {scope} has no room: {batch} has reserved what is left, \
                 and may take a day; call again when it has ended, raise the limit by {setter}, or \
                 limit the map alone, by `Map::limits`"
            ),
            Refusal::Unenforceable { limit, unknown } => {
                format!("the limit of {limit} for {scope} cannot be enforced: {unknown}")
            }
        }
    }
}

fn in_money(limit: Money) -> String {
    format!("{limit} in money")
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Usage => f.write_str(
                "an answer came without its usage; have the server report it, or limit requests or \
                 time instead",
            ),
            Unknown::Price { model, prices_made } => {
                write!(f, "the model {model:?} has no price")?;
                if let Some(date) = prices_made {
                    write!(f, " in the list of {date}")?;
                }
                f.write_str("; add it to the table of `Run::with_prices`")
            }
            Unknown::TierPrice { model, setter } => write!(
                f,
                "the model {model:?} has no price for that; set it by `Price::{setter}`, in the \
                 table of `Run::with_prices`"
            ),
            Unknown::CacheWrite(model) => write!(
                f,
                "the model {model:?} wrote to a cache, which has no price; set it by \
                 `Price::cache_write`"
            ),
            Unknown::OtherPrice => f.write_str(
                "a service tier, a speed, a place or a tool of the provider is billed by a price of its own, which no \
                 list has; leave it out, or limit requests or tokens instead",
            ),
            Unknown::Model => f.write_str(
                "the model that answered has no name; set `model`, and its price by \
                 `Run::with_prices`",
            ),
        }
    }
}
