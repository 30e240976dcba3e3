// Where an entry goes: four ways, and the order among others at the same place.
import { useEffect, useState } from "preact/hooks";
import { t } from "../language";
import { Field, Select, useId } from "../ui/field";
import { anchorName, type Entry } from "./entries";
import { orderEdits, orderOf, placementEdits, placementOf, wrongPoint, type Placement } from "./placement";
import type { Preset } from "./actions";

const KINDS: Placement["kind"][] = ["order", "depth", "index", "anchor"];

export function PlacementEditor({ of, entry }: { of: Preset; entry: Entry }) {
  const group = useId();
  const place = placementOf(entry);
  const order = orderOf(entry);
  const isFixed = of.file.isReadOnly.value;
  const targets = [...new Set(of.entries.map(anchorName).filter((name) => name !== undefined))];
  const set = (next: Placement) => {
    const edits = placementEdits(entry, next);
    if (edits.length > 0) of.file.edit(...edits);
  };
  const choose = (kind: Placement["kind"]) => {
    if (kind === place.kind) return;
    if (kind === "order") set({ kind });
    else if (kind === "depth") set({ kind, points: "4" });
    else if (kind === "index") set({ kind, index: -1 });
    else set({ kind, target: targets[0] ?? "chat_history", side: "after" });
  };
  return (
    <fieldset class="placement" data-test="placement">
      <legend>{t().placement}</legend>
      <div class="kinds">
        {KINDS.map((kind) => (
          <label key={kind} class="check">
            <input
              type="radio"
              name={group}
              value={kind}
              checked={place.kind === kind}
              disabled={isFixed}
              onChange={() => choose(kind)}
            />
            <span>{t().placements[kind]}</span>
          </label>
        ))}
      </div>
      <div class="fields">
        {place.kind === "depth" && (
          <Points points={place.points} isFixed={isFixed} set={(points) => set({ kind: "depth", points })} />
        )}
        {place.kind === "index" && (
          <Field
            label={t().index}
            value={String(place.index)}
            size="short"
            isLazy
            isDisabled={isFixed}
            help={t().indexHelp}
            testId="index"
            onInput={(text) => /^-?\d+$/.test(text.trim()) && set({ kind: "index", index: Number(text) })}
          />
        )}
        {place.kind === "anchor" && (
          <>
            <Select
              label={t().side}
              value={place.side}
              isDisabled={isFixed}
              size="short"
              options={[
                { value: "before", label: t().before },
                { value: "after", label: t().after },
              ]}
              onChange={(side) => set({ ...place, side: side === "before" ? "before" : "after" })}
            />
            <Select
              label={t().anchor}
              value={place.target}
              isDisabled={isFixed}
              options={targets.map((name) => ({ value: name, label: name }))}
              onChange={(target) => set({ ...place, target })}
            />
          </>
        )}
        {place.kind !== "order" && (
          <Field
            label={t().order}
            value={order === undefined ? "" : String(order)}
            placeholder="100"
            size="short"
            isLazy
            isDisabled={isFixed}
            help={t().orderHelp}
            onInput={(text) => {
              const digits = text.trim();
              if (digits !== "" && !/^-?\d+(\.\d+)?$/.test(digits)) return;
              const edits = orderEdits(entry, digits === "" ? undefined : Number(digits));
              if (edits.length > 0) of.file.edit(...edits);
            }}
          />
        )}
      </div>
    </fieldset>
  );
}

/** Several points, such as `3, 10~5`. What is half typed is not written into the file. */
function Points({ points, isFixed, set }: { points: string; isFixed: boolean; set: (points: string) => void }) {
  const [text, setText] = useState(points);
  useEffect(() => setText(points), [points]);
  const wrong = wrongPoint(text);
  return (
    <Field
      label={t().depth}
      value={text}
      isDisabled={isFixed}
      isInvalid={wrong !== undefined}
      testId="depth"
      help={wrong === undefined ? t().depthHelp : t().noPoint(wrong)}
      onInput={(next) => {
        setText(next);
        if (wrongPoint(next) === undefined && next.trim() !== points) set(next.trim());
      }}
    />
  );
}
