import type { ACTIVITY_KINDS } from "@/lib/contracts/activity";
import type { Asset, Assets } from "@/lib/chain/assets";
import type { Annotation } from "@/lib/money/annotations/service";
import type { DepositView } from "@/lib/money/deposits/service";
import {
  type FundingRecord,
  LEDGER_DECIMALS,
  type LedgerService,
} from "@/lib/books/ledger/service";
import type { Operation, OperationsService } from "@/lib/money/operations/service";
import type { PayoutActivity, PayoutMovement } from "@/lib/money/payouts/service";
import type { PrivateTransfer } from "@/lib/money/privacy/service";
import { formatAmount } from "@/lib/core/money";
import { peggedWorth, type WorthPart } from "@/lib/core/pegged-worth";
import type { Token } from "@/lib/core/token";
import { OPERATION_KINDS } from "@/lib/contracts/operation-records";
import type { Actor } from "@/lib/core/actor";
import type { Status } from "@/lib/core/status";

type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** A movement, and its record as the module that stores the movement returns it. */
export type Movement =
  | { readonly type: "operation"; readonly id: string; readonly operation: Operation }
  | { readonly type: "payout"; readonly id: string; readonly payout: PayoutMovement }
  | {
      readonly type: "funding";
      readonly id: string;
      readonly funding: FundingRecord;
      /** Null when no configured chain lists the asset any more. */
      readonly asset: Asset | null;
    };

export interface ActivityEntry {
  readonly movement: Movement;
  /** Set when the operation is a deposit. */
  readonly deposit: DepositView | null;
  /** Set when the operation is private. */
  readonly transfer: PrivateTransfer | null;
  readonly annotation: Annotation | null;
  /** US dollars as recorded, a decimal string; null when there was no price. */
  readonly usd: string | null;
  /** The names of the accounts on the page, by id. */
  readonly accountNames: ReadonlyMap<string, string>;
}

export interface MergedPage {
  readonly movements: readonly Movement[];
  /** UUID below which the next page begins; null on the last page. */
  readonly next: string | null;
}

/**
 * Merges pages of several lists, each newest first, into one page. A list that has more rows was
 * read only down to its `readDownTo`, so its older movements are missing. The merged page therefore
 * leaves all movements below the highest `readDownTo` to the next page.
 */
export const mergePages = (pages: readonly SourcePage[], limit: number): MergedPage => {
  const readDownTo = pages.flatMap((page) => page.readDownTo ?? []).sort();
  const floor = readDownTo.at(-1) ?? "";
  const found = pages
    .flatMap(({ movements }) => movements)
    .filter(({ id }) => uuidOf(id) >= floor)
    .sort((a, b) => (uuidOf(a.id) < uuidOf(b.id) ? 1 : -1));
  const movements = found.slice(0, limit);
  const last = movements.at(-1);
  if (found.length > limit && last !== undefined) return { movements, next: uuidOf(last.id) };
  return { movements, next: floor === "" ? null : floor };
};

// The worth of a movement in US dollars according to its record. Current prices are never used.

const USD_DECIMALS = 6;

const partOf = ({
  token,
  amountBase,
}: {
  readonly token: Token;
  readonly amountBase: bigint;
}): WorthPart => ({
  amountBase,
  decimals: token.decimals,
  isPegged: token.usdPegged,
});

const isPegged = (asset: { readonly tokens: readonly Token[] } | null): boolean =>
  asset !== null && asset.tokens.length > 0 && asset.tokens.every(({ usdPegged }) => usdPegged);

const partsOf = (movement: Movement): readonly WorthPart[] => {
  if (movement.type === "operation") return movement.operation.request.sources.map(partOf);
  const ledger = { decimals: LEDGER_DECIMALS };
  if (movement.type === "funding")
    return [
      {
        ...ledger,
        amountBase: movement.funding.amountBase,
        isPegged: isPegged(movement.asset),
      },
    ];
  const { payout } = movement;
  return payout.kind === "wallets"
    ? payout.totals.map(partOf)
    : [{ ...ledger, amountBase: payout.payout.totalBase, isPegged: isPegged(payout.asset) }];
};

export const evaluationIdOf = (movement: Movement): string | null => {
  if (movement.type === "operation") return movement.operation.evaluationId;
  return movement.type === "payout" ? movement.payout.payout.evaluationId : null;
};

/**
 * The worth of a movement in US dollars, as recorded; null when there was no price.
 * @param worths US dollars by evaluation id
 */
export const worthOfMovement = (
  movement: Movement,
  {
    deposit,
    worths,
  }: { readonly deposit: DepositView | null; readonly worths: ReadonlyMap<string, string> },
): string | null => {
  if (deposit !== null) {
    const { usdMicro, state } = deposit.deposit;
    const isDecided = state === "credited" || state === "released";
    return usdMicro === null || !isDecided ? null : formatAmount(usdMicro, USD_DECIMALS);
  }
  const recorded = worths.get(evaluationIdOf(movement) ?? "");
  return recorded ?? peggedWorth(partsOf(movement));
};

// The lists from which activity is merged. Each list reads the tables of one module, newest first.
// All lists begin below the same id.

export interface ActivityFilter {
  /** The ids of the only movements to list. */
  readonly ids?: readonly string[] | undefined;
  readonly status?: readonly Status[] | undefined;
  readonly kind?: readonly ActivityKind[] | undefined;
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
}

export interface SourceQuery {
  readonly filter: ActivityFilter;
  /** UUID of the page cursor: only movements with a smaller UUID, which are older. */
  readonly before: string | undefined;
  readonly limit: number;
}

