import { type ApprovalsService, type GivenApproval, quoted } from "@/lib/trust/proofs/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import {
  type ApiKey,
  creationOf,
  HASH_PURPOSE,
  isWider,
  isWiderThanDefault,
  type KeyRights,
  newApiKeySecret,
  rightsLines,
  rotationOf,
  wideningOf,
} from "./rules";
import { getAddress } from "viem";
import type { ApiKeyPolicy, UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isMoreUsd, plainUsd } from "@/lib/core/usd";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import { doneBy, recordAudit, replaced } from "@/lib/news/audit/service";
import { type NewEvent, recordEvents } from "@/lib/news/events/service";
import { checkVotersLeft, type PoliciesService } from "@/lib/trust/policies/service";
import type { Secrets } from "@/lib/platform/encryption/service";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { SessionMadeService } from "@/lib/trust/session-made/service";
import { SCOPES } from "@/lib/contracts/contract";
import { changeApiKey, findApiKey, insertApiKey, rotateApiKey } from "./repository";
import { changedMeanwhile } from "./errors";
import { announceEnded } from "@/lib/news/feed/service";
import { lockVoting } from "@/lib/trust/decisions/service";

interface Told {
  readonly key: ApiKey;
  /** Sign-in address of the person who made the change. */
  readonly person: string;
  readonly userId: string;
  readonly at: Date;
  readonly publicUrl: string;
  /**
   * Sentences with the link "This was not me", for a key that was created without a further proof.
   */
  readonly notMe?: readonly string[];
}

const BY = {
  code: "a code that was mailed",
  signature: "a signature of the wallet",
  totp: "the authenticator app",
  recovery_code: "a recovery code",
  passkey: "a passkey",
} as const;

const textOf =
  (told: Told, verb: string, approvedBy: keyof typeof BY | null) =>
  (project: string): string => {
    const { key, person, userId, at, publicUrl, notMe = [] } = told;
    return [
      `An API key of your project ${quoted(project)} at ${publicUrl} was ${verb}:`,
      "",
      `- Name: ${quoted(key.name)}`,
      `- Key: ${key.prefix}…${key.last4} (${key.id})`,
      ...rightsLines(key).map((line) => `- ${line}`),
      `- ${verb === "made" ? "Made" : "Changed"} by: ${person} (${userId})`,
      `- When: ${at.toISOString()}`,
      ...(approvedBy === null ? [] : [`- Approved by: ${BY[approvedBy]}`]),
      "",
      `If this was not meant, revoke the key at once: ${publicUrl}/api-keys, button "Revoke"; or DELETE ${publicUrl}/api/auth/api-keys/${key.id}. It stops within a second.`,
      ...(notMe.length === 0 ? [] : ["", ...notMe]),
    ].join("\n");
  };

const newKeyNotice = (told: Told, approvedBy: keyof typeof BY | null): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `New API key ${quoted(told.key.name)}${told.key.policy.otp === "exempt" ? ", which moves money without a code" : ""}`,
  text: textOf(told, "made", approvedBy),
});

const rotatedKeyNotice = (told: Told, approvedBy: keyof typeof BY): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `The API key ${quoted(told.key.name)} has a new secret`,
  text: textOf(told, "given a new secret", approvedBy),
});

const widerKeyNotice = (told: Told, approvedBy: keyof typeof BY): OwnerNotice => ({
  projectId: told.key.projectId,
  subject: `The API key ${quoted(told.key.name)} may do more now`,
  text: textOf(told, "changed", approvedBy),
});

export interface KeyChangesDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** `test` when every configured chain is a test network. The key shows it in its prefix. */
  readonly kind: "test" | "live";
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly policies: Pick<PoliciesService, "dailyCapUsd">;
  readonly recipients: Pick<RecipientsService, "require">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly sessionMade: Pick<SessionMadeService, "makerOf" | "notMeLines">;
  readonly people: {
    signInWallet(userId: string): Promise<{ readonly address: string } | null>;
  };
  readonly publicUrl: string;
}

interface KeyFields {
  readonly scopes?: readonly string[] | undefined;
  /** Default `required`. An exempt key needs a daily cap, and only an exempt key has one. */
  readonly otp?: ApiKeyPolicy["otp"] | undefined;
  /** US dollars, a decimal string of at most 6 fraction digits. */
  readonly dailyCapUsd?: string | undefined;
  /** Checksummed; empty when any recipient is allowed. */
  readonly recipients?: readonly string[] | undefined;
  /** In CIDR notation, as `plainNetwork` returns it; empty when any network is allowed. */
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
  /** Null removes the expiry. */
  readonly expiresAt?: string | null | undefined;
}

