//! What a server answers, as the model reads it.

use llmnode_runtime::{BoxError, Image, ToolReply};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The result of a call. Links in it are text: nobody follows them.
///
/// # Errors
/// If the server says that the tool failed.
pub(crate) fn reply(result: &CallToolResult) -> Result<ToolReply, BoxError> {
    let (mut lines, mut images) = (Vec::new(), Vec::new());
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => lines.push(text.text.clone()),
            ContentBlock::Image(image) => {
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
    // A server that gives both is to say the same in both.
    if let (Some(value), true, true) = (&result.structured_content, lines.is_empty(), images.is_empty()) {
        lines.push(value.to_string());
    }
    let text = lines.join("\n");
    if result.is_error == Some(true) {
        let said = if text.is_empty() { "the tool failed, and does not say why".to_owned() } else { text };
        return Err(said.into());
    }
    let text = if text.is_empty() && images.is_empty() { "done".to_owned() } else { text };
    Ok(images.into_iter().fold(ToolReply::new(text), ToolReply::image))
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.as_deref().unwrap_or("unknown type");
            format!("[{uri}: {kind}, {} bytes]", blob.len() / 4 * 3)
        }
        _ => "[a resource of an unknown kind]".to_owned(),
    }
}
