// Conflicts: two versions of an entry, a deleted file, or a rejected edit.
import type { Clash, OpenFile } from "../files";
import { copyText } from "../copy";
import { get, isObject, tokens } from "../pointer";
import { isSame, type Batch } from "../rebase";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Versions, type VersionedField } from "./versions";

export function ConflictBar({ file }: { file: OpenFile }) {
  const conflict = file.conflict.value;
  if (!conflict && file.clashes.value.length === 0) return null;
  return (
    <div class="conflicts">
      {conflict?.kind === "gone" && (
        <Section title={t().conflicts.ofGone(file.path)}>
          <p class="actions">
            <Button kind="main" onClick={() => void file.save(true)} testId="keep-mine">
              {t().conflicts.keepMine}
            </Button>
            <Button onClick={() => void file.dropMine()} testId="drop-mine">
              {t().conflicts.discard}
            </Button>
          </p>
        </Section>
      )}
      {conflict?.kind === "refused" && <Refused file={file} sent={conflict.sent} />}
      {file.clashes.value.map((clash) => (
        <ClashSection key={`${clash.isOutside} ${clash.place}`} file={file} clash={clash} />
      ))}
    </div>
  );
}

function Section({ title, more, children }: { title: string; more?: string; children: preact.ComponentChildren }) {
  return (
    <section class="conflict" role="alert" aria-label={t().conflicts.title} data-test="conflict">
      <p>
        <Icon name="triangle-alert" />
        <b>{title}</b> {more}
      </p>
      {children}
    </section>
  );
}

/** Both versions of an entry. */
function ClashSection({ file, clash }: { file: OpenFile; clash: Clash }) {
  const texts = t().conflicts;
  const name = nameOf(file, clash);
  const title = (clash.isOutside ? texts.ofProgram : texts.ofWindow)(name);
  return (
    <Section title={title} more={clash.isLost ? texts.isGone : undefined}>
      <Versions fields={fieldsOf(clash)} theirsLabel={clash.isOutside ? texts.file : texts.theirs} />
      <p class="actions">
        {clash.isLost ? (
          <Button icon="copy" onClick={() => void copyText(shown(clash.mine))} testId="copy-mine">
            {t().copy}
          </Button>
        ) : (
          <Button kind="main" onClick={() => void file.choose(clash, "mine")} testId="keep-mine">
            {texts.keepMine}
          </Button>
        )}
        <Button onClick={() => void file.choose(clash, "theirs")} testId="take-theirs">
          {clash.isLost ? texts.discard : texts.takeTheirs}
        </Button>
      </p>
    </Section>
  );
}

function Refused({ file, sent }: { file: OpenFile; sent: Batch }) {
  const texts = t().conflicts;
  const conflict = file.conflict.value;
  if (conflict?.kind !== "refused") return null;
  const { message, help, rewrite } = conflict.failure.failure;
  const { path } = file;
  const edit = sent.edits?.[0];
  // Includes the text typed after the rejected edit.
  const mine = typedText(file.pending.value);
  return (
    <Section
      title={file.isMissing ? texts.ofMissing(path) : texts.ofRefusal(edit ? t().labeled(path, entryName(file.value.value, edit.pointer)) : path)}
      more={file.isMissing ? undefined : [message, help].join(" ")}
    >
      <pre class="refused" tabIndex={0}>
        {mine}
      </pre>
      <p class="actions">
        {rewrite ? (
          <Button kind="main" onClick={() => void file.rewrite()} testId="rewrite">
            {rewrite.pointer === ""
              ? texts.rewriteFile(rewrite.comments)
              : Array.isArray(get(file.server.value?.value, rewrite.pointer))
                ? texts.rewriteList(rewrite.comments)
                : texts.rewritePart(rewrite.comments)}
          </Button>
        ) : (
          <Button onClick={() => void file.sendAgain()} testId="send-again">
            {t().tryAgain}
          </Button>
        )}
        <Button icon="copy" onClick={() => void copyText(mine)} testId="copy-mine">
          {t().copy}
        </Button>
        <Button onClick={() => void file.dropMine()} testId="drop-mine">
          {texts.discard}
        </Button>
      </p>
    </Section>
  );
}

/** The differing fields of two entries; other values are compared as a whole. */
function fieldsOf({ mine, theirs }: Clash): VersionedField[] {
  if (!isObject(mine) || !isObject(theirs)) {
    // Shows only the text of a removed entry.
    const short = (value: unknown) => shown(isObject(value) ? (value["content"] ?? titleOf(value) ?? value) : value);
    return [{ mine: short(mine), theirs: short(theirs) }];
  }
  const fields = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const isOther = (field: string) => !isSame(mine[field], theirs[field]);
  const { missing } = t().conflicts;
  return fields.filter(isOther).map((field) => ({ field, mine: shown(mine[field], missing), theirs: shown(theirs[field], missing) }));
}

function nameOf(file: OpenFile, { place, pointer, mine, theirs }: Clash): string {
  if (place === "") return file.path;
  if (pointer !== undefined) return entryName(file.value.value, pointer);
  const title = titleOf(mine) ?? titleOf(theirs);
  return t().conflicts.entry(title ?? place.replace(/^\//, "").replaceAll("/", " / "));
}

/** Display name of a place, such as “Season” (text). */
function entryName(value: unknown, pointer: string): string {
  const path = tokens(pointer);
  for (let end = path.length; end > 0; end--) {
    const entry = path.slice(0, end).reduce<unknown>((at, token) => get(at, `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`), value);
    const title = titleOf(entry);
    if (title === undefined) continue;
    const field = path.slice(end).join(" / ");
    return t().conflicts.entry(title, field === "" ? undefined : (t().conflicts.fields[field] ?? field));
  }
  return t().conflicts.entry(path.join(" / "));
}

function titleOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  for (const key of ["name", "comment", "id", "uid"]) {
    const title = value[key];
    if ((typeof title === "string" && title !== "") || typeof title === "number") return String(title);
  }
  return undefined;
}

/** The pending text: the whole file, or the latest value of each place. */
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
  return batches.some(({ edits }) => edits?.some(({ op }) => op === "remove")) ? t().conflicts.removed : t().move;
}

function shown(value: unknown, none = t().conflicts.removed): string {
  return typeof value === "string" ? value : value === undefined ? none : JSON.stringify(value, null, 2);
}