/** Checks that the person's role may manage API keys. @throws DomainError `forbidden` */
export const mayManage = (actor: UserActor): void => requirePermission(actor, "keys:manage");

const field = (path: string, message: string): DomainError =>
  invalidRequest([{ path, message }]);

/**
 * Requires a daily cap for an exempt key, and none for any other key. The contract checks the same
 * for a new key, but it cannot check a change, which depends on the key's stored values.
 */
const checkCap = ({ otp, dailyCapUsd }: ApiKeyPolicy): void => {
  if ((otp === "exempt") !== (dailyCapUsd !== null))
    throw field(
      "dailyCapUsd",
      "An exempt key needs a daily cap, and only an exempt key has one.",
    );
};

/**
 * Refuses recipients that can never be paid, on any chain.
 * @throws DomainError `invalid_request`
 */
const requirePayable = (
  { recipients }: Pick<KeyChangesDeps, "recipients">,
  listed: readonly string[] = [],
): void =>
  recipients.require(
    listed.map((address, index) => ({
      path: `recipients.${String(index)}`,
      address: getAddress(address),
    })),
    [],
  );

const readExpiry = (expiresAt: string | null, now: Date): Date | null => {
  const date = expiresAt === null ? null : new Date(expiresAt);
  if (date !== null && date <= now)
    throw field("expiresAt", "expiresAt must lie in the future.");
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

/**
 * The key's daily cap after the change. Without a new cap in the input, an exempt key keeps its
 * cap, and a key that requires codes has none.
 */
const capAfter = (before: ApiKeyPolicy, input: ApiKeyChange): string | null => {
  if (input.dailyCapUsd !== undefined) return plainUsd(input.dailyCapUsd);
  return (input.otp ?? before.otp) === "exempt" ? before.dailyCapUsd : null;
};

const rightsAfter = (before: ApiKey, input: ApiKeyChange, now: Date): KeyRights => ({
  scopes: input.scopes === undefined ? before.scopes : [...new Set(input.scopes)],
  policy: {
    otp: input.otp ?? before.policy.otp,
    dailyCapUsd: capAfter(before.policy, input),
    recipients:
      input.recipients === undefined
        ? before.policy.recipients
        : [...new Set(input.recipients)],
  },
  networks: input.networks === undefined ? before.networks : [...new Set(input.networks)],
  expiresAt:
    input.expiresAt === undefined ? before.expiresAt : readExpiry(input.expiresAt, now),
});

const keyEvent = (
  type: "api_key.created" | "api_key.updated",
  key: ApiKey,
  at: Date,
): NewEvent => {
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

/** Returns the key unless it is revoked. @throws DomainError `not_found`, `invalid_state` */
const findUsable = async (
  { database }: KeyChangesDeps,
  { projectId }: UserActor,
  id: string,
) => {
  const found = isId("apiKey", id)
    ? await findApiKey(database.prisma, { projectId, id })
    : null;
  if (found === null) throw notFound();
  if (found.key.revokedAt !== null)
    throw new DomainError("invalid_state", "This API key was revoked; make a new one.");
  return found;
};

const noticeBy = async (
  { people, publicUrl }: KeyChangesDeps,
  { userId }: UserActor,
  at: Date,
) => {
  const person = (await people.signInWallet(userId))?.address ?? userId;
  return { person, userId, at, publicUrl };
};

/**
 * Creates keys and changes their rights. A change that widens authority needs an approval of
 * exactly that change.
 */
export const createKeyChanges = (deps: KeyChangesDeps) => {
  const { database, clock } = deps;

  /**
   * Checks that the key's daily cap is not above the project's daily cap.
   * @throws DomainError `invalid_request` naming the field
   */
  const checkProjectCap = async (
    projectId: string,
    dailyCapUsd: string | null,
  ): Promise<void> => {
    if (dailyCapUsd === null) return;
    const cap = await deps.policies.dailyCapUsd(projectId);
    if (!isMoreUsd(dailyCapUsd, cap)) return;
    const message = `must not be above the project's daily cap of ${cap} US dollars (PATCH /policies raises that)`;
    throw invalidRequest([{ path: "dailyCapUsd", message }], `The key's daily cap ${message}.`);
  };

  const create = async (
    actor: UserActor,
    input: NewApiKey,
  ): Promise<{ key: ApiKey; secret: string }> => {
    mayManage(actor);
    const { projectId, userId: createdBy } = actor;
    const createdAt = clock.now();
    const rights = rightsOfNew(input, createdAt);
    requirePayable(deps, input.recipients);
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
      const madeBySession =
        approved === null ? await deps.sessionMade.makerOf(tx, actor) : null;
      const fields = {
        id: newId("apiKey"),
        projectId,
        createdBy,
        name,
        ...rights,
        madeBySession,
        createdAt,
      };
      const made = await insertApiKey(tx, {
        ...fields,
        ...shown,
        secretHash,
        appSecretId: deps.secrets.id,
      });
      const entry = { ...doneBy(actor), subject: made.id, at: createdAt };
      const data = {
        name,
        scopes: rights.scopes,
        networks: rights.networks,
        ...rights.policy,
        ...approved?.record,
      };
      await recordAudit(tx, { ...entry, action: "api_key.created", data });
      await recordEvents(tx, [keyEvent("api_key.created", made, createdAt)]);
      const notMe = { kind: "api_key", id: made.id, projectId, at: createdAt } as const;
      const told = {
        key: made,
        ...notice,
        notMe:
          madeBySession === null
            ? []
            : deps.sessionMade.notMeLines({ ...notMe, sessionId: madeBySession }),
      };
      await deps.projects.tellOwners(
        tx,
        newKeyNotice(told, approved?.record.approvedBy ?? null),
      );
      return made;
    });
    return { key, secret };
  };

  /**
   * Returns the changed key, and the public part of its secret, which is its key in the caches of
   * all instances.
   */
  const update = async (actor: UserActor, id: string, input: ApiKeyChange) => {
    mayManage(actor);
    const { projectId } = actor;
    const { key: before, lookup, version } = await findUsable(deps, actor, id);
    const at = clock.now();
    requirePayable(deps, input.recipients);
    const after = { name: input.name ?? before.name, ...rightsAfter(before, input, at) };
    checkCap(after.policy);
    if (input.dailyCapUsd !== undefined)
      await checkProjectCap(projectId, after.policy.dailyCapUsd);
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
      await recordAudit(tx, {
        ...doneBy(actor),
        subject: id,
        action: "api_key.updated",
        data,
        at,
      });
      await recordEvents(tx, [keyEvent("api_key.updated", changed, at)]);
      if (approved !== null)
        await deps.projects.tellOwners(
          tx,
          widerKeyNotice({ key: changed, ...notice }, approved.record.approvedBy),
        );
      return changed;
    });
    return { key, lookup };
  };

  return { create, update };
};

