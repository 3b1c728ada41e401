//! Names of things, made of the names of types.

/// `ChooseItem` → `choose_item`, `HTTPCall` → `http_call`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut before_is_lower = false;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase()
            && !snake.is_empty()
            && !snake.ends_with('_')
            && (before_is_lower || next_is_lower)
        {
            snake.push('_');
        }
        before_is_lower = c.is_lowercase() || c.is_numeric();
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn names_of_nodes() {
        for (name, snake) in [
            ("ChooseItem", "choose_item"),
            ("HTTPCall", "http_call"),
            ("Step2", "step2"),
            ("A", "a"),
            ("already_snake", "already_snake"),
            ("V2Api", "v2_api"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
    }
}
