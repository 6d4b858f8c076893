import type { Actor } from "@/lib/core/actor";

/** Operations that only those see who may read privacy. */
export const PRIVATE_KINDS = ["shield", "unshield", "private_transfer", "private_swap", "public_exit"] as const;

export const isPrivateKind = (kind: string): boolean => (PRIVATE_KINDS as readonly string[]).includes(kind);

/** People of the project see them; an API key with the scope `privacy:read` alone. */
export const mayReadPrivate = (actor: Actor): boolean => actor.type === "user" || actor.scopes.includes("privacy:read");
