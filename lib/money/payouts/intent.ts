/**
 * Builds the intents of payouts that the policies evaluate, and the digests that are compared
 * before anything is paid.
 */
import { createHash } from "node:crypto";
import { actorName, type Actor } from "@/lib/core/actor";
import type { Asset } from "@/lib/chain/assets";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { isExemptKey, keysAmong, type Intent } from "@/lib/trust/policies/service";
import type { AccountsPayout } from "./payout";
import type { TokenTotal } from "./wallets/rows";

/**
 * For each part of an intent, the request field that an error of the policies about this part
 * names, for payouts between accounts.
 */
const ACCOUNTS_FIELDS = {
  amount: "transfers",
  recipient: "transfers",
  chain: "sourceAccountId",
  token: "sourceAccountId",
};

const WALLETS_FIELDS = {
  amount: "transfers",
  recipient: "transfers",
  chain: "chainId",
  token: "transfers",
};

/**
 * Returns the token by which the policies find an asset's price. For an asset that no configured
 * chain lists any more, returns a token without a price, so that the policies treat its amount as
 * above every limit in US dollars.
 */
const tokenOf = (asset: Asset | null, currency: string): Token =>
  asset?.tokens[0] ?? {
    symbol: currency,
    name: currency,
    chainId: 0,
    address: "native",
    decimals: LEDGER_DECIMALS,
    assetId: currency,
    usdPegged: false,
  };

/**
 * Builds the intent of a payout between accounts. The intent has no recipients, because rules about
 * addresses do not apply to accounts of the project.
 */
export const accountsIntent = (
  actor: Actor,
  payout: Pick<AccountsPayout, "currency" | "totalBase" | "createdBy">,
  asset: Asset | null,
): Intent => {
  const by = actorName(actor);
  return {
    projectId: actor.projectId,
    kind: "global_accounts_payout",
    by,
    keyIds: keysAmong(by, payout.createdBy),
    byExemptKey: isExemptKey(actor),
    outflows: [
      {
        walletId: null,
        token: tokenOf(asset, payout.currency),
        amountBase: payout.totalBase,
        decimals: LEDGER_DECIMALS,
        isOnChain: false,
      },
    ],
    chains: [],
    recipients: [],
    recipientChain: null,
    fields: ACCOUNTS_FIELDS,
  };
};

/**
 * Builds the intent of a payout to wallets: everything that leaves the treasury, and all
 * recipients.
 */
export const walletsIntent = (
  actor: Actor,
  payout: {
    readonly chainId: number;
    readonly fromWalletId: string;
    readonly totals: readonly TokenTotal[];
    readonly recipients: Iterable<string>;
    /**
     * The id of the user or API key that requested the payout or created its schedule. The policy
     * of an API key also limits the runs of schedules that the key created.
     */
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
    byExemptKey: isExemptKey(actor),
    outflows: totals.map(({ token, amountBase }) => ({
      walletId: fromWalletId,
      token,
      amountBase,
      isOnChain: true,
    })),
    chains: [chainId],
    recipients: [...new Set(recipients)],
    recipientChain: chainId,
    recipientPaths: (address) =>
      recipients.flatMap((each, index) =>
        each === address ? [`transfers.${String(index)}.address`] : [],
      ),
    fields: WALLETS_FIELDS,
  };
};

/**
 * SHA-256 of a payout between accounts: its source account, currency, mode and reference, and each
 * row's recipient, amount and reference. The policies and a one-time code allow exactly this
 * digest.
 * @param rows each encoded by `encodeRow`
 */
export const accountsDigest = (
  payout: Pick<AccountsPayout, "sourceAccountId" | "currency" | "mode" | "reference">,
  rows: readonly string[],
): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  hash.update(
    JSON.stringify([payout.sourceAccountId, payout.currency, payout.mode, payout.reference]),
  );
  hash.update(rows.join(""));
  return new Uint8Array(hash.digest());
};

interface PaidRow {
  readonly recipient: string;
  /** Lower-case address of the token, or `native`. */
  readonly token: string;
  readonly amountBase: bigint;
}

interface PaidFrom {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
}

/**
 * SHA-256 of the payments of a payout to wallets: the payout and its project, the chain, the paying
 * wallet, and each row's recipient, token and amount.
 * @param rows all rows of the payout, in the order of their indexes
 */
export const paymentsDigest = (
  from: PaidFrom,
  rows: Iterable<PaidRow>,
): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([from.projectId, from.payoutId, from.chainId, from.fromWalletId]));
  for (const { recipient, token, amountBase } of rows)
    hash.update(JSON.stringify([recipient.toLowerCase(), token, amountBase.toString()]));
  return new Uint8Array(hash.digest());
};
