/** The policies' part in payouts to wallets: the intent that they decide on, and the digest that the signer compares. */
import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import { keysAmong, type Check, type Intent, type Subject } from "@/lib/modules/policies/service";
import type { Sql } from "@/lib/db/sql";
import type { TokenTotal } from "./rows";

/** A row as it is stored. */
interface PaidRow {
  readonly recipient: string;
  /** Lower-case address, or `native`. */
  readonly token: string;
  readonly amountBase: bigint;
}

interface PaidFrom {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
}

/** SHA-256 of the wallet, the chain, and each row's recipient, token and amount. @param rows all of them, by index */
export const paymentsDigest = (from: PaidFrom, rows: Iterable<PaidRow>): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([from.projectId, from.payoutId, from.chainId, from.fromWalletId]));
  for (const { recipient, token, amountBase } of rows)
    hash.update(JSON.stringify([recipient.toLowerCase(), token, amountBase.toString()]));
  return new Uint8Array(hash.digest());
};

const FIELDS = { amount: "transfers", recipient: "transfers", chain: "chainId", token: "transfers" };

export const payoutIntent = (
  actor: Actor,
  payout: {
    readonly chainId: number;
    readonly fromWalletId: string;
    readonly totals: readonly TokenTotal[];
    readonly recipients: Iterable<string>;
    readonly createdBy: string;
  },
): Intent => {
  const { chainId, fromWalletId, totals, createdBy } = payout;
  const recipients = [...payout.recipients];
  return {
    projectId: actor.projectId,
    kind: "wallets_payout",
    by: actorName(actor),
    keyIds: keysAmong(actorName(actor), createdBy),
    outflows: totals.map(({ token, amountBase }) => ({ walletId: fromWalletId, token, amountBase, isOnChain: true })),
    chains: [chainId],
    recipients: [...new Set(recipients)],
    recipientPaths: (address) =>
      recipients.flatMap((each, index) => (each === address ? [`transfers.${String(index)}.address`] : [])),
    fields: FIELDS,
  };
};

/** The evaluation of a payout that a code or votes have approved. @throws DomainError `policy_violation` */
export const enforceApproved =
  (check: Check, subject: Subject, decisionId: string | undefined) =>
  async (sql: Sql): Promise<string> => {
    const evaluationId = await check.enforce(sql, subject, { hasCode: true, decisionId });
    if (evaluationId === null) throw new Error("A code was given, and yet one is needed.");
    return evaluationId;
  };
