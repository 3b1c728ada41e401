#[tool(alone, name = "find", attempts = 2, wait = 1s, deadline = 30s)]
/// Finds books.
pub async fn find_books(
    /// A word.
    word: &str,
    #[serde(default = "ten")] limit: u8,
    years: &[u16],
    library: &Library,
    cx: &Cx<'_, Library>,
) -> Result<Vec<Book>, Missing> {
    Ok(vec![])
}
