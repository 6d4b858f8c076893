/** Checks a new payout to wallets against balances, budgets and policies, and stores it unless the request is `validateOnly`. */
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { Check, Intent, PolicyEngine, PoliciesService, RequiredApproval } from "@/lib/modules/policies/service";
import type { FundingService } from "@/lib/modules/swaps/service";
import { askVotes, type VotesPort } from "../ask-votes";
import { APPROVAL_SECONDS } from "../limits";
import type { WalletsPayout } from "../payout";
import { UsedAlreadyError, NotAdmittedError } from "../errors";
import { unlessUsed } from "../repository";
import { duplicatesOf } from "../duplicate-repository";
import { refuseDuplicates, type RowKeys } from "../duplicate-rows";
import { accountObstacle, type AccountSideDeps } from "./account-side";
import { askedOf } from "./approve";
import { createdEntry, duplicateWarnings, groupsOf, newPayout, type Origin } from "./draft";
import { planFunding, type FundingDeps, type FundingPlan } from "./plan-funding";
import { holdsOf, type PayoutMoney } from "./money";
import type { NewPayoutToWallets, NewWalletPayout, Running } from "./new-payout-repository";
import { feeOf, worthOf, type FeeDeps, type PayoutFee } from "./pricing";
import type { BatchGroup } from "./read-repository";
import type { WalletPayoutsRepository } from "./repository";
import type { PayoutRequest } from "./request";
import { paymentsDigest, payoutIntent } from "./enforce";
import { refuseFrozen, type Freezes } from "./frozen";
import { rowKeysOf, tokenName } from "./rows";
import type { Funding, WalletPayout } from "./wallet-payout";
import { warningsFor, type WarningDeps } from "./warnings";

export interface StorePayoutDeps extends FeeDeps, WarningDeps, Pick<AccountSideDeps, "ledger" | "assets"> {
  readonly registry: FundingDeps["registry"];
  readonly wallets: WarningDeps["wallets"] & FundingDeps["wallets"];
  readonly holds: FundingDeps["holds"];
  readonly funding: FundingService;
  readonly money: PayoutMoney;
  readonly repository: WalletPayoutsRepository;
  readonly policies: PoliciesService;
  readonly policyEngine: Pick<PolicyEngine, "checking" | "refuse">;
  readonly freezes: Freezes;
  readonly decisions: VotesPort;
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly clock: Clock;
}

/** A payout as it would be stored, without an id. */
export interface ValidatedPayout {
  readonly payout: WalletsPayout;
  readonly own: WalletPayout;
  readonly groups: readonly BatchGroup[];
}

type At = Parameters<PayoutMoney["obstacle"]>[0];

/** The error that prevents the payout now, or the plan that first brings money to its chain. Both null: the payout can be paid. */
interface Means {
  readonly obstacle: DomainError | null;
  readonly bring: FundingPlan | null;
}

/** Plans to bring money from other chains only when the request allows it (`fundFrom`) and exactly one token is missing. */
const meansOf = async (deps: StorePayoutDeps, at: At, request: PayoutRequest, fee: PayoutFee): Promise<Means> => {
  const { account } = request;
  const refused = account === null ? null : await accountObstacle(deps, at.projectId, account);
  if (refused !== null) return { obstacle: refused, bring: null };
  const missing = request.fundFrom === null ? [] : await deps.money.missing(request, fee);
  const [first, ...others] = missing;
  if (first === undefined) return { obstacle: await deps.money.obstacle(at, request, fee), bring: null };
  if (others.length > 0) return { obstacle: deps.money.notEnough(request, missing), bring: null };
  try {
    const lacking = { token: first.source.token, missingBase: first.missingBase };
    return { obstacle: null, bring: await planFunding(deps, at.projectId, request, lacking) };
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { obstacle: error, bring: null };
  }
};

