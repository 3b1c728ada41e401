//! Vectors without a model, for tests and examples.

use llmnode_model::internal::fnv;
use llmnode_runtime::{BoxFuture, ModelError, Sink};

use crate::embed::{EmbedRequest, Embedded, Embedder};
use crate::matrix::normalise;
use crate::words::tokens;

/// Makes vectors from hashed words and their parts, without a model and without a request: the same text gets the same vector, on
/// every machine. Texts that share words, or parts of words, are close to each other; it knows nothing about meaning.
///
/// ```
/// # use llmnode_rag as llmnode;
/// use llmnode::{Embedder, HashEmbedder};
///
/// assert_eq!(HashEmbedder::new(256).id(), "hash/256");
/// ```
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    dimensions: usize,
    id: String,
}

impl HashEmbedder {
    /// Creates one whose vectors have this length, at least 1. 256 is a good value.
    pub fn new(dimensions: usize) -> Self {
        let dimensions = dimensions.max(1);
        HashEmbedder {
            dimensions,
            id: format!("hash/{dimensions}"),
        }
    }

    /// Each word, and each three letters of one with less weight, is added at a place that its hash names.
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        for word in tokens(text) {
            add(&mut vector, &word, 1.0);
            let mut borders = Vec::new();
            for (at, _) in word.char_indices() {
                borders.push(at);
            }
            borders.push(word.len());
            for part in borders.windows(4) {
                add(&mut vector, &word[part[0]..part[3]], 0.3);
            }
        }
        if vector.iter().all(|one| *one == 0.0) {
            // A text without words needs a direction, too.
            vector[0] = 1.0;
        }
        normalise(&mut vector);
        vector
    }
}

/// Adds or subtracts the weight, so that two parts that meet at one place do not seem alike.
fn add(vector: &mut [f32], part: &str, weight: f32) {
    let hash = hash(part.as_bytes());
    let signed = if hash >> 63 == 0 { weight } else { -weight };
    let place = (hash % vector.len() as u64) as usize;
    vector[place] += signed;
}

/// FNV-1a, mixed so that all bits depend on all bytes.
fn hash(bytes: &[u8]) -> u64 {
    let hash = fnv(bytes);
    (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

impl Embedder for HashEmbedder {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        Box::pin(async move {
            Ok(Embedded::new(
                request.texts.iter().map(|text| self.vector(text)).collect(),
            ))
        })
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    fn is_local(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::dot_product;

    #[test]
    fn texts_with_words_in_common_are_near() {
        let embedder = HashEmbedder::new(256);
        let of = |text| embedder.vector(text);
        let near = dot_product(&of("where is the key"), &of("The key is under the mat."));
        assert!(
            near > dot_product(&of("where is the key"), &of("Bread needs flour and salt.")) + 0.2
        );
        assert_eq!(of("Key"), of("key"));
        assert_eq!(dot_product(&of(""), &of("🙂")), 1.0);
        assert_eq!(HashEmbedder::new(0).vector("a").len(), 1);
    }
}
