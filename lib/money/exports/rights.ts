import type { Actor } from "@/lib/core/actor";
import { requireScope } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import type { ExportKind } from "@/lib/contracts/exports";

/** The scope without which no API key may make an export of the kind. */
const ALWAYS: Readonly<Record<Exclude<ExportKind, "audit_log">, string>> = {
  activity: "operations:read",
  operations: "operations:read",
  payout_items: "payouts:read",
  account_statement: "accounts:read",
  reserve_statement: "accounts:read",
};

/**
 * Further scopes by kind of export. Each scope adds records to the export of a key that has it: a
 * list of movements shows payouts, accounts and private operations only to a key that may read
 * them.
 */
const WHERE_ALLOWED: Readonly<Partial<Record<ExportKind, readonly string[]>>> = {
  activity: ["payouts:read", "accounts:read", "privacy:read"],
  operations: ["payouts:read", "privacy:read"],
};

/**
 * The scopes that an API key needs to read an export that the actor makes.
 * @throws DomainError `insufficient_scope`, `forbidden`
 */
export const needsOf = (actor: Actor, kind: ExportKind): readonly string[] => {
  if (kind === "audit_log") {
    if (actor.type !== "user")
      throw new DomainError("forbidden", "An API key may not do this; a signed-in person can.");
    requirePermission(actor, "audit:read");
    return [];
  }
  const scope = ALWAYS[kind];
  requireScope(actor, scope);
  const more = (WHERE_ALLOWED[kind] ?? []).filter(
    (each) => actor.type === "user" || actor.scopes.includes(each),
  );
  return [scope, ...more];
};

export const mayReadAuditExports = (actor: Actor): boolean =>
  actor.type === "user" && roleMay(actor.role, "audit:read");

/** Whether the actor may read now what an export holds. */
export const mayReadExport = (
  actor: Actor,
  { kind, needs }: { readonly kind: ExportKind; readonly needs: readonly string[] },
): boolean => {
  if (kind === "audit_log") return mayReadAuditExports(actor);
  return actor.type === "user" || needs.every((scope) => actor.scopes.includes(scope));
};
