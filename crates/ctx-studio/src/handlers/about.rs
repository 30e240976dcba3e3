//! The login, the folder, and what the engine has.

use std::path::PathBuf;
use std::sync::Arc;

use ctx_language::{
    Language,
    internal::{Explanation, Reproduction},
};
use ctx_macros::{Definition, Dialect as MacroDialect};
use ctx_processors::internal::macro_dialect;
use ctx_project::endpoint::EndpointConfig;
use ctx_project::files;
use ctx_project::inputs::AgentFile;
use ctx_project::{Config, Sources, TurnOptions};
use ctx_types::{ConfigField, Diagnostic, FieldOption, phrase};
use ctx_wire::Dialect;

use crate::api::{Finding, LoggedIn, Login};
use crate::api_files::{Defaults, Project};
use crate::api_registry::{AnchorInfo, AnchorKind, CodeView, MacroInfo, ProcessorInfo, Registry};
use crate::call::{Call, Refusal, Reply};
use crate::codes;
use crate::server::Server;

/// Gives the token for the code of a link.
pub(crate) fn log_in(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let Login { code } = call.json()?;
    let token = server.access.log_in(&code).ok_or_else(|| {
        let message = phrase!(
            "the link expired: it was used, is older than 5 minutes, or belongs to another \
            run"
        );
        let help = phrase!("open the link in the terminal; press Enter there for a new link");
        Refusal::new(401, codes::BAD_LINK, message).with_help(help)
    })?;
    Reply::json(&LoggedIn {
        token,
        run: server.notices.run().to_owned(),
        build: server.build.clone(),
        project: crate::folder::id_of(&files::name(&server.desk.folder.path)),
    })
}

/// Lists the folder, and beside it conversations of the store, that of the window among them.
pub(crate) fn project(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let seq = server.notices.seq();
    server.look();
    if let Some(id) = call.query.get("conversation") {
        server.stored.keep(id);
    }
    let mut found = server.findings();
    let config = server.config(&mut Sources::default()).unwrap_or_else(|error| {
        found.push(Diagnostic::warning(codes::UNUSABLE, error.phrase()));
        Config::default()
    });
    found.extend(config.found.iter().cloned());
    let (mut listed, is_cut) = server.desk.list();
    let (stored, is_more) = server.stored.list(server.is_read_only);
    listed.extend(stored);
    let endpoint = config.endpoint(&ctx_project::EndpointOptions::default()).ok();
    Reply::json(&Project {
        name: server.desk.folder.name(),
        run: server.notices.run().to_owned(),
        seq,
        files: listed,
        is_cut: is_cut || is_more,
        is_read_only: server.is_read_only,
        model: config.model().cloned().or_else(|| config.endpoint_model().cloned()),
        endpoint: endpoint.and_then(EndpointConfig::name),
        lang: match server.language {
            Language::Zh => "zh",
            _ => "en",
        },
        defaults: defaults(server, &config),
        findings: server.below(Finding::all(call.language, &found)),
    })
}

/// Finds the files that a turn has where nobody names others.
fn defaults(server: &Server, config: &Config) -> Defaults {
    let mut named = TurnOptions::default();
    if config.complete(&mut named, &Sources::default()).is_err() {
        return Defaults::default();
    }
    let id = |path: &PathBuf| server.id(path);
    Defaults {
        agent: named.agent.as_ref().and_then(id),
        conversation: named.session.as_ref().and_then(id),
        profile: named.profile.as_ref().and_then(id),
        worldbooks: named.worldbooks.iter().filter_map(id).collect(),
    }
}

