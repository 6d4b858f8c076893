/** The lists that activity is merged from. Each reads its own tables, newest first, below the same id. */
import type { Assets } from "@/lib/chains/assets";
import { OPERATION_KINDS } from "@/lib/contracts/operation-records";
import type { Actor } from "@/lib/core/actor";
import type { Status } from "@/lib/core/status";
import type { FundingRecord, LedgerService } from "@/lib/modules/ledger/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { PayoutActivity } from "@/lib/modules/payouts/service";
import type { ActivityKind, Movement } from "./movement";

export interface ActivityFilter {
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
  /** UUID; only movements whose id has a smaller one, which are older. */
  readonly before: string | undefined;
  readonly limit: number;
}

export interface SourcePage {
  readonly movements: readonly Movement[];
  /** UUID down to which the source was read; null when nothing older fits the filter. */
  readonly readDownTo: string | null;
}

export type Source = (actor: Actor, query: SourceQuery) => Promise<SourcePage>;

export interface SourceDeps {
  readonly operations: Pick<OperationsService, "listFor">;
  readonly payouts: Pick<PayoutActivity, "page">;
  readonly ledger: Pick<LedgerService, "fundings">;
  readonly assets: Assets;
}

/** The part of an id that sorts by time, whatever the kind of the object. */
export const uuidOf = (id: string): string => id.slice(id.indexOf("_") + 1);

const NOTHING: SourcePage = { movements: [], readDownTo: null };

/** The wanted kinds that a source has, by its own names; all of them without a filter. */
const kindsOf = <T extends string>(
  wanted: readonly ActivityKind[] | undefined,
  own: Readonly<Partial<Record<ActivityKind, T>>>,
): T[] =>
  Object.entries(own).flatMap(([kind, name]) =>
    wanted === undefined || wanted.includes(kind as ActivityKind) ? [name] : [],
  );

/** An API key reads only what it has the scope for. */
const mayRead = (actor: Actor, scope: string): boolean => actor.type === "user" || actor.scopes.includes(scope);

const pageOf = (movements: readonly Movement[], limit: number): SourcePage => {
  const shown = movements.slice(0, limit);
  const last = shown.at(-1);
  return { movements: shown, readDownTo: movements.length > limit && last !== undefined ? uuidOf(last.id) : null };
};

const OPERATIONS = Object.fromEntries(OPERATION_KINDS.map((kind) => [kind, kind]));

const operationSource =
  ({ operations }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const kind = kindsOf(filter.kind, OPERATIONS);
    if (kind.length === 0) return NOTHING;
    const cursor = before === undefined ? undefined : `op_${before}`;
    const asked = { ...filter, kind: filter.kind === undefined ? undefined : kind, cursor, limit };
    const { data, nextCursor } = await operations.listFor(actor, asked);
    return {
      movements: data.map((operation) => ({ type: "operation", id: operation.id, operation })),
      readDownTo: nextCursor === null ? null : uuidOf(nextCursor),
    };
  };

const payoutSource =
  ({ payouts }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const kind = kindsOf(filter.kind, {
      payout_to_wallets: "wallets",
      payout_to_accounts: "global_accounts",
    } as const);
    if (kind.length === 0 || !mayRead(actor, "payouts:read")) return NOTHING;
    const rows = await payouts.page(actor.projectId, {
      filter: { ...filter, kind: filter.kind === undefined ? undefined : kind },
      before: before === undefined ? undefined : `po_${before}`,
      limit: limit + 1,
    });
    return pageOf(
      rows.map((payout) => ({ type: "payout", id: payout.payout.id, payout })),
      limit,
    );
  };

/** A funding is posted at once or not at all, on no chain, from no wallet, and nobody can give it a tag. */
const fitsNoFunding = ({ status, chainId, walletId, tag }: ActivityFilter): boolean =>
  chainId !== undefined ||
  walletId !== undefined ||
  tag !== undefined ||
  (status !== undefined && !status.includes("completed"));

const fundingSource =
  ({ ledger, assets }: SourceDeps): Source =>
  async (actor, { filter, before, limit }) => {
    const kinds = kindsOf<FundingRecord["kind"]>(filter.kind, { funding: "fund", funding_reversal: "reverse" });
    if (kinds.length === 0 || fitsNoFunding(filter) || !mayRead(actor, "accounts:read")) return NOTHING;
    const symbol = filter.q?.toLowerCase();
    const rows = await ledger.fundings(actor.projectId, {
      kinds,
      before: before === undefined ? undefined : `ltx_${before}`,
      limit: limit + 1,
      from: filter.from,
      to: filter.to,
      search: filter.q,
      searchedCurrencies: assets
        .list()
        .filter((asset) => asset.symbol.toLowerCase() === symbol)
        .map(({ assetId }) => assetId),
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
