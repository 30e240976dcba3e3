// The text editor, in a file of its own that is loaded when the first text is opened. It knows nothing of the page.
import { autocompletion, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, Transaction } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { complete, type Macro } from "./completion";
import { difference, LineEnds, shownText, type Change } from "./line-ends";
import { explanation, marks, newMarks, type Mark } from "./marks";
import { macroTokens } from "./macros";

export type { Mark };

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  hint: string;
  nonce: string;
  isReadOnly: boolean;
  hasLineNumbers: boolean;
  isFocused: boolean;
  macros: () => readonly Macro[];
  onChange: (text: string) => void;
  /** Escape, when nothing in the editor takes it: the keyboard's way out. */
  onLeave: () => void;
  /** Scrolls the page if a sticky bar covers the caret. */
  uncover: (caret: { top: number; bottom: number }) => void;
  phrases: Record<string, string>;
}
export interface Editor {
  /** A text from outside. While a person composes, it waits until the editor is left. */
  setText(text: string): void;
  setMarks(marks: Mark[]): void;
  setReadOnly(isReadOnly: boolean): void;
  select(from: number, to: number): void;
  find(): void;
  focus(): void;
  destroy(): void;
}

/** Other search keys would override shortcuts of the browser. */
const SEARCH_KEYS = new Set(["Mod-f", "F3", "Mod-g", "Escape"]);

const theme = EditorView.theme({
  "&": { fontSize: "inherit", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".45rem 0" },
  ".cm-line": { padding: "0 .6rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--select)" },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px", minHeight: "24px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "inherit", opacity: "1", marginLeft: "1em" },
  ".cm-completionInfo": { padding: "4px 10px", maxWidth: "22rem" },
  ".cm-panels": { backgroundColor: "var(--sunk)", color: "var(--ink)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { display: "flex", flexWrap: "wrap", alignItems: "center", gap: ".3rem .4rem", padding: ".4rem 2.2rem .4rem .6rem" },
  ".cm-panel.cm-search br": { display: "block", flexBasis: "100%", content: "''" },
  ".cm-panel.cm-search input.cm-textfield, .cm-panel.cm-search button:not([name=close])": {
    minHeight: "28px",
    margin: "0",
    padding: "0 .5rem",
    font: "inherit",
    fontSize: "13px",
    color: "inherit",
    backgroundImage: "none",
    backgroundColor: "var(--card)",
    border: "1px solid var(--strong-line)",
    borderRadius: "var(--radius)",
  },
  ".cm-panel.cm-search input.cm-textfield": { flex: "1 1 9rem", minWidth: "0", maxWidth: "20rem" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", minHeight: "24px", margin: "0", fontSize: "13px" },
  ".cm-panel.cm-search button[name=close]": { minWidth: "28px", minHeight: "28px", fontSize: "18px" },
  ".cm-searchMatch": { backgroundColor: "var(--macro-tint)", outline: "1px solid var(--macro)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--select)", outline: "2px solid var(--accent)" },
  ".cm-placeholder": { color: "var(--soft)" },
});

export function openEditor(options: EditorOptions): Editor {
  const editable = new Compartment();
  const access = (isReadOnly: boolean) => [
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
  ];
  let waiting: string | undefined;
  const ends = new LineEnds(options.text);
  const view: EditorView = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: shownText(options.text),
      extensions: [
        // A `\r` alone ends no line: places count as the server counts them.
        EditorState.lineSeparator.of("\n"),
        EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, "\n")),
        EditorView.cspNonce.of(options.nonce),
        EditorState.phrases.of(options.phrases),
        history(),
        options.hasLineNumbers ? lineNumbers() : [],
        autocompletion({ override: [complete(options.macros)], icons: false, activateOnTyping: true }),
        Prec.high(keymap.of(completionKeymap)),
        search({ top: true }),
        EditorView.scrollHandler.of((target, { head }) => {
          // The editor scrolls first. It knows no sticky bars: scroll margins end at its own scroll bar.
          queueMicrotask(() => {
            const caret = target.coordsAtPos(head);
            if (caret) options.uncover(caret);
          });
          return false;
        }),
        // Tab leaves the editor, as in every other field; so the keyboard is never caught.
        keymap.of([
          ...defaultKeymap.filter(({ key }) => key !== "Alt-ArrowUp" && key !== "Alt-ArrowDown"),
          ...historyKeymap,
          ...searchKeymap.filter(({ key }) => SEARCH_KEYS.has(key ?? "")),
          {
            key: "Escape",
            run: (target) => {
              if (!closeCompletion(target)) options.onLeave();
              return true;
            },
          },
        ]),
        EditorView.lineWrapping,
        // With a tab index, also a read-only text can be scrolled and searched with the keyboard.
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", tabindex: "0" }),
        placeholder(options.hint),
        editable.of(access(options.isReadOnly)),
        marks,
        macroTokens,
        explanation,
        theme,
        EditorView.updateListener.of((update) => {
          const isTyped =
            update.docChanged && update.transactions.some((one) => one.annotation(Transaction.remote) !== true);
          if (isTyped) {
            waiting = undefined;
            const changes: Change[] = [];
            update.changes.iterChanges((from, to, _from, _to, inserted) =>
              changes.push({ from, to, insert: inserted.toString() }),
            );
            ends.change(changes);
            options.onChange(ends.text);
            // A `\r` that now stands before the end of a line is part of it.
            if (shownText(ends.text).length !== update.state.doc.length) queueMicrotask(() => replace(ends.text));
          }
        }),
        EditorView.domEventHandlers({
          blur: () => {
            settle();
          },
        }),
      ],
    }),
  });

  function replace(text: string): void {
    const [before, after] = [view.state.doc.toString(), shownText(text)];
    ends.text = text;
    if (before === after) return;
    view.dispatch({
      changes: difference(before, after),
      annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
    });
  }

  function settle(): void {
    if (waiting === undefined) return;
    const text = waiting;
    waiting = undefined;
    // After the event: changing a document inside of a handler is not allowed.
    queueMicrotask(() => replace(text));
  }

  if (options.isFocused) {
    view.focus();
    view.dispatch({ selection: { anchor: view.state.doc.length } });
  }
  return {
    setText(text) {
      if (view.composing) waiting = text === ends.text ? undefined : text;
      else replace(text);
    },
    setMarks: (next) => {
      const shown = next.map((mark) => ({ ...mark, from: ends.toShown(mark.from), to: ends.toShown(mark.to) }));
      view.dispatch({ effects: newMarks.of(shown) });
    },
    setReadOnly: (isReadOnly) => view.dispatch({ effects: editable.reconfigure(access(isReadOnly)) }),
    select(from, to) {
      const length = view.state.doc.length;
      view.dispatch({
        selection: { anchor: Math.min(ends.toShown(from), length), head: Math.min(ends.toShown(to), length) },
        scrollIntoView: true,
      });
      view.focus();
    },
    find: () => void openSearchPanel(view),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
