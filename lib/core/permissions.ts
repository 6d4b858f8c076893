import type { Actor, Role, UserActor } from "./actor";
import { DomainError } from "./errors";

/**
 * The roles that have each permission in a project; every role may read records. Services check it
 * with `requirePermission` or with the table in lib/composition/caller-rights.ts. The HTTP pipeline
 * also refuses every write by a viewer before it reads the body.
 */
export const PERMISSIONS = {
  /** Quotes, swaps, transfers, payouts, private operations, global accounts. */
  "money:move": ["owner", "admin", "operator"],
  /** Contacts, wallets, names. */
  "records:write": ["owner", "admin", "operator"],
  "keys:manage": ["owner", "admin"],
  "members:manage": ["owner", "admin"],
  "policies:manage": ["owner", "admin"],
  "webhooks:manage": ["owner", "admin"],
  "audit:read": ["owner", "admin"],
  /** Errors of jobs may reveal internals, and a resumed job may send money. */
  "jobs:manage": ["owner", "admin"],
  "private-keys:export": ["owner", "admin"],
  /** Deposits that are quarantined because screening refused their sender. */
  "deposits:release": ["owner", "admin"],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof PERMISSIONS;

const IN_WORDS: Readonly<Record<Permission, string>> = {
  "money:move": "move money",
  "records:write": "change records",
  "keys:manage": "manage API keys",
  "members:manage": "manage members",
  "policies:manage": "change policies",
  "webhooks:manage": "manage webhooks",
  "audit:read": "read the audit log",
  "jobs:manage": "see and resume stopped work",
  "private-keys:export": "export private keys",
  "deposits:release": "release quarantined deposits",
};

/**
 * Whether a role of a project has the permission. `requirePermission` checks the same for an actor,
 * and throws.
 */
export const roleMay = (role: Role, permission: Permission): boolean =>
  (PERMISSIONS[permission] as readonly Role[]).includes(role);

/**
 * Checks that a person's role has the permission. API keys pass, because `requireScope` checks
 * their scopes.
 * @throws DomainError `forbidden`, naming the role and the roles that have the permission
 */
export const requirePermission = (actor: Actor, permission: Permission): void => {
  if (actor.type !== "user" || roleMay(actor.role, permission)) return;
  throw new DomainError(
    "forbidden",
    `Your role in this project is ${actor.role}, which may not ${IN_WORDS[permission]}. ` +
      `Ask an owner for one of these roles: ${PERMISSIONS[permission].join(", ")}.`,
  );
};

/**
 * Checks that the caller is a person whose role may move money, and who may therefore approve a
 * request with a code. An API key is refused before a code is mailed, because it could not use the
 * code.
 * @throws DomainError `forbidden`, saying who may approve
 */
export const requireApprover = (actor: Actor): UserActor => {
  requirePermission(actor, "money:move");
  if (actor.type === "user") return actor;
  throw new DomainError(
    "forbidden",
    "An API key cannot approve this, so no code was mailed. Nothing was sent; it still waits. A signed-in member with one of these roles asks " +
      `for the code and approves it, in the inbox of the dashboard or by the API: ${PERMISSIONS["money:move"].join(", ")}.`,
  );
};

/** Completes "only an owner may …". */
export const EXEMPTING_KEYS =
  "let API keys that are exempt from codes move money without votes";

/**
 * Checks that a person is an owner of the project, for the few changes that an admin may not make.
 * @param change completes "only an owner may …"
 * @throws DomainError `forbidden`
 */
export const requireOwner = (actor: Actor, change: string): void => {
  if (actor.type === "user" && actor.role === "owner") return;
  throw new DomainError(
    "forbidden",
    `Only an owner of the project may ${change}. Nothing was changed; ask an owner.`,
  );
};

type IsActor<A> = [A] extends [never] ? false : [A] extends [Actor] ? true : false;

type CallerFunctions<S> = {
  [K in keyof S]: S[K] extends (...inputs: infer Inputs) => unknown
    ? Inputs extends [infer First, ...unknown[]]
      ? IsActor<First> extends true
        ? K
        : never
      : never
    : never;
}[keyof S];

/**
 * The permission that each function of the service needs. Null when the function only reads, or
 * checks its permission itself.
 */
export type Needs<S> = Readonly<Record<CallerFunctions<S>, Permission | null>>;

/**
 * Returns the service with a check of the caller's role before each function that needs a
 * permission, so that the check applies to routes, jobs and other services. The table must name
 * every function whose first argument is the caller: a new function does not compile without an
 * entry. A guarded function must be asynchronous, because the guard reports a missing permission
 * by a rejected promise.
 * @example const swaps = permissionGuard(createSwapsService(deps), { execute: "money:move", show:
 * null });
 */
export const permissionGuard = <S extends object>(service: S, needs: Needs<S>): S => {
  const guarded = Object.entries(needs as Record<string, Permission | null>).flatMap(
    ([name, permission]) => {
      const work = service[name as keyof S] as (...inputs: unknown[]) => unknown;
      if (permission === null) return [];
      const checked = async (actor: Actor, ...rest: unknown[]): Promise<unknown> => {
        requirePermission(actor, permission);
        return await Reflect.apply(work, service, [actor, ...rest]);
      };
      return [[name, checked]];
    },
  );
  return { ...service, ...(Object.fromEntries(guarded) as Partial<S>) };
};
