import { Prisma } from "./generated/client";

/** A NUMERIC as Prisma reads it, or as the text of a raw statement. */
export type StoredNumeric = Prisma.Decimal | string;

/** NUMERIC(78,0) → base units. */
export const toBigInt = (value: StoredNumeric): bigint =>
  BigInt(typeof value === "string" ? value : value.toFixed(0));

export const toBigIntOrNull = (value: StoredNumeric | null): bigint | null =>
  value === null ? null : toBigInt(value);

/** Base units → NUMERIC(78,0). */
export const toDecimal = (value: bigint): Prisma.Decimal =>
  new Prisma.Decimal(value.toString());
