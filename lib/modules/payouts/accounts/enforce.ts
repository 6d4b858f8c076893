/** The policies' part in payments between accounts of the ledger. */
import { bindDeps } from "@/lib/core/bind-deps";
import { actorName, type Actor } from "@/lib/core/actor";
import type { Asset, Assets } from "@/lib/chains/assets";
import type { Token } from "@/lib/core/token";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import { keysAmong, type Intent, type PolicyEngine } from "@/lib/modules/policies/service";
import type { AccountsPayout } from "../payout";
import type { AccountPayoutsRepository } from "./repository";

export interface EnforceDeps {
  readonly policyEngine: Pick<PolicyEngine, "checking" | "refuse">;
  readonly assets: Pick<Assets, "find">;
  readonly repository: Pick<AccountPayoutsRepository, "approve">;
}

const FIELDS = { amount: "transfers", recipient: "transfers", chain: "sourceAccountId", token: "sourceAccountId" };

/** An asset that no configured chain lists any more has no price, so it counts as above every limit in US dollars. */
const tokenOf = (asset: Asset | null, currency: string): Token =>
  asset?.tokens[0] ?? {
    ...{ symbol: currency, name: currency, chainId: 0, address: "native", decimals: LEDGER_DECIMALS },
    assetId: currency,
    usdPegged: false,
  };

/** The recipients are accounts of the project, so no rule about addresses bounds them. */
export const accountsIntent = (
  actor: Actor,
  payout: Pick<AccountsPayout, "currency" | "totalBase" | "createdBy">,
  asset: Asset | null,
): Intent => {
  const token = tokenOf(asset, payout.currency);
  const by = actorName(actor);
  return {
    projectId: actor.projectId,
    kind: "global_accounts_payout",
    by,
    keyIds: keysAmong(by, payout.createdBy),
    outflows: [{ walletId: null, token, amountBase: payout.totalBase, decimals: LEDGER_DECIMALS, isOnChain: false }],
    chains: [],
    recipients: [],
    fields: FIELDS,
  };
};

/** Queues a payout that a code or votes have approved, unless the policies refuse it. @throws DomainError `policy_violation` */
const approve = (
  deps: EnforceDeps,
  actor: Actor,
  payout: AccountsPayout,
  { audit, decisionId }: { readonly audit: AuditEntry; readonly decisionId?: string },
): Promise<boolean> =>
  deps.policyEngine.checking(accountsIntent(actor, payout, deps.assets.find(payout.currency)), (check) =>
    deps.repository.approve(payout, audit, async (sql) => {
      const subject = { type: "payout", id: payout.id, digest: payout.digest } as const;
      const evaluationId = await check.enforce(sql, subject, { hasCode: true, decisionId });
      if (evaluationId === null) throw new Error("A code was given, and yet one is needed.");
      return evaluationId;
    }),
  );

export const createEnforcing = (deps: EnforceDeps) => ({ approve: bindDeps(deps, approve) });
