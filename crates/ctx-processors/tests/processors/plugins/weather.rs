//! A processor that adds an injection, here above the newest message.

use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
use ctx_types::{DepthPoints, Injection, Order, Placement, Source, SourceKind, Trust};

pub(crate) struct WeatherProcessor;

#[async_trait]
impl ContextProcessor for WeatherProcessor {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("weather", "Weather", "Says what the sky looks like")
            .with(|descriptor| descriptor.priority = 290)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id("weather");
        let placement = Placement::Depth { points: DepthPoints::single(1), order: Order::DEFAULT };
        cx.draft.inject(Injection::plugin("It rains.", placement, source));
        Ok(())
    }
}
