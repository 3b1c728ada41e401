#[llm_node(
    prompt = "{topic}", output = u8, state = World,
    recover(
        schema_error = [retry(1), repair(2), fallback],
        transport = [retry(5, 1s..60s), retry(1, 10s), model("small"), bubble],
        limit_exceeded = [fallback, bubble],
    ),
    fallback = self::middle,
    limits(requests = 5, tokens = 2_000, money = 0.05), deadline = 1.5s
)]
struct Rate { topic: String }
