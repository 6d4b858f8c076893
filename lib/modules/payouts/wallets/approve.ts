/** Approval of a payout to wallets: the text and digest of its one-time code, and holding its money once it is approved. */
import { bindDeps } from "@/lib/core/bind-deps";
import { createHash } from "node:crypto";
import type { Actor } from "@/lib/core/actor";
import type { ChainRegistry } from "@/lib/chains/registry";
import { formatAmount } from "@/lib/core/money";
import type { Tx } from "@/lib/db/client";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { PolicyEngine } from "@/lib/modules/policies/service";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { FundingService } from "@/lib/modules/swaps/service";
import type { Token } from "@/lib/core/token";
import { counted, type Asked } from "../ask-votes";
import type { WalletsPayout } from "../payout";
import { accountObstacle, type AccountSideDeps, type BearingAccount } from "./account-side";
import { tokenName } from "./rows";
import { outflowOf, type PayoutMoney } from "./money";
import { enforceApproved, paymentsDigest, payoutIntent } from "./enforce";
import { feeOf, type FeeDeps } from "./pricing";
import type { WalletPayoutsReader } from "./read-repository";
import type { WalletPayoutsRepository } from "./repository";
import { tokenNamed, type WalletPayout } from "./wallet-payout";

const LINES_MAX = 5;

export interface ApprovingDeps extends FeeDeps, Pick<AccountSideDeps, "ledger" | "assets"> {
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly registry: ChainRegistry;
  readonly repository: WalletPayoutsRepository;
  readonly rows: Pick<WalletPayoutsReader, "items">;
  readonly money: PayoutMoney;
  readonly funding: Pick<FundingService, "start">;
  readonly policyEngine: Pick<PolicyEngine, "checking">;
}

interface Awaiting {
  readonly payout: WalletsPayout;
  readonly own: Pick<WalletPayout, "chainId" | "fromAddress" | "totals" | "funding">;
}

/** A row as the message about the payout shows it; `token` is a token's name as in rows, or the token itself. */
interface ShownRow {
  readonly recipient: string;
  readonly amountBase: bigint;
  readonly token: string | Pick<Token, "address">;
}

interface Stored extends Awaiting {
  readonly own: WalletPayout;
}

/** Id of the one-time code, or of the decided request, by which a payout was approved. */
interface Proof {
  readonly codeId?: string;
  readonly decisionId?: string;
}

type Chains = Pick<ApprovingDeps, "registry">;

const fundingLines = (deps: Chains, { funding }: Awaiting["own"]): string[] => {
  if (funding === null) return [];
  const { token, minimumBase, sources } = funding;
  const arrives = `${formatAmount(minimumBase, token.decimals)} ${token.symbol}`;
  return [
    ...sources.map(
      ({ token: sent, amountBase }) =>
        `First you bring: ${formatAmount(amountBase, sent.decimals)} ${sent.symbol} from ${deps.registry.get(sent.chainId).name}`,
    ),
    `At least ${arrives} of it arrive in the treasury on ${deps.registry.get(token.chainId).name}`,
  ];
};

const linesOf = (deps: Chains, { payout, own }: Awaiting, first: readonly ShownRow[]): string[] => {
  const { itemsTotal } = payout;
  const { name } = deps.registry.get(own.chainId);
  const rest = itemsTotal - first.length;
  return [
    ...fundingLines(deps, own),
    ...(payout.sourceAccountId === null ? [] : [`You withdraw from the account ${payout.sourceAccountId}`]),
    `You pay on ${name} from ${own.fromAddress}, in ${String(itemsTotal)} payments:`,
    ...own.totals.map(
      ({ token, amountBase, rows }) =>
        `${formatAmount(amountBase, token.decimals)} ${token.symbol} in ${String(rows)} of them`,
    ),
    ...first.map(({ amountBase, recipient, token: paid }) => {
      const token = tokenNamed(own.totals, typeof paid === "string" ? paid : tokenName(paid));
      return `${formatAmount(amountBase, token.decimals)} ${token.symbol} to ${recipient}`;
    }),
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ];
};

/** The lines of the message that carries the one-time code. */
const approvalLines = async (deps: ApprovingDeps, awaiting: Awaiting): Promise<string[]> => {
  const { projectId, id: payoutId } = awaiting.payout;
  return linesOf(deps, awaiting, await deps.rows.items({ projectId, payoutId, after: -1, limit: LINES_MAX }));
};

