// Differences between two JSON values.

const isTree = (value) => typeof value === 'object' && value !== null;
/// The JSON with sorted keys: equal values have equal texts.
const sorted = (value) =>
  JSON.stringify(value, (_, inner) =>
    isTree(inner) && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  );

/// Leaves of a value as `key=value`, without positions in arrays.
function leaves(value, path = '', found = []) {
  if (!isTree(value)) found.push(`${path}=${JSON.stringify(value)}`);
  else
    for (const [key, inner] of Object.entries(value))
      leaves(inner, Array.isArray(value) ? path : `${path}/${key}`, found);
  return found;
}

/// Share of equal leaves, 0 to 1.
function similarity(before, after) {
  const [left, right] = [leaves(before), leaves(after)];
  const rest = [...right];
  const equal = left.filter((leaf) => rest.includes(leaf) && rest.splice(rest.indexOf(leaf), 1));
  return equal.length / Math.max(left.length, right.length, 1);
}

/// Pairs of positions of equal or similar items, in order, with the highest sum of similarities.
function pairs(before, after) {
  const [left, right] = [before.map(sorted), after.map(sorted)];
  const score = left.map((text, i) => right.map((other, j) => (text === other ? 1 : similarity(before[i], after[j]))));
  const best = Array.from({ length: left.length + 1 }, () => Array(right.length + 1).fill(0));
  const paired = (i, j) => (score[i][j] > 0.5 ? score[i][j] + best[i + 1][j + 1] : 0);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) best[i][j] = Math.max(paired(i, j), best[i + 1][j], best[i][j + 1]);
  }
  const found = [];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    if (best[i][j] > 0 && best[i][j] === paired(i, j)) found.push([i++, j++]);
    else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
    else j += 1;
  }
  return found;
}

/// Lists what differs, as `{kind: '+' | '-' | '~', pointer, before, after}`.
///
/// Items of arrays are aligned: an inserted item is one difference. Between two pairs, the last items are compared.
export function differences(before, after, pointer = '') {
  if (sorted(before) === sorted(after)) return [];
  const at = (key) => `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const added = (key, value) => ({ kind: '+', pointer: at(key), after: value });
  const removed = (key, value) => ({ kind: '-', pointer: at(key), before: value });
  if (Array.isArray(before) && Array.isArray(after)) {
    const found = [];
    let [i, j] = [0, 0];
    for (const [nextI, nextJ] of [...pairs(before, after), [before.length, after.length]]) {
      for (; nextI - i > Math.max(0, nextJ - j); i += 1) found.push(removed(i, before[i]));
      for (; nextJ - j > Math.max(0, nextI - i); j += 1) found.push(added(j, after[j]));
      for (; i < nextI; i += 1, j += 1) found.push(...differences(before[i], after[j], at(j)));
      if (i < before.length && j < after.length) found.push(...differences(before[i++], after[j++], at(nextJ)));
    }
    return found;
  }
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => {
      if (!(key in before)) return [added(key, after[key])];
      return key in after ? differences(before[key], after[key], at(key)) : [removed(key, before[key])];
    });
  }
  return [{ kind: '~', pointer, before, after }];
}
