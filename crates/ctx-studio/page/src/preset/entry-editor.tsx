// An open entry: its text with what it becomes, its findings, its placement, and the rest.
import { useMemo, useState } from "preact/hooks";
import type { Finding } from "../api";
import { join } from "../pointer";
import { registry } from "../project";
import { roleName, t } from "../language";
import { TextEditor } from "../editor/text-editor";
import { Expansion, useExpansion } from "../editor/expansion";
import type { Mark } from "../editor/chunk";
import { Button } from "../ui/button";
import { Field, Select } from "../ui/field";
import { FindingList } from "../inspector/finding-list";
import { MoreFields } from "./more-fields";
import { PlacementEditor } from "./placement-editor";
import { anchorType, contentOf, hasParts, roleOf, textField, type Entry } from "./entries";
import { kindOf, labelOf } from "./label";
import { focusEntry, fresh, view } from "./state";
import type { Preset } from "./actions";

const ROLES = ["system", "user", "assistant", "developer", "tool"];

export function EntryEditor({ of, entry, findings }: { of: Preset; entry: Entry; findings: readonly Finding[] }) {
  const { file } = of;
  const isFixed = file.isReadOnly.value;
  const type = anchorType(entry);
  const isPlace = type !== undefined && kindOf(type) === "placeholder";
  const set = (name: string, value: string) => {
    const pointer = join(entry.pointer, name);
    if (value !== "") file.edit({ op: "set", pointer, value });
    else if (entry.value[name] !== undefined) file.edit({ op: "remove", pointer });
  };
  return (
    <div class="entry-body">
      {isPlace ? <Place type={type} /> : <Content of={of} entry={entry} findings={findings} />}
      <FindingList findings={findings} file={file} />
      {type === undefined && <PlacementEditor of={of} entry={entry} />}
      <div class="fields">
        {!isPlace && (
          <Select
            label={t().role}
            value={roleOf(entry)}
            options={ROLES.map((role) => ({ value: role, label: roleName(role) }))}
            isDisabled={isFixed}
            onChange={(role) => set("role", role)}
            testId="role"
          />
        )}
        <Field
          label={t().name}
          value={textField(entry, "name")}
          isDisabled={isFixed}
          onInput={(name) => set("name", name)}
          testId="name"
        />
      </div>
      <MoreFields of={of} entry={entry} />
    </div>
  );
}

function Place({ type }: { type: string }) {
  const known = registry.value.anchors.find(({ id }) => id === type);
  return (
    <div class="hint">
      <p>{known?.hint ?? known?.description ?? t().unknownAnchor(type)}</p>
      <p class="soft">{t().placeholderHelp}</p>
    </div>
  );
}

function Content({ of, entry, findings }: { of: Preset; entry: Entry; findings: readonly Finding[] }) {
  const { file } = of;
  const text = contentOf(entry);
  const expanded = useExpansion(text);
  const [isFresh] = useState(() => fresh.peek() === entry.key);
  if (isFresh) fresh.value = undefined;
  const marks = useMemo(
    () =>
      (expanded?.findings ?? []).flatMap((found, at): Mark[] => {
        const isAgain = expanded?.findings.some(
          (other, before) => before < at && other.code === found.code && other.span?.from === found.span?.from,
        );
        if (!found.span || isAgain) return [];
        // The same finding of the file carries the edit that fixes it.
        const fixes =
          findings.find((other) => other.fixable && other.code === found.code && other.message === found.message) ??
          findings.find((other) => other.fixable && other.code === found.code);
        const fix = fixes ? () => void file.fix(fixes) : undefined;
        return [{ ...found, from: found.span.from, to: found.span.to, fix, fixLabel: t().fix }];
      }),
    [expanded, findings.map(({ index, code }) => `${index}${code}`).join()],
  );
  if (hasParts(entry)) {
    return (
      <div class="hint">
        <p class="text">{text}</p>
        <p class="soft">
          {t().partsHelp} <Button onClick={() => (view.value = "text")}>{t().views.text}</Button>
        </p>
      </div>
    );
  }
  return (
    <>
      <TextEditor
        text={text}
        label={t().textOf(labelOf(entry))}
        hint={t().textHint}
        marks={marks}
        isReadOnly={file.isReadOnly.value}
        isFocused={isFresh}
        onLeave={() => focusEntry(entry.key)}
        testId="entry-text"
        onChange={(next) => file.edit({ op: "set", pointer: join(entry.pointer, "content"), value: next })}
      />
      <Expansion expanded={expanded} />
    </>
  );
}