/** The request for votes on a new payout whose rows are these. */
export const askedOf = (deps: Chains, awaiting: Awaiting, rows: readonly ShownRow[]): Asked => ({
  title: `Payout to ${counted(awaiting.payout.itemsTotal, "wallet")} on ${deps.registry.get(awaiting.own.chainId).name}`,
  lines: linesOf(deps, awaiting, rows.slice(0, LINES_MAX)),
  digest: codeDigest(awaiting),
});

/**
 * Queues a payout that awaits approval. Holds its money, or starts the operation that brings the missing part to its chain. False when
 * the payout no longer awaits approval.
 * @throws DomainError `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `quote_price_moved`,
 * `simulation_failed`, `chain_unavailable`
 */
const approve = async (
  deps: ApprovingDeps,
  actor: Actor,
  awaiting: Stored,
  by: Proof & { audit: AuditEntry },
): Promise<boolean> => {
  const { payout, own } = awaiting;
  const { id: payoutId, projectId, itemsTotal, createdBy } = payout;
  const rows = await deps.rows.items({ projectId, payoutId, after: -1, limit: itemsTotal });
  const recipients = rows.map(({ recipient }) => recipient);
  const digest = paymentsDigest({ ...own, projectId, payoutId }, rows);
  return deps.policyEngine.checking(
    payoutIntent(actor, { ...own, recipients, createdBy: own.askedBy ?? createdBy }),
    (check) =>
      start(deps, actor, awaiting, {
        ...by,
        enforce: enforceApproved(check, { type: "payout", id: payoutId, digest }, by.decisionId),
      }),
  );
};

const start = async (
  deps: ApprovingDeps,
  actor: Actor,
  { payout, own }: Stored,
  { audit, enforce, ...proof }: Proof & { audit: AuditEntry; enforce: (sql: Sql) => Promise<string> },
): Promise<boolean> => {
  const { id: payoutId, projectId } = payout;
  if (own.funding !== null) {
    const { quoteId } = own.funding;
    const claim = (tx: Tx, operationId: string) =>
      deps.repository.approveFunded(tx, { projectId, payoutId, operationId }, { audit, enforce });
    return (await deps.funding.start(actor, quoteId, { ...proof, claim })) !== null;
  }
  const batches = await deps.repository.queuedBatches(projectId, payoutId);
  const { costs } = await feeOf(deps, { payoutId, chainId: own.chainId, batches });
  const account = bearingOf(payout);
  return deps.money.withHolding({ payoutId, projectId, account, batches, costs }, outflowOf(own), (holding) =>
    deps.repository.approve({ projectId, id: payoutId }, holding, { audit, enforce }),
  );
};

/** The account that bears the payout. */
const bearingOf = ({ sourceAccountId: id, currency, totalBase }: WalletsPayout): BearingAccount | null =>
  id === null || currency === null ? null : { id, currency, totalBase };

/**
 * Checks the balances before the one-time code is consumed, so that a refusal leaves the code usable.
 * @throws DomainError `insufficient_balance`, `chain_unavailable`, `invalid_state` when the account is frozen or closed
 */
const requireFunds = async (deps: ApprovingDeps, { payout, own }: Stored): Promise<void> => {
  const account = bearingOf(payout);
  const refused = account === null ? null : await accountObstacle(deps, payout.projectId, account, payout.totalBase);
  if (refused !== null) throw refused;
  const outflow = outflowOf(own);
  const shortfalls = await deps.money.missing(outflow, { wei: own.feeWei, paidBy: own.feePaidBy });
  const brought = own.funding;
  const uncovered = shortfalls.filter(
    ({ source, missingBase }) =>
      brought === null || source.token.address !== brought.token.address || missingBase > brought.minimumBase,
  );
  if (uncovered.length > 0) throw deps.money.notEnough(outflow, uncovered);
};

/** SHA-256 of everything that a one-time code approves: the payout, and the operation that funds its chain. */
export const codeDigest = ({ payout, own }: Awaiting): Uint8Array<ArrayBuffer> => {
  if (own.funding === null) return payout.digest;
  const { quoteId, sources, minimumBase } = own.funding;
  const brought = sources.map(({ walletId, token, amountBase }) => [
    walletId,
    token.chainId,
    token.address,
    amountBase.toString(),
  ]);
  const text = JSON.stringify([quoteId, brought, minimumBase.toString()]);
  return new Uint8Array(createHash("sha256").update(payout.digest).update(text).digest());
};

export const createApproving = (deps: ApprovingDeps) => ({
  approvalLines: bindDeps(deps, approvalLines),
  approve: bindDeps(deps, approve),
  requireFunds: bindDeps(deps, requireFunds),
  codeDigest,
});
