//! The files of an agent, as far as macros list them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

/// The group of files that are in no other.
const DEFAULT_GROUP: &str = "default";

/// How many files are listed.
const MAX_ASSETS: usize = 1_000;

/// The files of an agent.
///
/// ```
/// use ctx_macros::AgentAssets;
///
/// let files = serde_json::json!([{ "id": "smile", "type": "image", "filename": "smile.png" }]);
/// let assets = AgentAssets::read(Some(&files), None);
/// assert_eq!(assets.iter().next().map(|asset| &*asset.extension), Some("png"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentAssets {
    assets: Arc<[AgentAsset]>,
    /// The ids of the groups that exist.
    groups: Arc<[Arc<str>]>,
}

/// A file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAsset {
    /// The id, by which it is referred to.
    pub id: Arc<str>,
    /// The ending of its name, without the dot; empty if there is none.
    pub extension: Arc<str>,
    /// What it is: `Image`, `Audio`, `Video` or `File`.
    pub kind: &'static str,
    /// What its author says of it; may be empty.
    pub description: Arc<str>,
    /// The group that it names, which need not exist; may be empty.
    pub group: Arc<str>,
}

impl AgentAssets {
    /// Reads `assets` and `assetGroups` of an agent's file, at most 1,000 files; what has no id is left out.
    pub fn read(assets: Option<&Value>, groups: Option<&Value>) -> Self {
        let items = |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
        let groups = items(groups).iter().filter_map(|group| text(group, "id")).collect();
        let assets = items(assets).iter().filter_map(AgentAsset::read).take(MAX_ASSETS).collect();
        Self { assets, groups }
    }

    /// Returns the files in the order of the agent's file.
    pub fn iter(&self) -> impl Iterator<Item = &AgentAsset> {
        self.assets.iter()
    }

    /// Returns the files of a group, or all for an empty name, each with the group that it is in.
    pub(crate) fn of_group<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a AgentAsset, &'a str)> {
        let with_group = |asset: &'a AgentAsset| {
            let is_known = self.groups.contains(&asset.group);
            (asset, if is_known { &*asset.group } else { DEFAULT_GROUP })
        };
        self.iter().map(with_group).filter(move |(_, group)| name.is_empty() || *group == name)
    }
}

impl AgentAsset {
    fn read(asset: &Value) -> Option<Self> {
        let file = text(asset, "filename").or_else(|| text(asset, "path")).unwrap_or_default();
        let extension = Path::new(&*file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let kind = match asset.get("type").and_then(Value::as_str) {
            Some("image") => "Image",
            Some("audio") => "Audio",
            Some("video") => "Video",
            _ => "File",
        };
        Some(Self {
            id: text(asset, "id")?,
            extension: Arc::from(extension),
            kind,
            description: text(asset, "description").unwrap_or_default(),
            group: text(asset, "group").unwrap_or_default(),
        })
    }
}

fn text(value: &Value, key: &str) -> Option<Arc<str>> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(Arc::from)
}
