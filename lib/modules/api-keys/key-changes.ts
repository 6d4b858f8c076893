import type { ApiKeyPolicy, UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isMoreUsd, plainUsd } from "@/lib/core/usd";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/db/client";
import type { ApprovalsService, GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit, replaced } from "@/lib/modules/audit/service";
import { recordEvents, type NewEvent } from "@/lib/modules/events/service";
import type { PoliciesService } from "@/lib/modules/policies/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { Secrets } from "@/lib/modules/encryption/service";
import { SCOPES } from "@/lib/contracts/contract";
import { newKeyNotice, widerKeyNotice } from "./owner-notices";
import type { ApiKey } from "./api-key";
import { changeApiKey, findApiKey, insertApiKey } from "./repository";
import { creationOf, isWider, isWiderThanDefault, wideningOf, type KeyRights } from "./rights";
import { HASH_PURPOSE, newApiKeySecret } from "./secret";
import { changedMeanwhile } from "./errors";

export interface KeyChangesDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** `test` where every configured chain is a test network: the key says so in its prefix. */
  readonly kind: "test" | "live";
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly policies: Pick<PoliciesService, "dailyCapUsd">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly people: { signInWallet(userId: string): Promise<{ readonly address: string } | null> };
  /** Origin of the service, for links in mails. */
  readonly publicUrl: string;
}

interface KeyFields {
  readonly scopes?: readonly string[] | undefined;
  /** Default `required`. An exempt key needs a daily cap, and only an exempt key has one. */
  readonly otp?: ApiKeyPolicy["otp"] | undefined;
  /** US dollars, a decimal string of at most 6 fraction digits. */
  readonly dailyCapUsd?: string | undefined;
  /** Checksummed; empty for any. */
  readonly recipients?: readonly string[] | undefined;
  /** In CIDR notation, as `plainNetwork` gives it; empty for any. */
  readonly networks?: readonly string[] | undefined;
  readonly approval?: GivenApproval | undefined;
}

export interface NewApiKey extends KeyFields {
  readonly name: string;
  /** RFC 3339. */
  readonly expiresAt?: string | undefined;
}

/** Fields that are left out keep their values. */
export interface ApiKeyChange extends KeyFields {
  readonly name?: string | undefined;
  /** null takes the expiry away. */
  readonly expiresAt?: string | null | undefined;
}

/** @throws DomainError `forbidden` */
export const mayManage = (actor: UserActor): void => requirePermission(actor, "keys:manage");

const field = (path: string, message: string): DomainError => invalidRequest([{ path, message }]);

/** The contract says the same of a new key; of a change only here it is known what the key was before. */
const checkCap = ({ otp, dailyCapUsd }: ApiKeyPolicy): void => {
  if ((otp === "exempt") !== (dailyCapUsd !== null))
    throw field("dailyCapUsd", "An exempt key needs a daily cap, and only an exempt key has one.");
};

const readExpiry = (expiresAt: string | null, now: Date): Date | null => {
  const date = expiresAt === null ? null : new Date(expiresAt);
  if (date !== null && date <= now) throw field("expiresAt", "expiresAt must lie in the future.");
  return date;
};

const rightsOfNew = (input: NewApiKey, now: Date): KeyRights => {
  const { otp = "required", dailyCapUsd, recipients = [] } = input;
  const policy = { otp, dailyCapUsd: dailyCapUsd === undefined ? null : plainUsd(dailyCapUsd) };
  return {
    scopes: [...new Set(input.scopes ?? SCOPES)],
    policy: { ...policy, recipients: [...new Set(recipients)] },
    networks: [...new Set(input.networks)],
    expiresAt: readExpiry(input.expiresAt ?? null, now),
  };
};

/** A key that needs codes again loses its cap. */
const capAfter = (before: ApiKeyPolicy, input: ApiKeyChange): string | null => {
  if (input.dailyCapUsd !== undefined) return plainUsd(input.dailyCapUsd);
  return (input.otp ?? before.otp) === "exempt" ? before.dailyCapUsd : null;
};

const rightsAfter = (before: ApiKey, input: ApiKeyChange, now: Date): KeyRights => ({
  scopes: input.scopes === undefined ? before.scopes : [...new Set(input.scopes)],
  policy: {
    otp: input.otp ?? before.policy.otp,
    dailyCapUsd: capAfter(before.policy, input),
    recipients: input.recipients === undefined ? before.policy.recipients : [...new Set(input.recipients)],
  },
  networks: input.networks === undefined ? before.networks : [...new Set(input.networks)],
  expiresAt: input.expiresAt === undefined ? before.expiresAt : readExpiry(input.expiresAt, now),
});

export const keyEvent = (type: "api_key.created" | "api_key.updated", key: ApiKey, at: Date): NewEvent => {
  const { id, projectId, name, prefix, last4, scopes, policy } = key;
  const data = {
    keyId: id,
    name,
    prefix,
    last4,
    scopes: [...scopes],
    otp: policy.otp,
    dailyCapUsd: policy.dailyCapUsd,
  };
  return { projectId, type, objectId: id, data, at };
};

