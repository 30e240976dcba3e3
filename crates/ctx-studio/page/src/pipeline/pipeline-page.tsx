// The processors in the order in which they run, each with a form that is made of its description alone.
import { Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../language";
import { announce } from "../announce";
import { startDrag } from "../preset/drag";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icon";
import { place, priorities, reset } from "./commands";
import { Compression } from "./compression";
import { groupsOf, type Group } from "./groups";
import { layer, pipelineView } from "./layer";
import { LayerSelect, ModelNote } from "./layer-bar";
import { ProcessorRow } from "./processor-row";
import { layerDraft, layerView, pipeline, pipelineFailure, processors } from "./state";

const VIEWS = ["processors", "compression"] as const;

export function PipelinePage() {
  const failure = pipelineFailure.value;
  const isOfProcessors = pipelineView.value === "processors";
  const { title, views } = t().pipeline;
  return (
    <section class="pipeline-page" aria-labelledby="pipeline-title">
      <h1 id="pipeline-title" class="hidden">
        {title}
      </h1>
      <div class="layers">
        <span class="choice" role="group" aria-label={t().viewAs}>
          {VIEWS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={pipelineView.value === name}
              onClick={() => choose(name)}
              data-test={`pipeline-${name}`}
            >
              {views[name]}
            </button>
          ))}
        </span>
        {pipeline.value && <LayerSelect hasModels={isOfProcessors} />}
        {isOfProcessors && <ResetAll />}
      </div>
      {isOfProcessors && <ModelNote />}
      {failure && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {failure.message || t().offline}
        </p>
      )}
      {!pipeline.value && !failure && <p class="empty soft">{t().loading}</p>}
      {isOfProcessors ? <Processors /> : <Compression />}
    </section>
  );
}

function choose(view: (typeof VIEWS)[number]): void {
  pipelineView.value = view;
  // A file with the settings of a model cannot set compression.
  if (view === "compression" && layer.peek() === "model") layer.value = "agent";
}

function ResetAll() {
  const own = Object.keys(layerView.value?.entries ?? {});
  return (
    <Button
      icon="undo-2"
      isDisabled={own.length === 0 || layerDraft.value?.isReadOnly.value !== false}
      onClick={() => {
        reset(own);
        document.querySelector<HTMLElement>("[data-test=layer]")?.focus();
      }}
      testId="reset-all"
    >
      {t().pipeline.resetAll(own.length)}
    </Button>
  );
}

function Processors() {
  const list = useRef<HTMLOListElement>(null);
  const [crowded, ask] = useState<Map<string, number> | undefined>(undefined);
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
  const all = processors.value;
  const groups = groupsOf(
    all.map(({ about, setting }) => ({ id: about.id, priority: setting.priority.value, builtIn: about.priority })),
  );
  return (
    <>
      <ol ref={list} class="entries processors" aria-label={t().pipeline.title}>
        {all.map((one, at) => (
          <Fragment key={one.about.id}>
            {groups[at] && groups[at] !== groups[at - 1] && <GroupTitle group={groups[at]} />}
            <ProcessorRow of={one} at={at} isFixed={isFixed} grab={grab} step={step} />
          </Fragment>
        ))}
      </ol>
      {crowded && <CrowdedDialog wanted={crowded} close={() => ask(undefined)} />}
    </>
  );
}

function GroupTitle({ group }: { group: Group }) {
  const { name, help } = t().pipeline.groups[group];
  return (
    <li class="group-title" data-group={group}>
      <h2>{name}</h2>
      <span class="soft">{help}</span>
    </li>
  );
}

/** No priority is free at the wanted place: others must move too. */
function CrowdedDialog({ wanted, close }: { wanted: ReadonlyMap<string, number>; close: () => void }) {
  const { crowded, crowdedHelp, moveToo } = t().pipeline;
  const moveAll = () => {
    place(wanted);
    close();
  };
  return (
    <Dialog
      title={crowded}
      onClose={close}
      actions={
        <Button kind="main" testId="move-too" onClick={moveAll}>
          {moveToo}
        </Button>
      }
    >
      <p>{crowdedHelp}</p>
      <ul>
        {[...wanted].map(([id, priority]) => (
          <li key={id}>
            {processors.value.find(({ about }) => about.id === id)?.about.name} → {priority}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function focus(id: string): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-entry="${id}"] [data-part=main]`)?.focus({ preventScroll: true }),
  );
}
