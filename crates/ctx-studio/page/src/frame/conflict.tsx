// Two wanted to change the same place, or the server does not take a change: the texts, and buttons that name what is
// kept.
import type { Batch, OpenFile } from "../files";
import { copyText } from "../copy";
import { get, tokens } from "../pointer";
import { listPointer } from "../preset/entries";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";

export function ConflictBar({ file }: { file: OpenFile }) {
  const conflict = file.conflict.value;
  if (!conflict) return null;
  const isSave = conflict.kind === "save";
  const edit = conflict.mine[0]?.edits?.[0];
  // With all that was typed since, and not only the edit that was refused.
  const mine = isSave ? (file.server.value?.text ?? "") : typedText(file.pending.value);
  const path = file.server.value?.path ?? file.id;
  const place = edit ? placeOf(file.value.value, edit.pointer) : path;
  const isKeepable = file.canKeepMine.value;
  const rewrite = conflict.kind === "refused" ? conflict.failure.failure.rewrite : undefined;
  const copy = (
    <Button icon="copy" onClick={() => void copyText(mine)} testId="copy-mine">
      {t().copy}
    </Button>
  );
  if (conflict.kind === "refused")
    return (
      <section class="conflict" role="alert" aria-label={t().failed} data-test="conflict">
        <p>
          <Icon name="triangle-alert" />
          <b>{t().conflictOfRefusal(edit ? t().labeled(path, place) : path)}</b> {conflict.failure.message}{" "}
          {conflict.failure.failure.help}
        </p>
        <pre class="refused" tabIndex={0}>
          {mine}
        </pre>
        <p class="actions">
          {rewrite ? (
            <Button kind="main" onClick={() => void file.rewrite()} testId="rewrite">
              {rewrite.pointer === ""
                ? t().rewriteFile(rewrite.comments)
                : Array.isArray(get(file.server.value?.value, rewrite.pointer))
                  ? t().rewriteList(rewrite.comments)
                  : t().rewritePart(rewrite.comments)}
            </Button>
          ) : (
            <Button onClick={() => void file.sendAgain()} testId="send-again">
              {t().tryAgain}
            </Button>
          )}
          {copy}
          <Button onClick={() => void file.dropMine()} testId="drop-mine">
            {t().dropMine}
          </Button>
        </p>
      </section>
    );
  const theirs = conflict.theirs.isGone ? t().removed : isSave || !edit ? conflict.theirs.text : shown(get(conflict.theirs.value, edit.pointer));
  return (
    <section class="conflict" role="alert" aria-label={t().conflict} data-test="conflict">
      <p>
        <Icon name="triangle-alert" />
        <b>{isSave ? (conflict.theirs.isGone ? t().conflictOfGone : t().conflictOfSave)(conflict.theirs.path) : t().conflictOfEdit(place)}</b>{" "}
        {!isKeepable && t().conflictElsewhere}
      </p>
      <div class="both">
        <div>
          <p class="soft">{t().mine}</p>
          <pre tabIndex={0}>{mine}</pre>
        </div>
        <div>
          <p class="soft">{isSave ? t().theFile : t().theirs}</p>
          <pre tabIndex={0}>{theirs}</pre>
        </div>
      </div>
      <p class="actions">
        {isKeepable ? (
          <Button kind="main" onClick={() => void file.keepMine()} testId="keep-mine">
            {t().keepMine}
          </Button>
        ) : (
          copy
        )}
        <Button onClick={() => void file.takeTheirs()} testId="take-theirs">
          {conflict.theirs.isGone ? t().dropMine : isSave ? t().takeTheFile : t().takeTheirs}
        </Button>
      </p>
    </section>
  );
}

/** What was typed: the whole text, or of each place the newest. */
function typedText(batches: readonly Batch[]): string {
  const text = batches.findLast((batch) => batch.text !== undefined)?.text;
  if (text !== undefined) return text;
  const newest = new Map<string, string>();
  for (const edit of batches.flatMap(({ edits }) => edits ?? [])) {
    if (edit.op === "set") newest.set(edit.pointer, shown(edit.value));
    else if (edit.op === "insert") newest.set(`${newest.size} ${edit.pointer}`, shown(edit.value));
    else if (edit.op === "rename") newest.set(`${newest.size} ${edit.pointer}`, edit.name);
  }
  if (newest.size > 0) return [...newest.values()].join("\n\n");
  return batches.some(({ edits }) => edits?.some(({ op }) => op === "remove")) ? t().removed : t().move;
}

/** A place as a person calls it: “Entry 4, text”. */
function placeOf(value: unknown, pointer: string): string {
  const list = listPointer(value);
  const path = tokens(pointer);
  const above = list === undefined ? undefined : tokens(list);
  const index = Number(path[above?.length ?? 0]);
  if (!above || above.some((token, at) => path[at] !== token) || !Number.isInteger(index)) return path.join(" / ");
  const field = path.slice(above.length + 1).join(" / ");
  return t().entryField(index + 1, field === "" ? undefined : (t().entryFields[field] ?? field));
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? t().removed : JSON.stringify(value, null, 2);
}
