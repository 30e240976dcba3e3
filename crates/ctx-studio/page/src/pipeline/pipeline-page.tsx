// The processors in the order in which they run, each with a form that is made of its description alone.
import { useRef, useState } from "preact/hooks";
import type { Origin } from "../api";
import { filesOf, projectInfo } from "../project";
import { inputs } from "../turn";
import { t } from "../language";
import { announce } from "../announce";
import { startDrag } from "../preset/drag";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Select } from "../ui/field";
import { Icon } from "../ui/icon";
import { place, priorities, reset } from "./commands";
import { ORIGINS } from "./edits";
import { Compression } from "./compression";
import { layer, pipelineView } from "./layer";
import { ProcessorRow } from "./processor-row";
import { layerDraft, layerView, pipeline, pipelineFailure, processors } from "./state";

const VIEWS = ["processors", "compression"] as const;

export function PipelinePage() {
  const list = useRef<HTMLOListElement>(null);
  const [crowded, ask] = useState<Map<string, number> | undefined>(undefined);
  const failure = pipelineFailure.value;
  const isFixed = !layerView.value || layerDraft.value?.isReadOnly.value !== false;
  const move = (from: number, to: number) => {
    if (isFixed) return;
    if (to < 0 || to > processors.peek().length) return announce(t().atTheEdge);
    const wanted = priorities(from, to);
    if (wanted.size > 1) ask(wanted);
    else if (wanted.size === 1) place(wanted);
  };
  const grab = (event: PointerEvent, id: string) => {
    const from = processors.peek().findIndex(({ about }) => about.id === id);
    if (!list.current || isFixed) return;
    startDrag(event, { list: list.current, keys: new Set([id]), onDrop: (to) => move(from, to), onEnd: () => focus(id) });
  };
  const step = (at: number, by: -1 | 1, id: string) => {
    move(at, by < 0 ? at - 1 : at + 2);
    focus(id);
  };
  const isOfProcessors = pipelineView.value === "processors";
  const { title, crowdedHelp, moveToo } = t().pipeline;
  return (
    <section class="pipeline-page" aria-labelledby="pipeline-title">
      <h1 id="pipeline-title" class="hidden">
        {title}
      </h1>
      <span class="choice" role="group" aria-label={t().viewAs}>
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={pipelineView.value === name}
            onClick={() => (pipelineView.value = name)}
            data-test={`pipeline-${name}`}
          >
            {t().pipeline.views[name]}
          </button>
        ))}
      </span>
      <Layers isOfProcessors={isOfProcessors} />
      {failure && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {failure.message || t().offline}
        </p>
      )}
      {!pipeline.value && !failure && <p class="empty soft">{t().loading}</p>}
      {!isOfProcessors && <Compression />}
      {isOfProcessors && (
        <ol ref={list} class="entries processors" aria-label={title}>
          {processors.value.map((one, at) => (
            <ProcessorRow key={one.about.id} of={one} at={at} isFixed={isFixed} grab={grab} step={step} />
          ))}
        </ol>
      )}
      {crowded && (
        <Dialog
          title={t().pipeline.crowded}
          onClose={() => ask(undefined)}
          actions={
            <Button
              kind="main"
              testId="move-too"
              onClick={() => {
                place(crowded);
                ask(undefined);
              }}
            >
              {moveToo}
            </Button>
          }
        >
          <p>{crowdedHelp}</p>
          <ul>
            {[...crowded].map(([id, priority]) => (
              <li key={id}>
                {processors.value.find(({ about }) => about.id === id)?.about.name} → {priority}
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </section>
  );
}

function focus(id: string): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-entry="${id}"] [data-part=main]`)?.focus({ preventScroll: true }),
  );
}

/** Where changes are written. */
function Layers({ isOfProcessors }: { isOfProcessors: boolean }) {
  const { layerLabel, layers, noFile, resetAll, modelFile } = t().pipeline;
  const path = (origin: Origin) => {
    const id = pipeline.value?.layers.find((one) => one.origin === origin)?.file;
    return projectInfo.value?.files.find((one) => one.id === id)?.path;
  };
  const settings = filesOf("settings");
  const own = Object.keys(layerView.value?.entries ?? {});
  return (
    <div class="layers">
      <fieldset class="choice-of-layer">
        <legend>{layerLabel}</legend>
        {ORIGINS.filter((origin) => isOfProcessors || origin !== "model").map((origin) => (
          <label key={origin} class="check">
            <input
              type="radio"
              name="layer"
              checked={layer.value === origin}
              disabled={path(origin) === undefined}
              onChange={() => (layer.value = origin)}
              data-test={`layer-${origin}`}
            />
            <span>
              {layers[origin]} <small class="soft">{path(origin) ?? noFile[origin]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {isOfProcessors && settings.length > 0 && (
        <Select
          label={modelFile}
          value={inputs.value.modelSettings ?? ""}
          options={[{ value: "", label: t().none }, ...settings.map(({ id, path }) => ({ value: id, label: path }))]}
          onChange={(id) => {
            inputs.value = { ...inputs.value, modelSettings: id || undefined };
            if (id === "" && layer.value === "model") layer.value = "agent";
          }}
          testId="model-settings"
        />
      )}
      {isOfProcessors && <Button
        icon="undo-2"
        isDisabled={own.length === 0 || layerDraft.value?.isReadOnly.value !== false}
        onClick={() => reset(own)}
        testId="reset-all"
      >
        {resetAll(own.length)}
      </Button>}
    </div>
  );
}
