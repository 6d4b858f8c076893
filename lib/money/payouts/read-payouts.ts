/** Reads payouts of both kinds: a single payout, a page of payouts, and the rows of a payout. */
import { bindDeps } from "@/lib/core/bind-deps";
import {
  PAYOUT_ITEM_STATUSES,
  PAYOUT_ROWS_MAX,
  WALLET_ROW_STATUSES,
  type ROW_STATUSES,
} from "@/lib/core/payout-facts";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { isFinal } from "@/lib/core/status";
import { readItems } from "./accounts/row-repository";
import { mayHave, storedStatus } from "./accounts/rows";
import type { PayoutsContext } from "./context";
import { rowBefore } from "./errors";
import type { Payout } from "./payout";
import type { PayoutItems, PayoutParts, PayoutView } from "./payout-view";
import type { PayoutFilter } from "./repository";
import { coinPrices } from "./wallets/pricing";
import { recordedWorth } from "./worth";

const EXPORT_PAGE = 1000;

type RowStatus = (typeof ROW_STATUSES)[number];

const isOneOf = <Status extends RowStatus>(
  statuses: readonly Status[],
  status: RowStatus,
): status is Status => (statuses as readonly RowStatus[]).includes(status);

/** Reads the fields that only one kind of payout has, and adds them to the payouts. */
export const readParts = async (
  { rows, assets }: Pick<PayoutsContext, "rows" | "assets">,
  projectId: string,
  payouts: readonly Payout[],
): Promise<PayoutParts[]> => {
  const ids = payouts.flatMap(({ kind, id }) => (kind === "wallets" ? [id] : []));
  const [walletPayouts, groups] = await Promise.all([
    rows.walletPayouts(projectId, ids),
    rows.groups(projectId, ids),
  ]);
  return payouts.map((payout): PayoutParts => {
    const { kind, id } = payout;
    if (kind === "global_accounts")
      return { kind, payout, asset: assets.find(payout.currency) };
    const own = walletPayouts.get(id);
    if (own === undefined) throw new Error(`${id} has no row in wallet_payout.`);
    return { kind, payout, own, groups: groups.filter(({ payoutId }) => payoutId === id) };
  });
};

/**
 * Reads the data that records show in addition: the recorded worth, whether another payout retries
 * the payout, and the price of the chain's coin.
 */
const viewsOf = async (
  context: PayoutsContext,
  projectId: string,
  all: readonly PayoutParts[],
): Promise<PayoutView[]> => {
  const payouts = all.map(({ payout }) => payout);
  const ended = payouts.flatMap(({ id, status }) => (isFinal(status) ? [id] : []));
  const evaluationIds = payouts.flatMap(({ evaluationId }) => evaluationId ?? []);
  const chainIds = all.flatMap((parts) =>
    parts.kind === "wallets" ? [parts.own.chainId] : [],
  );
  const [retried, worths, coins] = await Promise.all([
    context.repository.retriedAmong(projectId, ended),
    context.worths(projectId, evaluationIds),
    coinPrices(context, chainIds),
  ]);
  return all.map((parts): PayoutView => {
    const usd = recordedWorth(parts, worths);
    const isRetried = retried.has(parts.payout.id);
    if (parts.kind === "global_accounts") return { ...parts, usd, isRetried };
    const coinUsd = coins.get(parts.own.chainId) ?? null;
    return { ...parts, usd, isRetried, chains: context.registry, coinUsd };
  });
};

const viewOf = async (context: PayoutsContext, parts: PayoutParts): Promise<PayoutView> => {
  const [found] = await viewsOf(context, parts.payout.projectId, [parts]);
  if (found === undefined) throw new Error("A payout has one view.");
  return found;
};

const view = async (context: PayoutsContext, payout: Payout): Promise<PayoutView> => {
  const [parts] = await readParts(context, payout.projectId, [payout]);
  if (parts === undefined) throw new Error("A payout has its parts.");
  return viewOf(context, parts);
};

