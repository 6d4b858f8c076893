import { actorName, requireScope, type Actor, type UserActor } from "@/lib/core/actor";
import type { Asset, Assets } from "@/lib/chains/assets";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import { isFinal, type Status } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import type { Sql } from "@/lib/db/sql";
import { doneBy, type AuditEntry } from "@/lib/modules/audit/service";
import { LEDGER_DECIMALS, type AccountRecord, type LedgerService } from "@/lib/modules/ledger/service";
import type { OtpSent, OtpService } from "@/lib/modules/otp/service";
import type { PoliciesService } from "@/lib/modules/policies/service";
import { checkRows, itemsOf, payoutDigest, readAmounts, type PayoutRowInput } from "./check-rows";
import type { PayoutRow, PayoutsRepository } from "./repository";
import { encodeRow, type NewItem, type PayoutItemRow } from "./rows";

export const PAYOUT_ROWS_MAX = 10_000;
export { LEDGER_DECIMALS };
export type { PayoutRow } from "./repository";
export type { PayoutItemRow } from "./rows";

const KIND = "global_accounts";
const APPROVAL_SECONDS = 24 * 60 * 60;
const PRICE_TIMEOUT_MS = 3000;
const EXPORT_PAGE = 1000;
const LINES_MAX = 5;

export interface PayoutsDeps {
  readonly repository: PayoutsRepository;
  readonly ledger: LedgerService;
  readonly assets: Assets;
  readonly policies: PoliciesService;
  readonly otp: OtpService;
  readonly prices: {
    highestPriceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  };
  readonly clock: Clock;
}

export interface NewPayout {
  readonly sourceAccountId: string;
  readonly transfers: readonly PayoutRowInput[];
  readonly mode: "atomic" | "independent";
  readonly reference?: string | undefined;
  readonly validateOnly: boolean;
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
}

/** A payout, and the asset that it is in; null where no chain lists that any more. */
export interface PayoutView {
  readonly payout: PayoutRow;
  readonly asset: Asset | null;
}

interface Checked {
  readonly source: AccountRecord;
  readonly asset: Asset;
  readonly items: readonly NewItem[];
  readonly totalBase: bigint;
}

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

