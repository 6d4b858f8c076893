import { createPolicyDocuments } from "@/lib/modules/policies/documents";
import { createPolicyEngine, type EngineDeps } from "@/lib/modules/policies/engine";
import type { ScreeningService } from "@/lib/modules/screening/service";
import type { Identity } from "./identity";
import type { Platform } from "./platform";

/** The policies of projects, wallets and keys: their documents, and the engine that decides by them. */
export const buildPolicies = (
  { database, registry, secrets, clock }: Platform,
  { approvals, decisions }: Identity,
  prices: EngineDeps["prices"],
  screening: ScreeningService,
) => {
  const policyEngine = createPolicyEngine({ database, prices, approvals: decisions, secrets, clock, screening });
  return {
    policyEngine,
    policyDocuments: createPolicyDocuments({ database, approvals, registry, engine: policyEngine, clock }),
  };
};
