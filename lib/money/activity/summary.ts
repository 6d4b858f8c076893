/** Sums of movements by counterparty, token, tag or month. */
import { getAddress, isAddress } from "viem";
import type { Actor } from "@/lib/core/actor";
import type { Assets } from "@/lib/chain/assets";
import type { Clock } from "@/lib/core/clock";
import type { LedgerService } from "@/lib/books/ledger/service";
import type { OperationsService } from "@/lib/money/operations/service";
import type { PayoutActivity } from "@/lib/money/payouts/service";
import type { Status } from "@/lib/core/status";
import { type ActivityFilter, filtersOf } from "./movements";
import {
  type ActivityRepository,
  type Grouping,
  NO_PARTY,
  type Selection,
  SEVERAL_PARTIES,
  type SummaryGroup,
} from "./repository";

const GROUPS_MAX = 200;
const MONTHS_DEFAULT = 12;
/** The statuses of movements that moved money. */
const MOVED: readonly Status[] = ["completed", "partially_completed"];

/** The filters of the activity list. The summary accepts the same filters. */
export interface ActivitySearch extends Omit<ActivityFilter, "ids"> {
  /** An address, the id of an account or private wallet, `several` or `none`. */
  readonly counterparty?: string | undefined;
  readonly assetId?: string | undefined;
}

export interface SelectionDeps {
  readonly operations: Pick<OperationsService, "conditionFor">;
  readonly payouts: Pick<PayoutActivity, "condition">;
  readonly assets: Assets;
}

interface SummaryDeps extends SelectionDeps {
  readonly repository: Pick<ActivityRepository, "sums">;
  readonly ledger: Pick<LedgerService, "accountNames">;
  readonly clock: Clock;
}

export interface SummaryQuery extends ActivitySearch {
  readonly by: Grouping;
  /** IANA name of the time zone in which months begin. */
  readonly timeZone: string;
}

interface SummaryEntry {
  readonly group: SummaryGroup;
  /** The group's key as callers see it. */
  readonly key: string | null;
  readonly label: string;
  /** The search that lists exactly the movements of the group; null when no search does. */
  readonly search: ActivitySearch | null;
}

export interface Summary {
  readonly by: Grouping;
  readonly from: string;
  readonly to: string;
  readonly entries: readonly SummaryEntry[];
  /** How many further groups there are. */
  readonly cut: number;
}

/** The movements that the actor may read and the search finds. */
export const selectionOf = async (
  { operations, payouts, assets }: SelectionDeps,
  actor: Actor,
  { counterparty, assetId, ...filter }: ActivitySearch,
): Promise<Selection> => {
  const filters = filtersOf(actor, filter, assets);
  const [ofOperations, ofPayouts] = await Promise.all([
    filters.operations === null ? null : operations.conditionFor(actor, filters.operations),
    filters.payouts === null ? null : payouts.condition(actor.projectId, filters.payouts),
  ]);
  return {
    projectId: actor.projectId,
    operations: ofOperations,
    payouts: ofPayouts,
    fundings: filters.fundings,
    party: counterparty?.toLowerCase(),
    assetId,
  };
};

const monthsBefore = (time: string, months: number): string => {
  const at = new Date(time);
  at.setUTCMonth(at.getUTCMonth() - months);
  return at.toISOString();
};

/**
 * The search of a summary, with the defaults for missing fields: the statuses in `MOVED`, and the
 * last `MONTHS_DEFAULT` months.
 */
const searchOf = (
  { by: _by, timeZone: _timeZone, ...search }: SummaryQuery,
  now: Date,
): ActivitySearch & { readonly from: string; readonly to: string } => {
  const to = search.to ?? now.toISOString();
  const from = search.from ?? monthsBefore(to, MONTHS_DEFAULT);
  return { ...search, status: search.status ?? MOVED, from, to };
};

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b);
const later = (a: string, b: string): string => (Date.parse(a) > Date.parse(b) ? a : b);

const within = (
  search: ActivitySearch & { readonly from: string; readonly to: string },
  { startsAt, endsAt }: SummaryGroup,
): ActivitySearch => ({
  ...search,
  from: startsAt === null ? search.from : later(search.from, startsAt.toISOString()),
  to: endsAt === null ? search.to : earlier(search.to, endsAt.toISOString()),
});

/**
 * The search for the movements of a group. Null when the list cannot be narrowed to the group: the
 * list cannot filter by missing tags, and takes only one tag, counterparty or asset.
 */
const narrowed = (
  by: Grouping,
  search: ActivitySearch & { readonly from: string; readonly to: string },
  group: SummaryGroup,
): ActivitySearch | null => {
  const { key } = group;
  if (by === "month") return within(search, group);
  if (key === null) return null;
  const field = { counterparty: "counterparty", token: "assetId", tag: "tag" } as const;
  const asked = search[field[by]];
  if (asked !== undefined && asked.toLowerCase() !== key.toLowerCase()) return null;
  return { ...search, [field[by]]: by === "counterparty" ? shownParty(key) : key };
};

const shownParty = (party: string): string =>
  isAddress(party, { strict: false }) ? getAddress(party) : party;

const PARTY_LABELS: Readonly<Record<string, string>> = {
  [NO_PARTY]: "No known counterparty",
  [SEVERAL_PARTIES]: "Several recipients",
};

const monthLabel = (month: string): string =>
  new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );

interface Names {
  readonly accounts: ReadonlyMap<string, string>;
  readonly assets: Assets;
}

const labelOf = (by: Grouping, { key, name }: SummaryGroup, names: Names): string => {
  if (key === null) return by === "tag" ? "No tag" : "Not known";
  switch (by) {
    case "counterparty":
      return PARTY_LABELS[key] ?? names.accounts.get(key) ?? shownParty(key);
    case "token":
      return names.assets.find(key)?.symbol ?? name ?? key;
    case "tag":
      return name ?? key;
    case "month":
      return monthLabel(key);
  }
};

/** Creates the function that sums the movements that an actor may read. */
export const createSummary =
  (deps: SummaryDeps) =>
  async (actor: Actor, query: SummaryQuery): Promise<Summary> => {
    const { by, timeZone } = query;
    const search = searchOf(query, deps.clock.now());
    const selection = await selectionOf(deps, actor, search);
    const found = await deps.repository.sums(selection, { by, timeZone, limit: GROUPS_MAX });
    const accountIds = found.flatMap(({ key }) => (key?.startsWith("ga_") ? [key] : []));
    const accounts =
      by === "counterparty"
        ? await deps.ledger.accountNames(actor.projectId, accountIds)
        : new Map<string, string>();
    return {
      by,
      from: search.from,
      to: search.to,
      entries: found.map((group) => ({
        group,
        key: by === "counterparty" && group.key !== null ? shownParty(group.key) : group.key,
        label: labelOf(by, group, { accounts, assets: deps.assets }),
        search: narrowed(by, search, group),
      })),
      cut: (found[0]?.groups ?? 0) - found.length,
    };
  };
