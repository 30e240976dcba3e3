// Two wanted to change the same place: both texts, and buttons that name what is kept.
import type { OpenFile } from "../files";
import { get } from "../pointer";
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";

export function ConflictBar({ file }: { file: OpenFile }) {
  const conflict = file.conflict.value;
  if (!conflict) return null;
  const isSave = conflict.kind === "save";
  const edit = conflict.mine[0]?.edits?.[0];
  // With all that was typed since, and not only the edit that was refused.
  const mine = isSave ? file.server.value?.text : edit ? shown(get(file.value.value, edit.pointer)) : file.text.value;
  const theirs = isSave || !edit ? conflict.theirs.text : shown(get(conflict.theirs.value, edit.pointer));
  return (
    <section class="conflict" role="alert" aria-label={t().conflict} data-test="conflict">
      <p>
        <Icon name="triangle-alert" />
        <b>
          {isSave
            ? t().conflictOfSave(conflict.theirs.path)
            : t().conflictOfEdit(edit?.pointer ?? conflict.theirs.path)}
        </b>
      </p>
      <div class="both">
        <div>
          <p class="soft">{t().mine}</p>
          <pre tabIndex={0}>{mine ?? t().removed}</pre>
        </div>
        <div>
          <p class="soft">{isSave ? t().theFile : t().theirs}</p>
          <pre tabIndex={0}>{theirs}</pre>
        </div>
      </div>
      <p class="actions">
        <Button kind="main" onClick={() => void file.keepMine()} testId="keep-mine">
          {t().keepMine}
        </Button>
        <Button onClick={() => void file.takeTheirs()} testId="take-theirs">
          {isSave ? t().takeTheFile : t().takeTheirs}
        </Button>
      </p>
    </section>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? t().removed : JSON.stringify(value, null, 2);
}
