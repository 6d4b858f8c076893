import type { UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import type { GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import { announceEnded } from "@/lib/modules/streams/service";
import type { ApiKey } from "./api-key";
import { changedMeanwhile } from "./errors";
import { findUsable, keyEvent, mayManage, noticeBy, type KeyChangesDeps } from "./key-changes";
import { rotatedKeyNotice } from "./owner-notices";
import { rotateApiKey } from "./repository";
import { isWiderThanDefault, rotationOf } from "./rights";
import { HASH_PURPOSE, newApiKeySecret } from "./secret";

export interface RotateApiKey {
  /** How long the present secret still works. */
  readonly overlapSeconds: number;
  readonly approval?: GivenApproval | undefined;
}

/**
 * Gives a key a new secret. It counts as creating a key with the same rights, because the caller gets a secret that may do as
 * much: if creating the key needs an approval, so does this.
 */
export const createKeyRotation =
  (deps: KeyChangesDeps) =>
  async (
    actor: UserActor,
    id: string,
    { overlapSeconds, approval }: RotateApiKey,
  ): Promise<{ key: ApiKey; secret: string; replacedLookup: string }> => {
    mayManage(actor);
    const { projectId } = actor;
    const { key: before, lookup: replacedLookup, version } = await findUsable(deps, actor, id);
    const approved = isWiderThanDefault(before)
      ? await deps.approvals.requireApproval(actor, rotationOf(before, overlapSeconds), approval)
      : null;
    const at = deps.clock.now();
    const notice = await noticeBy(deps, actor, at);
    const { secret, ...shown } = newApiKeySecret(deps.kind);
    const stored = { ...shown, secretHash: deps.secrets.hash(HASH_PURPOSE, secret), appSecretId: deps.secrets.id };
    const previousUntil = addSeconds(at, overlapSeconds);
    const key = await deps.database.transaction(async (tx) => {
      await approved?.consume(tx);
      const rotated = await rotateApiKey(tx, { projectId, id, version }, stored, {
        previousUntil,
        rotatedBy: actor.userId,
      });
      if (rotated === null) throw changedMeanwhile();
      const data = { before: before.last4, last4: rotated.last4, previousUntil: previousUntil.toISOString() };
      const entry = { ...doneBy(actor), subject: id, at };
      await recordAudit(tx, { ...entry, action: "api_key.rotated", data: { ...data, ...approved?.record } });
      await recordEvents(tx, [keyEvent("api_key.updated", rotated, at)]);
      await deps.projects.tellOwners(
        tx,
        rotatedKeyNotice({ key: rotated, ...notice }, approved?.record.approvedBy ?? null),
      );
      // Its streams begin again, with whichever secret is still good.
      if (overlapSeconds === 0) announceEnded(tx, id);
      return rotated;
    });
    return { key, secret, replacedLookup };
  };
