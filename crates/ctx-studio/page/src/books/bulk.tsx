// Edits of the selected entries: each is one change of the draft.
import { useState } from "preact/hooks";
import type { Edit, ProjectFile } from "../api";
import { file as fileOf, type OpenFile } from "../files";
import { announce, toast } from "../announce";
import { get } from "../pointer";
import { t } from "../language";
import { Button } from "../ui/button";
import { Field, Select } from "../ui/field";
import { BookDialog } from "./book-dialog";
import { AT_DEPTH, copied, entriesOf, positionOf, setAll, type BookEntry } from "./entries";
import { chosen, openEntry, shownEntries } from "./state";

export function Bulk({ file, entries }: { file: OpenFile; entries: BookEntry[] }) {
  const [position, setPosition] = useState("");
  const [isCopying, setCopying] = useState(false);
  const rows = entries.filter(({ pointer }) => chosen.value.has(pointer));
  if (rows.length === 0) return null;
  const { books } = t();
  const { positions, columns, changed } = books;
  const shown = new Set(shownEntries.value.map(({ pointer }) => pointer));
  const hidden = rows.filter(({ pointer }) => !shown.has(pointer)).length;
  const isFixed = file.isReadOnly.value;
  const make = (edits: Edit[]) => {
    if (edits.length > 0) file.edit(edits);
    announce(changed(rows.length));
  };
  const number = (name: string) => (text: string) => {
    if (/^-?\d{1,9}$/.test(text.trim())) make(setAll(rows, name, Number(text)));
  };
  const end = () => {
    chosen.value = new Set();
    document.querySelector<HTMLElement>("[data-test=choose-all]")?.focus();
  };
  return (
    <div class="bulk" role="toolbar" aria-label={t().selection} data-test="bulk">
      <b role="status">
        {t().chosen(rows.length)} {hidden > 0 && books.hidden(hidden)}
      </b>
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
      <Button icon="copy" onClick={() => setCopying(true)} testId="copy-to">
        {books.copyTo}
      </Button>
      <Button
        icon="trash-2"
        kind="danger"
        isDisabled={isFixed}
        onClick={() => {
          // From the end, as those behind one that goes move up.
          file.edit(rows.toReversed().map(({ pointer }) => ({ op: "remove" as const, pointer })));
          openEntry.value = undefined;
          announce(t().deleted(rows.length));
          end();
        }}
      >
        {t().delete}
      </Button>
      <Button kind="quiet" onClick={end}>
        {t().done}
      </Button>
      {isCopying && (
        <BookDialog
          title={books.copyTitle(rows.length)}
          labelOf={({ id, path }) => (id === file.id ? books.here(path) : path)}
          choose={(book) => void copyTo(book, rows)}
          close={() => setCopying(false)}
        />
      )}
    </div>
  );
}

/** Copies entries into the draft of a book: one change, which the notice can undo. */
async function copyTo({ id, path }: ProjectFile, rows: readonly BookEntry[]): Promise<void> {
  const target = fileOf(id);
  if (!target.server.value) await target.load();
  const { value } = target;
  if (target.isReadOnly.value || !entriesOf(value.value)) return void toast(t().books.cannotCopy(path), "error");
  const edits = copied(rows, value.value);
  target.edit(edits);
  // A rejected edit has its own notice.
  if (!(await target.flush()) || get(value.value, edits[0]?.pointer ?? "") === undefined) return;
  toast(t().books.copied(rows.length, path), "info", undefined, { label: t().undo, run: () => void target.undo() });
}
