// The text in which a key was found, with its places marked.
import { useEffect, useRef } from "preact/hooks";
import type { ScannedKey, ScanView } from "../api";
import { t } from "../language";
import { IconButton } from "../ui/button";

export function FoundText({ found, hit, close }: { found: ScanView; hit: ScannedKey; close: () => void }) {
  const first = useRef<HTMLElement>(null);
  useEffect(() => first.current?.scrollIntoView({ block: "nearest" }), [hit]);
  const text = hit.text === undefined ? undefined : found.texts[hit.text];
  if (!text) return null;
  const pieces: { text: string; isHit: boolean }[] = [];
  let at = 0;
  for (const { from, to } of hit.spans) {
    pieces.push({ text: text.text.slice(at, from), isHit: false }, { text: text.text.slice(from, to), isHit: true });
    at = to;
  }
  pieces.push({ text: text.text.slice(at), isHit: false });
  return (
    <figure class="marked" data-test="marked">
      <figcaption>
        <b>{text.name}</b>
        <IconButton icon="x" label={t().close} onClick={close} />
      </figcaption>
      <div class="text" tabIndex={0}>
        {pieces.map((piece, index) =>
          piece.isHit ? (
            <mark key={index} ref={index === 1 ? first : undefined}>
              {piece.text}
            </mark>
          ) : (
            piece.text
          ),
        )}
        {text.isCut && <p class="soft">{t().cut}</p>}
      </div>
    </figure>
  );
}
