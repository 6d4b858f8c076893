import type { Actor, Role } from "./actor";
import { DomainError } from "./errors";

/**
 * The roles of a project that have each permission, beyond reading its records. Services check it by `requirePermission`, or by the table in
 * lib/composition/caller-rights.ts; the pipeline of requests refuses every write of a viewer, before it reads the body.
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
  /** Errors of jobs may show internals, and a job that is put back may send money. */
  "jobs:manage": ["owner", "admin"],
  "private-keys:export": ["owner", "admin"],
  /** Money whose sender a screening stopped. */
  "deposits:release": ["owner", "admin"],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof PERMISSIONS;

/** Each permission in words that complete "may not …". */
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

/** Whether a role of a project has the permission. `requirePermission` checks the same for an actor, and throws. */
export const roleMay = (role: Role, permission: Permission): boolean =>
  (PERMISSIONS[permission] as readonly Role[]).includes(role);

/**
 * Checks that a person's role has the permission. API keys pass: their scopes decide, which `requireScope` checks.
 * @throws DomainError `forbidden`, naming the role and the roles that may
 */
export const requirePermission = (actor: Actor, permission: Permission): void => {
  if (actor.type !== "user" || roleMay(actor.role, permission)) return;
  throw new DomainError(
    "forbidden",
    `Your role in this project is ${actor.role}, which may not ${IN_WORDS[permission]}. ` +
      `Ask an owner for one of these roles: ${PERMISSIONS[permission].join(", ")}.`,
  );
};
