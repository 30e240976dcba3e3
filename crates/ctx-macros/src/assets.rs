use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

const DEFAULT_GROUP: &str = "default";

const MAX_ASSETS: usize = 1_000;

/// Files of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentAssets {
    assets: Arc<[AgentAsset]>,
    groups: Arc<[Arc<str>]>,
}

/// A file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentAsset {
    pub(crate) id: Arc<str>,
    /// File name extension without the dot; may be empty.
    pub(crate) extension: Arc<str>,
    /// `Image`, `Audio`, `Video`, or `File`.
    pub(crate) kind: &'static str,
    pub(crate) description: Arc<str>,
    /// Group named by the file; may be empty or unknown.
    pub(crate) group: Arc<str>,
}

impl AgentAssets {
    /// Reads `assets` and `assetGroups` of an agent file. Skips assets without an id and reads at most 1,000
    /// files.
    pub fn read(assets: Option<&Value>, groups: Option<&Value>) -> Self {
        let items = |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
        let groups = items(groups).iter().filter_map(|group| text(group, "id")).collect();
        let assets = items(assets).iter().filter_map(AgentAsset::read).take(MAX_ASSETS).collect();
        Self { assets, groups }
    }

    /// Returns a group's files, or all if `name` is empty, each with its group.
    pub(crate) fn iter_group<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a AgentAsset, &'a str)> {
        let with_group = |asset: &'a AgentAsset| {
            let is_known = self.groups.contains(&asset.group);
            (asset, if is_known { &*asset.group } else { DEFAULT_GROUP })
        };
        self.assets.iter().map(with_group).filter(move |(_, group)| name.is_empty() || *group == name)
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
