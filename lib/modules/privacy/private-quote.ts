import { z } from "zod";
import type { Token } from "@/lib/core/token";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { storedHex, storedToken, toStored } from "@/lib/ports/routing-json";

const quoteStatus = z.enum(["open", "prepared", "used"]);

/** A priced private swap. It is stored until it is executed once, or expires. */
export interface PrivateQuote {
  readonly projectId: string;
  readonly id: string;
  /** The private wallet that pays; null until the quote is prepared. */
  readonly walletId: string | null;
  readonly status: z.output<typeof quoteStatus>;
  readonly chainId: number;
  readonly token: Token;
  readonly tokenOut: Token;
  /** The amount that is sold, in base units of `token`. */
  readonly amountBase: bigint;
  /** The exchange path that was priced. */
  readonly path: `0x${string}`;
  /** The amount that the swap was priced to bring, in base units of `tokenOut`, before the pool keeps its fee. */
  readonly outBase: bigint;
  /** The minimum that the swap brings, in base units of `tokenOut`. */
  readonly minimumBase: bigint;
  /** SHA-256 of what a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Set once a one-time code was right for this quote and its private wallet. */
  readonly approvedAt: Date | null;
  readonly codeId: string | null;
  /** The factor that gave the code: `code`, `totp` or `passkey`. Null with `codeId`, and for quotes of older versions. */
  readonly codeMeans: string | null;
  readonly operationId: string | null;
}

type Parsed = "status" | "token" | "tokenOut" | "amountBase" | "path" | "outBase" | "minimumBase" | "digest";

/** A row of the table `privacy_quote`. Its columns are parsed here and nowhere else. */
interface QuoteColumns extends Omit<PrivateQuote, Parsed> {
  readonly status: string;
  readonly token: unknown;
  readonly tokenOut: unknown;
  readonly amountBase: Parameters<typeof toBigInt>[0];
  readonly path: string;
  readonly outBase: Parameters<typeof toBigInt>[0];
  readonly minimumBase: Parameters<typeof toBigInt>[0];
  readonly digest: Uint8Array;
}

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parsePrivateQuote = (row: QuoteColumns): PrivateQuote => ({
  projectId: row.projectId,
  id: row.id,
  walletId: row.walletId,
  status: quoteStatus.parse(row.status),
  chainId: row.chainId,
  token: storedToken.parse(row.token),
  tokenOut: storedToken.parse(row.tokenOut),
  amountBase: toBigInt(row.amountBase),
  path: storedHex.parse(row.path),
  outBase: toBigInt(row.outBase),
  minimumBase: toBigInt(row.minimumBase),
  digest: new Uint8Array(row.digest),
  createdBy: row.createdBy,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  approvedAt: row.approvedAt,
  codeId: row.codeId,
  codeMeans: row.codeMeans,
  operationId: row.operationId,
});

/** The columns that store a quote. */
export const privateQuoteColumns = (quote: PrivateQuote) => ({
  ...quote,
  token: toStored(quote.token),
  tokenOut: toStored(quote.tokenOut),
  amountBase: toDecimal(quote.amountBase),
  outBase: toDecimal(quote.outBase),
  minimumBase: toDecimal(quote.minimumBase),
});
