import { sqlOn } from "@/lib/db/sql";
import { parametersDigest } from "@/lib/modules/operations/parameters";
import { payoutDigest } from "@/lib/modules/payouts/accounts/check-rows";
import { readItems } from "@/lib/modules/payouts/accounts/row-repository";
import { encodeRow } from "@/lib/modules/payouts/accounts/rows";
import { createUnreadNotes } from "@/lib/modules/payouts/readable";
import { createPayoutsRepository } from "@/lib/modules/payouts/repository";
import { createBatchRepository } from "@/lib/modules/payouts/wallets/batches/repository";
import { paymentsDigest } from "@/lib/modules/payouts/wallets/enforce";
import { createPolicyUpgrade } from "@/lib/modules/policies/upgrade";
import type { Money } from "./money";
import type { Platform } from "./platform";

type Digest = (projectId: string, id: string) => Promise<Uint8Array | null>;

/** Evaluates once what was accepted before policies existed, by the digests that the signers compare. */
export const buildPolicyUpgrade = (
  { database, secrets, clock, errorLog }: Platform,
  { operationsRepository, sponsorship }: Money,
  { privateDigest }: { readonly privateDigest: Digest },
) => {
  const payouts = createPayoutsRepository(database, createUnreadNotes(errorLog));
  const reader = sqlOn(database.pool);
  const batches = createBatchRepository(database, sponsorship);

  const operation: Digest = async (projectId, id) => {
    const found = await operationsRepository.find(id);
    if (found === null) return null;
    return found.legs.length === 0 ? privateDigest(projectId, id) : parametersDigest(found, found.legs);
  };

  const payout: Digest = async (projectId, id) => {
    const found = await payouts.find(id);
    if (found === null) return null;
    if (found.kind === "wallets") {
      const driven = await batches.find(projectId, id);
      return paymentsDigest(driven, (await batches.evaluated(driven)).rows);
    }
    const rows = await readItems(reader, { projectId, payoutId: id, after: -1, limit: found.itemsTotal });
    return payoutDigest(found, rows.map(encodeRow));
  };

  const digests = { operation, payout };
  const digestOf = ({ type, projectId, id }: { type: keyof typeof digests; projectId: string; id: string }) =>
    digests[type](projectId, id);
  return createPolicyUpgrade({ database, secrets, clock, digestOf, log: errorLog });
};
