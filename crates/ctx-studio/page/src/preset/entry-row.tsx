// One entry of the list: closed it is a line, open it has its editor.
import { useState } from "preact/hooks";
import type { Finding } from "../api";
import { droppedBy, preview } from "../preview";
import { registry } from "../project";
import { figure, t } from "../language";
import { IconButton, Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem } from "../ui/menu";
import { toggled } from "../inspector/state";
import { AddAnchor } from "./add-anchor";
import { AnchorRail } from "./anchor-rail";
import { EntryEditor } from "./entry-editor";
import { MoveDialog } from "./move-dialog";
import { addMessage, duplicate, labelOf, putIntoGroup, remove, step, switchAll } from "./commands";
import { anchorType, contentOf, isOn, roleOf, titleOf, type Entry, type Group } from "./entries";
import { placementOf } from "./placement";
import { placeName } from "./place-name";
import { canGroup, type Preset } from "./actions";
import { expanded, isSelecting, open, selected } from "./state";

export function EntryRow({ of, entry, group, grab }: { of: Preset; entry: Entry; group?: Group; grab: (event: PointerEvent, entry: Entry) => void }) {
  const [dialog, setDialog] = useState<"move" | "anchor" | undefined>(undefined);
  const isOpen = expanded.value.has(entry.key);
  const isFixed = of.file.isReadOnly.value;
  const type = anchorType(entry);
  const isSelected = selected.value.has(entry.key);
  const isActive = isOn(entry) && group?.isEnabled !== false;
  const label = labelOf(entry);
  const findings = findingsOf(of, entry);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
    if (by && event.altKey && !isFixed) {
      event.preventDefault();
      event.stopPropagation();
      step(of, entry, by, (event.target as HTMLElement).dataset["part"] ?? "main");
    }
  };
  const items = (): MenuItem[] => [
    { label: t().addBelow, icon: "plus", isDisabled: isFixed, run: () => addMessage(of, entry) },
    { label: t().addAnchorBelow, icon: "anchor", isDisabled: isFixed, run: () => setDialog("anchor") },
    { label: t().duplicate, icon: "copy", isDisabled: isFixed, run: () => duplicate(of, [entry]) },
    { label: t().moveUp, icon: "arrow-up", keys: "Alt+↑", isFirstOfPart: true, isDisabled: isFixed || entry.index === 0, run: () => step(of, entry, -1, "menu") },
    { label: t().moveDown, icon: "arrow-down", keys: "Alt+↓", isDisabled: isFixed || entry.index === of.entries.length - 1, run: () => step(of, entry, 1, "menu") },
    { label: t().moveTo, icon: "move", isDisabled: isFixed || of.entries.length < 2, run: () => setDialog("move") },
    ...(canGroup(of) ? of.groups.map(({ id, name }, index): MenuItem => ({
      label: t().inGroup(name), checked: group?.id === id, isFirstOfPart: index === 0, isDisabled: isFixed,
      run: () => putIntoGroup(of, [entry], group?.id === id ? undefined : id),
    })) : []),
    { label: t().delete, icon: "trash-2", isFirstOfPart: true, isDangerous: true, isDisabled: isFixed, run: () => remove(of, [entry]) },
  ];
  return (
    <li
      class={`entry ${isActive ? "" : "off"} ${type ? "anchor" : ""} ${isOpen ? "open" : ""} ${isSelected ? "selected" : ""} ${group ? "grouped" : ""}`}
      data-entry={entry.key} data-index={entry.index} data-id={titleOf(entry)} onKeyDown={onKeyDown}
    >
      <div class="line">
        {isSelecting.value && (
          <input
            type="checkbox" class="pick" checked={isSelected} aria-label={t().selectOne(label)}
            onChange={() => (selected.value = toggled(selected.value, entry.key))}
          />
        )}
        <span class="grip" title={t().drag} aria-hidden="true" onPointerDown={(event) => grab(event, entry)}><Icon name="grip-vertical" /></span>
        <Switch isOn={isOn(entry)} isRadio={group?.isRadio} label={t().switchOne(label)} isDisabled={isFixed} onChange={(next) => switchAll(of, [entry], next)} />
        <button type="button" class="main" data-part="main" aria-expanded={isOpen} aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown" onClick={() => open(entry.key, !isOpen)}>
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
          {type
            ? <span class="fact">{t().anchorKinds[kindOf(type)]}</span>
            : <><span class="fact role">{roleOf(entry)}</span><span class="fact place">{placeName(placementOf(entry))}</span></>}
        </span>
        <Tokens of={of} entry={entry} isActive={isActive} />
        <span class="commands">
          <IconButton icon="plus" label={t().addBelow} isDisabled={isFixed} onClick={() => addMessage(of, entry)} />
          <IconButton icon="copy" label={t().duplicate} isDisabled={isFixed} onClick={() => duplicate(of, [entry])} />
          <Menu label={t().moreFor(label)} icon="ellipsis" items={items} testId="entry-menu" />
        </span>
      </div>
      {type && <AnchorRail of={of} entry={entry} />}
      {isOpen && <EntryEditor of={of} entry={entry} findings={findings} />}
      {dialog === "move" && <MoveDialog of={of} chosen={[entry]} close={() => setDialog(undefined)} />}
      {dialog === "anchor" && <AddAnchor of={of} after={entry} close={() => setDialog(undefined)} />}
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
  const first = contentOf(entry).split("\n").find((line) => line.trim() !== "") ?? "";
  return first.slice(0, 200);
}

/** What the entry costs in the preview, or why it costs nothing. */
function Tokens({ of, entry, isActive }: { of: Preset; entry: Entry; isActive: boolean }) {
  const tokens = preview.value?.entryTokens[entry.pointer];
  if (tokens !== undefined) return <span class="tokens" data-test="tokens" title={t().tokensOf(figure(tokens))}>{figure(tokens)}</span>;
  const isPlace = kindOf(anchorType(entry) ?? "user_profile") === "placeholder" && anchorType(entry) !== undefined;
  const why = !isActive ? t().isOff : droppedBy.value.get(entry.pointer) ?? (isPlace ? t().neverSent : t().notSent);
  if (of.file.pending.value.length > 0) return <span class="tokens soft" aria-hidden="true">…</span>;
  return <span class="tokens soft" title={why}><span aria-hidden="true">–</span><span class="hidden">{why}</span></span>;
}

export function findingsOf({ file }: Preset, { pointer }: Entry): Finding[] {
  const all = file.server.value?.findings ?? [];
  return all.filter((one) => one.pointer === pointer || one.pointer?.startsWith(`${pointer}/`));
}

function Marks({ findings }: { findings: Finding[] }) {
  const worst = ["error", "warning", "info"].find((severity) => findings.some((one) => one.severity === severity));
  if (!worst) return null;
  const icon = { error: "circle-alert", warning: "triangle-alert", info: "info" }[worst] ?? "info";
  return <span class={`mark ${worst}`} title={findings.map(({ code, message }) => `${code} ${message}`).join("\n")}><Icon name={icon} />{findings.length}<span class="hidden"> {t().findings}</span></span>;
}
