import type { PrivateTransfer } from "@/lib/modules/privacy/private-transfer";

/** The columns of a private transfer that a test does not care about. */
export const EMPTY_PRIVATE_TRANSFER: Omit<
  PrivateTransfer,
  | "projectId"
  | "id"
  | "operationId"
  | "kind"
  | "walletId"
  | "chainId"
  | "token"
  | "tokenOut"
  | "amountBase"
  | "createdBy"
> = {
  toWalletId: null,
  toAddress: null,
  noteId: null,
  path: null,
  minimumBase: null,
  digest: new Uint8Array(32),
  idempotencyKey: null,
  requestDigest: null,
  createdAt: new Date(),
};
