/** Reads payouts of both kinds: a single payout, a page of payouts, and the rows of a payout. */
import { bindDeps } from "@/lib/core/bind-deps";
import {
  PAYOUT_ITEM_STATUSES,
  PAYOUT_ROWS_MAX,
  WALLET_ROW_STATUSES,
  type ROW_STATUSES,
} from "@/lib/contracts/payout-records";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { isFinal } from "@/lib/core/status";
import { readItems } from "./accounts/row-repository";
import { mayHave, storedStatus } from "./accounts/rows";
import type { PayoutsContext } from "./context";
import { notReadable, rowBefore } from "./errors";
import type { Payout, WalletsPayout } from "./payout";
import type { PayoutItems, PayoutParts, PayoutView, WalletsPayoutParts } from "./payout-view";
import { NOT_READABLE } from "./readable";
import type { PayoutFilter } from "./repository";
import { coinPrices } from "./wallets/pricing";
import type { WalletPayout } from "./wallets/wallet-payout";
import { recordedWorth } from "./worth";

const EXPORT_PAGE = 1000;

type RowStatus = (typeof ROW_STATUSES)[number];

const isOneOf = <Status extends RowStatus>(
  statuses: readonly Status[],
  status: RowStatus,
): status is Status => (statuses as readonly RowStatus[]).includes(status);

/** Marks a payout as unreadable when its row in `wallet_payout` cannot be read completely. */
const markUnread = (payout: WalletsPayout, walletPayout: WalletPayout): WalletsPayout =>
  walletPayout.unread === true
    ? { ...payout, unread: true, failure: payout.failure ?? NOT_READABLE }
    : payout;

/**
 * Reads the parts that only payouts to wallets have, by payout id. A payout is missing when too
 * little of it can be read to show it.
 */
const walletsParts = async (
  { rows }: Pick<PayoutsContext, "rows">,
  projectId: string,
  payouts: readonly WalletsPayout[],
): Promise<ReadonlyMap<string, WalletsPayoutParts>> => {
  const ids = payouts.map(({ id }) => id);
  const [walletPayouts, groups] = await Promise.all([
    rows.shown(projectId, ids),
    rows.groups(projectId, ids),
  ]);
  const parts = payouts.flatMap((payout): WalletsPayoutParts[] => {
    const { kind, id } = payout;
    const walletPayout = walletPayouts.get(id);
    if (walletPayout === undefined && payout.unread !== true)
      throw new Error(`${id} has no row in wallet_payout.`);
    if (walletPayout === undefined || walletPayout === null) return [];
    const ofPayout = groups.filter(({ payoutId }) => payoutId === id);
    return [
      { kind, payout: markUnread(payout, walletPayout), own: walletPayout, groups: ofPayout },
    ];
  });
  return new Map(parts.map((each) => [each.payout.id, each]));
};

/**
 * Adds to each payout the part that only its kind has. Leaves out payouts of which too little can
 * be read to show them.
 */
export const readParts = async (
  context: Pick<PayoutsContext, "rows" | "assets">,
  projectId: string,
  payouts: readonly Payout[],
): Promise<PayoutParts[]> => {
  const toWallets = payouts.filter((payout) => payout.kind === "wallets");
  const ofWallets = await walletsParts(context, projectId, toWallets);
  return payouts.flatMap((payout): PayoutParts[] => {
    if (payout.kind === "global_accounts")
      return [{ kind: payout.kind, payout, asset: context.assets.find(payout.currency) }];
    const found = ofWallets.get(payout.id);
    return found === undefined ? [] : [found];
  });
};

/** Adds the facts that records show in addition: worth, retries and coin prices. */
const viewsOf = async (
  context: PayoutsContext,
  projectId: string,
  all: readonly PayoutParts[],
): Promise<PayoutView[]> => {
  const payouts = all.map(({ payout }) => payout);
  const ended = payouts.flatMap(({ id, status }) => (isFinal(status) ? [id] : []));
  const evaluationIds = payouts.flatMap(({ evaluationId }) => evaluationId ?? []);
  const chainIds = all.flatMap((parts) => (parts.kind === "wallets" ? [parts.own.chainId] : []));
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

/**
 * Builds the view of a stored payout.
 * @throws DomainError `invalid_state` when too little can be read to show the payout
 */
const view = async (context: PayoutsContext, payout: Payout): Promise<PayoutView> => {
  const parts = await readParts(context, payout.projectId, [payout]);
  const [found] = await viewsOf(context, payout.projectId, parts);
  if (found === undefined) throw notReadable();
  return found;
};

/** Builds the view of a payout that was validated and is not stored. */
const unstored = async (context: PayoutsContext, parts: PayoutParts): Promise<PayoutView> => {
  const [found] = await viewsOf(context, parts.payout.projectId, [parts]);
  if (found === undefined) throw new Error("A payout has one view.");
  return found;
};

/**
 * Reads a payout of the project.
 * @throws DomainError `not_found`; `invalid_state` when another version stored the payout and too
 * little of it can be read to show it
 */
const get = async (context: PayoutsContext, projectId: string, id: string): Promise<PayoutView> => {
  const payout = isId("payout", id) ? await context.repository.findInProject(projectId, id) : null;
  if (payout === null) throw notFound();
  if (payout === "unreadable") throw notReadable();
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
  // A payout that cannot be shown is left out, so that the page still shows all others.
  const readable = page.flatMap(({ payout }) => payout ?? []);
  const data = await viewsOf(context, projectId, await readParts(context, projectId, readable));
  return { data, nextCursor };
};

interface RowsQuery {
  /** Index of the last row of the previous page; -1 for the first page. */
  readonly after: number;
  readonly limit: number;
  readonly status?: RowStatus | undefined;
}

/** Reads a page of a payout's rows, in the order of their indexes. */
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
  if (status !== undefined && !(isOneOf(PAYOUT_ITEM_STATUSES, status) && mayHave(payout, status)))
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

/** Yields the rows of a payout in pages. Reads each page only when the caller asks for it. */
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
  unstored: bindDeps(context, unstored),
});
