/**
 * Checks that enough people can vote, before every change that reduces the voters or demands more
 * votes.
 */
import type { Role } from "@/lib/core/actor";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { mailboxOf } from "@/lib/core/mailbox";
import type { PolicyScope } from "@/lib/contracts/policy-rules";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import {
  countPeople,
  readElectorate,
  readRequirement,
  type Voters,
} from "@/lib/trust/decisions/service";
import { type RequiredApproval, strictest } from "./facts";
import { readPoliciesInForce, readKeyHolders } from "./repository";

/** The project's setting, or the rule `approvals` of a policy. */
export interface VoteRule {
  readonly of: "setting" | PolicyScope;
  /** The project, wallet or API key that the rule applies to. */
  readonly subjectId: string;
  readonly approvals: Pick<RequiredApproval, "count" | "roles" | "excludeMaker">;
}

export type VotersChange = { readonly userId: string } & (
  | { readonly kind: "role"; readonly to: Role | null }
  | { readonly kind: "mailbox"; readonly email: string }
  // The person receives a secret of the key, and so may no longer vote on requests of that key.
  | { readonly kind: "holder"; readonly keyId: string }
);

/**
 * The members of a project, and for each API key id the users who received a secret of the key.
 */
interface Electorate {
  readonly voters: Voters;
  readonly holders: ReadonlyMap<string, readonly string[]>;
}

/** The combined rules that one movement has to satisfy. */
interface Demand extends RequiredApproval {
  /**
   * The API keys that can request such a movement, besides people; null for every key of the
   * project.
   */
  readonly keyIds: readonly string[] | null;
}

/**
 * The number of people who may vote, and how many of them are excluded when one of them makes the
 * request.
 */
interface Turnout {
  readonly voters: number;
  readonly excluded: number;
  /** The key whose holders are excluded; null when only the requester is excluded. */
  readonly keyId: string | null;
}

const nameOf = ({ of, subjectId }: VoteRule): string => {
  if (of === "setting") return "the setting of approvals";
  return of === "project"
    ? "the policy of the project"
    : `the policy of the ${of} ${subjectId}`;
};

const isSame = (one: VoteRule, other: VoteRule): boolean =>
  one.of === other.of && one.subjectId === other.subjectId;

const readVoteRules = async (sql: SqlReader, projectId: string): Promise<VoteRule[]> => {
  const setting = await readRequirement(sql, projectId);
  const policies = await readPoliciesInForce(sql, projectId);
  return [
    ...(setting === null
      ? []
      : [{ of: "setting" as const, subjectId: projectId, approvals: setting }]),
    ...policies.flatMap(({ scope, subjectId, rules: { approvals } }) =>
      approvals === undefined ? [] : [{ of: scope, subjectId, approvals }],
    ),
  ];
};

const readElectorateOf = async (tx: Tx, projectId: string): Promise<Electorate> => ({
  voters: await readElectorate(tx, projectId),
  holders: await readKeyHolders(sqlOf(tx), projectId),
});

/**
 * Whether several users received a secret of the key. Requests of any other key exclude only one
 * user.
 */
const isShared = (holders: readonly string[] = []): boolean => holders.length > 1;

/** Keeps the last of several rules that demand the same votes and exclude the same people. */
const distinct = (rules: readonly VoteRule[], { holders }: Electorate): VoteRule[] => [
  ...new Map(
    rules.map((rule) => {
      const { count, roles, excludeMaker } = rule.approvals;
      const sharedKey =
        rule.of === "key" && isShared(holders.get(rule.subjectId)) ? rule.subjectId : null;
      return [
        JSON.stringify([count, [...roles].sort(), excludeMaker, sharedKey]),
        rule,
      ] as const;
    }),
  ).values(),
];

/**
 * The combinations of rules to check: each single rule, and the rules that always apply together
 * with the rule of at most one wallet and of at most one key.
 */
const combinationsOf = (rules: readonly VoteRule[], electorate: Electorate): VoteRule[][] => {
  const always = rules.filter(({ of }) => of === "setting" || of === "project");
  const ofScope = (scope: PolicyScope) =>
    distinct(
      rules.filter(({ of }) => of === scope),
      electorate,
    );
  const [wallets, keys] = [ofScope("wallet"), ofScope("key")];
  const together = [null, ...wallets].flatMap((wallet) =>
    [null, ...keys].map((key) => [...always, wallet, key].filter((rule) => rule !== null)),
  );
  return [...[...always, ...wallets, ...keys].map((rule) => [rule]), ...together];
};

const demandOf = (rules: readonly VoteRule[]): Demand | null => {
  const demanded = strictest(
    rules.map((rule) => ({ ...rule.approvals, demandedBy: [nameOf(rule)] })),
  );
  const key = rules.find(({ of }) => of === "key");
  return demanded === null
    ? null
    : { ...demanded, keyIds: key === undefined ? null : [key.subjectId] };
};

