#[validate(state = World)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Own<'a>(Choice, &'a str);
