import type { PolicyRules, PolicyScope } from "@/lib/contracts/policy-rules";
import type { ChainRegistry } from "@/lib/chain/registry";
import { type Actor, actorName, type UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { parseAmount } from "@/lib/core/money";
import { EXEMPTING_KEYS, requireOwner, requirePermission } from "@/lib/core/permissions";
import type { Token } from "@/lib/core/token";
import type { Database, Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { recordAudit, doneBy } from "@/lib/news/audit/service";
import { lockVoting, type DecisionsService } from "@/lib/trust/decisions/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import { recordPolicyChange } from "./policy-event";
import type { EvmAddress } from "@/lib/core/evm";
import type { Evaluation, PolicyEngine } from "./engine";
import { type Bounds, boundsOf, linesOf } from "./bounds";
import { type EffectivePolicy, policyOfSetting } from "./facts";
import { isExemptKey, keysAmong, type Intent } from "./intent";
import {
  findWalletAddress,
  hasSubject,
  insertPolicy,
  readAllPolicies,
  readEvaluation,
  readPoliciesInForce,
  readVersions,
  type EvaluationRecord,
} from "./repository";
import type { Policy } from "./rows";
import { checkVoteRule } from "./voters";

export interface PolicyChange {
  readonly scope: PolicyScope;
  /** The wallet or API key; absent for the project. */
  readonly subjectId?: string | undefined;
  /** The version that the caller has read; 0 when there was none. */
  readonly baseVersion: number;
  readonly rules: PolicyRules;
  readonly approval?: GivenApproval | undefined;
}

export interface TriedMovement {
  readonly fromWalletId: string;
  readonly fromChainId: number;
  readonly toChainId?: number | undefined;
  readonly token: string;
  readonly amount: string;
  readonly toAddress: EvmAddress;
  readonly keyId?: string | undefined;
  /** Rules that are evaluated in place of the newest version of this policy. */
  readonly draft?: Pick<PolicyChange, "scope" | "subjectId" | "rules"> | undefined;
}

interface DocumentsDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly registry: Pick<ChainRegistry, "resolveToken" | "get">;
  readonly engine: Pick<PolicyEngine, "dryRun" | "policyStored">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly decisions: Pick<DecisionsService, "requirementOf">;
  readonly clock: Clock;
}

const VERSIONS_MAX = 100;

const subjectOf = (
  actor: Actor,
  { scope, subjectId }: Pick<PolicyChange, "scope" | "subjectId">,
): string => {
  if (scope === "project") return actor.projectId;
  if (subjectId === undefined)
    throw invalidRequest([{ path: "subjectId", message: "names the wallet or the API key" }]);
  return subjectId;
};

interface Checks {
  readonly reader: SqlReader;
  readonly registry: DocumentsDeps["registry"];
}

/**
 * Checks that the wallet or API key of a policy belongs to the project.
 * @throws DomainError `not_found`
 */
const requireSubject = async (
  { reader }: Pick<Checks, "reader">,
  of: { projectId: string; scope: PolicyScope; subjectId: string },
): Promise<void> => {
  const { projectId, scope, subjectId } = of;
  if (scope !== "project" && !(await hasSubject(reader, { projectId, scope, subjectId })))
    throw notFound();
};

/**
 * Checks that the chains exist, and replaces tokens by their addresses.
 * @throws DomainError `unsupported_chain`, `unsupported_token`
 */
const normalised = (
  { registry }: Pick<Checks, "registry">,
  rules: PolicyRules,
): PolicyRules => {
  for (const chainId of rules.chains ?? []) registry.get(chainId);
  const tokens = rules.tokens?.map(({ chainId, token }) => ({
    chainId,
    token: registry.resolveToken(chainId, token).address.toLowerCase(),
  }));
  return tokens === undefined ? rules : { ...rules, tokens };
};

/**
 * A draft as the version that would be stored next.
 * @throws DomainError `not_found`, `unsupported_chain`, `unsupported_token`
 */
const versionOf = async (
  checks: Checks,
  actor: Actor,
  draft: NonNullable<TriedMovement["draft"]>,
): Promise<EffectivePolicy> => {
  const { scope } = draft;
  const subject = { projectId: actor.projectId, scope, subjectId: subjectOf(actor, draft) };
  await requireSubject(checks, subject);
  const [newest] = await readVersions(checks.reader, { ...subject, before: null, limit: 1 });
  const version = (newest?.version ?? 0) + 1;
  return {
    id: newId("policy"),
    scope,
    subjectId: subject.subjectId,
    version,
    rules: normalised(checks, draft.rules),
  };
};

const triedIntent = (
  actor: Actor,
  {
    tried,
    token,
    walletAddress,
  }: { tried: TriedMovement; token: Token; walletAddress: EvmAddress },
): Intent => {
  const { fromWalletId, keyId, fromChainId, toChainId = fromChainId, toAddress } = tried;
  const by = actorName(actor);
  return {
    projectId: actor.projectId,
    kind: "dry_run",
    by,
    keyIds: keysAmong(by, ...(keyId === undefined ? [] : [keyId])),
    byExemptKey: isExemptKey(actor),
    outflows: [
      {
        walletId: fromWalletId,
        token,
        amountBase: parseAmount(tried.amount, token.decimals),
        isOnChain: true,
      },
    ],
    chains: [...new Set([fromChainId, toChainId])],
    recipients: [toAddress],
    recipientChain: toChainId,
    parties: [
      { address: walletAddress, chainId: fromChainId },
      { address: toAddress, chainId: toChainId },
    ],
    recipientPaths: (address) => [address === toAddress ? "toAddress" : "fromWalletId"],
    fields: { amount: "amount", recipient: "toAddress", chain: "fromChainId", token: "token" },
  };
};

export const createPolicyDocuments = (deps: DocumentsDeps) => {
  const { database, clock } = deps;
  const reader = sqlOf(database.prisma);
  const checks: Checks = { reader, registry: deps.registry };

  /**
   * Stores the next version of a policy, which applies immediately.
   * @throws DomainError `forbidden`, `approval_required`, `not_found`, `invalid_request` when fewer
   * people can vote than the rule needs, `invalid_state` when the policy was changed in the
   * meantime
   */
  const put = async (actor: UserActor, change: PolicyChange): Promise<Policy> => {
    requirePermission(actor, "policies:manage");
    const { projectId } = actor;
    const { scope, baseVersion } = change;
    const subjectId = subjectOf(actor, change);
    await requireSubject(checks, { projectId, scope, subjectId });
    const rules = normalised(checks, change.rules);
    const [before] = await readVersions(reader, {
      projectId,
      scope,
      subjectId,
      before: null,
      limit: 1,
    });
    if ((before?.version ?? 0) !== baseVersion) throw changedMeanwhile();
    const policy: Policy = {
      id: newId("policy"),
      ...{ projectId, scope, subjectId, rules },
      version: baseVersion + 1,
      createdBy: actorName(actor),
      createdAt: clock.now(),
    };
    const isException = exemptsKeys(rules) && !exemptsKeys(before?.rules);
    if (isException) requireOwner(actor, EXEMPTING_KEYS);
    await checkVotes(database.prisma, policy);
    const approved = await deps.approvals.requireApproval(
      actor,
      changeOf(policy),
      change.approval,
    );
    await database.transaction(async (tx) => {
      // A concurrent removal of a member waits for this lock, or was committed before and is
      // visible here.
      if (rules.approvals !== undefined) await lockVoting(tx, projectId);
      await checkVotes(tx, policy);
      await approved.consume(tx);
      if (!(await insertPolicy(sqlOf(tx), policy))) throw changedMeanwhile();
      const data = {
        scope,
        subjectId,
        version: policy.version,
        before: before === undefined ? null : linesOf(before.rules),
        after: linesOf(rules),
      };
      const entry = {
        ...doneBy(actor),
        action: "policy.changed",
        subject: policy.id,
        at: policy.createdAt,
      };
      await recordAudit(tx, { ...entry, data: { ...data, ...approved.record } });
      const { version, createdBy: changedBy, createdAt: at } = policy;
      await recordPolicyChange(tx, {
        projectId,
        scope,
        subjectId,
        change: "rules",
        version,
        changedBy,
        at,
      });
      await deps.projects.tellOwners(tx, changedNotice(policy, before?.rules ?? {}));
    });
    deps.engine.policyStored(projectId);
    return policy;
  };

  return {
    put,

    list: (projectId: string): Promise<Policy[]> => readAllPolicies(reader, projectId),

    /** The limits that follow from the rules of every scope and from the project's setting. */
    boundsOf: async (projectId: string, sql: SqlReader = reader): Promise<Bounds> => {
      const policies = await readPoliciesInForce(sql, projectId);
      const setting = await deps.decisions.requirementOf(projectId, sql);
      return boundsOf(
        setting === null ? policies : [...policies, policyOfSetting(projectId, setting)],
      );
    },

    /** Versions of one policy, newest first. @throws DomainError `invalid_request` */
    versions: (
      actor: Actor,
      query: {
        scope: PolicyScope;
        subjectId?: string | undefined;
        before?: number | undefined;
      },
    ): Promise<Policy[]> => {
      const { scope, before = null } = query;
      const subjectId = subjectOf(actor, query);
      return readVersions(reader, {
        projectId: actor.projectId,
        scope,
        subjectId,
        before,
        limit: VERSIONS_MAX,
      });
    },

    /**
     * The policies' decision about one movement, when it was accepted or refused.
     * @throws DomainError `not_found`
     */
    evaluation: async (projectId: string, id: string): Promise<EvaluationRecord> => {
      const found = await readEvaluation(database, { projectId, id });
      if (found === null) throw notFound();
      return found;
    },

    /**
     * The policies' current decision about a movement. Counts and stores nothing.
     * @throws DomainError `unknown_wallet`, `not_found` for another project's key or draft,
     * `unsupported_chain`, `unsupported_token`, `amount_precision`
     */
    evaluate: async (actor: Actor, tried: TriedMovement): Promise<Evaluation> => {
      const { projectId } = actor;
      const { fromWalletId, keyId, fromChainId, toChainId = fromChainId } = tried;
      const walletAddress = await findWalletAddress(reader, projectId, fromWalletId);
      if (walletAddress === null) throw unknownWallet();
      if (keyId !== undefined)
        await requireSubject(checks, { projectId, scope: "key", subjectId: keyId });
      const token = deps.registry.resolveToken(fromChainId, tried.token);
      deps.registry.get(toChainId);
      const draft =
        tried.draft === undefined ? undefined : await versionOf(checks, actor, tried.draft);
      return deps.engine.dryRun(triedIntent(actor, { tried, token, walletAddress }), draft);
    },
  };
};

const unknownWallet = (): DomainError =>
  new DomainError(
    "unknown_wallet",
    "The project has no such wallet. Nothing was changed; name a wallet of GET /wallets.",
    {
      details: [{ path: "fromWalletId", message: "is no wallet of the project" }],
    },
  );

/**
 * Checks that enough people can vote for the rule `approvals`, if the policy has it.
 * @throws DomainError `invalid_request` when fewer people can vote than the rule needs
 */
const checkVotes = async (
  tx: Tx,
  { projectId, scope: of, subjectId, rules: { approvals } }: Policy,
): Promise<void> => {
  if (approvals === undefined) return;
  await checkVoteRule(tx, projectId, {
    of,
    subjectId,
    approvals,
    path: "rules.approvals.count",
  });
};

const exemptsKeys = (rules: PolicyRules | undefined): boolean =>
  rules?.approvals?.exemptKeys === true;

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The policy was changed meanwhile. Read it again; this change was not made.",
  );

