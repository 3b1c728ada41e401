//! The keys that the macros take, as items, so that an editor completes them and shows these docs. Nothing else uses them.

#![allow(non_upper_case_globals, reason = "named as they are written")]

/// An argument of a macro.
#[derive(Debug)]
pub struct Key;

macro_rules! keys {
    ($($module:ident { $($doc:literal $key:ident)* })*) => {
        $(
            #[doc = concat!("What `", stringify!($module), "` takes.")]
            pub mod $module {
                use super::Key;
                $(
                    #[doc = $doc]
                    pub const $key: Key = Key;
                )*
            }
        )*
    };
}

keys! {
    llm_node {
        "`prompt = \"…{field}…{state.path:list}…\"`: the user message. Required." prompt
        "`prompt_file = \"choose.md\"`: the user message, from a file beside the source file." prompt_file
        "`system = \"…\"`: the system message, in the grammar of `prompt`." system
        "`system_file = \"…\"`: the system message, from a file beside the source file." system_file
        "`goal = \"…\"`: what the node is to do, in place of a prompt. Every field is an input." goal
        "`think`: the model of a node with `goal` writes its reasoning before the output." think
        "`form = chat`, `form = json`: the messages of a node with `goal` are those of DSPy's adapters." form
        "`with(n = state.files.len(), …)`: prompt variables by Rust expressions, which see `self` and `state`." with
        "`examples = [(input, output), …]`: what inputs are answered with, or the path of a function that gives them." examples
        "`output = Type`: the type of the answer, asked for and read as JSON. Without it: raw text, `String`." output
        "`state = Type`: the state that prompt and validators read. Without it the node runs with any state." state
        "`choices(item = state.inventory, …)`: which values the state allows at a place of the output. Paths: fields, `[]` for the items of a list, `action.Action::Use.item` for a variant, `self` for the whole output." choices
        "`validate = path`: `fn(&Output, &State, &AttemptInfo) -> Result<(), Invalid>`, which checks the answer, or a list of such functions; each may be `async`." validate
        "`retries = 2`: more calls after a bad answer, sent at once. Default 0." retries
        "`transport_retries = 2`: more tries of the same request after a failure of the transport. Default 2." transport_retries
        "`wait = 10s`, `wait = 1s..60s`: the pause before each of these tries, on top of what the server asks for." wait
        "`max_wait = 120s`: the longest pause that a server may ask for. Default 60s." max_wait
        "`attempt_timeout = 5s`: the longest time of one attempt; a longer one is a `timeout`, and is repeated. Default: the model's, 600s." attempt_timeout
        "`deadline = 20s`: the longest time of a call, all its attempts and waits together. Default: none." deadline
        "`model = \"…\"`: a name registered by `Run::model`, or else the provider's id." model
        "`fallback_model = \"…\"`: a further model, asked from the original prompt." fallback_model
        "`fallback = path`: `fn(&Self, &State, &NodeError) -> Output`, which gives a value when the models have failed, or a `Result` of it; it may be `async`." fallback
        "`temperature = 0.2`: the sampling temperature, 0 or more." temperature
        "`max_tokens = 200`: the most tokens an answer may have." max_tokens
        "`reasoning = \"low\"`: how much the model thinks: `off`, `low`, `medium`, `high`, `max`." reasoning
        "`cache = 1h`: whether the provider keeps the beginning of prompts: `auto`, `off`, `5m`, `1h`. Default `auto`." cache
        "`window = 8_192`: how many tokens the model's window has. Default: looked up." window
        "`compact`, `compact(keep = 6, at = 0.8, with = Summarise)`: old results of tools are left out of a conversation that is too long." compact
        "`tools = [Search, Summarize]`: the tools that the model may call." tools
        "`turns = 6`: the most responses of the model, the answer included. Default 10." turns
        "`calls_in_text = false`: a text that is a call of a tool is text. Default: it is executed where the model's server knows no calls." calls_in_text
        "`thoughts_in_text = false`: thoughts that stand in a text (`<think>..</think>` first in it) stay there. Default: they are no part of the answer." thoughts_in_text
        "`tool`: the node is a tool, too, and its fields are the arguments." tool
        "`exact`: JSON is taken only as it stands: nothing is repaired, and nothing changed to fit `output`." exact
        "`name = \"…\"`: the name in ledgers and errors. Default: the struct's, in snake_case." name
        "`recover(rate_limit_error = [retry(5, 1s..60s), model(\"big\")], …)`: the steps that follow a failure." recover
        "`limits(requests = 5, tokens = 2_000, money = 0.05)`: the most that all calls of the node in one run may take." limits
        "`prep = path`: `fn(&State) -> Self`, which makes this step of a flow from the state, or a `Result` of it; it may be `async`." prep
        "`store = path.to.field`: where in the state this step of a flow writes the output, by `into()`." store
        "`action = Type`: what this step of a flow decides, by `From<&Output>` or by `route`. Default `()`." action
        "`route = path`: `fn(&Output, &State) -> Action`, which decides, or a `Result` of it." route
        "`post = path`: `fn(Self, Output, &mut State) -> Action`, which does all that follows the output, or a `Result` of it." post
        "`batch = path`: `fn(&State) -> Vec<Self>`, which makes many of these nodes from the state, or a `Result` of it; it may be `async`." batch
        "`concurrency = 4`: how many nodes of a batch are under way at most. Default 8." concurrency
        "`idempotent = false`: the node is never executed a second time." idempotent
    }
    field {
        "`#[node(skip)]`: no prompt uses the field." skip
        "`#[node(history)]`: the field holds the earlier messages of a conversation." history
        "`#[node(tools)]`: the field holds tools that are known at run time, a `Toolset`." tools
        "`#[node(model)]`: the field holds the model that the node asks in place of the run's." model
    }
    limits {
        "`requests = 5`: the most requests." requests
        "`tokens = 2_000`: the most tokens, of prompts and answers." tokens
        "`money = 0.05`: the most money, where prices are given." money
    }
    recover {
        "Bad answers: the categories of the group that have no key of their own." answer
        "The answer could not be read as the output type." schema_error
        "The answer was read, and a validator rejected it." validation_error
        "The model answered with nothing." empty_response
        "Failures on the way: the categories of the group that have no key of their own." transport
        "The provider asks to slow down." rate_limit_error
        "The provider failed, or is overloaded." server_error
        "The connection failed or broke." network
        "No answer in time." timeout
        "The key is missing, malformed, unknown or not allowed to do this." api_key_error
        "The account has no credit or quota left." quota_error
        "No such model or path." not_found
        "The provider refuses the request as it is." bad_request
        "The prompt does not fit into the model's window." context_length_error
        "The provider's filter withheld the prompt or the answer." content_filter
        "The model declined to answer." refusal
        "The answer stopped at a length limit." truncated_output
        "What came back is no answer of a model at all." bad_response
        "A limit set by the program would be crossed." limit_exceeded
    }
    steps {
        "`retry(2)`, `retry(2, 10s)`, `retry(5, 1s..60s)`: the same request again." retry
        "`repair(2)`: the answer goes back with what is wrong with it." repair
        "`model(\"big\")`: another model, from the original prompt." model
        "`fallback`: the value of the function that `fallback = path` names." fallback
        "`bubble`: the failure is returned." bubble
    }
    llm_output {
        "`state = Type`: the state that validators inside the type take." state
    }
    validate {
        "The state is what the methods take; on a definition, `state = Type`." state
    }
}