/// Lists what agents may use.
pub(crate) fn registry(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let language = call.language;
    let engine = &server.engine;
    let dialect = match call.query.get("agent").map(String::as_str) {
        Some(id) if !id.is_empty() => dialect_of(server, id)?,
        _ => MacroDialect::default(),
    };
    let word = |text: &str| language.word(text).into_owned();
    let anchors = engine.anchors.definitions().iter().map(|anchor| AnchorInfo {
        id: anchor.id.to_string(),
        name: word(&anchor.name),
        description: word(&anchor.description),
        kind: if anchor.has_template { AnchorKind::Template } else { AnchorKind::Placeholder },
        role: "system",
        template: anchor.default_template.as_ref().map(ToString::to_string).filter(|_| anchor.has_template),
        hint: (!anchor.has_template).then(|| word(&anchor.description)),
    });
    let macros = engine.macros.iter().filter(|known| known.is_in(dialect));
    let mut processors: Vec<ProcessorInfo> = engine
        .processors()
        .descriptors()
        .map(|own| ProcessorInfo {
            id: own.id.to_string(),
            name: word(&own.name),
            description: word(&own.description),
            priority: own.priority,
            is_core: own.is_core,
            is_on: own.default_enabled,
            fields: own.config_fields.iter().map(|field| said(language, field)).collect(),
        })
        .collect();
    processors.sort_by_key(|processor| processor.priority);
    let window = |name: &str| Some((name.to_owned(), engine.models.lookup(name).0.context_window?));
    Reply::json(&Registry {
        anchors: anchors.collect(),
        macros: macros.map(|known| macro_info(language, known)).collect(),
        processors,
        models: engine.models.names().into_iter().map(str::to_owned).collect(),
        windows: engine.models.names().into_iter().filter_map(window).collect(),
        dialects: Dialect::ALL.map(Dialect::name).to_vec(),
    })
}

/// Says what a code means.
pub(crate) fn code(_server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let code = call.part("c");
    let told = call
        .language
        .explanation(code)
        .ok_or_else(|| Refusal::not_found(phrase!("no code `{code}`", code)))?;
    let shown_by = match told.shown {
        Reproduction::Command(command) => Some(command),
        Reproduction::Library | Reproduction::Server => None,
    };
    let Explanation { code, title, cause, example, file, way_out, .. } = told;
    Reply::json(&CodeView { code, title, cause, example, file, shown_by, way_out })
}

/// A setting with its texts in a language.
pub(crate) fn said(language: Language, field: &ConfigField) -> ConfigField {
    let word = |text: &Arc<str>| Arc::from(&*language.word(text));
    ConfigField {
        label: word(&field.label),
        description: field.description.as_ref().map(word),
        placeholder: field.placeholder.as_ref().map(word),
        options: field
            .options
            .iter()
            .map(|option| FieldOption { label: word(&option.label), value: option.value.clone() })
            .collect(),
        ..field.clone()
    }
}

fn macro_info(language: Language, known: &Definition) -> MacroInfo {
    MacroInfo {
        name: known.name.to_string(),
        syntax: format!("{{{{{}}}}}", known.name),
        description: language.word(&known.description).into_owned(),
        example: Some(known.example.clone()).filter(|example| !example.is_empty()),
        aliases: known.aliases.iter().map(ToString::to_string).collect(),
    }
}

/// Finds out in which dialect an agent's macros are written.
fn dialect_of(server: &Server, id: &str) -> Result<MacroDialect, Refusal> {
    let path = server.desk.path(id)?;
    let bytes = server.desk.bytes(id)?;
    // An agent that cannot be read has the macros that all have.
    let file = AgentFile::parse(&bytes, &path, &server.engine).ok();
    Ok(file.map(|file| macro_dialect(&file.agent).0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ctx_compress::mask::MaskConfig;
    use ctx_engine::Engine;

    use super::*;

    #[test]
    fn translates_all_texts_of_settings() {
        let engine = Engine::new();
        let chinese = Language::Zh.catalogue().unwrap();
        let processors = engine.processors();
        let own = processors.descriptors().flat_map(|own| own.config_fields.clone());
        let fields: Vec<ConfigField> = own.chain(MaskConfig::fields().iter().cloned()).collect();
        let texts = fields.iter().flat_map(|field| {
            let options = field.options.iter().map(|option| &option.label);
            [&field.label].into_iter().chain(&field.description).chain(options)
        });
        let names = processors.descriptors().flat_map(|own| [own.name.clone(), own.description.clone()]);
        let all: BTreeSet<String> =
            texts.map(ToString::to_string).chain(names.map(|text| text.to_string())).collect();
        let missing: Vec<&String> = all.iter().filter(|text| chinese.word(text).is_none()).collect();
        assert_eq!(missing, [""; 0]);
    }
}
