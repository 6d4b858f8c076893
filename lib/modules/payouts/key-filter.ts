/** A Bloom filter of the keys by which repeated payments are found. */

/** Bits for each key of the capacity: with four probes, 1 of 400 other keys is taken for a known one. */
const BITS_EACH = 16;
const PROBES = 4;
/** Bytes of a key that the filter uses. Keys are hashes, so their first bytes are as good as all. */
export const PREFIX_BYTES = 8;
const KEY_WORDS = 4;
const WORDS_EACH = PREFIX_BYTES / 4;

/** The first bytes of keys, one after another. */
export type Prefixes = Uint32Array;

/** @param bytes the first 8 bytes of each key, one after another */
export const prefixesOfBytes = (bytes: Buffer): Prefixes =>
  new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));

/** @param keys in hex, 32 digits each */
export const prefixesOf = (keys: readonly string[]): Prefixes => {
  const words = prefixesOfBytes(Buffer.from(keys.join(""), "hex"));
  const prefixes = new Uint32Array(keys.length * WORDS_EACH);
  for (let index = 0; index < keys.length; index += 1)
    for (let word = 0; word < WORDS_EACH; word += 1)
      prefixes[index * WORDS_EACH + word] = words[index * KEY_WORDS + word] ?? 0;
  return prefixes;
};

export const countOf = (prefixes: Prefixes): number => prefixes.length / WORDS_EACH;

export interface KeyFilter {
  /** The number of keys up to which it takes about 1 of 400 other keys for one that was added, and no more. */
  readonly capacity: number;
  /** The number of keys that were added, repeated ones too. */
  readonly count: number;
  readonly bytes: number;
  /**
   * @returns the positions of the prefixes that may have been added before, by an earlier call or at an earlier position. Those at other positions
   *   were certainly not
   */
  add(prefixes: Prefixes): number[];
}

/** @param capacity number of keys; the filter takes between 2 and 4 bytes for each */
export const createKeyFilter = (capacity: number): KeyFilter => {
  const bits = 2 ** Math.max(10, Math.ceil(Math.log2(capacity * BITS_EACH)));
  const words = new Uint32Array(bits / 32);
  let count = 0;
  /** Kirsch and Mitzenmacher: two independent hashes give all probes. The step is odd, so that the probes differ. */
  const probe = (prefixes: Prefixes, at: number, number: number): number =>
    ((prefixes[at] ?? 0) + Math.imul(number, (prefixes[at + 1] ?? 0) | 1)) & (bits - 1);
  /** @returns whether all of its bits were set before */
  const addOne = (prefixes: Prefixes, at: number): boolean => {
    let isKnown = true;
    for (let number = 0; number < PROBES; number += 1) {
      const bit = probe(prefixes, at, number);
      const word = words[bit >>> 5] ?? 0;
      const mask = 1 << (bit & 31);
      if ((word & mask) === 0) {
        isKnown = false;
        words[bit >>> 5] = word | mask;
      }
    }
    return isKnown;
  };
  return {
    capacity,
    get count() {
      return count;
    },
    bytes: words.byteLength,
    add: (prefixes) => {
      const known: number[] = [];
      for (let at = 0; at < prefixes.length; at += WORDS_EACH) if (addOne(prefixes, at)) known.push(at / WORDS_EACH);
      count += countOf(prefixes);
      return known;
    },
  };
};