/** @throws DomainError `idempotency_mismatch` where the key was used for something else */
const sameAs = (known: PayoutRow, digest: Uint8Array): PayoutRow => {
  if (hexOf(known.digest) === hexOf(digest)) return known;
  throw new DomainError("idempotency_mismatch", "This Idempotency-Key was used for another payout. Nothing was paid.");
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Worth in US dollars, rounded up: it is weighed against a cap. */
const worth = (base: bigint, priceUsd: string | null | undefined): string | null => {
  if (priceUsd === null || priceUsd === undefined) return null;
  const [whole = "0", fraction = ""] = priceUsd.split(".");
  const scale = 10n ** BigInt(LEDGER_DECIMALS + fraction.length - 6);
  return formatAmount((base * BigInt(whole + fraction) + scale - 1n) / scale, 6);
};

/** Payments from one account to many. */
export const createPayoutsService = (deps: PayoutsDeps) => {
  const { repository, ledger, assets, clock } = deps;
  const view = (payout: PayoutRow): PayoutView => ({ payout, asset: assets.find(payout.currency) });

  const get = async (projectId: string, id: string): Promise<PayoutView> => {
    const payout = isId("payout", id) ? await repository.findInProject(projectId, id) : null;
    if (payout === null) throw notFound();
    return view(payout);
  };

  const check = async (projectId: string, input: NewPayout): Promise<Checked> => {
    if (input.transfers.length > PAYOUT_ROWS_MAX) {
      const text = `A payout has at most ${String(PAYOUT_ROWS_MAX)} rows; this one has ${String(input.transfers.length)}. Nothing was paid.`;
      throw new DomainError("batch_too_large", text);
    }
    const ids = [...new Set(input.transfers.map(({ recipientAccountId }) => recipientAccountId))];
    const wanted = ids.filter((id) => isId("globalAccount", id));
    // Amounts are read while the database looks for the recipients.
    const reading = async () => {
      const source = await ledger.account(projectId, input.sourceAccountId);
      const asset = assets.resolve(source.currency, "sourceAccountId");
      return { source, asset, amounts: readAmounts(input.transfers, asset) };
    };
    const [{ source, asset, amounts }, unfit] = await Promise.all([
      reading(),
      ledger.unfitRecipients(projectId, input.sourceAccountId, wanted),
    ]);
    const items = checkRows(input.transfers, { amounts, source, asset, unfit, assets });
    const totalBase = items.reduce((sum, { amountBase }) => sum + amountBase, 0n);
    // Rows that stand for themselves are refused one by one, when their turn comes.
    if (input.mode === "atomic" && source.availableBase < totalBase) throw notEnough(source, asset, totalBase);
    return { source, asset, items, totalBase };
  };

  const worthOf = async ({ asset, totalBase }: Checked): Promise<string | null> => {
    const [token] = asset.tokens;
    if (token === undefined) return null;
    const [price] = await deps.prices
      .highestPriceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS))
      .catch(() => [null]);
    return worth(totalBase, price);
  };

  /** Whether it may run without a code: decided, and noted, in the transaction that stores it. */
  const admission = async (actor: Actor, checked: Checked): Promise<(sql: Sql, now: Date) => Promise<boolean>> => {
    if (deps.policies.needsCode(actor)) return () => Promise.resolve(false);
    const usd = await worthOf(checked);
    return (sql, now) => deps.policies.spend(sql, actor, usd, now);
  };

  const store = async (
    actor: Actor,
    checked: Checked,
    own: Omit<PayoutDraft, keyof Checked | "rows">,
  ): Promise<PayoutRow> => {
    const now = clock.now();
    const rows = checked.items.map(encodeRow);
    const payout = newPayout(actor, { ...own, ...checked, rows }, now);
    const admit = await admission(actor, checked);
    const stored = await repository.insert({
      payout,
      rows,
      admit: (sql) => admit(sql, now),
      audit: (row) => createdEntry(actor, row),
      expiresAt: addSeconds(now, APPROVAL_SECONDS),
    });
    if (stored !== null) return stored;
    const known = own.key === null ? null : await repository.findByKey(keyUseOf(actor, own.key));
    if (known === null) throw new DomainError("invalid_state", "Its failed rows are being tried again already.");
    return sameAs(known, payout.digest);
  };

  /** What was stored for the key before: it stands, whatever has become of accounts and balances since. */
  const repeatedOf = async (actor: Actor, input: NewPayout): Promise<PayoutRow | null> => {
    if (input.key === null || input.validateOnly) return null;
    const known = await repository.findByKey(keyUseOf(actor, input.key));
    if (known === null) return null;
    const asset = assets.find(known.currency);
    const items = asset === null ? null : itemsOf(input.transfers, asset);
    const { sourceAccountId, mode } = input;
    const named = { sourceAccountId, currency: known.currency, mode, reference: input.reference ?? null };
    return sameAs(known, items === null ? new Uint8Array() : payoutDigest(named, items.map(encodeRow)));
  };

  /**
   * Checks every row, stores the payout and hands it to the workers; above the caller's policy it awaits approval. Null:
   * everything is right and nothing was stored (`validateOnly`).
   * @throws DomainError `invalid_request` (every bad row by index), `not_found`, `insufficient_balance`, `batch_too_large`
   */
  const create = async (actor: Actor, input: NewPayout): Promise<PayoutView & { checked: Checked | null }> => {
    deps.policies.checkAccountRecipients(actor, "transfers");
    let checked: Checked;
    try {
      checked = await check(actor.projectId, input);
    } catch (error) {
      const repeated = await repeatedOf(actor, input);
      if (repeated === null) throw error;
      return { ...view(repeated), checked: null };
    }
    const own = { mode: input.mode, reference: input.reference ?? null, key: input.key, retryOf: null };
    if (input.validateOnly)
      return {
        payout: {
          ...newPayout(actor, { ...own, ...checked, rows: checked.items.map(encodeRow) }, clock.now()),
          id: "",
        },
        asset: checked.asset,
        checked,
      };
    const payout = await store(actor, checked, own);
    return { ...view(payout), checked: null };
  };

  const list = async (
    projectId: string,
    query: { limit: number; cursor?: string | undefined; status?: Status | undefined },
  ): Promise<{ data: PayoutView[]; nextCursor: string | null }> => {
    if (query.cursor !== undefined && !isId("payout", query.cursor))
      throw invalidRequest([{ path: "cursor", message: "is not one that a list gave" }]);
    const { status, cursor: before } = query;
    const rows = await repository.list({ projectId, status, before, limit: query.limit + 1 });
    const data = rows.slice(0, query.limit);
    return { data: data.map(view), nextCursor: rows.length > query.limit ? (data.at(-1)?.id ?? null) : null };
  };

  /** A row without a state of its own stands as its payout does. */
  const storedStatus = (payout: PayoutRow, status: string | undefined): string | null | undefined => {
    if (status === undefined) return undefined;
    const hasNone = status === "pending" || payout.mode === "atomic" || neverRan(payout);
    return hasNone ? null : status;
  };

  const items = async (
    projectId: string,
    id: string,
    query: { limit: number; cursor?: string | undefined; status?: "pending" | "completed" | "failed" | undefined },
  ): Promise<PayoutView & { data: PayoutItemRow[]; nextCursor: string | null }> => {
    if (query.cursor !== undefined && !/^[0-9]{1,9}$/.test(query.cursor))
      throw invalidRequest([{ path: "cursor", message: "is not one that a list gave" }]);
    const own = await get(projectId, id);
    if (query.status !== undefined && !mayHave(own.payout, query.status)) return { ...own, data: [], nextCursor: null };
    const rows = await repository.items({
      payoutId: id,
      after: query.cursor === undefined ? -1 : Number(query.cursor),
      limit: query.limit + 1,
      status: storedStatus(own.payout, query.status),
    });
    const data = rows.slice(0, query.limit);
    return { ...own, data, nextCursor: rows.length > query.limit ? (data.at(-1)?.index.toString() ?? null) : null };
  };

  const allItems = async function* (payoutId: string): AsyncGenerator<PayoutItemRow> {
    for (let after = -1; after < PAYOUT_ROWS_MAX;) {
      const page = await repository.items({ payoutId, after, limit: EXPORT_PAGE });
      yield* page;
      if (page.length < EXPORT_PAGE) return;
      after = page.at(-1)?.index ?? PAYOUT_ROWS_MAX;
    }
  };

  const awaiting = async (projectId: string, id: string): Promise<PayoutView> => {
    const own = await get(projectId, id);
    if (own.payout.status !== "pending" || own.payout.subStatus !== "awaiting_approval")
      throw new DomainError("invalid_state", "This payout does not await approval. See its record for how it stands.");
    return own;
  };

  /** @throws DomainError `insufficient_scope`, `not_found`, `invalid_state`, `otp_channel_missing`, `rate_limited` */
  const requestCode = async (actor: Actor, id: string): Promise<OtpSent> => {
    requireScope(actor, "payouts:write");
    const { payout, asset } = await awaiting(actor.projectId, id);
    const symbol = asset?.symbol ?? payout.currency;
    const first = await repository.items({ payoutId: id, after: -1, limit: LINES_MAX });
    const rest = payout.itemsTotal - first.length;
    return deps.otp.request({
      actor,
      subjectId: payout.id,
      digest: new Uint8Array(payout.digest),
      subject: "Your code to approve a payout",
      lines: [
        `You pay: ${units(toBigInt(payout.totalBase))} ${symbol} in ${String(payout.itemsTotal)} payments from ${payout.sourceAccountId}`,
        ...first.map((item) => `${units(item.amountBase)} ${symbol} to ${item.recipientAccountId}`),
        ...(rest > 0 ? [`and ${String(rest)} more`] : []),
      ],
    });
  };

  /** @throws DomainError `not_found`, `invalid_state`, `otp_*` */
  const approve = async (actor: UserActor, id: string, code: string): Promise<PayoutView> => {
    const { payout } = await awaiting(actor.projectId, id);
    const { otpId: codeId } = await deps.otp.consume({ actor, subjectId: payout.id, digest: payout.digest, code });
    const now = clock.now();
    const data = { means: "code", codeId };
    const audit = { ...doneBy(actor), action: "payout.approved", subject: payout.id, data, at: now };
    if (!(await repository.approve(payout.id, audit, now)))
      throw new DomainError("invalid_state", "This payout was cancelled, approved or ran out of time in the meantime.");
    return get(actor.projectId, id);
  };

  /** @throws DomainError `not_found`, `invalid_state` once it has begun */
  const cancel = async (actor: Actor, id: string): Promise<PayoutView> => {
    const { payout } = await get(actor.projectId, id);
    const now = clock.now();
    const audit = { ...doneBy(actor), action: "payout.cancelled", subject: payout.id, at: now };
    if (!(await repository.cancel(payout.id, audit, now)))
      throw new DomainError("invalid_state", "This payout has begun or ended and can no longer be cancelled.");
    return get(actor.projectId, id);
  };

  /**
   * A payout of the failed rows alone, once; it needs its own approval.
   * @throws DomainError `not_found`, `invalid_state`, and those of `create`
   */
  const retry = async (actor: Actor, id: string): Promise<PayoutView> => {
    deps.policies.checkAccountRecipients(actor, "transfers");
    const { payout } = await get(actor.projectId, id);
    if (!isFinal(payout.status) || payout.itemsFailed === 0)
      throw new DomainError(
        "invalid_state",
        "No row of this payout has failed for good, so there is nothing to try again.",
      );
    const rows: PayoutRowInput[] = [];
    for await (const item of allItems(payout.id)) {
      if (payout.mode === "independent" && item.status !== "failed") continue;
      const amount = units(item.amountBase);
      const reference = item.reference ?? undefined;
      rows.push({ recipientAccountId: item.recipientAccountId, amount, currency: payout.currency, reference });
    }
    const again = {
      sourceAccountId: payout.sourceAccountId,
      transfers: rows,
      mode: payout.mode,
      validateOnly: false,
      key: null,
    };
    const checked = await check(actor.projectId, again);
    const { mode, reference } = payout;
    return view(await store(actor, checked, { mode, reference, key: null, retryOf: payout.id }));
  };

  return { create, get, list, items, allItems, requestCode, approve, cancel, retry, expireDue: repository.expireDue };
};

