// Two versions of a value side by side. The words in which they differ are marked.
import { differing, shortened } from "../words";
import { t } from "../language";

export interface VersionedField {
  field?: string;
  mine: string;
  theirs: string;
}

export function Versions({ fields, theirsLabel }: { fields: VersionedField[]; theirsLabel?: string }) {
  const texts = t().conflicts;
  const compared = fields.map(({ field, mine, theirs }) => ({ field, runs: differing(mine, theirs).map(shortened) }));
  return (
    <div class="both">
      {[texts.mine, texts.theirs].map((side, at) => (
        <div key={side}>
          <p class="soft">{at === 1 ? (theirsLabel ?? side) : side}</p>
          <pre tabIndex={0} aria-label={side}>
            {compared.map(({ field, runs }) => (
              <div key={field}>
                {field !== undefined && <span class="soft">{t().labeled(texts.fields[field] ?? field, "")}</span>}
                {runs[at]?.map((run, index) => (run.isSame ? <span key={index}>{run.text}</span> : <mark key={index}>{run.text}</mark>))}
              </div>
            ))}
          </pre>
        </div>
      ))}
    </div>
  );
}
