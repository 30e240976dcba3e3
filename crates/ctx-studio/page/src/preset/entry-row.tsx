// One entry of the list: closed it is a line, open it has its editor.
import { useState } from "preact/hooks";
import type { Finding } from "../api";
import { registry } from "../project";
import { figure, t } from "../language";
import { IconButton, Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { memo } from "../ui/memo";
import { toggled } from "../inspector/state";
import { AddAnchor } from "./add-anchor";
import { AnchorRail } from "./anchor-rail";
import { EntryEditor } from "./entry-editor";
import { MoveDialog } from "./move-dialog";
import { addMessage, duplicate, labelOf, step, switchAll } from "./commands";
import { anchorType, contentOf, isOn, roleOf, titleOf, type Entry, type Group } from "./entries";
import { placementOf } from "./placement";
import { placeName } from "./place-name";
import type { Preset } from "./actions";
import { act, entryMenu } from "./entry-menu";
import { open, preset, selected } from "./state";

export interface EntryRowProps {
  entry: Entry;
  group?: Group;
  grab: (event: PointerEvent, entry: Entry) => void;
  isOpen: boolean;
  isSelecting: boolean;
  isSelected: boolean;
  isFixed: boolean;
  /** How many entries there are. */
  count: number;
  /** What it costs in the preview; or why it costs nothing. */
  tokens?: number;
  why?: string;
  findings: readonly Finding[];
  lang: string;
  /** Only for what shows more than the entry itself: an open one, an anchor. */
  of?: Preset;
}

/** Draws a row only if something that it shows has changed: a long preset is typed in as easily as a short one. */
export const EntryRow = memo(Row, (before: EntryRowProps, after: EntryRowProps) =>
  (Object.keys({ ...before, ...after }) as (keyof EntryRowProps)[]).every(
    (name) =>
      name === "grab" ||
      before[name] === after[name] ||
      ((name === "group" || name === "findings") && JSON.stringify(before[name]) === JSON.stringify(after[name])),
  ),
);

function Row({
  entry,
  group,
  grab,
  isOpen,
  isSelecting,
  isSelected,
  isFixed,
  count,
  tokens,
  why,
  findings,
  of,
}: EntryRowProps) {
  const [dialog, setDialog] = useState<"move" | "anchor" | undefined>(undefined);
  const type = anchorType(entry);
  const isActive = isOn(entry) && group?.isEnabled !== false;
  const label = labelOf(entry);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
    if (!by || !event.altKey || isFixed) return;
    event.preventDefault();
    event.stopPropagation();
    const part = (event.target as HTMLElement).dataset["part"] ?? "main";
    act((now) => step(now, entry, by, part))();
  };
  const items = () => entryMenu(entry, group, count, isFixed, setDialog);
  const now = of ?? (dialog ? preset.peek() : undefined);
  return (
    <li
      class={`entry ${isActive ? "" : "off"} ${type ? "anchor" : ""} ${isOpen ? "open" : ""} ${isSelected ? "selected" : ""} ${group ? "grouped" : ""}`}
      data-entry={entry.key}
      data-index={entry.index}
      data-id={titleOf(entry)}
      onKeyDown={onKeyDown}
    >
      <div class="line">
        {isSelecting && (
          <input
            type="checkbox"
            class="pick"
            checked={isSelected}
            aria-label={t().selectOne(label)}
            onChange={() => (selected.value = toggled(selected.value, entry.key))}
          />
        )}
        <span class="grip" title={t().drag} aria-hidden="true" onPointerDown={(event) => grab(event, entry)}>
          <Icon name="grip-vertical" />
        </span>
        <Switch
          isOn={isOn(entry)}
          isRadio={group?.isRadio}
          label={t().switchOne(label)}
          isDisabled={isFixed}
          onChange={(next) => act((now) => switchAll(now, [entry], next))()}
        />
        <button
          type="button"
          class="main"
          data-part="main"
          aria-expanded={isOpen}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
          onClick={() => open(entry.key, !isOpen)}
        >
          <span class="number">{entry.index + 1}</span>
          <span class="what">
            <span class="name">
              {type && <Icon name="anchor" />}
              <span>{label}</span>
              <Marks findings={findings} />
            </span>
            <span class="head">{head(entry)}</span>
          </span>
        </button>
        <span class="facts">
          {type ? (
            <span class="fact">{t().anchorKinds[kindOf(type)]}</span>
          ) : (
            <>
              <span class="fact role">{roleOf(entry)}</span>
              <span class="fact place">{placeName(placementOf(entry))}</span>
            </>
          )}
        </span>
        <Tokens tokens={tokens} why={why} />
        <span class="commands">
          <IconButton
            icon="plus"
            label={t().addBelow}
            isDisabled={isFixed}
            onClick={act((now) => addMessage(now, entry))}
          />
          <IconButton
            icon="copy"
            label={t().duplicate}
            isDisabled={isFixed}
            onClick={act((now) => duplicate(now, [entry]))}
          />
          <Menu label={t().moreFor(label)} icon="ellipsis" items={items} testId="entry-menu" />
        </span>
      </div>
      {type && of && <AnchorRail of={of} entry={entry} isOpen={isOpen} />}
      {isOpen && of && <EntryEditor of={of} entry={entry} findings={findings} />}
      {dialog === "move" && now && <MoveDialog of={now} chosen={[entry]} close={() => setDialog(undefined)} />}
      {dialog === "anchor" && now && <AddAnchor of={now} after={entry} close={() => setDialog(undefined)} />}
    </li>
  );
}

/** An anchor that the registry does not know is no template that could be sent. */
export function kindOf(type: string): "template" | "placeholder" {
  return registry.value.anchors.find(({ id }) => id === type)?.kind ?? "placeholder";
}

function head(entry: Entry): string {
  const type = anchorType(entry);
  if (type && kindOf(type) === "placeholder") {
    const known = registry.value.anchors.find(({ id }) => id === type);
    return known?.hint ?? known?.description ?? "";
  }
  const first =
    contentOf(entry)
      .split("\n")
      .find((line) => line.trim() !== "") ?? "";
  return first.slice(0, 200);
}

function Tokens({ tokens, why }: { tokens?: number; why?: string }) {
  if (tokens !== undefined)
    return (
      <span class="tokens" data-test="tokens" title={t().tokensOf(figure(tokens))}>
        {figure(tokens)}
      </span>
    );
  return (
    <span class="tokens soft" title={why}>
      <span aria-hidden="true">–</span>
      <span class="hidden">{why}</span>
    </span>
  );
}

/** Why an entry costs nothing. */
export function reasonOf(entry: Entry, group: Group | undefined, dropped: ReadonlyMap<string, string>): string {
  const type = anchorType(entry);
  if (!isOn(entry) || group?.isEnabled === false) return t().isOff;
  return (
    dropped.get(entry.pointer) ?? (type !== undefined && kindOf(type) === "placeholder" ? t().neverSent : t().notSent)
  );
}

function Marks({ findings }: { findings: readonly Finding[] }) {
  const worst = ["error", "warning", "info"].find((severity) => findings.some((one) => one.severity === severity));
  if (!worst) return null;
  const icon = { error: "circle-alert", warning: "triangle-alert", info: "info" }[worst] ?? "info";
  return (
    <span class={`mark ${worst}`} title={findings.map(({ code, message }) => `${code} ${message}`).join("\n")}>
      <Icon name={icon} />
      {findings.length}
      <span class="hidden"> {t().findings}</span>
    </span>
  );
}
