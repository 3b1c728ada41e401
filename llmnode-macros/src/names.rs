//! Conversion of names between cases.
//!
//! A node `ChooseItem` is called `choose_item` in records, and a tool
//! `search_files` is the type `SearchFiles`. Names are part of journals, so the
//! rules cannot change.

/// `HTTPServer` becomes `http_server`: a capital begins a word if a small letter is
/// before or behind it.
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

/// The name of the type that `#[tool]` makes of a function.
pub(crate) fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(chars).collect()
            })
        })
        .collect();
    // `Self` is a keyword, and a name cannot be empty.
    if camel == "Self" || camel.is_empty() {
        format!("{camel}Tool")
    } else {
        camel
    }
}

#[cfg(test)]
mod tests {
    use super::{camel_case, snake_case};

    #[test]
    fn names_of_tools() {
        for (name, camel) in [
            ("search", "Search"),
            ("find_books", "FindBooks"),
            ("r2_d2", "R2D2"),
            ("self_", "SelfTool"),
            ("_", "Tool"),
            ("Some", "Some"),
        ] {
            assert_eq!(camel_case(name), camel);
        }
    }

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
