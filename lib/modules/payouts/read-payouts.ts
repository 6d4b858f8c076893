/** Reads payouts of both kinds: a single payout, a page of payouts, and the rows of a payout. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Asset, Assets } from "@/lib/chains/assets";
import type { ChainRegistry } from "@/lib/chains/registry";
import { PAYOUT_ROWS_MAX, type ROW_STATUSES } from "@/lib/contracts/payout-records";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { isFinal, type Status } from "@/lib/core/status";
import type { PayoutItemRow } from "./accounts/rows";
import { mayHave, storedStatus, type AccountRowStatus } from "./accounts/row-status";
import type { AccountPayoutsService } from "./accounts/service";
import { badCursor, rowBefore } from "./errors";
import type { AccountsPayout, Payout } from "./payout";
import { notReadable } from "./errors";
import type { PayoutsRepository } from "./repository";
import { coinPrices, type FeeDeps } from "./wallets/pricing";
import type { WalletItemRow, WalletRowStatus } from "./wallets/read-repository";
import type { WalletPayoutsService, WalletsPayoutParts } from "./wallets/service";
import { worthOfAccountsPayout, worthOfWalletsPayout, type Worths } from "./worth";

const EXPORT_PAGE = 1000;

export interface PayoutReadingDeps {
  readonly repository: Pick<PayoutsRepository, "findInProject" | "known" | "list" | "retriedAmong">;
  readonly accounts: Pick<AccountPayoutsService, "items">;
  readonly wallets: Pick<WalletPayoutsService, "parts" | "items">;
  readonly assets: Assets;
  readonly registry: ChainRegistry;
  readonly prices: FeeDeps["prices"];
  /** US dollars that the policies recorded, by evaluation. */
  readonly worths: (projectId: string, evaluationIds: readonly string[]) => Promise<Worths>;
}

/** A payout between accounts. `asset` is null when no configured chain lists its asset any more. */
export interface AccountsPayoutView {
  readonly kind: "global_accounts";
  readonly payout: AccountsPayout;
  readonly asset: Asset | null;
  /** Worth in US dollars when it was evaluated; null when it was not recorded. */
  readonly usd: string | null;
  /** True when a later payout already retries the failed rows of this one. */
  readonly isRetried: boolean;
}

/** A payout to wallets. */
export interface WalletsPayoutView extends WalletsPayoutParts {
  readonly kind: "wallets";
  readonly registry: ChainRegistry;
  /** Price of the chain's coin in US dollars; null when it is not known. */
  readonly coinUsd: string | null;
  /** As of a payout between accounts. */
  readonly usd: string | null;
  readonly isRetried: boolean;
}

export type PayoutView = AccountsPayoutView | WalletsPayoutView;

type RowStatus = (typeof ROW_STATUSES)[number];

/** Rows of one payout. */
export type PayoutItems =
  | { readonly kind: "global_accounts"; readonly view: AccountsPayoutView; readonly rows: readonly PayoutItemRow[] }
  | { readonly kind: "wallets"; readonly view: WalletsPayoutView; readonly rows: readonly WalletItemRow[] };

const ACCOUNT_STATUSES: readonly RowStatus[] = ["pending", "completed", "failed"] satisfies AccountRowStatus[];
const WALLET_STATUSES: readonly RowStatus[] = [
  "queued",
  "sent",
  "confirmed",
  "paid",
  "failed",
  "unknown",
  "cancelled",
] satisfies WalletRowStatus[];

const isAccountStatus = (status: RowStatus): status is AccountRowStatus => ACCOUNT_STATUSES.includes(status);
const isWalletStatus = (status: RowStatus): status is WalletRowStatus => WALLET_STATUSES.includes(status);

interface Known {
  readonly retried: ReadonlySet<string>;
  readonly worths: Worths;
}

/** Of new payouts, which no other payout can have retried yet. */
const NEW: Known = { retried: new Set(), worths: new Map() };

const accountsView = (
  deps: PayoutReadingDeps,
  payout: AccountsPayout,
  { retried, worths }: Known,
): AccountsPayoutView => {
  const asset = deps.assets.find(payout.currency);
  const usd = worthOfAccountsPayout(payout, asset, worths);
  return { kind: payout.kind, payout, asset, usd, isRetried: retried.has(payout.id) };
};

const coinsOf = (deps: PayoutReadingDeps, parts: readonly WalletsPayoutParts[]): Promise<ReadonlyMap<number, string>> =>
  coinPrices(
    deps,
    parts.map(({ own }) => own.chainId),
  );

const walletsView = (
  deps: PayoutReadingDeps,
  parts: WalletsPayoutParts,
  { retried, worths, coins }: Known & { readonly coins: ReadonlyMap<number, string> },
): WalletsPayoutView => ({
  kind: "wallets",
  ...parts,
  registry: deps.registry,
  coinUsd: coins.get(parts.own.chainId) ?? null,
  usd: worthOfWalletsPayout(parts, worths),
  isRetried: retried.has(parts.payout.id),
});

