// One processor: closed a line, open its settings, each with where it comes from.
import type { Origin } from "../api";
import { projectInfo } from "../project";
import { t } from "../language";
import { ConfigInput } from "../ui/config-field";
import { Button, Switch } from "../ui/button";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { FindingList } from "../inspector/finding-list";
import { toggled } from "../inspector/state";
import { changeOne, reset } from "./commands";
import { entryOf } from "./edits";
import { layer } from "./layer";
import { layerDraft, layerView, openProcessors, pipeline, type Processor } from "./state";

export function ProcessorRow({
  of,
  at,
  isFixed,
  grab,
  step,
}: {
  of: Processor;
  at: number;
  isFixed: boolean;
  grab: (event: PointerEvent, id: string) => void;
  step: (at: number, by: -1 | 1, id: string) => void;
}) {
  const { about, setting } = of;
  const { id, name, isCore } = about;
  const isOpen = openProcessors.value.has(id);
  const isOn = setting.enabled.value;
  const isOwn = layerView.value !== undefined && entryOf(layerView.value, layerDraft.value?.value.value, id) !== undefined;
  return (
    <li
      class={`entry processor ${isOn ? "" : "off"} ${isOpen ? "open" : ""}`}
      data-entry={id}
      data-index={at}
      onKeyDown={(event) => {
        const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
        if (!by || !event.altKey || isFixed) return;
        event.preventDefault();
        step(at, by, id);
      }}
    >
      <div class="line">
        <span class="grip" title={t().drag} aria-hidden="true" onPointerDown={(event) => grab(event, id)}>
          <Icon name="grip-vertical" />
        </span>
        <Switch
          isOn={isOn}
          isDisabled={isCore || isFixed}
          label={isCore ? t().coreProcessor(name) : t().switchOne(name)}
          onChange={(enabled) => changeOne(of, { enabled })}
        />
        <button
          type="button"
          class="main"
          data-part="main"
          aria-expanded={isOpen}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
          onClick={() => (openProcessors.value = toggled(openProcessors.value, id))}
        >
          <span class="number">{setting.priority.value}</span>
          <span class="what">
            <span class="name">
              <span>{name}</span>
              {isCore && <span class="badge">{t().pipeline.core}</span>}
            </span>
            <span class="head">{about.description}</span>
          </span>
        </button>
        <OriginBadge origin={setting.decidedBy ?? "built-in"} />
        {isOwn && (
          <Button class="small" isDisabled={isFixed} onClick={() => reset([id])} label={t().pipeline.resetOne(name)}>
            {t().reset}
          </Button>
        )}
      </div>
      <WholeRule of={of} />
      <RowFindings id={id} />
      {isOpen && <Settings of={of} isFixed={isFixed} />}
    </li>
  );
}

function OriginBadge({ origin }: { origin: Origin }) {
  return <span class={`badge origin of-${origin}`}>{t().pipeline.origins[origin]}</span>;
}

/** The highest layer that names a processor decides about all of it. */
function WholeRule({ of: { setting, about } }: { of: Processor }) {
  const { origins, overruled, decidesInstead } = t().pipeline;
  const decided = setting.decidedBy;
  const names = t().listed((setting.overrules ?? []).map((origin) => origins[origin]));
  const isInVain = decided !== undefined && (setting.overrules ?? []).includes(layer.value);
  if (!decided || names === "") return null;
  return (
    <p class="whole-rule" data-test={`whole-${about.id}`}>
      <Icon name="info" />
      {isInVain ? decidesInstead(origins[decided], origins[layer.value]) : overruled(origins[decided], names)}
    </p>
  );
}

/** What is wrong with the settings of the processor, in any layer. */
function RowFindings({ id }: { id: string }) {
  const view = pipeline.value;
  const draft = layerDraft.value;
  if (!view || !draft) return null;
  const pathOf = (file: string) => projectInfo.value?.files.find((one) => one.id === file)?.path;
  const findings = view.findings.filter((finding) =>
    view.layers.some((one) => {
      const entry = one.entries[id];
      const isInFile = finding.file === pathOf(one.file);
      return entry !== undefined && isInFile && (finding.pointer === entry || finding.pointer?.startsWith(`${entry}/`));
    }),
  );
  return findings.length === 0 ? null : <FindingList findings={findings} file={draft} />;
}

function Settings({ of, isFixed }: { of: Processor; isFixed: boolean }) {
  const { about, setting } = of;
  return (
    <div class="entry-body">
      <div class="fields settings">
        <div class="setting">
          <Field
            label={t().pipeline.priority}
            size="short"
            isLazy
            inputMode="numeric"
            value={String(setting.priority.value)}
            isDisabled={isFixed}
            onInput={(text) => /^-?\d{1,9}$/.test(text.trim()) && changeOne(of, { priority: Number(text) })}
          />
          <OriginBadge origin={setting.priority.origin} />
        </div>
        {about.fields.map((field) => {
          const held = setting.config.find(({ key }) => key === field.key);
          return (
            <ConfigInput
              key={field.key}
              field={field}
              value={held ? held.value : field.default}
              isDisabled={isFixed}
              onChange={(value) => changeOne(of, { config: { [field.key]: value } })}
            >
              <OriginBadge origin={held?.origin ?? "built-in"} />
            </ConfigInput>
          );
        })}
      </div>
      {about.fields.length === 0 && <p class="soft">{t().pipeline.noFields}</p>}
    </div>
  );
}
