//! The settings of processors: what holds, and in which files it can be said.

use ctx_language::Language;
use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::{ProcessorSetting, SettingsLayer};
use ctx_project::{Sources, Turn};
use ctx_types::{Diagnostic, phrase};
use serde_json::{Value, json};

use super::{opened, said};
use crate::api_pipeline::{PipelineView, SettingsLayerView};
use crate::api_preview::PreviewRequest;
use crate::call::Refusal;
use crate::codes;
use crate::server::Server;

/// Tells the settings of a turn.
pub(crate) fn pipeline(
    server: &Server,
    asked: &PreviewRequest,
    language: Language,
) -> Result<PipelineView, Refusal> {
    let mut sources = Sources::default();
    let turn = opened((server, server.engine.clone()), asked, &mut sources)?;
    let (settings, found) = turn.settings();
    let mut settings = settings.to_vec();
    settings.sort_by_key(|setting| setting.priority.value);
    let findings = said(server, language, &sources, &found);
    let layers = [of_agent(server, &turn), of_model(server, asked), of_all(server)];
    Ok(PipelineView { settings, layers: layers.into_iter().flatten().collect(), findings })
}

fn of_agent(server: &Server, turn: &Turn) -> Option<SettingsLayerView> {
    let found = Diagnostic::info(codes::UNUSABLE, phrase!("")).at_pointer("/parameters");
    let place = turn.lead_back(vec![found]).pop()?.location;
    let file = server.desk.id(place.document.as_deref()?)?;
    let parameters = turn.agent().parameters.clone();
    Some(layer(SettingOrigin::Agent, file, place.pointer?, &json!(parameters)))
}

fn of_model(server: &Server, asked: &PreviewRequest) -> Option<SettingsLayerView> {
    let id = asked.model_settings.as_deref().filter(|id| !id.is_empty())?;
    let value = server.desk.value(id)?;
    Some(layer(SettingOrigin::Model, id.to_owned(), String::new(), &value))
}

/// That of `ctx.toml`, where the folder has one.
fn of_all(server: &Server) -> Option<SettingsLayerView> {
    let id = server.desk.id("ctx.toml")?;
    let value = server.desk.value(&id)?;
    Some(layer(SettingOrigin::User, id, String::new(), &value))
}

fn layer(origin: SettingOrigin, file: String, base: String, parameters: &Value) -> SettingsLayerView {
    let (read, _) = SettingsLayer::from_parameters(origin, parameters, &base);
    let entry = |setting: ProcessorSetting| Some((setting.id.to_string(), setting.place?.entry.to_string()));
    let entries = read.settings.into_iter().filter_map(entry).collect();
    SettingsLayerView { origin, file, base, entries }
}
