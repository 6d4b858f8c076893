import { createPolicyDocuments } from "@/lib/modules/policies/documents";
import { createPolicyEngine, type EngineDeps } from "@/lib/modules/policies/engine";
import type { Identity } from "./identity";
import type { Platform } from "./platform";
import { buildScreening } from "./screening";

/** The policies of projects, wallets and keys: their documents, and the engine that decides by them. */
export const buildPolicies = (platform: Platform, { approvals, decisions }: Identity, prices: EngineDeps["prices"]) => {
  const { database, registry, secrets, clock } = platform;
  const screening = buildScreening(platform);
  const policyEngine = createPolicyEngine({ database, prices, approvals: decisions, secrets, clock, screening });
  return {
    screening,
    policyEngine,
    policyDocuments: createPolicyDocuments({ database, approvals, registry, engine: policyEngine, clock }),
  };
};
