//! The result of a call, as the model reads it.

use llmnode_runtime::ext::{MAX_IMAGE_BYTES, MAX_IMAGES, images_left_out};
use llmnode_runtime::{BoxError, Image, ToolReply};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// An image is sent as a `data:` URL, whose beginning counts.
const IMAGE_BYTES: usize = MAX_IMAGE_BYTES - MAX_IMAGES * 128;

/// Links stay text: nobody follows them. `Err`: the tool failed.
pub(crate) fn reply(result: &CallToolResult) -> Result<ToolReply, BoxError> {
    let mut lines = Vec::new();
    let mut images = Vec::new();
    let mut bytes = 0;
    let mut left_out = 0;
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => lines.push(text.text.clone()),
            ContentBlock::Image(image)
                if images.len() == MAX_IMAGES || bytes + image.data.len() > IMAGE_BYTES =>
            {
                left_out += 1;
            }
            ContentBlock::Image(image) => {
                bytes += image.data.len();
                match Image::url(format!("data:{};base64,{}", image.mime_type, image.data)) {
                    Ok(image) => images.push(image),
                    Err(error) => lines.push(format!("[an image that cannot be shown: {error}]")),
                }
            }
            ContentBlock::Audio(audio) => lines.push(format!("[audio: {}]", audio.mime_type)),
            ContentBlock::Resource(embedded) => lines.push(resource(&embedded.resource)),
            ContentBlock::ResourceLink(link) => lines.push(format!("{}: {}", link.name, link.uri)),
            _ => lines.push("[content of an unknown kind]".to_owned()),
        }
    }
    let text = lines.join("\n") + &images_left_out(left_out);
    let text = text.trim_start_matches('\n').to_owned();
    if result.is_error == Some(true) {
        let reason = if text.is_empty() {
            "the tool failed, and does not say why".to_owned()
        } else {
            text
        };
        return Err(reason.into());
    }
    let text = if text.is_empty() && images.is_empty() {
        "done".to_owned()
    } else {
        text
    };
    Ok(images
        .into_iter()
        .fold(ToolReply::new(text), ToolReply::image))
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let kind = mime_type.as_deref().unwrap_or("unknown type");
            format!("[{uri}: {kind}, {} bytes]", blob.len() / 4 * 3)
        }
        _ => "[a resource of an unknown kind]".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn text_with(images: Vec<usize>) -> String {
        let image = |bytes: usize| ContentBlock::image("A".repeat(bytes), "image/png");
        let reply = reply(&CallToolResult::success(
            images.into_iter().map(image).collect(),
        ))
        .unwrap();
        let mut text = String::new();
        let _ = reply.map_text(|own| {
            text = own.to_owned();
            String::new()
        });
        text
    }

    #[test]
    fn images_are_bounded_in_number_and_bytes() {
        let text = text_with(vec![4; 10_000]);
        assert_eq!(
            text,
            "[9984 images left out: a result shows 16 of 8 MiB together at most]"
        );
        let text = text_with(vec![4 << 20, 4 << 20, 4]);
        assert_eq!(
            text,
            "[1 image left out: a result shows 16 of 8 MiB together at most]"
        );
        let text = text_with(vec![4; 16]);
        assert_eq!(text, "");
    }
}
