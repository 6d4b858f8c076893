const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// Comparisons instead of sets: this runs once for each byte of each body.
const opens = (byte: number): boolean => byte === 0x5b || byte === 0x7b;
const closes = (byte: number): boolean => byte === 0x5d || byte === 0x7d;

/**
 * Whether arrays and objects nest deeper than `depthMax` in this JSON text (UTF-8). One pass over the bytes, so that it can run before
 * `JSON.parse`, whose cost grows with the depth. It does not check whether the text is valid JSON.
 */
export const isDeeperThan = (json: Uint8Array, depthMax: number): boolean => {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] ?? 0;
    if (isText) {
      // The byte after a backslash is never the end of the text.
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (opens(byte)) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (closes(byte)) depth -= 1;
  }
  return false;
};
