/** Payments from the treasury to many addresses of one chain. */
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { WalletPayout } from "@/lib/db/generated/client";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { PoliciesService } from "@/lib/modules/policies/service";
import { APPROVAL_SECONDS, hexOf } from "../common";
import type { PayoutsRepository, WalletsPayoutRow } from "../repository";
import { duplicatesOf, refuseDuplicates, type RowKeys } from "../row-keys";
import { refuseFaults, strangersAmong, type WalletRowInput } from "./check-rows";
import { createdEntry, duplicateWarnings, groupsOf, newPayout, ownRow, type Origin } from "./draft";
import type { Holding } from "./holding";
import { createPayoutMoney, holdsOf, type MoneyDeps, type Outflow } from "./money";
import { feeOf, worthOf, type FeeDeps } from "./pricing";
import type { BatchGroup, WalletItemRow, WalletPayoutsReader } from "./reading";
import type { NewWalletPayout, WalletPayoutsRepository } from "./repository";
import { digestOf, readRequest, type PayoutRequest, type RequestDeps, type RequestInput } from "./request";
import { rowKeysOf } from "./rows";
import { storedFundFrom, storedTotals } from "./stored";
import { warningsFor, type WarningDeps } from "./warnings";

const KIND = "wallets";
const LINES_MAX = 5;

export interface WalletPayoutsDeps extends FeeDeps, MoneyDeps, RequestDeps, WarningDeps {
  readonly registry: RequestDeps["registry"];
  readonly wallets: RequestDeps["wallets"] & WarningDeps["wallets"];
  readonly payouts: Pick<PayoutsRepository, "findByKey">;
  readonly repository: WalletPayoutsRepository;
  readonly rows: WalletPayoutsReader;
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly policies: PoliciesService;
}

export interface NewWalletsPayout extends RequestInput {
  readonly validateOnly: boolean;
  readonly allowDuplicates: boolean;
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
}

/** A payout as it is, or as it would be stored (`validateOnly`: without an id). */
export interface WalletsPayoutParts {
  readonly payout: WalletsPayoutRow;
  readonly own: WalletPayout;
  readonly groups: readonly BatchGroup[];
}

/** @throws DomainError `idempotency_mismatch` where the key was used for something else */
const sameAs = (known: WalletsPayoutRow, digest: Uint8Array): WalletsPayoutRow => {
  if (hexOf(known.digest) === hexOf(digest)) return known;
  throw new DomainError("idempotency_mismatch", "This Idempotency-Key was used for another payout. Nothing was paid.");
};