const auditedFields = ({ name, scopes, policy, networks, expiresAt }: ApiKey) => ({
  ...{ name, scopes, networks, ...policy },
  expiresAt: expiresAt?.toISOString() ?? null,
});

/** A key that was not revoked. @throws DomainError `not_found`, `invalid_state` */
export const findUsable = async ({ database }: KeyChangesDeps, { projectId }: UserActor, id: string) => {
  const found = isId("apiKey", id) ? await findApiKey(database.prisma, { projectId, id }) : null;
  if (found === null) throw notFound();
  if (found.key.revokedAt !== null) throw new DomainError("invalid_state", "This API key was revoked; make a new one.");
  return found;
};

/** The fields of a mail to the owners that name the person who made the change, and when. */
export const noticeBy = async ({ people, publicUrl }: KeyChangesDeps, { userId }: UserActor, at: Date) => {
  const person = (await people.signInWallet(userId))?.address ?? userId;
  return { person, userId, at, publicUrl };
};

/** Creates keys and changes their rights. A change that widens authority needs an approval of exactly that change. */
export const createKeyChanges = (deps: KeyChangesDeps) => {
  const { database, clock } = deps;

  /** @throws DomainError `invalid_request` naming the field */
  const checkProjectCap = async (projectId: string, dailyCapUsd: string | null): Promise<void> => {
    if (dailyCapUsd === null) return;
    const cap = await deps.policies.dailyCapUsd(projectId);
    if (!isMoreUsd(dailyCapUsd, cap)) return;
    const message = `must not be above the project's daily cap of ${cap} US dollars (PATCH /policies raises that)`;
    throw invalidRequest([{ path: "dailyCapUsd", message }], `The key's daily cap ${message}.`);
  };

  const create = async (actor: UserActor, input: NewApiKey): Promise<{ key: ApiKey; secret: string }> => {
    mayManage(actor);
    const { projectId, userId: createdBy } = actor;
    const createdAt = clock.now();
    const rights = rightsOfNew(input, createdAt);
    checkCap(rights.policy);
    await checkProjectCap(projectId, rights.policy.dailyCapUsd);
    const { name } = input;
    const approved = isWiderThanDefault(rights)
      ? await deps.approvals.requireApproval(actor, creationOf(name, rights), input.approval)
      : null;
    const notice = await noticeBy(deps, actor, createdAt);
    const { secret, ...shown } = newApiKeySecret(deps.kind);
    const secretHash = deps.secrets.hash(HASH_PURPOSE, secret);
    const key = await database.transaction(async (tx) => {
      await approved?.consume(tx);
      const fields = { id: newId("apiKey"), projectId, createdBy, name, ...rights, createdAt };
      const made = await insertApiKey(tx, { ...fields, ...shown, secretHash, appSecretId: deps.secrets.id });
      const entry = { ...doneBy(actor), subject: made.id, at: createdAt };
      const data = { name, scopes: rights.scopes, networks: rights.networks, ...rights.policy, ...approved?.record };
      await recordAudit(tx, { ...entry, action: "api_key.created", data });
      await recordEvents(tx, [keyEvent("api_key.created", made, createdAt)]);
      await deps.projects.tellOwners(tx, newKeyNotice({ key: made, ...notice }, approved?.record.approvedBy ?? null));
      return made;
    });
    return { key, secret };
  };

  /** The changed key, and the public part under which instances keep it. */
  const update = async (actor: UserActor, id: string, input: ApiKeyChange) => {
    mayManage(actor);
    const { projectId } = actor;
    const { key: before, lookup, version } = await findUsable(deps, actor, id);
    const at = clock.now();
    const after = { name: input.name ?? before.name, ...rightsAfter(before, input, at) };
    checkCap(after.policy);
    if (input.dailyCapUsd !== undefined) await checkProjectCap(projectId, after.policy.dailyCapUsd);
    const approved = isWider(before, after)
      ? await deps.approvals.requireApproval(actor, wideningOf(before, after), input.approval)
      : null;
    const notice = await noticeBy(deps, actor, at);
    const key = await database.transaction(async (tx) => {
      await approved?.consume(tx);
      const changed = await changeApiKey(tx, { projectId, id, version }, after);
      if (changed === null) throw changedMeanwhile();
      const data = {
        ...auditedFields(changed),
        ...replaced(auditedFields(before), auditedFields(changed)),
        ...approved?.record,
      };
      await recordAudit(tx, { ...doneBy(actor), subject: id, action: "api_key.updated", data, at });
      await recordEvents(tx, [keyEvent("api_key.updated", changed, at)]);
      if (approved !== null)
        await deps.projects.tellOwners(tx, widerKeyNotice({ key: changed, ...notice }, approved.record.approvedBy));
      return changed;
    });
    return { key, lookup };
  };

  return { create, update };
};
