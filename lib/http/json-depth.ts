const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the quote that ends the text which begins after `from`, or -1. Searching for quotes is faster than looking at each character. */
const endOfText = (json: string, from: number): number => {
  for (let end = json.indexOf('"', from); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    // A backslash escapes what follows it, also another backslash.
    if ((end - before) % 2 === 0) return end;
  }
  return -1;
};

// Comparisons instead of sets: this runs once for each character outside of texts.
const opens = (code: number): boolean => code === 0x5b || code === 0x7b;
const closes = (code: number): boolean => code === 0x5d || code === 0x7d;

/**
 * Whether arrays and objects nest deeper than `depthMax` in this JSON text. One pass, so that it can run before `JSON.parse`, whose cost grows with the
 * depth. It does not check whether the text is valid JSON.
 */
export const isDeeperThan = (json: string, depthMax: number): boolean => {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfText(json, index + 1);
      if (index === -1) return false;
    } else if (opens(code)) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (closes(code)) depth -= 1;
  }
  return false;
};
