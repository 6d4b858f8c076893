/** Payments from one account of the ledger to many accounts. */
import { bindDeps } from "@/lib/core/bind-deps";
import { actorName, type Actor } from "@/lib/core/actor";
import type { Assets } from "@/lib/chains/assets";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Database } from "@/lib/db/client";
import type { SqlReader } from "@/lib/db/sql";
import type { JudgedPart } from "@/lib/db/together";
import { doneBy, type AuditEntry } from "@/lib/modules/audit/service";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/modules/ledger/service";
import type { Intent, PoliciesService } from "@/lib/modules/policies/service";
import { askVotes, counted, type Asked, type VotesPort } from "../ask-votes";
import { APPROVAL_SECONDS } from "../limits";
import { PRICE_TIMEOUT_MS, type Prices } from "../prices";
import type { AccountsPayout } from "../payout";
import { worth } from "./worth";
import type { PayoutsRepository } from "../repository";
import { duplicatesOf } from "../duplicate-repository";
import { refuseDuplicates } from "../duplicate-rows";
import { notAdmitted, NotAdmittedError } from "../errors";
import { checkPayout, type Checked } from "./check-payout";
import { payoutDigest, readRows, type PayoutRowInput } from "./check-rows";
import { accountsIntent, createEnforcing, type EnforceDeps } from "./enforce";
import type { AccountPayoutsRepository } from "./repository";
import { requireFunds } from "./available-funds";
import { rowKeysOf, type NewItem, type PayoutItemRow } from "./rows";

const KIND = "global_accounts";

export interface AccountPayoutsDeps {
  readonly payouts: Pick<PayoutsRepository, "findByKey">;
  readonly repository: AccountPayoutsRepository;
  readonly database: Pick<Database, "reading">;
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<LedgerService, "payer">;
  readonly assets: Assets;
  readonly policies: PoliciesService;
  readonly policyEngine: EnforceDeps["policyEngine"];
  readonly decisions: VotesPort;
  readonly prices: Prices;
  readonly clock: Clock;
}

export interface NewAccountsPayout {
  readonly sourceAccountId: string;
  readonly transfers: readonly PayoutRowInput[];
  readonly mode: "atomic" | "independent";
  readonly reference?: string | undefined;
  readonly validateOnly: boolean;
  readonly allowDuplicates: boolean;
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
}

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

/** @throws DomainError `idempotency_mismatch` when the key was used for another request */
const sameAs = (known: AccountsPayout, digest: Uint8Array): AccountsPayout => {
  if (Buffer.from(known.digest).equals(digest)) return known;
  throw new DomainError("idempotency_mismatch", "This Idempotency-Key was used for another payout. Nothing was paid.");
};

const worthUsdOf = async (deps: AccountPayoutsDeps, { asset, totalBase }: Checked): Promise<string | null> => {
  const [token] = asset.tokens;
  if (token === undefined) return null;
  const [price] = await deps.prices.highestPriceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS)).catch(() => [null]);
  return worth(totalBase, price);
};

/** Counts the payout's worth as spent without a code. Null: the caller needs a code for it. */
const spending = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
): Promise<((now: Date) => readonly JudgedPart[]) | null> => {
  if (deps.policies.needsCode(actor)) return null;
  const usd = await worthUsdOf(deps, checked);
  return (now) => deps.policies.spendingParts(actor, usd, now, notAdmitted);
};

const findKnown = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  idempotencyKey: string,
): Promise<AccountsPayout | null> => {
  const { projectId } = actor;
  const known = await deps.payouts.findByKey({ projectId, kind: KIND, createdBy: actorName(actor), idempotencyKey });
  return known?.kind === KIND ? known : null;
};

const keysOf = ({ asset, items, rows }: Checked): string[] => rowKeysOf(asset.assetId, items, rows);

const digestOf = (payout: Omit<AccountsPayout, "digest">, { rows }: Checked): AccountsPayout["digest"] =>
  payoutDigest(payout, rows);

type NewQueued = Parameters<AccountPayoutsRepository["insertQueued"]>;

/**
 * Stores a payout that seems to need neither a one-time code nor votes.
 * @returns null, and nothing is stored, where it needs one of them after all: the caller's caps are used up, or the policies demand it
 * @throws DomainError `policy_violation`
 */
