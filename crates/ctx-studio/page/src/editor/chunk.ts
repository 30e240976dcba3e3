// The text editor, in a file of its own that is loaded when the first text is opened. It knows nothing of the page.
import { autocompletion, closeCompletion, completionKeymap, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { Compartment, EditorState, Prec, StateEffect, StateField, Transaction } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, keymap, lineNumbers, placeholder, type DecorationSet } from "@codemirror/view";
import { macroTokens } from "./macros";

export interface Mark { from: number; to: number; severity: string; code: string; message: string; help?: string; fix?: () => void; fixLabel?: string }
export interface Macro { name: string; syntax: string; description: string; example?: string; aliases: string[] }
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
  phrases: Record<string, string>;
}
export interface Editor {
  /** A text from outside. While a person types or composes, it waits until the editor is left. */
  setText(text: string): void;
  setMarks(marks: Mark[]): void;
  setReadOnly(isReadOnly: boolean): void;
  select(from: number, to: number): void;
  focus(): void;
  destroy(): void;
}

const newMarks = StateEffect.define<Mark[]>();
interface Marks { all: Mark[]; set: DecorationSet }

/** Findings at their places. They move with the text until the next answer comes. */
const marks = StateField.define<Marks>({
  create: () => ({ all: [], set: Decoration.none }),
  update(value, transaction) {
    let { all, set } = value;
    if (transaction.docChanged) {
      set = set.map(transaction.changes);
      all = all.map((mark) => ({
        ...mark, from: transaction.changes.mapPos(mark.from, 1), to: transaction.changes.mapPos(mark.to, -1),
      })).filter((mark) => mark.to > mark.from);
    }
    for (const effect of transaction.effects) {
      if (!effect.is(newMarks)) continue;
      const length = transaction.state.doc.length;
      all = effect.value.filter((mark) => mark.from >= 0 && mark.to > mark.from && mark.to <= length);
      const ranges = all.map((mark) => Decoration.mark({ class: `found ${mark.severity}` }).range(mark.from, mark.to));
      set = Decoration.set(ranges, true);
    }
    return { all, set };
  },
  provide: (field) => EditorView.decorations.from(field, ({ set }) => set),
});

/** What is wrong here, with its way out. */
const explanation = hoverTooltip((view, at) => {
  const found = view.state.field(marks).all.filter((mark) => mark.from <= at && mark.to >= at);
  const [first] = found;
  if (!first) return null;
  return {
    pos: first.from,
    end: first.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "found-tip";
      for (const mark of found) dom.append(line(mark));
      return { dom };
    },
  };
});

function line(mark: Mark): HTMLElement {
  const row = document.createElement("p");
  const code = document.createElement("b");
  code.textContent = mark.code;
  row.append(code, ` ${mark.message}`);
  if (mark.help) {
    const help = document.createElement("span");
    help.className = "soft";
    help.textContent = mark.help;
    row.append(document.createElement("br"), help, " ");
  }
  if (mark.fix) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button plain small";
    button.textContent = mark.fixLabel ?? "Fix";
    button.addEventListener("click", mark.fix);
    row.append(button);
  }
  return row;
}

