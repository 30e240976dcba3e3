// Shows the editor in the page. Until its file is loaded, and if it cannot be, the text stands in a plain field.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Editor, EditorOptions, Mark } from "./chunk";
import { typedInto } from "./line-ends";
import { registry } from "../project";
import { t } from "../language";

let loading: Promise<(options: EditorOptions) => Editor> | undefined;

function load(): Promise<(options: EditorOptions) => Editor> {
  // The name is kept from the bundler: the chunk lies beside the page.
  const name = "./editor.js";
  loading ??= import(/* @vite-ignore */ name).then((chunk: typeof import("./chunk")) => chunk.openEditor);
  loading.catch(() => (loading = undefined));
  return loading;
}

export function TextEditor({
  text,
  label,
  hint,
  marks,
  isReadOnly,
  onChange,
  hasLineNumbers,
  isFocused,
  select,
  searches,
  onLeave,
  testId,
}: {
  text: string;
  label: string;
  hint: string;
  marks: Mark[];
  isReadOnly: boolean;
  onChange: (text: string) => void;
  hasLineNumbers?: boolean;
  isFocused?: boolean;
  /** Selects a range when it changes. */
  select?: { from: number; to: number };
  /** Opens the search bar when the number changes. */
  searches?: number;
  onLeave?: () => void;
  testId?: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | undefined>(undefined);
  const [isFailed, fail] = useState(false);
  // The editor lives longer than one rendering, so it asks for the newest functions.
  const now = useRef({ onChange, onLeave, text });
  now.current = { onChange, onLeave, text };

  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    load().then(
      (openEditor) => {
        if (isGone || !place.current) return;
        made = openEditor({
          parent: place.current,
          text: now.current.text,
          label,
          hint,
          nonce: document.querySelector<HTMLLinkElement>("#style")?.nonce ?? "",
          isReadOnly,
          hasLineNumbers: hasLineNumbers === true,
          isFocused: isFocused === true,
          macros: () => registry.peek().macros,
          onChange: (next) => now.current.onChange(next),
          onLeave: () => now.current.onLeave?.(),
          uncover,
          phrases: t().preset.editorPhrases,
        });
        setEditor(made);
      },
      () => fail(true),
    );
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, []);

  // A layout effect shows outside changes before the next key press, so the user never types into an old text.
  useLayoutEffect(() => editor?.setText(text), [editor, text]);
  useEffect(() => editor?.setMarks(marks), [editor, marks]);
  useEffect(() => editor?.setReadOnly(isReadOnly), [editor, isReadOnly]);
  useEffect(() => {
    if (select) editor?.select(select.from, select.to);
  }, [editor, select]);

  const searched = useRef(searches);
  useEffect(() => {
    if (!editor || searches === searched.current) return;
    searched.current = searches;
    editor.find();
  }, [editor, searches]);

  return (
    <div class={`text-editor ${isReadOnly ? "read-only" : ""}`} data-test={testId}>
      <div ref={place} />
      {!editor && (
        <textarea
          aria-label={label}
          value={text}
          placeholder={hint}
          readOnly={isReadOnly || !isFailed}
          onInput={(event) => onChange(typedInto(text, event.currentTarget.value))}
        />
      )}
    </div>
  );
}

/** Space between the caret and a sticky bar. */
const GAP = 8;

function uncover(caret: { top: number; bottom: number }): void {
  const bars = (edge: string) =>
    [...document.querySelectorAll(`[data-sticky=${edge}]`)].map((bar) => bar.getBoundingClientRect());
  const top = Math.max(...bars("top").map((bar) => bar.bottom));
  const bottom = Math.min(...bars("bottom").map((bar) => bar.top));
  const below = caret.bottom + GAP - bottom;
  const by = below > 0 ? below : Math.min(0, caret.top - GAP - top);
  if (by !== 0) document.getElementById("page")?.scrollBy(0, by);
}