/** Prepares a new payout for storing: its row, plan, fee and warnings. */
const draftOf = async (deps: StorePayoutDeps, actor: Actor, request: PayoutRequest, origin: Origin) => {
  const now = deps.clock.now();
  const payout = newPayout(actor, request, origin, now);
  const { batches } = request.plan;
  const fee = await feeOf(deps, { payoutId: payout.id, chainId: request.chainId, batches });
  const { account } = request;
  const { costs } = fee;
  const at = { payoutId: payout.id, projectId: payout.projectId, account, batches: holdsOf(request.plan), costs };
  const [{ obstacle, bring }, warnings, usd] = await Promise.all([
    meansOf(deps, at, request, fee),
    warningsFor(deps, actor, request),
    deps.policies.needsCode(actor) ? null : worthOf(deps, request.totals),
    refuseFrozen(deps.freezes, request),
  ]);
  const keys: RowKeys = { keys: rowKeysOf(request.rows), allowDuplicates: origin.allowDuplicates, now };
  const own = {
    chainId: request.chainId,
    fromWalletId: request.treasury.id,
    fromAddress: request.treasury.address,
    totals: request.totals,
    warnings,
    feeWei: fee.wei,
    feePaidBy: fee.paidBy,
    fundFrom: request.fundFrom,
    scheduleId: origin.run?.scheduleId ?? null,
    askedBy: origin.run?.askedBy ?? actorName(actor),
  };
  return { payout, at, obstacle, bring, usd, keys, own };
};

type Draft = Awaited<ReturnType<typeof draftOf>>;

/** Stores a quote for the plan. The approval starts the operation of that quote, once. */
const withQuote = async (deps: StorePayoutDeps, actor: Actor, { bring }: Draft): Promise<Funding | null> => {
  if (bring === null) return null;
  const { request: route, wallets } = bring;
  const { quoteId, minimumBase } = await deps.funding.store(actor, { route, wallets });
  if (minimumBase >= bring.funding.missingBase) return { ...bring.funding, quoteId, minimumBase };
  throw new DomainError(
    "insufficient_liquidity",
    "Prices moved while the payout was planned. Nothing was paid; try again.",
  );
};

interface Given {
  readonly origin: Origin;
  readonly check: Check;
  /** The votes that the policies demand; null where they demand none. */
  readonly approval: RequiredApproval | null;
}

const inputOf = (
  deps: StorePayoutDeps,
  actor: Actor,
  request: PayoutRequest,
  { draft, origin, own, check, approval }: Given & { draft: Draft; own: NewWalletPayout },
): Omit<NewPayoutToWallets, "running"> => {
  const { payout, keys, obstacle, usd } = draft;
  const { fromWalletId, chainId } = own;
  const rows = request.rows.map((row) => ({ ...row, token: tokenName(row.token) }));
  const digest = paymentsDigest({ projectId: payout.projectId, payoutId: payout.id, chainId, fromWalletId }, rows);
  const subject = { type: "payout", id: payout.id, digest } as const;
  return {
    payout,
    own,
    plan: request.plan,
    // A retry is not a duplicate of the rows that failed. After it has paid them, an equal payment is a duplicate.
    keys,
    // A schedule repeats the same payments by design, and was approved to do so.
    warningsOf: origin.run === null ? duplicateWarnings : () => [],
    refuse: () => {
      if (obstacle !== null) throw obstacle;
    },
    claim: async (sql: Sql) => {
      if (origin.run !== null && !(await origin.run.take(sql, payout.id))) throw new UsedAlreadyError();
    },
    admit: async (sql: Sql) => {
      if (origin.run === null) {
        const mayRun = await deps.policies.spend(sql, actor, usd, payout.createdAt);
        return mayRun ? check.enforce(sql, subject, { hasCode: false }) : null;
      }
      // A run needs no code of its own, because a person gave one for the whole schedule. That code does not stand for the votes of several
      // people, where the project asks for them now. The policies of today bound a run as any payout.
      if ((await deps.decisions.requirementOf(payout.projectId, sql)) !== null) return null;
      return check.enforce(sql, subject, { hasCode: true });
    },
    audit: (stored) => createdEntry(actor, stored, own),
    expiresAt: addSeconds(payout.createdAt, APPROVAL_SECONDS),
    ask: (sql: Sql, stored) =>
      askVotes(deps.decisions, sql, {
        payout: stored,
        actor,
        asked: askedOf(deps, { payout: stored, own }, request.plan.rows),
        ofPolicies: approval,
      }),
  };
};

