// One entry of the list: closed it is a line, open it has its editor.
import { useState } from "preact/hooks";
import type { Finding } from "../api";
import { registry } from "../project";
import { figure, roleName, t } from "../language";
import { IconButton, Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { memo } from "../ui/memo";
import { AddAnchor } from "./add-anchor";
import { AnchorRail } from "./anchor-rail";
import { beginRange, chooseRange, toggleChoice } from "./choose";
import { EntryEditor } from "./entry-editor";
import { MoveDialog } from "./move-dialog";
import { addMessage, duplicate, movedWith, step, switchAll } from "./commands";
import { anchorType, contentOf, isOn, roleOf, titleOf, type Entry, type Group } from "./entries";
import { isPlaceholder, kindOf, labelOf } from "./label";
import { fold } from "./folds";
import { MarkedHead, MarkedLabel } from "./marked";
import { placementOf } from "./placement";
import { placeName } from "./place-name";
import type { Preset } from "./actions";
import type { Section } from "./section-lines";
import { act, entryMenu } from "./entry-menu";
import { focusedKey, open, preset } from "./state";

export interface EntryRowProps {
  entry: Entry;
  group?: Group;
  section?: Section;
  grab: (event: PointerEvent, entry: Entry) => void;
  isHidden: boolean;
  /** Whether it is below a heading. */
  isInside: boolean;
  isOpen: boolean;
  isSelecting: boolean;
  isSelected: boolean;
  isFixed: boolean;
  /** Reason why the entry cannot be dragged. */
  whyNotDragged?: string;
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

/** Properties that the content does not show. */
const OF_OUTER: ReadonlySet<keyof EntryRowProps> = new Set(["grab", "isHidden", "isInside"]);
const BY_CONTENT: ReadonlySet<keyof EntryRowProps> = new Set(["group", "section", "findings"]);

/** Draws a row only if something that it shows has changed: a long preset is typed in as easily as a short one. */
const RowContent = memo(Content, (before: EntryRowProps, after: EntryRowProps) =>
  (Object.keys(after) as (keyof EntryRowProps)[]).every(
    (name) =>
      OF_OUTER.has(name) ||
      before[name] === after[name] ||
      (BY_CONTENT.has(name) && JSON.stringify(before[name]) === JSON.stringify(after[name])),
  ),
);

/** Draws the outer element of a row every time. A search hides and shows rows on each keystroke. */
export function EntryRow(props: EntryRowProps) {
  const { entry, group, section, isHidden, isInside, isOpen, isSelected, isFixed } = props;
  const classes = {
    off: !isOn(entry) || group?.isEnabled === false,
    anchor: anchorType(entry) !== undefined,
    open: isOpen,
    selected: isSelected,
    grouped: group !== undefined,
    inside: isInside,
    heading: section !== undefined,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
    if (!by || !event.altKey || isFixed) return;
    event.preventDefault();
    event.stopPropagation();
    const part = (event.target as HTMLElement).dataset["part"] ?? "main";
    act((now) => step(now, entry, by, part))();
  };
  return (
    <li
      class={["entry", ...Object.entries(classes).flatMap(([name, isSet]) => (isSet ? name : []))].join(" ")}
      hidden={isHidden}
      data-entry={entry.key}
      data-index={entry.index}
      data-end={entry.index + 1 + (section?.isFolded ? section.count : 0)}
      data-id={titleOf(entry)}
      onKeyDown={onKeyDown}
    >
      <RowContent {...props} />
    </li>
  );
}

function Content({
  entry,
  group,
  section,
  grab,
  isOpen,
  isSelecting,
  isSelected,
  isFixed,
  whyNotDragged,
  count,
  tokens,
  why,
  findings,
  of,
}: EntryRowProps) {
  const [dialog, setDialog] = useState<"move" | "anchor" | undefined>(undefined);
  const type = anchorType(entry);
  const label = labelOf(entry);
  const choose = (event: MouseEvent) => {
    if (event.shiftKey) chooseRange(entry.key);
    else toggleChoice(entry.key);
  };
  const items = () => entryMenu(entry, group, section !== undefined, count, isFixed, setDialog);
  const now = of ?? (dialog ? preset.peek() : undefined);
  return (
    <>
      <div class="line">
        {isSelecting && (
          <input
            type="checkbox"
            class="pick"
            data-part="pick"
            checked={isSelected}
            aria-label={t().selectOne(label)}
            onClick={choose}
          />
        )}
        <span
          class={`grip ${whyNotDragged === undefined ? "" : "fixed"}`}
          title={whyNotDragged ?? t().drag}
          aria-hidden="true"
          onPointerDown={(event) => grab(event, entry)}
        >
          <Icon name="grip-vertical" />
        </span>
        <Switch
          isOn={isOn(entry)}
          isRadio={group?.isRadio}
          label={t().switchOne(label)}
          isDisabled={isFixed}
          onChange={(next) => act((now) => switchAll(now, [entry], next))()}
        />
        {section && (
          <button
            type="button"
            class="icon-button fold"
            data-part="fold"
            aria-expanded={!section.isFolded}
            aria-label={t().preset.entriesBelow(label)}
            title={t().preset.entriesBelow(label)}
            onClick={() => fold([section.id], !section.isFolded)}
          >
            <Icon name={section.isFolded ? "chevron-right" : "chevron-down"} />
          </button>
        )}
        <button
          type="button"
          class="main"
          data-part="main"
          aria-expanded={isOpen}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
          onClick={(event) => {
            if (event.shiftKey || event.ctrlKey || event.metaKey) return choose(event);
            beginRange(entry.key);
            focusedKey.value = entry.key;
            open(entry.key, !isOpen);
          }}
        >
          <span class="number">{entry.index + 1}</span>
          <span class="what">
            <span class="name">
              {type && <Icon name="anchor" />}
              <span>
                <MarkedLabel entry={entry} />
              </span>
              <Marks findings={findings} />
            </span>
            <span class="head">
              <MarkedHead entry={entry} head={head(entry)} />
            </span>
          </span>
        </button>
        <span class="facts">
          {section ? (
            <span class="fact" data-test="section">
              {t().preset.enabledOf(section.enabled, section.count)}
            </span>
          ) : type ? (
            <span class="fact">{t().anchorKinds[kindOf(type)]}</span>
          ) : (
            <>
              <span class="fact role">{roleName(roleOf(entry))}</span>
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
      {dialog === "move" && now && (
        <MoveDialog
          of={now}
          chosen={section?.isFolded ? movedWith(now, entry) : [entry]}
          close={() => setDialog(undefined)}
        />
      )}
      {dialog === "anchor" && now && <AddAnchor of={now} after={entry} close={() => setDialog(undefined)} />}
    </>
  );
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
  if (!isOn(entry) || group?.isEnabled === false) return t().isOff;
  return dropped.get(entry.pointer) ?? (isPlaceholder(entry) ? t().neverSent : t().notSent);
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
