import { privateKeyToAddress } from "viem/accounts";
import { runAlone } from "@/lib/platform/db/periodic-tasks";
import { createAuditAnchoring } from "@/lib/news/audit/anchoring";
import type { ChainAccess } from "./chain-access";
import type { Platform } from "./platform";

/**
 * Interval in milliseconds at which anchoring is tried. With this interval, a day is missed only if
 * the chain or the executor fails from the first attempt until midnight.
 */
const EVERY_MS = 9 * 60_000;
const LEASE_MS = 60_000;

/**
 * Anchors the audit log on the chain of AUDIT_ANCHOR_CHAIN_ID, at most once a day over all
 * instances. Does nothing when no chain or no executor is configured.
 */
export const buildAuditAnchoring = (
  { config, database, registry, clock }: Platform,
  { transactions }: ChainAccess,
): (() => Promise<void>) => {
  const { auditAnchorChainId: chainId, executorPrivateKey } = config;
  if (chainId === null || executorPrivateKey === null) return () => Promise.resolve();
  const executorAddress = privateKeyToAddress(executorPrivateKey);
  const anchoring = createAuditAnchoring({
    database,
    transactions,
    registry,
    clock,
    chainId,
    executorAddress,
  });
  return async () => {
    await runAlone(
      database,
      { name: "audit-anchor", everyMs: EVERY_MS, leaseMs: LEASE_MS },
      anchoring.anchorWhenDue,
    );
  };
};
