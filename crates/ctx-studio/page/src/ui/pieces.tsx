// A text in pieces, each marked by the kind of its source with a colour and an underline; the name shows on demand.
import { useState } from "preact/hooks";
import type { PieceView } from "../api";
import { kindClass, kindName } from "../inspector/kinds";
import { t } from "../language";
import { Scrollable } from "./scrollable";

export function Pieces({
  pieces,
  hidden,
  choose,
}: {
  pieces: PieceView[];
  hidden?: ReadonlySet<string>;
  choose?: (pointer: string) => void;
}) {
  const [shown, show] = useState<PieceView | undefined>(undefined);
  const isMarked = pieces.length > 1 || pieces.some(({ source }) => source !== "history");
  return (
    <div class="pieces">
      <Scrollable class="text" label={t().inspector.messageText} onPointerLeave={() => show(undefined)}>
        {pieces.map((piece, index) => (
          <span
            key={index}
            class={`piece ${hidden?.has(piece.source) ? "" : kindClass(piece.source)}`}
            tabIndex={isMarked ? 0 : undefined}
            title={t().labeled(kindName(piece.source), piece.name)}
            onPointerEnter={() => show(piece)}
            onFocus={() => show(piece)}
            onBlur={() => show(undefined)}
          >
            {piece.text}
          </span>
        ))}
      </Scrollable>
      {isMarked && (
        <p class="source-line" aria-live="polite">
          {shown ? (
            <>
              <span class={`swatch ${kindClass(shown.source)}`} /> {kindName(shown.source)} <b>{shown.name}</b>
            </>
          ) : (
            t().hoverForSource
          )}
          {shown?.pointer !== undefined && choose && (
            <button type="button" class="link" onClick={() => shown.pointer !== undefined && choose(shown.pointer)}>
              {t().openEntry}
            </button>
          )}
        </p>
      )}
    </div>
  );
}