const storeQueued = async (
  { policyEngine, repository }: AccountPayoutsDeps,
  intent: Intent,
  input: NewQueued[0],
  spend: NewQueued[1]["spend"],
): Promise<{ readonly stored: AccountsPayout | null } | null> => {
  // It is evaluated once more as it is stored.
  const { approval } = await policyEngine.refuse(intent, { isFirst: true });
  if (approval !== null) return null;
  const { id } = input.payout;
  try {
    const stored = await policyEngine.checking(intent, (check) =>
      repository.insertQueued(input, {
        spend,
        evaluate: (sql, digest) => check.evaluate(sql, { type: "payout", id, digest }, { hasCode: false }),
      }),
    );
    return { stored };
  } catch (error) {
    if (error instanceof NotAdmittedError) return null;
    throw error;
  }
};

/** Stores a payout that awaits a code or votes. */
const storeAwaiting = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  intent: Intent,
  input: NewQueued[0],
  { items }: Checked,
): Promise<AccountsPayout | null> => {
  const { approval } = await deps.policyEngine.refuse(intent);
  return deps.repository.insertAwaiting(input, {
    expiresAt: addSeconds(input.payout.createdAt, APPROVAL_SECONDS),
    ask: (sql, payout) =>
      askVotes(deps.decisions, sql, { payout, actor, asked: askedOf(deps, payout, items), ofPolicies: approval }),
  });
};

const store = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
  own: Omit<PayoutDraft, keyof Checked> & { readonly allowDuplicates: boolean },
): Promise<AccountsPayout> => {
  const now = deps.clock.now();
  const payout = newPayout(actor, { ...own, ...checked }, now);
  const spend = await spending(deps, actor, checked);
  // A retry is not a duplicate of the rows that failed. After it has paid them, an equal payment is a duplicate.
  const allowDuplicates = own.allowDuplicates || own.retryOf !== null;
  const intent = accountsIntent(actor, payout, checked.asset);
  const input = {
    payout,
    rows: checked.rows,
    keysOf: () => ({ keys: keysOf(checked), allowDuplicates, now }),
    digestOf: () => digestOf(payout, checked),
    requireFunds: () => requireFunds(checked, own.mode),
    audit: (row: AccountsPayout) => createdEntry(actor, row),
  };
  const queued = spend === null ? null : await storeQueued(deps, intent, input, () => spend(now));
  const stored = queued === null ? await storeAwaiting(deps, actor, intent, input, checked) : queued.stored;
  if (stored !== null) return stored;
  const known = own.key === null ? null : await findKnown(deps, actor, own.key);
  if (known === null)
    throw new DomainError(
      "invalid_state",
      "The payout's failed rows are being tried again already. Nothing more was started; read the payout.",
    );
  return sameAs(known, digestOf(payout, checked));
};

/** The payout that an earlier call with the same key stored. It is returned even when accounts or balances have changed since. */
const repeatedOf = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  input: NewAccountsPayout,
): Promise<AccountsPayout | null> => {
  if (input.key === null || input.validateOnly) return null;
  const known = await findKnown(deps, actor, input.key);
  if (known === null) return null;
  const asset = deps.assets.find(known.currency);
  const read = asset === null ? null : readRows(input.transfers, asset);
  const { sourceAccountId, mode } = input;
  const named = { sourceAccountId, currency: known.currency, mode, reference: input.reference ?? null };
  const isReadable = read !== null && read.amountFaults.size === 0;
  return sameAs(known, isReadable ? payoutDigest(named, read.rows) : new Uint8Array());
};

const validated = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
  input: NewAccountsPayout,
): Promise<AccountsPayout> => {
  const now = deps.clock.now();
  const keys = { keys: keysOf(checked), allowDuplicates: input.allowDuplicates, now };
  if (!input.allowDuplicates) refuseDuplicates(await duplicatesOf(deps.reader, actor.projectId, keys));
  requireFunds(checked, input.mode);
  const own = { mode: input.mode, reference: input.reference ?? null, key: null, retryOf: null };
  const payout = newPayout(actor, { ...own, ...checked }, now);
  return { ...payout, id: "", digest: digestOf(payout, checked) };
};

const createNew = async (deps: AccountPayoutsDeps, actor: Actor, input: NewAccountsPayout): Promise<AccountsPayout> => {
  const checked = await checkPayout(deps, actor.projectId, input);
  if (input.validateOnly) return validated(deps, actor, checked, input);
  const { mode, reference = null, key, allowDuplicates } = input;
  return store(deps, actor, checked, { mode, reference, key, retryOf: null, allowDuplicates });
};

/**
 * Checks every row, stores the payout and queues it for the workers. A payout that the caller's policy does not allow without a code
 * awaits approval. With `validateOnly` nothing is stored, and the result has no id.
 * @throws DomainError `invalid_request` (every bad row by index), `not_found`, `duplicate_payout`, `insufficient_balance`,
 * `batch_too_large`
 */