const neverRan = ({ status }: PayoutRow): boolean => status === "cancelled" || status === "expired";

/** Whether rows of the payout can be in that state: those of an atomic one, and of one that never ran, are all in the payout's. */
const mayHave = (payout: PayoutRow, status: "pending" | "completed" | "failed"): boolean =>
  (payout.mode === "independent" && !neverRan(payout)) || itemStatusOf(payout, { status: null }) === status;

/** A row's state: its own, or that of its payout. */
export const itemStatusOf = (
  payout: Pick<PayoutRow, "status" | "mode">,
  item: { readonly status: string | null },
): "pending" | "completed" | "failed" => {
  if (item.status === "completed" || item.status === "failed") return item.status;
  if (payout.status === "completed") return "completed";
  return isFinal(payout.status) ? "failed" : "pending";
};

const notEnough = (source: AccountRecord, asset: Asset, totalBase: bigint): DomainError => {
  const missing = units(totalBase - source.availableBase);
  const message = `The account has ${units(source.availableBase)} ${asset.symbol} available, ${missing} less than the payout's total. Nothing was paid.`;
  return new DomainError("insufficient_balance", message, { details: [{ path: "sourceAccountId", message }] });
};

/** A key counts for one caller: two API keys of a project may use the same one for two payouts. */
const keyUseOf = (actor: Actor, idempotencyKey: string) => ({
  projectId: actor.projectId,
  kind: KIND,
  createdBy: actorName(actor),
  idempotencyKey,
});

