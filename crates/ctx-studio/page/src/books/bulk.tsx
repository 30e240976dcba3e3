// What can be done with several entries of a book at once: one step of the draft for all of them.
import { useState } from "preact/hooks";
import type { Edit } from "../api";
import type { OpenFile } from "../files";
import { announce } from "../announce";
import { t } from "../language";
import { Button } from "../ui/button";
import { Field, Select } from "../ui/field";
import { AT_DEPTH, positionOf, setAll, type BookEntry } from "./entries";
import { chosen, openEntries } from "./state";

export function Bulk({ file, entries }: { file: OpenFile; entries: BookEntry[] }) {
  const [position, setPosition] = useState("");
  const rows = entries.filter(({ pointer }) => chosen.value.has(pointer));
  if (rows.length === 0) return null;
  const { positions, columns, changed } = t().books;
  const isFixed = file.isReadOnly.value;
  const make = (edits: Edit[]) => {
    if (edits.length > 0) file.edit(...edits);
    announce(changed(rows.length));
  };
  const number = (name: string) => (text: string) => {
    if (/^-?\d{1,9}$/.test(text.trim())) make(setAll(rows, name, Number(text)));
  };
  return (
    <div class="selection" role="toolbar" aria-label={t().selection} data-test="bulk">
      <b role="status">{t().chosen(rows.length)}</b>
      <Button isDisabled={isFixed} onClick={() => make(setAll(rows, "disable", false))}>
        {t().on}
      </Button>
      <Button isDisabled={isFixed} onClick={() => make(setAll(rows, "disable", true))}>
        {t().off}
      </Button>
      <Select
        label={columns.place}
        value={position}
        options={[{ value: "", label: "–" }, ...positions.map((label, at) => ({ value: String(at), label }))]}
        isDisabled={isFixed}
        testId="bulk-position"
        onChange={(next) => {
          setPosition(next);
          if (next !== "") make(setAll(rows, "position", Number(next)));
        }}
      />
      <Field
        label={columns.depth}
        size="short"
        isLazy
        value=""
        inputMode="numeric"
        isDisabled={isFixed || rows.every((row) => positionOf(row) !== AT_DEPTH)}
        onInput={number("depth")}
        testId="bulk-depth"
      />
      <Field
        label={columns.order}
        size="short"
        isLazy
        value=""
        inputMode="numeric"
        isDisabled={isFixed}
        onInput={number("order")}
        testId="bulk-order"
      />
      <Button
        icon="trash-2"
        kind="danger"
        isDisabled={isFixed}
        onClick={() => {
          // From the end, as those behind one that goes move up.
          file.edit(...rows.toReversed().map(({ pointer }) => ({ op: "remove" as const, pointer })));
          openEntries.value = new Set();
          chosen.value = new Set();
          announce(t().deleted(rows.length));
        }}
      >
        {t().delete}
      </Button>
      <Button kind="quiet" onClick={() => (chosen.value = new Set())}>
        {t().done}
      </Button>
    </div>
  );
}
