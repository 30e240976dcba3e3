use std::collections::BTreeMap;

use ctx_types::ports::PortError;

use super::archive::Archive;
use super::markup::{Next, Token, read};

/// Reads the internal relationships of a member: paths by id.
pub(super) fn targets(
    archive: &mut Archive<'_>,
    folder: &str,
    name: &str,
) -> Result<BTreeMap<String, String>, PortError> {
    let mut targets = BTreeMap::new();
    let Some(xml) = archive.text(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(targets) };
    read(&xml, |token| {
        if let Token::Open(tag) = token
            && tag.name() == "Relationship"
            && tag.attribute("TargetMode").as_deref() != Some("External")
            && let (Some(id), Some(target)) = (tag.attribute("Id"), tag.attribute("Target"))
        {
            let path = match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => format!("{folder}/{target}"),
            };
            targets.insert(id, path);
        }
        Next::Go
    })?;
    Ok(targets)
}
