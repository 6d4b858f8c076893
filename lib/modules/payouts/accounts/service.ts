/** Payments from one account of the ledger to many accounts. */
import { bindDeps } from "@/lib/core/bind-deps";
import { actorName, type Actor } from "@/lib/core/actor";
import type { Asset, Assets } from "@/lib/chains/assets";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { doneBy, type AuditEntry } from "@/lib/modules/audit/service";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/modules/ledger/service";
import type { PoliciesService } from "@/lib/modules/policies/service";
import { askVotes, counted, type Asked, type VotesPort } from "../ask-votes";
import { APPROVAL_SECONDS, requireRows } from "../limits";
import { PRICE_TIMEOUT_MS, type Prices } from "../prices";
import type { AccountsPayout } from "../payout";
import { worth } from "./worth";
import type { PayoutsRepository } from "../repository";
import { duplicatesOf } from "../duplicate-repository";
import { refuseDuplicates, rowKeyOf, type RowKeys } from "../duplicate-rows";
import { checkRows, itemsOf, payoutDigest, readAmounts, type PayoutRowInput } from "./check-rows";
import { accountsIntent, createEnforcing, type EnforceDeps } from "./enforce";
import type { AccountPayoutsRepository } from "./repository";
import { readSource, requireFunds, type PayoutSource } from "./available-funds";
import { encodeRow, type NewItem, type PayoutItemRow } from "./rows";

const KIND = "global_accounts";

export interface AccountPayoutsDeps {
  readonly payouts: Pick<PayoutsRepository, "findByKey">;
  readonly repository: AccountPayoutsRepository;
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<LedgerService, "account" | "unfitRecipients">;
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

interface Checked extends PayoutSource {
  readonly asset: Asset;
  readonly items: readonly NewItem[];
  readonly totalBase: bigint;
}

type CheckInput = Pick<NewAccountsPayout, "sourceAccountId" | "transfers" | "mode">;

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

/** @throws DomainError `idempotency_mismatch` when the key was used for another request */
const sameAs = (known: AccountsPayout, digest: Uint8Array): AccountsPayout => {
  if (Buffer.from(known.digest).equals(digest)) return known;
  throw new DomainError("idempotency_mismatch", "This Idempotency-Key was used for another payout. Nothing was paid.");
};

const keysOf = ({ asset, items }: Checked, allowDuplicates: boolean, now: Date): RowKeys => ({
  keys: items.map(({ recipientAccountId: recipient, amountBase, reference }) =>
    rowKeyOf({ recipient, asset: asset.assetId, amountBase, reference }),
  ),
  allowDuplicates,
  now,
});

const check = async (deps: AccountPayoutsDeps, projectId: string, input: CheckInput): Promise<Checked> => {
  requireRows(input.transfers.length);
  const ids = [...new Set(input.transfers.map(({ recipientAccountId }) => recipientAccountId))];
  const wanted = ids.filter((id) => isId("globalAccount", id));
  // Reads the amounts while the database looks up the recipients.
  const reading = async () => {
    const { source, availableBase } = await readSource(deps, projectId, input.sourceAccountId);
    const asset = deps.assets.resolve(source.currency, "sourceAccountId");
    return { source, availableBase, asset, amounts: readAmounts(input.transfers, asset) };
  };
  const [{ source, availableBase, asset, amounts }, unfit] = await Promise.all([
    reading(),
    deps.ledger.unfitRecipients(projectId, input.sourceAccountId, wanted),
  ]);
  const items = checkRows(input.transfers, { amounts, source, asset, unfit, assets: deps.assets });
  const totalBase = items.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  return { source, availableBase, asset, items, totalBase };
};

const worthUsdOf = async (deps: AccountPayoutsDeps, { asset, totalBase }: Checked): Promise<string | null> => {
  const [token] = asset.tokens;
  if (token === undefined) return null;
  const [price] = await deps.prices.highestPriceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS)).catch(() => [null]);
  return worth(totalBase, price);
};