/** Stores a payout in the transaction that accepts its funding operation. Null when another payout used the Idempotency-Key. */
const storeFunded = async (
  deps: StorePayoutDeps,
  actor: Actor,
  { quoteId, isApproved }: { readonly quoteId: string; readonly isApproved: boolean },
  input: Omit<NewPayoutToWallets, "running">,
): Promise<WalletsPayout | null> => {
  let stored: WalletsPayout | null = null;
  const started = deps.funding.start(actor, quoteId, {
    isApproved,
    claim: async (tx, operationId) => {
      stored = await deps.repository.insertFunded(tx, { ...input, running: { by: "funding", operationId } });
      return true;
    },
  });
  try {
    return (await unlessUsed(started)) === null ? null : stored;
  } catch (error) {
    // The policy of a wallet that the money comes from may ask for a code which the treasury's does not ask for.
    const needsCode = isDomainError(error) && error.code === "otp_required";
    if (needsCode || error instanceof NotAdmittedError) return deps.repository.insert({ ...input, running: null });
    throw error;
  }
};

/** Checks and stores a payout. `stored` is null when another payout used the Idempotency-Key, or already retries the same payout. */
export const storePayout = async (
  deps: StorePayoutDeps,
  actor: Actor,
  request: PayoutRequest,
  origin: Origin,
): Promise<{ stored: WalletsPayout | null; digest: Uint8Array }> => {
  const intent = intentOf(actor, request, origin);
  const { approval } = await deps.policyEngine.refuse(intent);
  return deps.policyEngine.checking(intent, (check) => storeChecked(deps, actor, request, { origin, check, approval }));
};

/** All that leaves the treasury, to every recipient. The policy of a key also bounds the runs of a schedule that the key made. */
const intentOf = (actor: Actor, { chainId, treasury, totals, rows }: PayoutRequest, { run }: Origin): Intent => {
  const recipients = rows.map(({ recipient }) => recipient);
  const createdBy = run?.askedBy ?? actorName(actor);
  return payoutIntent(actor, { chainId, fromWalletId: treasury.id, totals, recipients, createdBy });
};

const storeChecked = async (
  deps: StorePayoutDeps,
  actor: Actor,
  request: PayoutRequest,
  { origin, check, approval }: Given,
): Promise<{ stored: WalletsPayout | null; digest: Uint8Array }> => {
  const draft = await draftOf(deps, actor, request, origin);
  const brought = await withQuote(deps, actor, draft);
  const own: NewWalletPayout = { ...draft.own, funding: brought };
  const input = inputOf(deps, actor, request, { draft, origin, own, check, approval });
  const insert = (running: Running | null) => deps.repository.insert({ ...input, running });
  const { digest } = draft.payout;
  const needsCode = origin.run === null && deps.policies.needsCode(actor);
  if (needsCode || approval !== null) return { stored: await insert(null), digest };
  if (brought !== null) {
    const { quoteId } = brought;
    return { stored: await storeFunded(deps, actor, { quoteId, isApproved: origin.run !== null }, input), digest };
  }
  const stored = await deps.money.withHolding(draft.at, request, (holding) => insert({ by: "holding", holding }));
  return { stored, digest };
};

/** Makes all checks of `storePayout` and stores nothing. @throws DomainError as `storePayout` does */
export const validatePayout = async (
  deps: StorePayoutDeps,
  actor: Actor,
  request: PayoutRequest,
  origin: Origin,
): Promise<ValidatedPayout> => {
  const { payout, keys, obstacle, bring, own } = await draftOf(deps, actor, request, origin);
  const duplicates = await duplicatesOf(deps.reader, payout.projectId, keys);
  if (!keys.allowDuplicates) refuseDuplicates(duplicates);
  if (obstacle !== null) throw obstacle;
  const planned = bring === null ? null : { ...bring.funding, quoteId: "" };
  const warnings = [...duplicateWarnings(duplicates), ...own.warnings];
  const part = {
    ...own,
    projectId: payout.projectId,
    payoutId: payout.id,
    warnings,
    funding: planned,
    fundedBy: null,
    gasWaits: [],
  };
  return { payout: { ...payout, id: "" }, own: part, groups: groupsOf("", request.plan) };
};
