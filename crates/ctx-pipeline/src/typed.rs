use std::future::Future;

use async_trait::async_trait;
use ctx_types::Agent;

use crate::context::PipelineContext;
use crate::error::ProcessorResult;
use crate::processor::{ContextProcessor, Descriptor, PrepareContext, PreparedData};
use crate::settings::{Config, SettingsReader};

/// A processor with typed settings. It declares and reads each of them once, in `prepare`.
///
/// ```
/// use ctx_pipeline::{
///     ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareInput, ProcessorResult,
///     TypedProcessor,
/// };
/// use ctx_types::phrase;
///
/// struct Greeting;
///
/// impl TypedProcessor for Greeting {
///     type Prepared = String;
///
///     fn descriptor(&self) -> Descriptor {
///         Descriptor::new("greeting", "Greeting", "Logs a word")
///     }
///
///     fn prepare(&self, input: &mut PrepareInput<'_>) -> String {
///         input.settings.read(ConfigField::text("word", "Word", "Hello"))
///     }
///
///     async fn run(&self, word: &String, cx: &mut PipelineContext<'_>) -> ProcessorResult {
///         cx.log(phrase!("{word}", word));
///         Ok(())
///     }
/// }
/// assert_eq!(&*ContextProcessor::descriptor(&Greeting).config_fields[0].key, "word");
/// ```
pub trait TypedProcessor: Send + Sync {
    /// Settings, and data that all runs share, such as regexes.
    type Prepared: Send + Sync + 'static;

    /// Returns the id and defaults; `prepare` declares the settings.
    fn descriptor(&self) -> Descriptor;

    /// Reads the settings and compiles them with the agent.
    ///
    /// It also runs with an empty agent, to list the settings: read all of them, in the same order.
    fn prepare(&self, input: &mut PrepareInput<'_>) -> Self::Prepared;

    /// Changes the draft of one turn.
    fn run(
        &self,
        prepared: &Self::Prepared,
        cx: &mut PipelineContext<'_>,
    ) -> impl Future<Output = ProcessorResult> + Send;
}

/// Input of [`TypedProcessor::prepare`].
#[derive(Debug)]
pub struct PrepareInput<'a> {
    /// Declares and reads settings.
    pub settings: SettingsReader<'a>,
    /// The agent.
    pub agent: &'a Agent,
    /// Other inputs, and diagnostics.
    pub cx: &'a mut PrepareContext,
}

#[async_trait]
impl<P: TypedProcessor> ContextProcessor for P {
    fn descriptor(&self) -> Descriptor {
        let (agent, mut cx) = (Agent::default(), PrepareContext::default());
        let mut input = PrepareInput { settings: SettingsReader::default(), agent: &agent, cx: &mut cx };
        TypedProcessor::prepare(self, &mut input);
        let fields = input.settings.finish();
        TypedProcessor::descriptor(self).with(|descriptor| descriptor.config_fields = fields)
    }

    fn prepare(&self, agent: &Agent, config: &Config, cx: &mut PrepareContext) -> PreparedData {
        let mut input = PrepareInput { settings: SettingsReader::new(config), agent, cx };
        PreparedData::new(TypedProcessor::prepare(self, &mut input))
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let prepared: &PreparedData = cx.prepared;
        let prepared = prepared.get::<P::Prepared>().expect("`prepare` returned a value of this type");
        self.run(prepared, cx).await
    }
}
