import { z } from "zod";
import type { Token } from "@/lib/core/token";
import { toBigInt, toBigIntOrNull, toDecimal } from "@/lib/platform/db/decimal";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress, storedHex, storedToken, toStored } from "@/lib/platform/db/codecs";
import { failureRecord } from "@/lib/contracts/common";
import type { SpendTransaction } from "@/lib/money/ports/privacy";

/**
 * A private wallet of a project. Its mnemonic is stored encrypted, because whoever has the mnemonic
 * can move the wallet's money.
 */
export interface PrivateWallet {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** The wallet of requests that name none; each project has at most one. */
  readonly isDefault: boolean;
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
  /** The actor's name, as `actorName` returns it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  /** When the mnemonic was first shown; null when it never was. */
  readonly exportedAt: Date | null;
  /** The approval request whose votes last allowed the mnemonic to be shown. */
  readonly exportDecisionId: string | null;
}

/**
 * The recipients that the policies check when money becomes a note of the wallet. Empty while only
 * the service has the mnemonic, because the money then stays in the project.
 */
export const recipientsOf = ({
  id,
  exportedAt,
}: Pick<PrivateWallet, "id" | "exportedAt">): readonly string[] =>
  exportedAt === null ? [] : [id];

/**
 * The associated data of the encryption: a mnemonic cannot be decrypted in the row of another
 * project or wallet.
 */
export const mnemonicContext = ({
  projectId,
  id,
}: Pick<PrivateWallet, "projectId" | "id">): string =>
  JSON.stringify(["privacy-wallet", projectId, id]);

const transferKind = z.enum([
  "shield",
  "unshield",
  "private_transfer",
  "private_swap",
  "public_exit",
]);
const storedPath = storedHex.nullable();
const storedRecipient = storedAddress.nullable();

type PrivateTransferKind = z.output<typeof transferKind>;

/**
 * The request of a private operation: which private wallet pays, how much, and to whom. Never
 * changed after it is stored.
 */
export interface PrivateTransfer {
  readonly projectId: string;
  readonly id: string;
  readonly operationId: string;
  readonly kind: PrivateTransferKind;
  /** The private wallet that pays; for a shield, the one that gets the note. */
  readonly walletId: string;
  /**
   * The private wallet that gets the new note of a private transfer or swap; null for other kinds.
   */
  readonly toWalletId: string | null;
  readonly toAddress: EvmAddress | null;
  readonly chainId: number;
  readonly token: Token;
  readonly tokenOut: Token;
  /**
   * The amount that is shielded, swapped or withdrawn by a public exit, in base units of `token`;
   * otherwise the amount that the recipient gets, in base units of `tokenOut`.
   */
  readonly amountBase: bigint;
  /** The commitment of the note that leaves by a public exit; null for other kinds. */
  readonly noteId: string | null;
  /** The exchange path of a private swap; null for other kinds. */
  readonly path: `0x${string}` | null;
  /** The minimum output of a private swap, in base units of `tokenOut`; null for other kinds. */
  readonly minimumBase: bigint | null;
  /** SHA-256 of the data that a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string | null;
  readonly requestDigest: Uint8Array<ArrayBuffer> | null;
  /** The actor's name, as `actorName` returns it. */
  readonly createdBy: string;
  readonly createdAt: Date;
}

type ParsedTransfer =
  | "kind"
  | "toAddress"
  | "token"
  | "tokenOut"
  | "amountBase"
  | "path"
  | "minimumBase";
type Bytes = "digest" | "requestDigest";

interface TransferColumns extends Omit<PrivateTransfer, ParsedTransfer | Bytes> {
  readonly kind: string;
  readonly toAddress: string | null;
  readonly token: unknown;
  readonly tokenOut: unknown;
  readonly amountBase: Parameters<typeof toBigInt>[0];
  readonly path: string | null;
  readonly minimumBase: Parameters<typeof toBigIntOrNull>[0];
  readonly digest: Uint8Array;
  readonly requestDigest: Uint8Array | null;
}

/**
 * Parses a row of the table `privacy_transfer`.
 * @throws ZodError when a stored column does not have the expected shape
 */
export const parsePrivateTransfer = (row: TransferColumns): PrivateTransfer => ({
  projectId: row.projectId,
  id: row.id,
  operationId: row.operationId,
  kind: transferKind.parse(row.kind),
  walletId: row.walletId,
  toWalletId: row.toWalletId,
  toAddress: storedRecipient.parse(row.toAddress),
  chainId: row.chainId,
  token: storedToken.parse(row.token),
  tokenOut: storedToken.parse(row.tokenOut),
  amountBase: toBigInt(row.amountBase),
  noteId: row.noteId,
  path: storedPath.parse(row.path),
  minimumBase: toBigIntOrNull(row.minimumBase),
  digest: new Uint8Array(row.digest),
  idempotencyKey: row.idempotencyKey,
  requestDigest: row.requestDigest === null ? null : new Uint8Array(row.requestDigest),
  createdBy: row.createdBy,
  createdAt: row.createdAt,
});

export const privateTransferColumns = ({
  token,
  tokenOut,
  amountBase,
  minimumBase,
  ...rest
}: PrivateTransfer) => ({
  ...rest,
  token: toStored(token),
  tokenOut: toStored(tokenOut),
  amountBase: toDecimal(amountBase),
  minimumBase: minimumBase === null ? null : toDecimal(minimumBase),
});

