// One processor: closed a line with its effect in this turn, open its settings.
import type { ConfigField } from "../api";
import { projectInfo } from "../project";
import { t } from "../language";
import { ConfigInput, withCode } from "../ui/config-field";
import { Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { FindingList } from "../inspector/finding-list";
import { toggled } from "../inspector/state";
import { changeOne, reset } from "./commands";
import { entryOf } from "./edits";
import { Effect } from "./effect";
import { layer } from "./layer";
import { SetBy } from "./set-by";
import { layerDraft, layerView, openProcessors, pipeline, type Processor } from "./state";

const MAX_PRIORITY = 999_999_999;

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
            {(isOn || isOpen) && <span class="head">{withCode(about.description)}</span>}
          </span>
        </button>
        <span class="outcome">
          {isOn && <Effect id={id} name={name} />}
          <SetBy
            origin={setting.decidedBy ?? "built-in"}
            name={name}
            isFixed={isFixed}
            reset={isOwn ? () => reset([id]) : undefined}
          />
        </span>
      </div>
      <WholeRule of={of} />
      <RowFindings id={id} />
      {isOpen && <Settings of={of} isFixed={isFixed} />}
    </li>
  );
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
  const priority: ConfigField = {
    key: "priority",
    label: t().pipeline.priority,
    description: t().pipeline.priorityHelp,
    type: "number",
    default: about.priority,
    minimum: -MAX_PRIORITY,
    maximum: MAX_PRIORITY,
    isWhole: true,
    isRequired: true,
  };
  return (
    <div class="entry-body config">
      {about.fields.map((field) => {
        const held = setting.config.find(({ key }) => key === field.key);
        const isOwn = held?.origin === layer.value;
        const change = (value: unknown) => changeOne(of, { config: { [field.key]: value } });
        return (
          <ConfigInput
            key={field.key}
            field={field}
            value={held ? held.value : field.default}
            isDisabled={isFixed}
            onChange={change}
          >
            <SetBy
              origin={held?.origin ?? "built-in"}
              name={field.label}
              isFixed={isFixed}
              reset={isOwn ? () => change(field.default) : undefined}
            />
          </ConfigInput>
        );
      })}
      <ConfigInput
        field={priority}
        value={setting.priority.value}
        isDisabled={isFixed}
        onChange={(value) => changeOne(of, { priority: Number(value) })}
      >
        <SetBy
          origin={setting.priority.origin}
          name={priority.label}
          isFixed={isFixed}
          reset={
            setting.priority.origin === layer.value ? () => changeOne(of, { priority: about.priority }) : undefined
          }
        />
      </ConfigInput>
    </div>
  );
}
