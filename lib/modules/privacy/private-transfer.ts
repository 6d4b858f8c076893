import { z } from "zod";
import type { Token } from "@/lib/core/token";
import { toBigInt, toBigIntOrNull, toDecimal } from "@/lib/db/decimal";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedAddress, storedHex, storedToken, toStored } from "@/lib/ports/routing-json";

const transferKind = z.enum(["shield", "unshield", "private_transfer", "private_swap", "public_exit"]);
const storedPath = storedHex.nullable();
const storedRecipient = storedAddress.nullable();

export type PrivateTransferKind = z.output<typeof transferKind>;

/** The request behind a private operation: which private wallet pays, how much, and to whom. It never changes once it is stored. */
export interface PrivateTransfer {
  readonly projectId: string;
  readonly id: string;
  readonly operationId: string;
  readonly kind: PrivateTransferKind;
  /** The private wallet that pays, or that gets the note of a shield. */
  readonly walletId: string;
  /** The private wallet that gets the new note of a private transfer or a swap; null for other kinds. */
  readonly toWalletId: string | null;
  readonly toAddress: EvmAddress | null;
  readonly chainId: number;
  readonly token: Token;
  readonly tokenOut: Token;
  /** In base units of `token`: the amount that is shielded, swapped or exits; in those of `tokenOut` the amount that a recipient gets. */
  readonly amountBase: bigint;
  /** The commitment of the note that leaves by a public exit; null for other kinds. */
  readonly noteId: string | null;
  /** The exchange path of a private swap; null for other kinds. */
  readonly path: `0x${string}` | null;
  /** The minimum that a private swap brings, in base units of `tokenOut`; null for other kinds. */
  readonly minimumBase: bigint | null;
  /** SHA-256 of what a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the request that used the Idempotency-Key. */
  readonly requestDigest: Uint8Array<ArrayBuffer> | null;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  readonly createdAt: Date;
}

type Parsed = "kind" | "toAddress" | "token" | "tokenOut" | "amountBase" | "path" | "minimumBase";
type Bytes = "digest" | "requestDigest";

/** A row of the table `privacy_transfer`. Its columns are parsed here and nowhere else. */
interface TransferColumns extends Omit<PrivateTransfer, Parsed | Bytes> {
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

/** @throws ZodError when a stored column does not have the shape that this version writes */
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

/** The columns that store a private transfer. */
export const privateTransferColumns = ({ token, tokenOut, amountBase, minimumBase, ...rest }: PrivateTransfer) => ({
  ...rest,
  token: toStored(token),
  tokenOut: toStored(tokenOut),
  amountBase: toDecimal(amountBase),
  minimumBase: minimumBase === null ? null : toDecimal(minimumBase),
});
