import type { Clock } from "@/lib/core/clock";
import type { UserOperation } from "@/lib/ports/bundler";
import type { LegRepository } from "./leg-repository";
import type { OperationsRepository } from "./repository";

/** A user operation that the chain has executed for a leg. */
interface Executed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

export interface AdoptDeps {
  readonly repository: Pick<OperationsRepository, "find">;
  readonly legs: Pick<LegRepository, "moveLeg" | "replaceOperation">;
  readonly clock: Clock;
}

const UNDER_WAY = new Set<string>(["pending", "processing"]);

/**
 * Lets a leg name the operation that the chain executed with its nonce key, when the database was taken back to before the leg was signed.
 * The driver then follows that operation to its end.
 * @returns false where the leg has ended, or its operation is not under way
 */
export const createAdoptLeg =
  ({ repository, legs, clock }: AdoptDeps) =>
  async (at: { readonly id: string; readonly operationId: string }, executed: Executed): Promise<boolean> => {
    const found = await repository.find(at.operationId);
    const leg = found?.legs.find(({ id }) => id === at.id);
    if (found === null || leg === undefined || leg.via === "transaction" || !UNDER_WAY.has(found.status)) return false;
    const { operation: userOperation, userOpHash, validUntil, fromBlock } = executed;
    const now = clock.now();
    if (leg.state === "queued") {
      const change = { userOperation, userOpHash, validUntil, fromBlock };
      const event = { type: "leg.submitted", data: { userOpHash } };
      return (await legs.moveLeg({ leg, to: "submitted", change, event, now })) !== null;
    }
    if (leg.state !== "submitted") return false;
    const earlier = [...leg.earlierUserOpHashes, ...(leg.userOpHash === null ? [] : [leg.userOpHash])];
    const signed = { userOperation, userOpHash, earlierUserOpHashes: earlier };
    return (await legs.replaceOperation(leg, signed, leg.sponsorReservedWei ?? 0n, now)) !== null;
  };
