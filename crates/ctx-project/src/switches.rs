//! Names of processors that `case.yaml` switches on or off: whether there are such processors.

use ctx_engine::Engine;
use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::{ProcessorSetting, SettingPlace, SettingsLayer};
use ctx_types::{Diagnostic, Edit, Fix};

use crate::named;

/// Finds what is wrong with the names of a list, and says it there.
pub fn faults(list: &str, names: &[String], is_on: bool, engine: &Engine) -> Vec<Diagnostic> {
    let (names, more) = named::first(names, list);
    let layer = |(index, name): (usize, &String)| {
        let place = format!("{list}/{index}");
        let place = SettingPlace { config: place.as_str().into(), entry: place.into() };
        let setting = ProcessorSetting { place: Some(place), ..ProcessorSetting::switch(name, is_on) };
        // Each has a layer of its own: none takes the place of another.
        SettingsLayer { origin: SettingOrigin::CommandLine, settings: vec![setting] }
    };
    let layers: Vec<SettingsLayer> = names.iter().enumerate().map(layer).collect();
    let (_, found) = engine.processors().resolve(&layers);
    found.into_iter().map(of_name).chain(more).collect()
}

/// Lets the edit of an entry of settings be one of the name that stands for it.
fn of_name(mut finding: Diagnostic) -> Diagnostic {
    finding.fix = finding.fix.and_then(|fix| match fix.edit {
        Edit::Value(name) => Some(Box::new(Fix::value(name))),
        _ => None,
    });
    finding
}
