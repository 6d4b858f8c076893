import { Prisma } from "./generated/client";

/** NUMERIC(78,0) → base units. */
export const toBigInt = (value: Prisma.Decimal): bigint => BigInt(value.toFixed(0));

export const toBigIntOrNull = (value: Prisma.Decimal | null): bigint | null =>
  value === null ? null : toBigInt(value);

/** Base units → NUMERIC(78,0). */
export const toDecimal = (value: bigint): Prisma.Decimal => new Prisma.Decimal(value.toString());