/** Who made the payout; `means` where it may run without an approval. */
const createdEntry = (actor: Actor, payout: PayoutRow): AuditEntry => ({
  ...doneBy(actor),
  action: payout.retryOf === null ? "payout.created" : "payout.retried",
  subject: payout.id,
  data: {
    status: payout.subStatus,
    total: units(toBigInt(payout.totalBase)),
    currency: payout.currency,
    items: payout.itemsTotal,
    ...(payout.subStatus === "queued" ? { means: "policy" } : {}),
    ...(payout.retryOf === null ? {} : { retryOf: payout.retryOf }),
  },
  at: payout.createdAt,
});

interface PayoutDraft extends Checked {
  readonly mode: PayoutRow["mode"];
  readonly reference: string | null;
  readonly key: string | null;
  readonly retryOf: string | null;
  /** Encoded. */
  readonly rows: readonly string[];
}

/** As it would be stored. */
const newPayout = (actor: Actor, draft: PayoutDraft, now: Date): PayoutRow => {
  const { source, asset, rows, totalBase, mode, reference } = draft;
  const named = { sourceAccountId: source.id, currency: asset.assetId, mode, reference };
  return {
    ...named,
    id: newId("payout"),
    projectId: actor.projectId,
    kind: KIND,
    status: "pending",
    subStatus: "created",
    totalBase: toDecimal(totalBase),
    paidBase: toDecimal(0n),
    itemsTotal: rows.length,
    itemsCompleted: 0,
    itemsFailed: 0,
    digest: payoutDigest(named, rows),
    idempotencyKey: draft.key,
    failure: null,
    retryOf: draft.retryOf,
    createdBy: actorName(actor),
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
  };
};
