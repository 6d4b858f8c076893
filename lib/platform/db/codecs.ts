import { z } from "zod";
import type { EvmAddress } from "@/lib/core/evm";

// Codecs of values in columns and in JSON columns, where a bigint is a decimal string.

/** A bigint that is stored as a decimal string, since JSON has no bigint. @throws ZodError */
export const storedBase = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => BigInt(text));

/** A stored address: 0x and 40 hex digits. @throws ZodError */
export const storedAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text as EvmAddress);

/** Stored bytes as 0x and hex digits. @throws ZodError */
export const storedHex = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform((text) => text as `0x${string}`);

/** A stored token. @throws ZodError */
export const storedToken = z.object({
  symbol: z.string(),
  name: z.string(),
  chainId: z.int(),
  address: z.union([z.literal("native"), storedAddress]),
  decimals: z.int(),
  assetId: z.string(),
  usdPegged: z.boolean(),
});

type JsonValue = string | number | boolean | { [key: string]: JsonValue } | JsonValue[];

/** Matches half of a surrogate pair, which JSON may contain and PostgreSQL's JSON may not. */
const LONE_SURROGATE = /\p{Cs}/gu;

const storedItem = (_key: string, item: unknown): unknown => {
  if (typeof item === "bigint") return item.toString();
  return typeof item === "string" ? item.replace(LONE_SURROGATE, "\ufffd") : item;
};

/**
 * The JSON text of plain data. Bigints become decimal strings; undefined fields are left out. Half
 * of a surrogate pair becomes U+FFFD, as in a text that is passed as a parameter.
 */
export const storedText = (value: unknown): string => JSON.stringify(value, storedItem);

/**
 * Converts plain data to a JSON value, as `storedText` writes it.
 * @example toStored({ amountBase: 5n }) // { amountBase: "5" }
 */
export const toStored = (value: unknown): JsonValue =>
  JSON.parse(storedText(value)) as JsonValue;
