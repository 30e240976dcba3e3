use ctx_pipeline::internal::{CompileContext, Pipeline, SettingsLayer};
use ctx_pipeline::{ProcessorRegistry, SettingOrigin};
use ctx_types::Agent;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::settings::case::add;

proptest! {
    #[test]
    fn orders_each_enabled_processor_once(
        processors in vec((prop_oneof![9 => -3..3_i64, 1 => any::<i64>()], any::<bool>(), proptest::option::of(any::<bool>())), 0..12),
    ) {
        let mut registry = ProcessorRegistry::default();
        let mut expected = Vec::new();
        let mut settings = Vec::new();
        for (index, (priority, is_on, set)) in processors.iter().enumerate() {
            add(&mut registry, &index.to_string(), *priority, *is_on, Vec::new());
            settings.extend(set.map(|enabled| json!({ "id": index.to_string(), "enabled": enabled })));
            if set.unwrap_or(*is_on) {
                expected.push((*priority, index));
            }
        }
        expected.sort_unstable();
        let expected: Vec<String> = expected.into_iter().map(|(_, index)| index.to_string()).collect();
        let (layer, _) = SettingsLayer::from_parameters(SettingOrigin::User, &json!({ "processors": settings }), "");
        let pipeline = Pipeline::compile(&registry, &Agent::default(), CompileContext::default(), &[layer]);
        prop_assert_eq!(pipeline.order().collect::<Vec<_>>(), expected);
    }
}