const turnoutOf = (
  { roles, excludeMaker, keyIds }: Demand,
  { voters, holders }: Electorate,
): Turnout => {
  const all = countPeople(voters, roles);
  // Everybody who may vote may also make the request, so excluding the maker can take one vote
  // away.
  let turnout: Turnout = { voters: all, excluded: excludeMaker ? 1 : 0, keyId: null };
  if (!excludeMaker) return turnout;
  for (const [keyId, userIds] of holders) {
    if (!isShared(userIds) || (keyIds !== null && !keyIds.includes(keyId))) continue;
    const among = new Map([...voters].filter(([userId]) => userIds.includes(userId)));
    const excluded = countPeople(among, roles);
    if (excluded > turnout.excluded) turnout = { voters: all, excluded, keyId };
  }
  return turnout;
};

/** The number of possible voters minus the votes needed. Below 0, a movement would wait forever. */
const spareOf = ({ count }: Demand, { voters, excluded }: Turnout): number =>
  voters - excluded - count;

const people = (number: number): string =>
  number === 1 ? "1 person" : `${String(number)} people`;

const shortageOf = (
  { count, roles, demandedBy = [], excludeMaker }: Demand,
  turnout: Turnout,
): string => {
  const { voters, excluded, keyId } = turnout;
  const asks =
    keyId === null
      ? "one of them asks"
      : `the API key ${keyId} asks, which ${people(excluded)} of them hold`;
  const others = voters > excluded ? `only ${people(voters - excluded)}` : "nobody";
  const left = excludeMaker && voters > 0 ? `, and ${others} where ${asks}` : "";
  const names = demandedBy.join(" and ");
  const by =
    roles.length === 0 ? "a role that all of them name, and there is none" : roles.join(", ");
  const maker = excludeMaker ? ", and not of the person who asks" : "";
  const votes = `${String(count)} ${count === 1 ? "vote" : "votes"} of ${by}${maker}`;
  return `only ${people(voters)} could vote${left}, and payments would wait for ever: ${names} ${demandedBy.length > 1 ? "demand" : "demands"} ${votes}`;
};

const changed = ({ voters, holders }: Electorate, change: VotersChange): Electorate => {
  const { userId } = change;
  if (change.kind === "holder") {
    const others = holders.get(change.keyId) ?? [];
    return {
      voters,
      holders: new Map(holders).set(change.keyId, [...new Set([...others, userId])]),
    };
  }
  const voter = voters.get(userId);
  if (voter === undefined) return { voters, holders };
  const after =
    change.kind === "role"
      ? { ...voter, role: change.to }
      : { ...voter, email: change.email, mailbox: mailboxOf(change.email) };
  return { voters: new Map(voters).set(userId, after), holders };
};

/**
 * Refuses a change after which fewer people could vote than some rule needs. The caller runs it in
 * the transaction of the change, after locking the project.
 * @throws DomainError `invalid_state` that names the rule and says how many people could vote
 */
export const checkVotersLeft = async (
  tx: Tx,
  projectId: string,
  change: VotersChange,
): Promise<void> => {
  const rules = await readVoteRules(sqlOf(tx), projectId);
  if (rules.length === 0) return;
  const before = await readElectorateOf(tx, projectId);
  const after = changed(before, change);
  for (const combination of combinationsOf(rules, after)) {
    const demand = demandOf(combination);
    if (demand === null) continue;
    const turnout = turnoutOf(demand, after);
    const spare = spareOf(demand, turnout);
    if (spare < 0 && spare < spareOf(demand, turnoutOf(demand, before)))
      throw new DomainError(
        "invalid_state",
        `Then ${shortageOf(demand, turnout)}. Nothing was changed in the project ${projectId}. Lower that number first on the page Policies (it needs an approval), or give another person such a role.`,
      );
  }
};

/**
 * Refuses a new vote rule that needs more people than can vote, by itself or together with the
 * other rules. The caller runs it before the approval of the change, and again in its transaction
 * after locking the project.
 * @param path of the field with the number of votes
 * @throws DomainError `invalid_request` that says how many people can vote
 */
export const checkVoteRule = async (
  tx: Tx,
  projectId: string,
  rule: VoteRule & { readonly path: string },
): Promise<void> => {
  const rules = await readVoteRules(sqlOf(tx), projectId);
  const others = rules.filter((other) => !isSame(other, rule));
  const replaced = rules.find((other) => isSame(other, rule));
  const electorate = await readElectorateOf(tx, projectId);
  for (const combination of combinationsOf([...others, rule], electorate)) {
    const demand = combination.includes(rule) ? demandOf(combination) : null;
    if (demand === null) continue;
    const turnout = turnoutOf(demand, electorate);
    const spare = spareOf(demand, turnout);
    if (spare >= 0) continue;
    const before =
      replaced && demandOf(combination.map((each) => (each === rule ? replaced : each)));
    // When too few people could vote before the change too, a change that reduces the shortage is
    // accepted.
    if (before && spare > spareOf(before, turnoutOf(before, electorate))) continue;
    const words = shortageOf(demand, turnout);
    const message = `Then ${words}. Nothing was changed. Ask for fewer votes, name more roles, give another person such a role first, or let the person who asks vote too.`;
    throw invalidRequest([{ path: rule.path, message: `cannot be met: ${words}` }], message);
  }
};