export interface RotateApiKey {
  readonly overlapSeconds: number;
  readonly approval?: GivenApproval | undefined;
}

/**
 * Gives a key a new secret. Every rotation needs an approval, because the caller gets a secret that
 * outlives the session, and programs with the present secret lose access. If makers are excluded
 * from votes, the caller can no longer vote on requests of this key.
 * @throws DomainError `invalid_state` when too few people could vote without the caller
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
    const holder = { kind: "holder", keyId: id, userId: actor.userId } as const;
    await checkVotersLeft(deps.database.prisma, projectId, holder);
    const approved = await deps.approvals.requireApproval(
      actor,
      rotationOf(before, overlapSeconds),
      approval,
    );
    const at = deps.clock.now();
    const notice = await noticeBy(deps, actor, at);
    const { secret, ...shown } = newApiKeySecret(deps.kind);
    const stored = {
      ...shown,
      secretHash: deps.secrets.hash(HASH_PURPOSE, secret),
      appSecretId: deps.secrets.id,
    };
    const previousUntil = addSeconds(at, overlapSeconds);
    const key = await deps.database.transaction(async (tx) => {
      await lockVoting(tx, projectId);
      await checkVotersLeft(tx, projectId, holder);
      await approved.consume(tx);
      const rotated = await rotateApiKey(tx, { projectId, id, version }, stored, {
        previousUntil,
        rotatedBy: actor.userId,
      });
      if (rotated === null) throw changedMeanwhile();
      const data = {
        before: before.last4,
        last4: rotated.last4,
        previousUntil: previousUntil.toISOString(),
      };
      const entry = { ...doneBy(actor), subject: id, at };
      await recordAudit(tx, {
        ...entry,
        action: "api_key.rotated",
        data: { ...data, ...approved.record },
      });
      await recordEvents(tx, [keyEvent("api_key.updated", rotated, at)]);
      await deps.projects.tellOwners(
        tx,
        rotatedKeyNotice({ key: rotated, ...notice }, approved.record.approvedBy),
      );
      // Without an overlap the old secret is no longer valid, so the key's open streams are closed.
      // Clients connect again with the new secret.
      if (overlapSeconds === 0) announceEnded(tx, id);
      return rotated;
    });
    return { key, secret, replacedLookup };
  };