/** The macros of the dialect, after `{{`. */
function complete(macros: () => readonly Macro[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const opened = context.matchBefore(/\{\{[^{}:\s]*$/);
    if (!opened) return null;
    const options = macros().flatMap((macro): Completion[] => [macro.name, ...macro.aliases].map((name) => ({
      label: name,
      detail: macro.syntax,
      info: () => describe(macro),
      apply: (view, _completion, from, to) => insert(view, macro, name, from, to),
    })));
    return { from: opened.from + 2, options, validFor: /^[^{}:\s]*$/ };
  };
}

function describe(macro: Macro): HTMLElement {
  const dom = document.createElement("div");
  const what = document.createElement("p");
  what.textContent = macro.description;
  dom.append(what);
  if (macro.example) {
    const example = document.createElement("code");
    example.textContent = macro.example;
    dom.append(example);
  }
  return dom;
}

/** Writes the macro with its braces; the first argument is selected, if it takes any. */
function insert(view: EditorView, macro: Macro, name: string, from: number, to: number): void {
  const isClosed = view.state.sliceDoc(to, to + 2) === "}}";
  const shape = /^\{\{[^:{}\s]+((?:::?|\s)[^}]*)\}\}$/.exec(macro.syntax)?.[1] ?? "";
  const separator = /^(::?|\s+)/.exec(shape)?.[0] ?? "";
  const argument = shape.slice(separator.length);
  const text = `${name}${separator}${argument}${isClosed ? "" : "}}"}`;
  const start = from + name.length + separator.length;
  const isAsking = argument !== "";
  view.dispatch({
    changes: { from, to, insert: text },
    selection: isAsking ? { anchor: start, head: start + argument.length } : { anchor: from + name.length + 2 },
    userEvent: "input.complete",
  });
}

const theme = EditorView.theme({
  "&": { fontSize: "inherit", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".45rem 0" },
  ".cm-line": { padding: "0 .6rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--select)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "var(--shadow)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px", minHeight: "24px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "inherit", opacity: "1", marginLeft: "1em" },
  ".cm-completionInfo": { padding: "4px 10px", maxWidth: "22rem" },
  ".cm-placeholder": { color: "var(--soft)" },
});

export function openEditor(options: EditorOptions): Editor {
  const editable = new Compartment();
  const access = (isReadOnly: boolean) => [EditorState.readOnly.of(isReadOnly), EditorView.editable.of(!isReadOnly)];
  let waiting: string | undefined;
  const view: EditorView = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(options.nonce),
        EditorState.phrases.of(options.phrases),
        history(),
        options.hasLineNumbers ? lineNumbers() : [],
        autocompletion({ override: [complete(options.macros)], icons: false, activateOnTyping: true }),
        Prec.high(keymap.of(completionKeymap)),
        // Tab leaves the editor, as in every other field; so the keyboard is never caught.
        keymap.of([
          ...defaultKeymap.filter(({ key }) => key !== "Alt-ArrowUp" && key !== "Alt-ArrowDown"), ...historyKeymap,
          { key: "Escape", run: (target) => { if (!closeCompletion(target)) options.onLeave(); return true; } },
        ]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        placeholder(options.hint),
        editable.of(access(options.isReadOnly)),
        marks,
        macroTokens,
        explanation,
        theme,
        EditorView.updateListener.of((update) => {
          const isTyped = update.docChanged && update.transactions.some((one) => one.annotation(Transaction.remote) !== true);
          if (isTyped) {
            waiting = undefined;
            options.onChange(update.state.doc.toString());
          }
        }),
        EditorView.domEventHandlers({ blur: () => { settle(); } }),
      ],
    }),
  });

  function replace(text: string): void {
    const before = view.state.doc.toString();
    if (before === text) return;
    // Only what differs is changed, so that the cursor stays where it is.
    let start = 0;
    while (start < before.length && start < text.length && before[start] === text[start]) start++;
    let end = 0;
    while (end < before.length - start && end < text.length - start && before.at(-1 - end) === text.at(-1 - end)) end++;
    view.dispatch({
      changes: { from: start, to: before.length - end, insert: text.slice(start, text.length - end) },
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
      if (view.hasFocus) waiting = text === view.state.doc.toString() ? undefined : text;
      else replace(text);
    },
    setMarks: (next) => view.dispatch({ effects: newMarks.of(next) }),
    setReadOnly: (isReadOnly) => view.dispatch({ effects: editable.reconfigure(access(isReadOnly)) }),
    select(from, to) {
      const length = view.state.doc.length;
      view.dispatch({ selection: { anchor: Math.min(from, length), head: Math.min(to, length) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
