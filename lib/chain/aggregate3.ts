import type { Address, Hex } from "viem";

export interface ReadCall {
  readonly target: Address;
  readonly callData: Hex;
}

// This file encodes `aggregate3((address target, bool allowFailure, bytes callData)[])` word by
// word. A quote sends dozens of reads, and encoding them with a general ABI coder takes longer than
// the chain takes to answer.
const AGGREGATE3_SELECTOR = "82ad56cb";
const WORD_DIGITS = 64;
const WORD_BYTES = 32;
const HEAD_WORDS = 3;

const word = (value: number): string => value.toString(16).padStart(WORD_DIGITS, "0");
const TRUE = word(1);
const BYTES_OFFSET = word(HEAD_WORDS * WORD_BYTES);

const encodeCall = ({ target, callData }: ReadCall): string => {
  const digits = callData.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, "0");
  const address = target.slice(2).toLowerCase().padStart(WORD_DIGITS, "0");
  return `${address}${TRUE}${BYTES_OFFSET}${word(digits.length / 2)}${padded}`;
};

/** Call data of `aggregate3` in which each call may fail without failing the others. */
export const encodeAggregate = (calls: readonly ReadCall[]): Hex => {
  const bodies = calls.map(encodeCall);
  let offset = calls.length * WORD_BYTES;
  const offsets = bodies.map((body) => {
    const at = offset;
    offset += body.length / 2;
    return word(at);
  });
  return `0x${AGGREGATE3_SELECTOR}${word(WORD_BYTES)}${word(calls.length)}${offsets.join("")}${bodies.join("")}`;
};

/**
 * Decodes the results of `aggregate3`, `(bool success, bytes returnData)[]`. A failed call gives
 * null.
 * @throws RangeError when the data is not such a list
 */
export const decodeAggregate = (data: Hex): readonly (Hex | null)[] => {
  const digits = data.slice(2);
  const readNumber = (byte: number): number => {
    const at = digits.slice(byte * 2, byte * 2 + WORD_DIGITS);
    const value = Number(`0x${at}`);
    if (at.length !== WORD_DIGITS || value > digits.length)
      throw new RangeError("Not an answer of Multicall3.");
    return value;
  };
  const list = readNumber(0);
  const count = readNumber(list);
  const body = list + WORD_BYTES;
  return Array.from({ length: count }, (_, index): Hex | null => {
    const result = body + readNumber(body + index * WORD_BYTES);
    if (readNumber(result) === 0) return null;
    const bytes = result + readNumber(result + WORD_BYTES);
    const start = (bytes + WORD_BYTES) * 2;
    return `0x${digits.slice(start, start + readNumber(bytes) * 2)}`;
  });
};
