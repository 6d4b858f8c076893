import { getAddress, isAddress } from "viem";
import { z } from "zod";
import { notAnAddress } from "@/lib/core/address-words";
import { CHAIN_ID_MAX } from "@/lib/core/evm";
import { ID_PREFIXES, type IdKind } from "@/lib/core/ids";
import { AMOUNT_PATTERN } from "@/lib/core/money";
import { STATUSES, SUB_STATUSES } from "@/lib/core/status";

/**
 * An address in a request. All lower or all upper case is accepted; mixed case must be a valid
 * EIP-55 checksum.
 */
const writtenAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, {
    error: ({ input }) => notAnAddress(String(input)),
    abort: true,
  })
  .refine((text) => /^0x([0-9a-f]{40}|[0-9A-F]{40})$/.test(text) || isAddress(text), {
    message: "has a wrong checksum (EIP-55)",
    abort: true,
  })
  .meta({
    description: "EVM address in lower case, in upper case, or with its EIP-55 checksum",
  });

const checksummedAddress = z
  .templateLiteral(["0x", z.string().regex(/^[0-9a-fA-F]{40}$/)])
  .meta({ description: "EVM address with its EIP-55 checksum" });

/** A 20-byte address, parsed to the checksummed form of responses. */
export const address = writtenAddress
  .overwrite((text) => getAddress(text))
  .pipe(checksummedAddress)
  .meta({ id: "Address", examples: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"] });

/**
 * Any JSON value whose form another party defines. Array items have no type, because
 * openapi-typescript would make the schema refer to itself, which TypeScript refuses (TS2502).
 */
export const jsonValue = z.unknown().meta({
  id: "JsonValue",
  description: "Any JSON value",
  anyOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "array" },
    { type: "object", additionalProperties: { $ref: "#/$defs/JsonValue" } },
  ],
});

/** An object with any fields, such as the body of another service or the data of an audit entry. */
export const jsonObject = z.record(z.string(), jsonValue);

/** Only the form is checked here; precision and range are checked against the token. */
export const amount = z
  .string()
  .max(60, { message: "is too long", abort: true })
  .regex(AMOUNT_PATTERN, { message: 'must be a decimal string like "12.5"', abort: true })
  .refine((text) => /[1-9]/.test(text), "must be above zero")
  .meta({
    description: "Decimal amount in units of the token, never base units",
    examples: ["12.5"],
  });

export const amountOut = z
  .string()
  .meta({ description: "Decimal amount in units of the token" });

export const chainId = z
  .int()
  .positive()
  .max(CHAIN_ID_MAX)
  .meta({ id: "ChainId", description: "EIP-155 chain id", examples: [31337] });

export const tokenRef = z
  .string()
  .min(1)
  .max(120)
  .meta({
    id: "TokenRef",
    description: "Symbol from the chain's token list, 0x address, `native`, or CAIP-19",
    examples: ["USDC"],
  });

export const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/, "must be 0x hex")
  .meta({ description: "Bytes as 0x hex" });

/**
 * Six digits. People copy them with spaces or hyphens between groups, as mails and apps show them:
 * "123 456".
 */
export const sixDigits = z
  .string()
  .max(40, "must be 6 digits")
  .overwrite((text) => text.replace(/[\s-]/g, ""))
  .regex(/^[0-9]{6}$/, "must be 6 digits");

export const otp = sixDigits.meta({
  id: "OneTimeCode",
  description: "The one-time code: six digits, good for 5 minutes",
  examples: ["123456"],
});

/**
 * Maximum length: `0x` and 32 KiB as hex. The limit is large, because the signature of a contract
 * that is not deployed yet (ERC-6492) includes the contract's creation code.
 */
const SIGNATURE_LENGTH_MAX = 2 + 2 * 32_768;
export const walletSignature = hex.max(SIGNATURE_LENGTH_MAX);

export const usdAmount = z
  .string()
  .regex(/^(0|[1-9]\d{0,17})(\.\d{1,6})?$/, 'must be a decimal string like "2500"')
  .meta({ description: "US dollars, a decimal string", examples: ["2500"] });

/** Query parameter: one or several of the values, separated by commas. */
export const listOf = <T extends string>(values: readonly [T, ...T[]]) => {
  const one = `(?:${values.join("|")})`;
  return z
    .string()
    .max(400)
    .regex(
      new RegExp(`^${one}(?:,${one})*$`),
      `Use one or several of ${values.join(", ")}, separated by commas`,
    )
    .transform((text) => [...new Set(text.split(","))] as T[]);
};

const LISTED_MAX = 20;
const ID_LENGTH_MAX = 80;

/**
 * Query parameter: one or several ids with this prefix, separated by commas. A malformed id counts
 * as not found, like a single one.
 */