export const createWalletPayoutsService = (deps: WalletPayoutsDeps) => {
  const { repository, registry, policies, clock } = deps;
  const money = createPayoutMoney(deps);

  const findKnown = async (actor: Actor, key: string | null): Promise<WalletsPayoutRow | null> => {
    if (key === null) return null;
    const caller = { projectId: actor.projectId, createdBy: actorName(actor) };
    const known = await deps.payouts.findByKey({ ...caller, kind: KIND, idempotencyKey: key });
    return known?.kind === KIND ? known : null;
  };

  /** With what only payouts to wallets have, by id. */
  const parts = async (projectId: string, payouts: readonly WalletsPayoutRow[]): Promise<WalletsPayoutParts[]> => {
    const ids = payouts.map(({ id }) => id);
    const [owns, groups] = await Promise.all([deps.rows.own(projectId, ids), deps.rows.groups(projectId, ids)]);
    return payouts.map((payout) => {
      const own = owns.get(payout.id);
      if (own === undefined) throw new Error(`${payout.id} has no row in wallet_payout.`);
      return { payout, own, groups: groups.filter(({ payoutId }) => payoutId === payout.id) };
    });
  };

  const partsOf = async (payout: WalletsPayoutRow): Promise<WalletsPayoutParts> => {
    const [found] = await parts(payout.projectId, [payout]);
    if (found === undefined) throw new Error(`${payout.id} was not read.`);
    return found;
  };

  /** Everything about a new payout that is known before it is stored. */
  const draftOf = async (actor: Actor, request: PayoutRequest, origin: Origin) => {
    const now = clock.now();
    const payout = newPayout(actor, request, origin, now);
    const { batches } = request.plan;
    const fee = await feeOf(deps, { payoutId: payout.id, chainId: request.chainId, batches });
    const at = { payoutId: payout.id, projectId: payout.projectId, batches: holdsOf(request.plan), costs: fee.costs };
    const [obstacle, warnings, usd] = await Promise.all([
      money.obstacle(at, request, fee),
      warningsFor(deps, actor, request),
      policies.needsCode(actor) ? null : worthOf(deps, request.totals),
    ]);
    const keys: RowKeys = { keys: rowKeysOf(request.rows), allowDuplicates: origin.allowDuplicates, now };
    const own: NewWalletPayout = {
      chainId: request.chainId,
      fromWalletId: request.treasury.id,
      fromAddress: request.treasury.address,
      totals: request.totals,
      warnings,
      feeWei: fee.wei,
      feePaidBy: fee.paidBy,
      fundFrom: request.fundFrom,
      scheduleId: origin.scheduleId,
    };
    return { payout, at, obstacle, usd, keys, own };
  };
  type Draft = Awaited<ReturnType<typeof draftOf>>;

  const store = async (actor: Actor, request: PayoutRequest, origin: Origin): Promise<WalletsPayoutRow> => {
    const { payout, at, obstacle, usd, keys, own } = await draftOf(actor, request, origin);
    const insert = (holding: Holding | null): Promise<WalletsPayoutRow | null> =>
      repository.insert({
        payout,
        own,
        plan: request.plan,
        // A retry pays what was asked for before, so its rows are neither checked nor counted.
        keys: origin.retryOf === null ? keys : null,
        // That a schedule pays the same again is what it was approved for.
        warningsOf: origin.scheduleId === null ? duplicateWarnings : () => [],
        refuse: () => {
          if (obstacle !== null) throw obstacle;
        },
        // A schedule was approved with a code for each of its runs.
        admit: (sql: Sql) =>
          origin.scheduleId === null ? policies.spend(sql, actor, usd, payout.createdAt) : Promise.resolve(true),
        holding,
        audit: (stored) => createdEntry(actor, stored, own),
        expiresAt: addSeconds(payout.createdAt, APPROVAL_SECONDS),
      });
    const waits = origin.scheduleId === null && policies.needsCode(actor);
    const stored = waits ? await insert(null) : await money.withHolding(at, request, insert);
    if (stored !== null) return stored;
    const known = await findKnown(actor, origin.key);
    if (known === null) throw new DomainError("invalid_state", "Its failed rows are being tried again already.");
    return sameAs(known, payout.digest);
  };

  const validated = async (request: PayoutRequest, draft: Draft): Promise<WalletsPayoutParts> => {
    const { payout, keys, obstacle, own } = draft;
    const duplicates = await duplicatesOf(deps.reader, payout.projectId, keys);
    if (!keys.allowDuplicates) refuseDuplicates(duplicates);
    if (obstacle !== null) throw obstacle;
    const warnings = [...duplicateWarnings(duplicates), ...own.warnings];
    const groups = groupsOf("", request.plan);
    return { payout: { ...payout, id: "" }, own: ownRow(payout, { ...own, warnings }), groups };
  };

  const createNew = async (
    actor: Actor,
    input: NewWalletsPayout,
    request: PayoutRequest,
  ): Promise<WalletsPayoutParts> => {
    const { key, allowDuplicates } = input;
    const origin = { key, retryOf: null, scheduleId: null, allowDuplicates };
    if (input.validateOnly) return validated(request, await draftOf(actor, request, origin));
    return partsOf(await store(actor, request, origin));
  };

  /**
   * Checks every row, stores the payout and hands it to the workers; above the caller's policy it awaits approval. Without an id:
   * everything is right and nothing was stored (`validateOnly`).
   * @throws DomainError `invalid_request` and the like (every bad row by index), `duplicate_payout`, `insufficient_balance`,
   * `insufficient_reserves`, `sponsor_budget_exceeded`, `batch_too_large`, `unsupported_chain`, `chain_unavailable`
   */
  const create = async (actor: Actor, input: NewWalletsPayout): Promise<WalletsPayoutParts> => {
    const request = await readRequest(deps, actor, input);
    const key = input.validateOnly ? null : input.key;
    const known = await findKnown(actor, key);
    if (known !== null) return partsOf(sameAs(known, digestOf(request)));
    try {
      return await createNew(actor, input, request);
    } catch (error) {
      // The same call may have won meanwhile; then its rows are this one's duplicates, and it has taken the money.
      const other = await findKnown(actor, key);
      if (other === null) throw error;
      return partsOf(sameAs(other, digestOf(request)));
    }
  };

  /**
   * A run of a schedule, which was approved beforehand; `key` names it, so that it is made once.
   * @throws DomainError as `create` does, but for duplicates
   */
  const createScheduled = async (
    actor: Actor,
    request: PayoutRequest,
    { scheduleId, key }: { scheduleId: string; key: string },
  ): Promise<WalletsPayoutParts> => {
    const known = await findKnown(actor, key);
    if (known !== null) return partsOf(sameAs(known, digestOf(request)));
    const origin = { key, retryOf: null, scheduleId, allowDuplicates: true };
    return partsOf(await store(actor, request, origin));
  };

  /** The payout that a run of a schedule made; null: none was made. */
  const findScheduled = async (projectId: string, at: { createdBy: string; key: string }): Promise<string | null> => {
    const { createdBy, key: idempotencyKey } = at;
    return (await deps.payouts.findByKey({ projectId, kind: KIND, createdBy, idempotencyKey }))?.id ?? null;
  };

  const allItems = async (payout: WalletsPayoutRow, status: WalletItemRow["status"]): Promise<WalletItemRow[]> =>
    deps.rows.items({
      projectId: payout.projectId,
      payoutId: payout.id,
      after: -1,
      limit: payout.itemsTotal,
      status,
    });

  const tokensOf = (own: WalletPayout) => storedTotals.parse(own.totals);

  const symbolOf = (own: WalletPayout, name: string) => {
    const found = tokensOf(own).find(({ token }) => token.address.toLowerCase() === name);
    if (found === undefined) throw new Error(`The payout has no total of ${name}.`);
    return found.token;
  };

  /**
   * A payout of the failed rows alone, once; it needs its own approval.
   * @throws DomainError as `create` does
   */
  const retry = async (actor: Actor, { payout, own }: WalletsPayoutParts): Promise<WalletsPayoutParts> => {
    const failed = await allItems(payout, "failed");
    const transfers = failed.map((item): WalletRowInput => ({
      address: item.recipient,
      amount: formatAmount(item.amountBase, symbolOf(own, item.token).decimals),
      token: item.token,
      reference: item.reference ?? undefined,
      note: item.note ?? undefined,
    }));
    const fundFrom = own.fundFrom === null ? undefined : storedFundFrom.parse(own.fundFrom);
    const request = await readRequest(deps, actor, {
      chainId: own.chainId,
      transfers,
      reference: payout.reference ?? undefined,
      fundFrom,
    });
    const origin = { key: null, retryOf: payout.id, scheduleId: null, allowDuplicates: true };
    return partsOf(await store(actor, request, origin));
  };

  /** What the message with the code states, a line each. */
  const approvalLines = async ({ payout, own }: WalletsPayoutParts): Promise<string[]> => {
    const { projectId, id: payoutId, itemsTotal } = payout;
    const first = await deps.rows.items({ projectId, payoutId, after: -1, limit: LINES_MAX });
    const { name } = registry.get(own.chainId);
    const rest = itemsTotal - first.length;
    return [
      `You pay on ${name} from ${own.fromAddress}, in ${String(itemsTotal)} payments:`,
      ...tokensOf(own).map(
        ({ token, amountBase, rows }) =>
          `${formatAmount(amountBase, token.decimals)} ${token.symbol} in ${String(rows)} of them`,
      ),
      ...first.map(({ amountBase, recipient, token: name_ }) => {
        const token = symbolOf(own, name_);
        return `${formatAmount(amountBase, token.decimals)} ${token.symbol} to ${recipient}`;
      }),
      ...(rest > 0 ? [`and ${String(rest)} more`] : []),
    ];
  };

  /**
   * Holds the money of a payout that awaits approval, and lets it run. False when it does not await it any more.
   * @throws DomainError `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `chain_unavailable`
   */
  const approve = async ({ payout, own }: WalletsPayoutParts, audit: AuditEntry): Promise<boolean> => {
    const { id: payoutId, projectId } = payout;
    const batches = await repository.queuedBatches(projectId, payoutId);
    const { costs } = await feeOf(deps, { payoutId, chainId: own.chainId, batches });
    return money.withHolding({ payoutId, projectId, batches, costs }, outflowOf(own), (holding) =>
      repository.approve(payoutId, holding, audit),
    );
  };

  /** What must be there before a code is used up. @throws DomainError `insufficient_balance`, `chain_unavailable` */
  const requireFunds = async ({ own }: WalletsPayoutParts): Promise<void> => {
    const outflow = outflowOf(own);
    const fee = {
      wei: BigInt(own.feeWei.toFixed()),
      paidBy: own.feePaidBy === "sponsor" ? "sponsor" : "wallet",
    } as const;
    const shortfalls = await money.missing(outflow, fee);
    if (shortfalls.length > 0) throw money.notEnough(outflow, shortfalls);
  };

  /** Before a stored answer is given again. @throws DomainError `recipient_not_allowed` naming each row */
  const checkRecipients = (actor: Actor, { transfers }: Pick<RequestInput, "transfers">): void =>
    refuseFaults(strangersAmong(transfers, policies.mayPay(actor)), transfers.length);

  const checkRetry = async (actor: Actor, { payout }: WalletsPayoutParts): Promise<void> => {
    const failed = await allItems(payout, "failed");
    checkRecipients(actor, {
      transfers: failed.map(({ recipient }) => ({ address: recipient, amount: "", token: "" })),
    });
  };

  return {
    create,
    createScheduled,
    findScheduled,
    checkRecipients,
    checkRetry,
    retry,
    parts,
    partsOf,
    approvalLines,
    approve,
    requireFunds,
    cancel: repository.cancel,
    items: deps.rows.items,
  };
};

const outflowOf = (own: WalletPayout): Outflow => ({
  chainId: own.chainId,
  treasury: { address: own.fromAddress },
  totals: storedTotals.parse(own.totals),
});

export type WalletPayoutsService = ReturnType<typeof createWalletPayoutsService>;
