// What each stage of the pipeline did, and which processors run: their switches count for this window's preview only.
import { useEffect, useRef } from "preact/hooks";
import type { ProcessorInfo, StageView } from "../api";
import { switches, type Shown } from "../preview";
import { registry } from "../project";
import { figure, t } from "../language";
import { Button, Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { wantedStage } from "./state";

interface Line {
  key: string;
  id: string;
  name: string;
  /** What it did; absent where it did not run. */
  stage?: StageView;
  about?: ProcessorInfo;
}

export function Stages({ shown }: { shown: Shown }) {
  return (
    <>
      {shown.stages.length === 0 && <p class="empty soft">{t().noStages}</p>}
      <ol class="stages">
        {lines(shown.stages, registry.value.processors).map((line) => (
          <Processor key={line.key} line={line} hasRun={shown.stages.length > 0} />
        ))}
      </ol>
    </>
  );
}

/** The stages in their order, and among them, by their built-in order, the processors that did not run. */
function lines(stages: readonly StageView[], known: readonly ProcessorInfo[]): Line[] {
  const rank = (id: string) => known.findIndex((one) => one.id === id);
  const count = (id: string, until: number) => stages.slice(0, until).filter((stage) => stage.id === id).length;
  const all = stages.map((stage, at): Line => {
    const { id, name } = stage;
    return { key: `${id} ${count(id, at)}`, id, name, stage, about: known[rank(id)] };
  });
  known.forEach((about, own) => {
    const { id, name } = about;
    if (stages.some((stage) => stage.id === id)) return;
    all.splice(all.findLastIndex((line) => rank(line.id) < own) + 1, 0, { key: `${id} 0`, id, name, about });
  });
  return all;
}

function Processor({ line, hasRun }: { line: Line; hasRun: boolean }) {
  const { id, name, stage, about } = line;
  const by = stage ? stage.after - stage.before : 0;
  const log = stage?.log ?? [];
  const item = useRef<HTMLLIElement>(null);
  const isWanted = wantedStage.value === id;
  useEffect(() => {
    if (!isWanted) return;
    wantedStage.value = undefined;
    item.current?.focus();
  }, [isWanted]);
  return (
    <li ref={item} tabIndex={-1} class={by === 0 && log.length === 0 ? "idle" : ""} data-id={id}>
      <div class="line">
        {about && <ProcessorSwitch about={about} isOn={hasRun ? stage !== undefined : about.isOn} />}
        <b title={about?.description}>{name}</b> <code>{id}</code>
        <span class="gap" />
        <span class="counts">
          {stage ? t().counts(figure(stage.before), figure(stage.after)) : hasRun && t().disabled}
          {by !== 0 && <b class={by > 0 ? "plus" : "minus"}> {by > 0 ? `+${by}` : by}</b>}
        </span>
      </div>
      {log.length > 0 && (
        <ul>
          {log.map((text, at) => (
            <li key={at}>{text}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Switched twice, a processor is again as the files have it. */
function ProcessorSwitch({ about, isOn }: { about: ProcessorInfo; isOn: boolean }) {
  const { id, name, isCore } = about;
  const { enable, disable } = switches.value;
  const isSwitched = enable.includes(id) || disable.includes(id);
  const flip = () => {
    const but = (ids: string[]) => ids.filter((one) => one !== id);
    const more = isSwitched ? [] : [id];
    switches.value = {
      enable: isOn ? but(enable) : [...but(enable), ...more],
      disable: isOn ? [...but(disable), ...more] : but(disable),
    };
  };
  return (
    <Switch
      isOn={enable.includes(id) || (isOn && !disable.includes(id))}
      isDisabled={isCore}
      label={isCore ? t().coreProcessor(name) : t().switchOne(name)}
      onChange={flip}
    />
  );
}

/** Says on every tab that the preview is not what the files make. */
export function SwitchesNote() {
  const { enable, disable } = switches.value;
  const count = enable.length + disable.length;
  if (count === 0) return null;
  return (
    <p class="bar-note" data-test="switches">
      <Icon name="info" />
      <span>{t().switched(count)}</span>
      <Button onClick={() => (switches.value = { enable: [], disable: [] })} testId="switches-reset">
        {t().reset}
      </Button>
    </p>
  );
}
