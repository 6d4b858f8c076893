/** Everybody who may read an object, by the route that reads it, may read the object's events. */
import { listApiKeys } from "./api-keys";
import type { Contract, Scope } from "./contract";
import { getDecision } from "./decisions";
import { getDeposit } from "./deposits";
import { EVENT_GROUPS, EVENT_TYPES, type EventType } from "./events";
import { getGlobalAccount } from "./global-accounts";
import { listMembers } from "./members";
import { getOperation } from "./operations";
import { getPayoutSchedule } from "./payout-schedules";
import { getPayout } from "./payouts";
import { getPolicies } from "./policies";
import { getTransfer } from "./transfers";

export type EventGroup = keyof typeof EVENT_GROUPS;

/**
 * The route that reads the object of each event group. The type requires an entry for a new group.
 */
export const EVENT_READERS: Readonly<Record<EventGroup, Contract>> = {
  operation: getOperation,
  transfer: getTransfer,
  payout: getPayout,
  deposit: getDeposit,
  payout_schedule: getPayoutSchedule,
  global_account: getGlobalAccount,
  api_key: listApiKeys,
  approval: getDecision,
  member: listMembers,
  policy: getPolicies,
};

const GROUPS = Object.keys(EVENT_GROUPS) as readonly EventGroup[];

const typesOfGroup = (group: EventGroup): readonly EventType[] => EVENT_GROUPS[group];

const groupsByType: ReadonlyMap<string, EventGroup> = new Map(
  GROUPS.flatMap((group) => typesOfGroup(group).map((type) => [type, group] as const)),
);

/** Null for `webhook.test`, which has no object. */
export const groupOf = (type: string): EventGroup | null => groupsByType.get(type) ?? null;

/**
 * The groups that API keys can read with the right scopes: the meaning of `*` in an API key's
 * subscription.
 */
export const KEY_GROUPS: readonly EventGroup[] = GROUPS.filter(
  (group) => EVENT_READERS[group].auth !== "user",
);

/**
 * The scopes that an API key needs for events of a group (all of them); null when only people may
 * read the object.
 */
export const scopesOfGroup = (group: EventGroup): readonly Scope[] | null => {
  const { auth, scope = [] } = EVENT_READERS[group];
  if (auth === "user") return null;
  return typeof scope === "string" ? [scope] : scope;
};

/** The groups in a subscription such as `*`, `payout.*` or `payout.completed`. */
export const groupsNamed = (events: readonly string[]): readonly EventGroup[] => {
  if (events.includes("*")) return GROUPS;
  return GROUPS.filter((group) =>
    events.some((name) => name === `${group}.*` || groupOf(name) === group),
  );
};

export const typesWhere = (passes: (group: EventGroup) => boolean): readonly EventType[] =>
  EVENT_TYPES.filter((type) => {
    const group = groupOf(type);
    return group !== null && passes(group);
  });
