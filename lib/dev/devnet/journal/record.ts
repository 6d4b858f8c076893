import { crc32 } from "node:zlib";
import { z } from "zod";

/** A JSON-RPC call without its envelope. */
export type NodeCall = readonly [method: string, params: readonly unknown[]];

/**
 * One step of a chain: the calls that change it, in order, and the block that was made after them.
 */
export interface JournalRecord {
  readonly calls: readonly NodeCall[];
  /**
   * Null when no block was made, for example after a balance was set. `time` is in Unix seconds.
   */
  readonly block: { readonly number: number; readonly time: number } | null;
  /** Seconds by which the chain's clock is ahead of this machine's clock. */
  readonly clockOffset: number;
}

const schema = z.object({
  c: z.array(z.tuple([z.string(), z.array(z.unknown())])),
  b: z.tuple([z.int(), z.int()]).nullable(),
  o: z.int().optional(),
});

const CHECKSUM_LENGTH = 8;
const checksum = (text: string): string =>
  crc32(text).toString(16).padStart(CHECKSUM_LENGTH, "0");

/** Encodes a record as a line: the checksum of the JSON, a space, the JSON. */
export const encodeRecord = ({ calls, block, clockOffset }: JournalRecord): string => {
  const json = JSON.stringify({
    c: calls,
    b: block === null ? null : [block.number, block.time],
    ...(clockOffset === 0 ? {} : { o: clockOffset }),
  });
  return `${checksum(json)} ${json}\n`;
};

/**
 * @param line without its line break
 * @returns null for an incomplete or damaged line
 */
export const decodeRecord = (line: string): JournalRecord | null => {
  const json = line.slice(CHECKSUM_LENGTH + 1);
  if (line.slice(0, CHECKSUM_LENGTH) !== checksum(json)) return null;
  const { c, b, o } = schema.parse(JSON.parse(json));
  return {
    calls: c,
    block: b === null ? null : { number: b[0], time: b[1] },
    clockOffset: o ?? 0,
  };
};
