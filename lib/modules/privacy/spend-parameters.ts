/** The parameters of an operation that spends notes: the data that its evaluation is bound to, and that is compared before a proof is made. */
import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { keysAmong, type Intent } from "@/lib/modules/policies/service";
import type { PrivateStep } from "./private-step";
import type { PrivateTransfer } from "./private-transfer";

type Step = Pick<PrivateStep, "noteId" | "withdrawBase" | "outBase">;

/** SHA-256 of the wallets, chain, tokens, amounts, recipient and notes. @param steps by position */
export const spendDigest = (transfer: PrivateTransfer, steps: readonly Step[]): Uint8Array<ArrayBuffer> => {
  const { projectId, operationId, kind, walletId, toWalletId, toAddress, chainId, token, tokenOut } = transfer;
  const parties = [projectId, operationId, kind, walletId, toWalletId, toAddress?.toLowerCase() ?? null];
  const amounts = [transfer.amountBase.toString(), transfer.path, transfer.minimumBase?.toString() ?? null];
  const notes = steps.map(({ noteId, withdrawBase, outBase }) => [noteId, withdrawBase.toString(), outBase.toString()]);
  const text = JSON.stringify([parties, chainId, token.address, tokenOut.address, amounts, notes]);
  return new Uint8Array(createHash("sha256").update(text).digest());
};

/** The intent that the policies decide on: all that leaves the notes, and the address that is paid, if any. */
export const intentOf = (
  actor: Actor,
  spent: Pick<PrivateTransfer, "kind" | "chainId" | "token" | "toAddress"> & {
    readonly grossBase: bigint;
    readonly createdBy?: string;
  },
): Intent => ({
  projectId: actor.projectId,
  kind: spent.kind,
  by: actorName(actor),
  keyIds: keysAmong(actorName(actor), ...(spent.createdBy === undefined ? [] : [spent.createdBy])),
  outflows: [{ walletId: null, token: spent.token, amountBase: spent.grossBase, isOnChain: true }],
  chains: [spent.chainId],
  recipients: spent.toAddress === null ? [] : [spent.toAddress],
  fields: { amount: "amount", recipient: "toAddress", chain: "chainId", token: "token" },
});
