import { Prisma } from "./generated/client";

/** A NUMERIC as Prisma reads it, or as the text of a raw statement. */
export type StoredNumeric = Prisma.Decimal | string;

/** A row from Prisma, or a raw row whose NUMERIC columns are texts. */
export type RawRow<Row> = {
  readonly [Field in keyof Row]: Row[Field] extends Prisma.Decimal
    ? StoredNumeric
    : Row[Field] extends Prisma.Decimal | null
      ? StoredNumeric | null
      : Row[Field];
};

/** NUMERIC(78,0) → base units. */
export const toBigInt = (value: StoredNumeric): bigint =>
  BigInt(typeof value === "string" ? value : value.toFixed(0));

export const toBigIntOrNull = (value: StoredNumeric | null): bigint | null =>
  value === null ? null : toBigInt(value);

/** Base units → NUMERIC(78,0). */
export const toDecimal = (value: bigint): Prisma.Decimal => new Prisma.Decimal(value.toString());