const quoteStatus = z.enum(["open", "prepared", "used"]);

/** A priced private swap, which can be executed once before it expires. */
export interface PrivateQuote {
  readonly projectId: string;
  readonly id: string;
  /** The private wallet that pays; null until the quote is prepared. */
  readonly walletId: string | null;
  readonly status: z.output<typeof quoteStatus>;
  readonly chainId: number;
  readonly token: Token;
  readonly tokenOut: Token;
  /** The sold amount, in base units of `token`. */
  readonly amountBase: bigint;
  readonly path: `0x${string}`;
  /** The priced output in base units of `tokenOut`, before the pool's fee. */
  readonly outBase: bigint;
  /** In base units of `tokenOut`. */
  readonly minimumBase: bigint;
  /** SHA-256 of the data that a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** The actor's name, as `actorName` returns it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Set once a person proved the approval of this quote for its private wallet. */
  readonly approvedAt: Date | null;
  readonly codeId: string | null;
  /** The factor of the code: `code`, `totp` or `passkey`. Null when `codeId` is null. */
  readonly codeMeans: string | null;
  readonly operationId: string | null;
}

type ParsedQuote =
  | "status"
  | "token"
  | "tokenOut"
  | "amountBase"
  | "path"
  | "outBase"
  | "minimumBase"
  | "digest";

interface QuoteColumns extends Omit<PrivateQuote, ParsedQuote> {
  readonly status: string;
  readonly token: unknown;
  readonly tokenOut: unknown;
  readonly amountBase: Parameters<typeof toBigInt>[0];
  readonly path: string;
  readonly outBase: Parameters<typeof toBigInt>[0];
  readonly minimumBase: Parameters<typeof toBigInt>[0];
  readonly digest: Uint8Array;
}

/**
 * Parses a row of the table `privacy_quote`.
 * @throws ZodError when a stored column does not have the expected shape
 */
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

export const privateQuoteColumns = (quote: PrivateQuote) => ({
  ...quote,
  token: toStored(quote.token),
  tokenOut: toStored(quote.tokenOut),
  amountBase: toDecimal(quote.amountBase),
  outBase: toDecimal(quote.outBase),
  minimumBase: toDecimal(quote.minimumBase),
});

const stepState = z.enum(["queued", "proved", "submitted", "completed", "failed"]);
const storedTransaction = z
  .object({ to: storedAddress, data: storedHex, nullifierHash: z.string() })
  .nullable();
const storedFailure = failureRecord.nullable();
const storedTxHash = storedHex.nullable();

export type StepState = z.output<typeof stepState>;
export type StepFailure = z.output<typeof failureRecord>;

/**
 * One note that a private operation spends. While the step is open, no other operation can use the
 * note.
 */
export interface PrivateStep {
  readonly projectId: string;
  readonly operationId: string;
  /** Index of the step in the operation, from 0. */
  readonly position: number;
  readonly chainId: number;
  readonly noteId: string;
  readonly state: StepState;
  /** The amount that leaves the note, in base units of the operation's token. */
  readonly withdrawBase: bigint;
  /**
   * The part of `withdrawBase` that the recipient gets, or the minimum after a swap; in base units
   * of the token that arrives.
   */
  readonly outBase: bigint;
  /** The deposit number of the new note; null when the money goes to an address. */
  readonly slotNumber: number | null;
  /**
   * Number of the proof, from 0. Each proof has a separate transaction, of which the pool accepts
   * at most one.
   */
  readonly attempt: number;
  readonly transaction: SpendTransaction | null;
  readonly txHash: `0x${string}` | null;
  readonly blockNumber: bigint | null;
  readonly receivedBase: bigint | null;
  readonly failure: StepFailure | null;
  readonly provingSince: Date | null;
  /** Incremented by each change, for compare-and-set. */
  readonly version: number;
  readonly updatedAt: Date;
}

type ParsedStep =
  | "state"
  | "withdrawBase"
  | "outBase"
  | "transaction"
  | "txHash"
  | "receivedBase"
  | "failure";

interface StepColumns extends Omit<PrivateStep, ParsedStep> {
  readonly state: string;
  readonly withdrawBase: Parameters<typeof toBigInt>[0];
  readonly outBase: Parameters<typeof toBigInt>[0];
  readonly transaction: unknown;
  readonly txHash: string | null;
  readonly receivedBase: Parameters<typeof toBigIntOrNull>[0];
  readonly failure: unknown;
}

/**
 * Parses a row of the table `privacy_step`.
 * @throws ZodError when a stored column does not have the expected shape
 */
export const parsePrivateStep = (row: StepColumns): PrivateStep => ({
  projectId: row.projectId,
  operationId: row.operationId,
  position: row.position,
  chainId: row.chainId,
  noteId: row.noteId,
  state: stepState.parse(row.state),
  withdrawBase: toBigInt(row.withdrawBase),
  outBase: toBigInt(row.outBase),
  slotNumber: row.slotNumber,
  attempt: row.attempt,
  transaction: storedTransaction.parse(row.transaction),
  txHash: storedTxHash.parse(row.txHash),
  blockNumber: row.blockNumber,
  receivedBase: toBigIntOrNull(row.receivedBase),
  failure: storedFailure.parse(row.failure),
  provingSince: row.provingSince,
  version: row.version,
  updatedAt: row.updatedAt,
});
