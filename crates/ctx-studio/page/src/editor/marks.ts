// Findings at their places in a text: underlined, and explained on hover.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, type DecorationSet } from "@codemirror/view";

export interface Mark {
  from: number;
  to: number;
  severity: string;
  code: string;
  message: string;
  help?: string;
  fix?: () => void;
  fixLabel?: string;
}

export const newMarks = StateEffect.define<Mark[]>();
interface Marks {
  all: Mark[];
  set: DecorationSet;
}

/** Findings at their places. They move with the text until the next answer comes. */
export const marks = StateField.define<Marks>({
  create: () => ({ all: [], set: Decoration.none }),
  update(value, transaction) {
    let { all, set } = value;
    if (transaction.docChanged) {
      set = set.map(transaction.changes);
      all = all
        .map((mark) => ({
          ...mark,
          from: transaction.changes.mapPos(mark.from, 1),
          to: transaction.changes.mapPos(mark.to, -1),
        }))
        .filter((mark) => mark.to > mark.from);
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
export const explanation = hoverTooltip((view, at) => {
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
