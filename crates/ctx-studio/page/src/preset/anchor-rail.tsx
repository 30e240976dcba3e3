// What other entries are placed at an anchor; one click goes there.
import { t } from "../language";
import { anchorName, anchorType, type Entry } from "./entries";
import { labelOf } from "./label";
import { placementOf } from "./placement";
import { focusEntry } from "./state";
import type { Preset } from "./actions";

export function AnchorRail({ of, entry, isOpen }: { of: Preset; entry: Entry; isOpen: boolean }) {
  const name = anchorName(entry);
  const isHistory = anchorType(entry) === "chat_history";
  const at = { before: [] as Entry[], after: [] as Entry[], inside: [] as Entry[] };
  for (const other of of.entries) {
    const place = placementOf(other);
    if (anchorType(other) !== undefined) continue;
    if (place.kind === "anchor" && place.target.trim() === name) at[place.side].push(other);
    else if (isHistory && (place.kind === "depth" || place.kind === "index")) at.inside.push(other);
  }
  // Where nothing is placed there is nothing to see.
  if (!isOpen && at.before.length + at.inside.length + at.after.length === 0) return null;
  return (
    <p class="rail">
      <Side label={t().before} entries={at.before} />
      {isHistory && <Side label={t().inside} entries={at.inside} />}
      <Side label={t().after} entries={at.after} />
    </p>
  );
}

function Side({ label, entries }: { label: string; entries: Entry[] }) {
  return (
    <span class="side">
      <span class="soft">{label}</span>{" "}
      {entries.length === 0 ? (
        <span class="soft">{t().noneHere}</span>
      ) : (
        entries.map((entry) => (
          <button key={entry.key} type="button" class="link" onClick={() => focusEntry(entry.key)}>
            {labelOf(entry)}
          </button>
        ))
      )}
    </span>
  );
}
