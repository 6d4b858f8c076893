/** Checks a new payout to wallets against balances and budgets, and prepares it for storing. */
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { ROWS_SHOWN } from "../approval-text";
import type { PayoutsContext } from "../context";
import { newPayout, type Draft, type Origin, type Payment } from "../draft";
import { paymentsDigest } from "../intent";
import type { WalletsPayout } from "../payout";
import { worthNow } from "../worth";
import { accountObstacle } from "./account-side";
import { refuseFrozen } from "./frozen";
import { holdsOf, type HoldingAt } from "./money";
import { planFunding, type FundingPlan } from "./plan-funding";
import { feeOf, type PayoutFee } from "./pricing";
import type { BatchGroup } from "./read-repository";
import { digestOf, recipientsOf, type WalletsRequest } from "./request";
import { rowKeysOf, tokenName, type PayoutPlan } from "./rows";
import type { Funding, WalletPayout } from "./wallet-payout";

/**
 * How the payout can be paid. `obstacle` is the error that prevents the payment now. `bring` is
 * the plan that first brings money to the payout's chain. Both are null when the treasury can pay
 * now.
 */
interface Means {
  readonly obstacle: DomainError | null;
  readonly bring: FundingPlan | null;
}

/**
 * Determines how the payout can be paid. Plans to bring money from other chains only when the
 * request allows it (`fundFrom`) and exactly one token is missing.
 */
const meansOf = async (
  context: PayoutsContext,
  at: HoldingAt,
  request: WalletsRequest,
  fee: PayoutFee,
): Promise<Means> => {
  const { account } = request;
  const refused =
    account === null ? null : await accountObstacle(context, at.projectId, account);
  if (refused !== null) return { obstacle: refused, bring: null };
  const missing = request.fundFrom === null ? [] : await context.money.missing(request, fee);
  const [first, ...others] = missing;
  if (first === undefined)
    return { obstacle: await context.money.obstacle(at, request, fee), bring: null };
  if (others.length > 0)
    return { obstacle: context.money.notEnough(request, missing), bring: null };
  try {
    const lacking = { token: first.source.token, missingBase: first.missingBase };
    return {
      obstacle: null,
      bring: await planFunding(context, at.projectId, request, lacking),
    };
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { obstacle: error, bring: null };
  }
};

/**
 * Stores a quote for the plan that brings money. The approval of the payout starts the operation of
 * that quote, once.
 * @throws DomainError `insufficient_liquidity` when the quote brings less than the missing amount
 */
const quoted = async (
  { funding }: PayoutsContext,
  actor: Actor,
  bring: FundingPlan,
): Promise<Funding> => {
  const { request: route, wallets } = bring;
  const { quoteId, minimumBase } = await funding.store(actor, { route, wallets });
  if (minimumBase >= bring.funding.missingBase)
    return { ...bring.funding, quoteId, minimumBase };
  throw new DomainError(
    "insufficient_liquidity",
    "Prices moved while the payout was planned. Nothing was paid; try again.",
  );
};

const payoutOf = (
  actor: Actor,
  request: WalletsRequest,
  origin: Origin,
  now: Date,
): WalletsPayout => ({
  ...newPayout(actor, origin, now),
  kind: request.kind,
  mode: "independent",
  sourceAccountId: request.account?.id ?? null,
  currency: request.account?.currency ?? null,
  reference: request.reference,
  totalBase: request.account?.totalBase ?? 0n,
  itemsTotal: request.rows.length,
  digest: digestOf(request),
});

/**
 * Returns the planned batches in the form in which stored batches are read, so that a payout that
 * is only validated can be shown.
 */
const groupsOf = (payoutId: string, { batches }: PayoutPlan): BatchGroup[] =>
  batches.map(({ token, rows, amountBase }) => ({
    payoutId,
    token: tokenName(token),
    status: "queued",
    batches: 1,
    rows,
    amountBase,
    gasCostWei: 0n,
    mayStop: true,
    mayRetry: false,
    doubts: [],
  }));

const storedRow = ({ recipient, amountBase, token }: WalletsRequest["rows"][number]) => ({
  recipient,
  amountBase,
  token: tokenName(token),
});

interface Checked {
  readonly origin: Origin;
  readonly fee: PayoutFee;
  readonly warnings: WalletPayout["warnings"];
  readonly funding: Funding | null;
}

const ownOf = (
  actor: Actor,
  { id: payoutId, projectId }: WalletsPayout,
  { chainId, treasury, totals, fundFrom }: WalletsRequest,
  { origin: { run }, fee, warnings, funding }: Checked,
): WalletPayout => ({
  projectId,
  payoutId,
  chainId,
  fromWalletId: treasury.id,
  fromAddress: treasury.address,
  totals,
  warnings,
  feeWei: fee.wei,
  feePaidBy: fee.paidBy,
  fundFrom,
  funding,
  fundedBy: null,
  scheduleId: run?.scheduleId ?? null,
  askedBy: run?.askedBy ?? actorName(actor),
  gasWaits: [],
});

const usdOf = async (
  { policies, prices }: PayoutsContext,
  actor: Actor,
  { totals }: WalletsRequest,
): Promise<string | null> => {
  if (policies.needsCode(actor)) return null;
  const amounts = totals.map(({ token, amountBase }) => ({
    token,
    amountBase,
    decimals: token.decimals,
  }));
  return worthNow(prices, amounts);
};

/**
 * Checks a new payout to wallets and returns its draft.
 * @param isStored false when the payout is only validated: no quote is stored for the plan that
 * brings money
 * @throws DomainError `recipient_frozen`, `wallet_frozen`, `insufficient_liquidity`,
 * `chain_unavailable`
 */
export const draftToWallets = async (
  context: PayoutsContext,
  actor: Actor,
  request: WalletsRequest,
  { origin, isStored }: { readonly origin: Origin; readonly isStored: boolean },
): Promise<Draft> => {
  const now = context.clock.now();
  const payout = payoutOf(actor, request, origin, now);
  const { id: payoutId, projectId } = payout;
  const { kind, plan, chainId, account } = request;
  const fee = await feeOf(context, { payoutId, chainId, batches: plan.batches });
  const at = { payoutId, projectId, account, batches: holdsOf(plan), costs: fee.costs };
  const [{ obstacle, bring }, warnings, usd] = await Promise.all([
    meansOf(context, at, request, fee),
    context.recipients.warnings(recipientsOf(actor, request, [])),
    usdOf(context, actor, request),
    refuseFrozen(context.freezes, request),
  ]);
  const planned = bring === null ? null : { ...bring.funding, quoteId: "" };
  const funding = isStored && bring !== null ? await quoted(context, actor, bring) : planned;
  const walletPayout = ownOf(actor, payout, request, { origin, fee, warnings, funding });
  const payment: Payment =
    funding === null
      ? { by: "holding", at, outflow: request }
      : { by: "operation", quoteId: funding.quoteId };
  const rows = request.rows.map(storedRow);
  return {
    parts: { kind, payout, own: walletPayout, groups: groupsOf(payoutId, plan) },
    rows: { kind, plan },
    shown: rows.slice(0, ROWS_SHOWN),
    keys: { keys: rowKeysOf(request.rows), allowDuplicates: origin.allowDuplicates, now },
    obstacle,
    usd,
    digest: paymentsDigest(walletPayout, rows),
    payment,
  };
};
