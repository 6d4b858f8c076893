const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the quote that ends the text which begins after `from`, or -1. Searching for quotes is faster than looking at each byte. */
const endOfText = (json: Uint8Array, from: number): number => {
  for (let end = json.indexOf(QUOTE, from); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let before = end;
    while (json[before - 1] === BACKSLASH) before -= 1;
    // A backslash escapes what follows it, also another backslash.
    if ((end - before) % 2 === 0) return end;
  }
  return -1;
};

// Comparisons instead of sets: this runs once for each byte outside of texts.
const opens = (byte: number): boolean => byte === 0x5b || byte === 0x7b;
const closes = (byte: number): boolean => byte === 0x5d || byte === 0x7d;

/**
 * Whether arrays and objects nest deeper than `depthMax` in this JSON text (UTF-8). One pass over the bytes, so that it can run before
 * `JSON.parse`, whose cost grows with the depth. It does not check whether the text is valid JSON.
 */
export const isDeeperThan = (json: Uint8Array, depthMax: number): boolean => {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    if (byte === QUOTE) {
      index = endOfText(json, index + 1);
      if (index === -1) return false;
    } else if (opens(byte)) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (closes(byte)) depth -= 1;
  }
  return false;
};