/** Decides whether the payout may run without a code, and counts its spending, in the transaction that stores the payout. */
const admission = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
): Promise<(sql: Sql, now: Date) => Promise<boolean>> => {
  if (deps.policies.needsCode(actor)) return () => Promise.resolve(false);
  const usd = await worthUsdOf(deps, checked);
  return (sql, now) => deps.policies.spend(sql, actor, usd, now);
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

const store = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
  own: Omit<PayoutDraft, keyof Checked | "rows"> & { readonly allowDuplicates: boolean },
): Promise<AccountsPayout> => {
  const now = deps.clock.now();
  const rows = checked.items.map(encodeRow);
  const payout = newPayout(actor, { ...own, ...checked, rows }, now);
  const admit = await admission(deps, actor, checked);
  const intent = accountsIntent(actor, payout, checked.asset);
  const { approval } = await deps.policyEngine.refuse(intent);
  const subject = { type: "payout", id: payout.id, digest: payout.digest } as const;
  const stored = await deps.policyEngine.checking(intent, (check) =>
    deps.repository.insert({
      payout,
      rows,
      // A retry is not a duplicate of the rows that failed. After it has paid them, an equal payment is a duplicate.
      keys: keysOf(checked, own.allowDuplicates || own.retryOf !== null, now),
      admit: async (sql) => {
        requireFunds(checked, own.mode);
        if (approval !== null) return null;
        return (await admit(sql, now)) ? check.enforce(sql, subject, { hasCode: false }) : null;
      },
      audit: (row) => createdEntry(actor, row),
      expiresAt: addSeconds(now, APPROVAL_SECONDS),
      ask: (sql, row) =>
        askVotes(deps.decisions, sql, {
          payout: row,
          actor,
          asked: askedOf(deps, row, checked.items),
          ofPolicies: approval,
        }),
    }),
  );
  if (stored !== null) return stored;
  const known = own.key === null ? null : await findKnown(deps, actor, own.key);
  if (known === null)
    throw new DomainError(
      "invalid_state",
      "The payout's failed rows are being tried again already. Nothing more was started; read the payout.",
    );
  return sameAs(known, payout.digest);
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
  const items = asset === null ? null : itemsOf(input.transfers, asset);
  const { sourceAccountId, mode } = input;
  const named = { sourceAccountId, currency: known.currency, mode, reference: input.reference ?? null };
  return sameAs(known, items === null ? new Uint8Array() : payoutDigest(named, items.map(encodeRow)));
};

const validated = async (
  deps: AccountPayoutsDeps,
  actor: Actor,
  checked: Checked,
  input: NewAccountsPayout,
): Promise<AccountsPayout> => {
  const now = deps.clock.now();
  const keys = keysOf(checked, input.allowDuplicates, now);
  if (!input.allowDuplicates) refuseDuplicates(await duplicatesOf(deps.reader, actor.projectId, keys));
  requireFunds(checked, input.mode);
  const own = { mode: input.mode, reference: input.reference ?? null, key: null, retryOf: null };
  const draft = { ...own, ...checked, rows: checked.items.map(encodeRow) };
  return { ...newPayout(actor, draft, now), id: "" };
};

const createNew = async (deps: AccountPayoutsDeps, actor: Actor, input: NewAccountsPayout): Promise<AccountsPayout> => {
  const checked = await check(deps, actor.projectId, input);
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
  const checked = await check(deps, actor.projectId, { sourceAccountId, transfers, mode });
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
  /** The rows, encoded by `encodeRow`. */
  readonly rows: readonly string[];
}

/** The payout as it will be stored. */
const newPayout = (actor: Actor, draft: PayoutDraft, now: Date): AccountsPayout => {
  const { source, asset, rows, totalBase, mode, reference } = draft;
  const named = { sourceAccountId: source.id, currency: asset.assetId, mode, reference };
  return {
    ...named,
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
    digest: payoutDigest(named, rows),
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