export interface SourcePage {
  readonly movements: readonly Movement[];
  /** UUID down to which the source was read; null when nothing older matches the filter. */
  readonly readDownTo: string | null;
}

type Source = (actor: Actor, query: SourceQuery) => Promise<SourcePage>;

export interface SourceDeps {
  readonly operations: Pick<OperationsService, "listFor">;
  readonly payouts: Pick<PayoutActivity, "page">;
  readonly ledger: Pick<LedgerService, "fundings">;
  readonly assets: Assets;
}

/**
 * The UUIDv7 of an id, without the prefix that names the kind of object. It sorts by time of
 * creation.
 */
export const uuidOf = (id: string): string => id.slice(id.indexOf("_") + 1);

const NOTHING: SourcePage = { movements: [], readDownTo: null };

/**
 * The names that a source uses for the requested kinds; the names of all its kinds without a
 * filter.
 * @param own for each kind that the source has, the source's name of the kind
 */
const kindsOf = <T extends string>(
  wanted: readonly ActivityKind[] | undefined,
  own: Readonly<Partial<Record<ActivityKind, T>>>,
): T[] =>
  Object.entries(own).flatMap(([kind, name]) =>
    wanted === undefined || wanted.includes(kind as ActivityKind) ? [name] : [],
  );

/** Whether the actor may read data that needs this scope. People need no scopes. */
const mayRead = (actor: Actor, scope: string): boolean =>
  actor.type === "user" || actor.scopes.includes(scope);

const pageOf = (movements: readonly Movement[], limit: number): SourcePage => {
  const shown = movements.slice(0, limit);
  const last = shown.at(-1);
  return {
    movements: shown,
    readDownTo: movements.length > limit && last !== undefined ? uuidOf(last.id) : null,
  };
};

const OPERATIONS = Object.fromEntries(OPERATION_KINDS.map((kind) => [kind, kind]));

// Each function narrows the filter for one module to the kinds of that module and to the data that
// the actor may read. Returns null when nothing of the module can match.

const operationFilter = ({ kind, ...filter }: ActivityFilter) => {
  const kinds = kindsOf(kind, OPERATIONS);
  return kinds.length === 0
    ? null
    : { ...filter, kind: kind === undefined ? undefined : kinds };
};

const payoutFilter = (actor: Actor, { kind, ...filter }: ActivityFilter) => {
  const kinds = kindsOf(kind, {
    payout_to_wallets: "wallets",
    payout_to_accounts: "global_accounts",
  } as const);
  if (kinds.length === 0 || !mayRead(actor, "payouts:read")) return null;
  return { ...filter, kind: kind === undefined ? undefined : kinds };
};

/**
 * Whether the filter excludes all fundings. The only status of a funding is `completed`, and it has
 * no chain, wallet or tag.
 */
const fitsNoFunding = ({ status, chainId, walletId, tag }: ActivityFilter): boolean =>
  chainId !== undefined ||
  walletId !== undefined ||
  tag !== undefined ||
  (status !== undefined && !status.includes("completed"));

const fundingFilter = (actor: Actor, filter: ActivityFilter, assets: Assets) => {
  const kinds = kindsOf<FundingRecord["kind"]>(filter.kind, {
    funding: "fund",
    funding_reversal: "reverse",
  });
  if (kinds.length === 0 || fitsNoFunding(filter) || !mayRead(actor, "accounts:read"))
    return null;
  const { ids, from, to, q } = filter;
  const symbol = q?.toLowerCase();
  const searchedCurrencies = assets
    .list()
    .filter((asset) => asset.symbol.toLowerCase() === symbol)
    .map(({ assetId }) => assetId);
  return { ids, kinds, from, to, search: q, searchedCurrencies };
};

/**
 * The filter for each module; null when the actor may read nothing of the module, or when none of
 * its movements can match.
 */
export const filtersOf = (actor: Actor, filter: ActivityFilter, assets: Assets) => ({
  operations: operationFilter(filter),
  payouts: payoutFilter(actor, filter),
  fundings: fundingFilter(actor, filter, assets),
});

const operationSource =
  ({ operations }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const wanted = operationFilter(filter);
    if (wanted === null) return NOTHING;
    const cursor = before === undefined ? undefined : `op_${before}`;
    const { data, nextCursor } = await operations.listFor(actor, { ...wanted, cursor, limit });
    return {
      movements: data.map((operation) => ({ type: "operation", id: operation.id, operation })),
      readDownTo: nextCursor === null ? null : uuidOf(nextCursor),
    };
  };

const payoutSource =
  ({ payouts }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const wanted = payoutFilter(actor, filter);
    if (wanted === null) return NOTHING;
    const rows = await payouts.page(actor.projectId, {
      filter: wanted,
      before: before === undefined ? undefined : `po_${before}`,
      limit: limit + 1,
    });
    return pageOf(
      rows.map((payout) => ({ type: "payout", id: payout.payout.id, payout })),
      limit,
    );
  };

const fundingSource =
  ({ ledger, assets }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const wanted = fundingFilter(actor, filter, assets);
    if (wanted === null) return NOTHING;
    const rows = await ledger.fundings(actor.projectId, {
      ...wanted,
      before: before === undefined ? undefined : `ltx_${before}`,
      limit: limit + 1,
    });
    return pageOf(
      rows.map((funding) => ({
        type: "funding",
        id: funding.transactionId,
        funding,
        asset: assets.find(funding.currency),
      })),
      limit,
    );
  };

export const activitySources = (deps: SourceDeps): readonly Source[] => [
  operationSource(deps),
  payoutSource(deps),
  fundingSource(deps),
];
