/** Prepares a new payout between accounts for storing. */
import type { Actor } from "@/lib/core/actor";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { ROWS_SHOWN } from "../approval-text";
import type { PayoutsContext } from "../context";
import { newPayout, type Draft, type Origin } from "../draft";
import { accountsDigest } from "../intent";
import type { AccountsPayout } from "../payout";
import { worthNow } from "../worth";
import { fundsObstacle, type AccountsRequest } from "./request";
import { rowKeysOf } from "./rows";

const payoutOf = (
  actor: Actor,
  request: AccountsRequest,
  origin: Origin,
  now: Date,
): AccountsPayout => {
  const { kind, source, asset, rows, totalBase, mode, reference } = request;
  const approved = { sourceAccountId: source.id, currency: asset.assetId, mode, reference };
  return {
    ...newPayout(actor, origin, now),
    ...approved,
    kind,
    digest: accountsDigest(approved, rows),
    totalBase,
    itemsTotal: rows.length,
  };
};

export const draftBetweenAccounts = async (
  { policies, prices, clock }: PayoutsContext,
  actor: Actor,
  request: AccountsRequest,
  origin: Origin,
): Promise<Draft> => {
  const now = clock.now();
  const payout = payoutOf(actor, request, origin, now);
  const { kind, asset, items, rows: encoded, totalBase: amountBase } = request;
  const amounts = asset.tokens
    .slice(0, 1)
    .map((token) => ({ token, amountBase, decimals: LEDGER_DECIMALS }));
  return {
    parts: { kind, payout, asset },
    rows: { kind, encoded },
    shown: items.slice(0, ROWS_SHOWN).map((item) => ({
      recipient: item.recipientAccountId,
      amountBase: item.amountBase,
      token: null,
    })),
    keys: {
      keys: rowKeysOf(asset.assetId, items, encoded),
      allowDuplicates: origin.allowDuplicates,
      now,
    },
    obstacle: fundsObstacle(request),
    usd: policies.needsCode(actor) ? null : await worthNow(prices, amounts),
    digest: payout.digest,
    payment: { by: "ledger" },
  };
};