const changedNotice = (
  { projectId, scope, subjectId, rules, createdBy }: Policy,
  before: PolicyRules,
): OwnerNotice => ({
  projectId,
  subject:
    scope === "project"
      ? "The policy of your project was changed"
      : `The policy of one ${scope} was changed`,
  text: (project) =>
    [
      `A policy of your project ${quoted(project)} was changed by ${createdBy}.`,
      ...(scope === "project" ? [] : [`It bounds: ${subjectId}`]),
      "",
      "Rules now:",
      ...linesOf(rules).map((line) => `- ${line}`),
      "",
      "Rules before:",
      ...linesOf(before).map((line) => `- ${line}`),
      "",
      "If this was not meant, set it back on the page Policies, and look at the members and sessions of the project.",
    ].join("\n"),
});

const changeOf = ({ projectId, scope, subjectId, version, rules }: Policy): Change => ({
  kind: "policy.change",
  title:
    scope === "project"
      ? "Change the policy of this project"
      : `Change the policy of one ${scope}`,
  lines: [
    ...(scope === "project" ? [] : [`Of: ${subjectId}`]),
    `Version: ${version}`,
    ...linesOf(rules),
  ],
  values: {
    projectId,
    scope,
    subjectId,
    version,
    rules: JSON.parse(JSON.stringify(rules)) as Change["values"],
  },
});