export const idsOf = (prefix: IdPrefix) =>
  z
    .string()
    .max(LISTED_MAX * (ID_LENGTH_MAX + 1))
    .regex(
      new RegExp(`^[^,]+(?:,[^,]+){0,${String(LISTED_MAX - 1)}}$`),
      `Use up to ${String(LISTED_MAX)} ids, separated by commas`,
    )
    .meta({ examples: [`${prefix}_01980000-0000-7000-8000-000000000000`] })
    .transform((text) => [...new Set(text.split(","))]);

/** Query parameter: one or several EIP-155 chain ids, separated by commas. */
export const chainIds = z.coerce
  .string()
  .regex(/^[1-9]\d{0,14}(?:,[1-9]\d{0,14}){0,19}$/, {
    message: `Use up to ${String(LISTED_MAX)} chain ids, separated by commas`,
    abort: true,
  })
  .refine((text) => text.split(",").every((each) => Number(each) <= CHAIN_ID_MAX), {
    message: `A chain id is at most ${String(CHAIN_ID_MAX)}`,
  })
  .transform((text) => [...new Set(text.split(",").map(Number))]);

/** Converts a time with an offset to UTC; returns any other text unchanged. */
const inUtc = (text: string): string =>
  text.endsWith("Z") || Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString();

// PostgreSQL has no year 0, which RFC 3339 allows.
export const timestamp = z.iso
  .datetime({ offset: true })
  .overwrite(inUtc)
  .refine((text) => /^(?!0000)\d{4}-/.test(text), "must be within the years 1 to 9999 in UTC")
  .meta({
    id: "Timestamp",
    description:
      "RFC 3339, from the year 1: UTC in answers; requests may have another offset, such as +02:00",
  });

const idSchema = (kind: IdKind): z.ZodString => {
  const prefix = ID_PREFIXES[kind];
  return z
    .string()
    .max(ID_LENGTH_MAX)
    .meta({
      id: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Id`,
      description: `Id with the prefix ${prefix}_ and a UUIDv7, which sorts by time of creation`,
      examples: [`${prefix}_01980000-0000-7000-8000-000000000000`],
    });
};

type IdPrefix = (typeof ID_PREFIXES)[IdKind];

const ID_SCHEMAS = new Map<string, z.ZodString>(
  (Object.keys(ID_PREFIXES) as IdKind[]).map((kind) => [ID_PREFIXES[kind], idSchema(kind)]),
);

/**
 * An id with this prefix. The form is not checked here: for a malformed id the route answers
 * `not_found`.
 */
export const id = (prefix: IdPrefix): z.ZodString => {
  const schema = ID_SCHEMAS.get(prefix);
  if (schema === undefined) throw new Error(`No id has the prefix ${prefix}.`);
  return schema;
};

export const tokenRecord = z
  .object({
    symbol: z.string().meta({ description: "Symbol from the chain's token list" }),
    address: z.string().meta({ description: "0x address or `native`" }),
    chainId,
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
    assetId: z.string().meta({ description: "The asset over all chains" }),
  })
  .meta({ id: "Token" });

export const failureRecord = z
  .object({
    code: z.string().meta({ description: "Stable code for programs" }),
    message: z
      .string()
      .meta({ description: "What happened, and where the money is, for people" }),
    retryable: z.boolean().meta({ description: "Whether trying again can succeed" }),
  })
  .meta({ id: "Failure" });

export const tokenAmount = z
  .object({
    token: tokenRecord.meta({ description: "The token that the amount is of" }),
    amount: amountOut,
    amountBase: z
      .string()
      .meta({ description: "The same amount as an integer string of base units" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
  })
  .meta({ id: "TokenAmount" });

export const status = z.enum(STATUSES).meta({ id: "Status" });
export const subStatus = z.enum(SUB_STATUSES).meta({ id: "SubStatus" });

export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .meta({ description: "Records on a page, 1–100" }),
  // A cursor is longer when the list is sorted by name, because the cursor then includes the name.
  cursor: z
    .string()
    .max(600)
    .optional()
    .meta({ description: "`nextCursor` of the page before" }),
});

export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

export const createdBetween = {
  from: timestamp.optional().meta({ description: "Created at or after" }),
  to: timestamp.optional().meta({ description: "Created before" }),
};

/**
 * Query of a list that is usually read completely. Its larger pages contain all records of most
 * projects.
 */
export const longPageQuery = (records: string) =>
  z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(1000)
      .meta({ description: `${records} on a page, 1–1000` }),
    cursor: pageQuery.shape.cursor,
  });

export const page = <T extends z.ZodType>(
  item: T,
): z.ZodObject<{ data: z.ZodArray<T>; nextCursor: z.ZodNullable<z.ZodString> }> =>
  z.object({
    data: z.array(item).meta({ description: "Records of this page" }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "Goes into `cursor` to read the next page; null on the last page" }),
  });