const views = async (deps: PayoutReadingDeps, projectId: string, rows: readonly Payout[]): Promise<PayoutView[]> => {
  const ended = rows.flatMap(({ id, status }) => (isFinal(status) ? [id] : []));
  const toWallets = rows.filter((row) => row.kind === "wallets");
  const [retried, parts, worths] = await Promise.all([
    deps.repository.retriedAmong(projectId, ended),
    deps.wallets.parts(projectId, toWallets),
    deps.worths(
      projectId,
      rows.flatMap(({ evaluationId }) => evaluationId ?? []),
    ),
  ]);
  const coins = await coinsOf(deps, parts);
  const byId = new Map(parts.map((each) => [each.payout.id, each]));
  return rows.flatMap((row): PayoutView[] => {
    if (row.kind === "global_accounts") return [accountsView(deps, row, { retried, worths })];
    const own = byId.get(row.id);
    return own === undefined ? [] : [walletsView(deps, own, { retried, worths, coins })];
  });
};

/** @throws DomainError `not_found`; `invalid_state` where another version stored it and nothing of it can be shown */
const get = async (deps: PayoutReadingDeps, projectId: string, id: string): Promise<PayoutView> => {
  const payout = isId("payout", id) ? await deps.repository.findInProject(projectId, id) : null;
  if (payout === null) throw notFound();
  if (payout === "unreadable") throw notReadable();
  const [view] = await views(deps, projectId, [payout]);
  if (view === undefined) throw notReadable();
  return view;
};

/** Finds out which of the ids are payouts of the project. */
const known = (deps: PayoutReadingDeps, projectId: string, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  deps.repository.known(projectId, ids);

const newAccountsView = (deps: PayoutReadingDeps, payout: AccountsPayout): AccountsPayoutView =>
  accountsView(deps, payout, NEW);

const newWalletsView = async (deps: PayoutReadingDeps, parts: WalletsPayoutParts): Promise<WalletsPayoutView> =>
  walletsView(deps, parts, { ...NEW, coins: await coinsOf(deps, [parts]) });

const list = async (
  deps: PayoutReadingDeps,
  projectId: string,
  query: {
    limit: number;
    cursor?: string | undefined;
    status?: Status | undefined;
    kind?: Payout["kind"] | undefined;
  },
): Promise<{ data: PayoutView[]; nextCursor: string | null }> => {
  if (query.cursor !== undefined && !isId("payout", query.cursor)) throw badCursor();
  const { status, kind, cursor: before } = query;
  const rows = await deps.repository.list({ projectId, status, kind, before, limit: query.limit + 1 });
  const data = rows.slice(0, query.limit);
  const nextCursor = rows.length > query.limit ? (data.at(-1)?.id ?? null) : null;
  // A payout of which nothing can be shown takes no other one out of the list.
  const readable = data.flatMap(({ payout }) => payout ?? []);
  return { data: await views(deps, projectId, readable), nextCursor };
};

/** A page of rows after the index `after`, in their order. */
const rowsOf = async (
  deps: PayoutReadingDeps,
  view: PayoutView,
  { after, limit, status }: { after: number; limit: number; status?: RowStatus | undefined },
): Promise<PayoutItems> => {
  const { id: payoutId, projectId } = view.payout;
  if (view.kind === "wallets") {
    const { kind } = view;
    if (status !== undefined && !isWalletStatus(status)) return { kind, view, rows: [] };
    return { kind, view, rows: await deps.wallets.items({ projectId, payoutId, after, limit, status }) };
  }
  const { kind, payout } = view;
  if (status !== undefined && !isAccountStatus(status)) return { kind, view, rows: [] };
  if (status !== undefined && !mayHave(payout, status)) return { kind, view, rows: [] };
  return {
    kind,
    view,
    rows: await deps.accounts.items({ projectId, payoutId, after, limit, status: storedStatus(payout, status) }),
  };
};

const items = async (
  deps: PayoutReadingDeps,
  projectId: string,
  id: string,
  query: { limit: number; cursor?: string | undefined; status?: RowStatus | undefined },
): Promise<PayoutItems & { nextCursor: string | null }> => {
  const after = rowBefore(query.cursor);
  const view = await get(deps, projectId, id);
  const found = await rowsOf(deps, view, { after, limit: query.limit + 1, status: query.status });
  const more = found.rows.length > query.limit;
  const cut = more ? cutTo(found, query.limit) : found;
  return { ...cut, nextCursor: more ? (cut.rows.at(-1)?.index.toString() ?? null) : null };
};

/** All rows, read page by page as the caller iterates. */
const allItems = async function* (
  deps: PayoutReadingDeps,
  view: PayoutView,
  status?: RowStatus,
): AsyncGenerator<PayoutItems> {
  for (let after = -1; after < PAYOUT_ROWS_MAX;) {
    const page = await rowsOf(deps, view, { after, limit: EXPORT_PAGE, status });
    yield page;
    if (page.rows.length < EXPORT_PAGE) return;
    after = page.rows.at(-1)?.index ?? PAYOUT_ROWS_MAX;
  }
};

export const createPayoutReading = (deps: PayoutReadingDeps) => ({
  known: bindDeps(deps, known),
  get: bindDeps(deps, get),
  list: bindDeps(deps, list),
  items: bindDeps(deps, items),
  allItems: bindDeps(deps, allItems),
  newAccountsView: bindDeps(deps, newAccountsView),
  newWalletsView: bindDeps(deps, newWalletsView),
});

const cutTo = (found: PayoutItems, limit: number): PayoutItems =>
  found.kind === "wallets"
    ? { ...found, rows: found.rows.slice(0, limit) }
    : { ...found, rows: found.rows.slice(0, limit) };