/**
 * Reads a payout of the project.
 * @throws DomainError `not_found`
 */
const get = async (
  context: PayoutsContext,
  projectId: string,
  id: string,
): Promise<PayoutView> => {
  const payout = isId("payout", id)
    ? await context.repository.findInProject(projectId, id)
    : null;
  if (payout === null) throw notFound();
  return view(context, payout);
};

const list = async (
  context: PayoutsContext,
  projectId: string,
  { limit, cursor, ...filter }: PayoutFilter & { limit: number; cursor?: string | undefined },
): Promise<{ data: PayoutView[]; nextCursor: string | null }> => {
  const rows = await context.repository.list({
    projectId,
    filter,
    before: cursor,
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const nextCursor = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
  const data = await viewsOf(context, projectId, await readParts(context, projectId, page));
  return { data, nextCursor };
};

interface RowsQuery {
  /** Index of the last row of the previous page; -1 for the first page. */
  readonly after: number;
  readonly limit: number;
  readonly status?: RowStatus | undefined;
}

export const readRows = async (
  { reader, rows }: Pick<PayoutsContext, "reader" | "rows">,
  shown: PayoutView,
  { status, ...page }: RowsQuery,
): Promise<PayoutItems> => {
  const at = { projectId: shown.payout.projectId, payoutId: shown.payout.id, ...page };
  if (shown.kind === "wallets") {
    const mayMatch = status === undefined || isOneOf(WALLET_ROW_STATUSES, status);
    const found = mayMatch ? await rows.items({ ...at, status }) : [];
    return { kind: shown.kind, view: shown, rows: found };
  }
  const { kind, payout } = shown;
  if (
    status !== undefined &&
    !(isOneOf(PAYOUT_ITEM_STATUSES, status) && mayHave(payout, status))
  )
    return { kind, view: shown, rows: [] };
  const found = await readItems(reader, { ...at, status: storedStatus(payout, status) });
  return { kind, view: shown, rows: found };
};

const cutTo = (found: PayoutItems, limit: number): PayoutItems =>
  found.kind === "wallets"
    ? { ...found, rows: found.rows.slice(0, limit) }
    : { ...found, rows: found.rows.slice(0, limit) };

const items = async (
  context: PayoutsContext,
  projectId: string,
  id: string,
  {
    limit,
    cursor,
    status,
  }: { limit: number; cursor?: string | undefined; status?: RowStatus | undefined },
): Promise<PayoutItems & { nextCursor: string | null }> => {
  const shown = await get(context, projectId, id);
  const found = await readRows(context, shown, {
    after: rowBefore(cursor),
    limit: limit + 1,
    status,
  });
  const more = found.rows.length > limit;
  const cut = more ? cutTo(found, limit) : found;
  return { ...cut, nextCursor: more ? (cut.rows.at(-1)?.index.toString() ?? null) : null };
};

/** Yields the rows of a payout in pages. Each page is read only when the caller requests it. */
const allItems = async function* (
  context: PayoutsContext,
  shown: PayoutView,
  status?: RowStatus,
): AsyncGenerator<PayoutItems> {
  for (let after = -1; after < PAYOUT_ROWS_MAX;) {
    const page = await readRows(context, shown, { after, limit: EXPORT_PAGE, status });
    yield page;
    if (page.rows.length < EXPORT_PAGE) return;
    after = page.rows.at(-1)?.index ?? PAYOUT_ROWS_MAX;
  }
};

export const createPayoutReading = (context: PayoutsContext) => ({
  known: context.repository.known,
  get: bindDeps(context, get),
  list: bindDeps(context, list),
  items: bindDeps(context, items),
  allItems: bindDeps(context, allItems),
  view: bindDeps(context, view),
  /** Builds the view of a payout that was only validated. */
  unstored: bindDeps(context, viewOf),
});
