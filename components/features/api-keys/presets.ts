import { SCOPES, type Scope } from "@/lib/contracts/contract";

export interface ScopePreset {
  readonly id: "read" | "payments" | "everything";
  readonly label: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
}

const PAYMENTS: readonly Scope[] = [
  "wallets:read",
  "swaps:write",
  "transfers:read",
  "transfers:write",
  "operations:read",
  "operations:write",
  "balances:read",
  "payouts:read",
  "payouts:write",
];

/** No preset may manage keys, because a leaked key must not be able to create other keys. */
export const SCOPE_PRESETS: readonly ScopePreset[] = [
  {
    id: "read",
    label: "Read only",
    description: "Sees balances, wallets and operations; moves nothing.",
    scopes: SCOPES.filter((scope) => scope.endsWith(":read")),
  },
  {
    id: "payments",
    label: "Payments",
    description: "Swaps, transfers and payouts, with a code where the policy asks for one.",
    scopes: PAYMENTS,
  },
  {
    id: "everything",
    label: "Everything",
    description: "Everything that an API key can do.",
    scopes: SCOPES,
  },
];

/** The preset that has exactly these scopes. */
export const presetOf = (scopes: readonly string[]): ScopePreset | undefined =>
  SCOPE_PRESETS.find(
    (candidate) =>
      candidate.scopes.length === scopes.length && candidate.scopes.every((scope) => scopes.includes(scope)),
  );

/** The preset that has exactly these scopes, else how many there are. */
export const describeScopes = (scopes: readonly string[]): string =>
  presetOf(scopes)?.label ?? `${String(scopes.length)} ${scopes.length === 1 ? "scope" : "scopes"}`;