const create = async (deps: AccountPayoutsDeps, actor: Actor, input: NewAccountsPayout): Promise<AccountsPayout> => {
  deps.policies.checkAccountRecipients(actor, "transfers");
  try {
    return await createNew(deps, actor, input);
  } catch (error) {
    const repeated = await repeatedOf(deps, actor, input);
    if (repeated === null) throw error;
    return repeated;
  }
};

/** Creates a payout of the failed rows, at most once for each payout. It needs its own approval. @throws DomainError as `create` does */
const retry = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  payout: AccountsPayout,
  rows: AsyncIterable<PayoutItemRow>,
): Promise<AccountsPayout> => {
  deps.policies.checkAccountRecipients(actor, "transfers");
  const transfers: PayoutRowInput[] = [];
  for await (const item of rows) {
    if (payout.mode === "independent" && item.status !== "failed") continue;
    const { recipientAccountId, reference } = item;
    const amount = units(item.amountBase);
    transfers.push({ recipientAccountId, amount, currency: payout.currency, reference: reference ?? undefined });
  }
  const { sourceAccountId, mode, reference } = payout;
  const checked = await checkPayout(deps, actor.projectId, { sourceAccountId, transfers });
  return store(deps, actor, checked, { mode, reference, key: null, retryOf: payout.id, allowDuplicates: true });
};

/** The lines of the message with the one-time code. `first` are the first rows of the payout. */
const approvalLines = (
  deps: AccountPayoutsDeps,
  payout: AccountsPayout,
  first: readonly Pick<PayoutItemRow, "amountBase" | "recipientAccountId">[],
): string[] => {
  const symbol = deps.assets.find(payout.currency)?.symbol ?? payout.currency;
  const rest = payout.itemsTotal - first.length;
  return [
    `You pay: ${units(payout.totalBase)} ${symbol} in ${String(payout.itemsTotal)} payments from ${payout.sourceAccountId}`,
    ...first.map((item) => `${units(item.amountBase)} ${symbol} to ${item.recipientAccountId}`),
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ];
};

const LINES_MAX = 5;

/** The request for votes on a new payout. */
const askedOf = (deps: AccountPayoutsDeps, payout: AccountsPayout, items: readonly NewItem[]): Asked => ({
  title: `Payout to ${counted(payout.itemsTotal, "account")}`,
  lines: approvalLines(deps, payout, items.slice(0, LINES_MAX)),
  digest: payout.digest,
});

/** The service of payouts to accounts of the ledger. Amounts in ledger units (18 decimals). */
export const createAccountPayoutsService = (deps: AccountPayoutsDeps) => ({
  create: bindDeps(deps, create),
  retry: bindDeps(deps, retry),
  approvalLines: bindDeps(deps, approvalLines),
  ...createEnforcing(deps),
  cancel: deps.repository.cancel,
  items: deps.repository.items,
});

export type AccountPayoutsService = ReturnType<typeof createAccountPayoutsService>;

/** The audit entry for the creation. `means` is set when the payout may run without an approval. */
const createdEntry = (actor: Actor, payout: AccountsPayout): AuditEntry => ({
  ...doneBy(actor),
  action: payout.retryOf === null ? "payout.created" : "payout.retried",
  subject: payout.id,
  data: {
    status: payout.subStatus,
    total: units(payout.totalBase),
    currency: payout.currency,
    items: payout.itemsTotal,
    ...(payout.subStatus === "queued" ? { means: "policy" } : {}),
    ...(payout.retryOf === null ? {} : { retryOf: payout.retryOf }),
  },
  at: payout.createdAt,
});

interface PayoutDraft extends Checked {
  readonly mode: AccountsPayout["mode"];
  readonly reference: string | null;
  readonly key: string | null;
  readonly retryOf: string | null;
}

/** The payout as it will be stored. */
const newPayout = (actor: Actor, draft: PayoutDraft, now: Date): Omit<AccountsPayout, "digest"> => {
  const { source, asset, rows, totalBase, mode, reference } = draft;
  return {
    sourceAccountId: source.id,
    currency: asset.assetId,
    mode,
    reference,
    id: newId("payout"),
    projectId: actor.projectId,
    kind: KIND,
    status: "pending",
    subStatus: "created",
    totalBase,
    paidBase: 0n,
    failedBase: 0n,
    itemsTotal: rows.length,
    itemsCompleted: 0,
    itemsFailed: 0,
    idempotencyKey: draft.key,
    failure: null,
    retryOf: draft.retryOf,
    evaluationId: null,
    createdBy: actorName(actor),
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
  };
};
