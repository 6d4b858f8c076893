import { createPolicyDocuments } from "@/lib/modules/policies/documents";
import { createPolicyEngine, type EngineDeps } from "@/lib/modules/policies/engine";
import type { ScreeningService } from "@/lib/modules/screening/service";
import type { Identity } from "./identity";
import type { Platform } from "./platform";
import { gatedPolicies } from "./signing";

/** The policies of projects, wallets and keys: their documents, and the engine that decides by them. */
export const buildPolicies = (
  { database, registry, secrets, clock, signing }: Platform,
  { approvals, decisions }: Identity,
  prices: EngineDeps["prices"],
  screening: ScreeningService,
) => {
  const own = createPolicyEngine({ database, prices, approvals: decisions, secrets, clock, screening });
  const policyEngine = gatedPolicies(own, signing);
  return {
    policyEngine,
    policyDocuments: createPolicyDocuments({ database, approvals, registry, engine: policyEngine, clock }),
  };
};
