/**
 * Tries the ways of `ways.ts` under guards, and determines the result of each try from the stored
 * rows.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ApiClient } from "@/lib/api-client/client";
import { getMe } from "@/lib/contracts/auth";
import { updatePolicies } from "@/lib/contracts/policies";
import { requestOtp } from "@/lib/contracts/swap";
import type { BodyInput } from "@/lib/contracts/contract";
import type { TestApi, TestSession } from "./api";
import { withApproval } from "./approve";
import { putRules } from "./policies";
import { newMember } from "./voters";
import {
  CALLERS,
  DECIDING_WAYS,
  GUARD_NAMES,
  GUARDS,
  KEY_SCOPES,
  mayDecide,
  SETTING,
  unboundBy,
  type Caller,
  type DecidingWay,
  type Guard,
  type GuardEntry,
  type Way,
} from "./ways";

/** The result of a try. */
export type EndState =
  | "nothing"
  | "refused"
  | "waits for a code"
  | "waits for votes"
  | "accepted";

/** One try of one caller. */
export interface Attempt {
  readonly begin: () => Promise<unknown>;
  /**
   * Enters the code that the caller can get. Absent when the way needs no code after its start. In
   * this case only the first state is compared.
   */
  readonly prove?: () => Promise<unknown>;
}

export interface Callers {
  readonly projectId: string;
  readonly owner: TestSession;
  readonly clients: Readonly<Record<Caller, ApiClient>>;
  /** The client of the person who approves what the caller started. */
  readonly personOf: (caller: Caller) => ApiClient;
  /**
   * The code mailed for the object, requested by the caller, or by the person when only people may
   * request it.
   */
  readonly codeFor: (
    caller: Caller,
    subject: BodyInput<typeof requestOtp>,
    by?: ApiClient,
  ) => Promise<string>;
}

/** A project with one caller of each kind. The owner has a verified address. */
export const callersOf = async (
  api: TestApi,
  { session: owner, email }: { readonly session: TestSession; readonly email: string },
): Promise<Callers> => {
  const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  const operator = await newMember(api, projectId, "operator");
  const viewer = await newMember(api, projectId, "viewer");
  // Two admins, because the service refuses the rule `VOTERS` of `ways.ts` when there is only one:
  // nobody could vote on a request of that admin.
  for (const role of ["admin", "admin"] as const) await newMember(api, projectId, role);
  const coded = await api.createKey(owner, { scopes: KEY_SCOPES });
  const exempt = await api.createKey(owner, {
    scopes: KEY_SCOPES,
    otp: "exempt",
    dailyCapUsd: "1000000",
  });
  const clients: Record<Caller, ApiClient> = {
    owner: owner.client,
    operator: operator.client,
    viewer: viewer.client,
    "key with codes": coded.client,
    "exempt key": exempt.client,
  };
  const { prisma } = api.services.database;
  const mailOf = (caller: Caller): string => (caller === "operator" ? operator.email : email);
  return {
    projectId,
    owner,
    clients,
    personOf: (caller) => (caller === "operator" ? operator.client : owner.client),
    codeFor: async (caller, subject, by = clients[caller]) => {
      // Resets the hourly limit of codes, because the test requests more codes than the limit
      // allows.
      await prisma.codeLimit.deleteMany();
      const to = mailOf(caller);
      const mails = (await api.services.inbox?.list({ to, limit: 100 })) ?? [];
      const seen = mails.flatMap(({ code }) => code ?? []);
      await by.call(requestOtp, { body: subject });
      return api.readCode(to, seen);
    },
  };
};

type Prisma = TestApi["services"]["database"]["prisma"];

const evaluationSays = async (
  prisma: Prisma,
  projectId: string,
  id: string | null,
): Promise<boolean> =>
  (await prisma.policyEvaluation.count({
    where: { projectId, id: id ?? "", decision: "allow" },
  })) === 1;

/**
 * The result of the project's newest try, according to operations, payouts, holds, requests for
 * votes, evaluations and wallets.
 * @param since time at which the try began
 */
const stateSince = async (
  prisma: Prisma,
  projectId: string,
  since: Date,
): Promise<EndState> => {
  const isNew = { projectId, createdAt: { gt: since } };
  const [operations, payouts, quotes, privateQuotes, requests, shown, refusals] =
    await Promise.all([
      prisma.operation.findMany({ where: isNew }),
      prisma.payout.findMany({ where: isNew }),
      prisma.quote.count({ where: { ...isNew, operationId: null } }),
      prisma.privacyQuote.count({ where: { ...isNew, operationId: null } }),
      prisma.decisionRequest.findMany({ where: { ...isNew, state: "open" } }),
      prisma.privacyWallet.count({ where: { projectId, exportedAt: { gt: since } } }),
      prisma.policyEvaluation.count({ where: { ...isNew, decision: "deny" } }),
    ]);
  const moves = [...operations, ...payouts];
  const waiting = moves.filter(({ subStatus }) => subStatus === "awaiting_approval");
  const held = await prisma.balanceHold.count({
    where: { operationId: { in: waiting.map(({ id }) => id) }, releasedAt: null },
  });
  if (held > 0) throw new Error("Money is held for what was not accepted.");
  if (shown > 0) return "accepted";
  if (waiting.length > 0) {
    const asked = requests.some(({ subjectId }) => waiting.some(({ id }) => id === subjectId));
    return asked ? "waits for votes" : "waits for a code";
  }
  if (moves.length > 0) {
    for (const { id, evaluationId } of moves)
      if (!(await evaluationSays(prisma, projectId, evaluationId)))
        throw new Error(`${id} was accepted without an evaluation that allows it.`);
    return "accepted";
  }
  if (requests.length > 0) return "waits for votes";
  if (refusals > 0) return "refused";
  return quotes + privateQuotes > 0 ? "waits for a code" : "nothing";
};

/** @returns the error's code, which is only shown when the stored state is not as expected */
const settle = async (work: (() => Promise<unknown>) | undefined): Promise<string> => {
  try {
    await work?.();
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

interface Ends {
  /** The states after the try, and after the caller entered the code. */
  readonly states: readonly EndState[];
  readonly answers: readonly string[];
}

/** Waits until the current millisecond has passed, so that later rows have a later time. */
const nextMoment = async ({ clock }: TestApi["services"]): Promise<Date> => {
  const since = clock.now();
  while (clock.now() <= since) await sleep(1);
  return since;
};

const endsOf = async (
  { services }: TestApi,
  projectId: string,
  { begin, prove }: Attempt,
): Promise<Ends> => {
  const { prisma } = services.database;
  const since = await nextMoment(services);
  const answer = await settle(begin);
  const begun = await stateSince(prisma, projectId, since);
  if (prove === undefined) return { states: [begun], answers: [answer] };
  if (!begun.startsWith("waits")) return { states: [begun, begun], answers: [answer] };
  const proof = await settle(prove);
  return {
    states: [begun, await stateSince(prisma, projectId, since)],
    answers: [answer, proof],
  };
};

/** Ways whose code is entered before anything is stored that could wait for votes. */
const CODE_FIRST: readonly Way[] = ["swap", "transfer", "operationRetry"];

/** The expected results of a try. @param guard null when the project has no guard */
const expectedEnds = (way: Way, guard: Guard | null, caller: Caller): readonly EndState[] => {
  if (caller === "viewer" || (way === "keyExport" && caller !== "owner"))
    return ["nothing", "nothing"];
  const effect = guard === null || unboundBy(way, guard) !== null ? null : GUARDS[guard].effect;
  // These ways need no code after their start, because the code is sent with the first request, or
  // was entered for the schedule.
  const isApproved = way === "keyExport" || way === "scheduleRun";
  const needsCode = effect === "code" || (caller !== "exempt key" && !isApproved);
  // Exporting a key is not a movement with an evaluation, so nothing is stored when the service
  // refuses the export.
  if (effect === "denies")
    return way === "keyExport" ? ["nothing", "nothing"] : ["refused", "refused"];
  if (effect === "votes")
    return [
      needsCode && CODE_FIRST.includes(way) ? "waits for a code" : "waits for votes",
      "waits for votes",
    ];
  return [needsCode ? "waits for a code" : "accepted", "accepted"];
};

type Rules = NonNullable<(typeof GUARDS)[Guard]["rules"]>;

/** Combines the rules of several guards. */
const together = (guards: readonly Guard[]): Rules =>
  guards.reduce<Rules>((all, guard) => {
    const { rules } = GUARDS[guard];
    const caps = (of: "perOperation" | "perDay"): Rules =>
      rules?.[of] === undefined ? {} : { [of]: { ...all[of], ...rules[of] } };
    return { ...all, ...rules, ...caps("perOperation"), ...caps("perDay") };
  }, {});

/** Activates the guards for the project while `work` runs. */
const under = async <T>(
  { services }: TestApi,
  { projectId, owner }: Callers,
  guards: readonly Guard[],
  work: () => Promise<T>,
): Promise<T> => {
  const at = { projectId, scope: "project" };
  const put = async (rules: Rules) => {
    const baseVersion = await services.database.prisma.policy.count({ where: at });
    await putRules(owner, { scope: "project", baseVersion, rules });
  };
  const set = (approvals: typeof SETTING | null) =>
    withApproval(owner.account, (approval) =>
      owner.client.call(updatePolicies, {
        body: { approvals, ...(approval ? { approval } : {}) },
      }),
    );
  const rules = together(guards);
  const hasRules = Object.keys(rules).length > 0;
  if (guards.includes("setting")) await set(SETTING);
  if (hasRules) await put(rules);
  try {
    return await work();
  } finally {
    if (hasRules) await put({});
    if (guards.includes("setting")) await set(null);
  }
};

/**
 * For each way, a function that creates the attempt of one caller. The function runs before the
 * guard is set, so that it can create the objects that the attempt needs.
 */
export type Ways = Readonly<
  Partial<Record<Way, (caller: Caller) => Promise<Attempt> | Attempt>>
>;

/**
 * Tries every way with every caller under one guard.
 * @returns a line for each try with an unexpected result
 */
export const wrongEnds = async (
  api: TestApi,
  callers: Callers,
  ways: Ways,
  guard: Guard | null,
): Promise<readonly string[]> => {
  const cells: { way: Way; caller: Caller; attempt: Attempt }[] = [];
  for (const [way, attemptOf] of Object.entries(ways) as [Way, NonNullable<Ways[Way]>][])
    for (const caller of CALLERS) cells.push({ way, caller, attempt: await attemptOf(caller) });
  const wrong: string[] = [];
  await under(api, callers, guard === null ? [] : [guard], async () => {
    for (const { way, caller, attempt } of cells) {
      const { states, answers } = await endsOf(api, callers.projectId, attempt);
      const expected = expectedEnds(way, guard, caller).slice(0, states.length).join(", then ");
      const got = states.join(", then ");
      if (got !== expected)
        wrong.push(
          `${way} by ${caller}: ${got} (answers: ${answers.join(", ")}); it has to be: ${expected}`,
        );
    }
  });
  return wrong;
};

/** One attempt of a caller to decide about an object that the test created for this attempt. */
export interface DecisionAttempt {
  readonly decide: () => Promise<unknown>;
  /** Whether the object's row shows that the decision was made. */
  readonly isDecided: () => Promise<boolean>;
}
export type Decisions = Readonly<
  Record<DecidingWay, (caller: Caller) => Promise<DecisionAttempt>>
>;

/** Returns everything that was started, held or submitted to a chain after `since`. */
const startedSince = async (
  prisma: Prisma,
  projectId: string,
  since: Date,
): Promise<string> => {
  const state = await stateSince(prisma, projectId, since);
  const held = await prisma.balanceHold.count({
    where: { projectId, createdAt: { gt: since } },
  });
  const sent = await prisma.chainTransaction.count({ where: { createdAt: { gt: since } } });
  return held + sent === 0 ? state : `${state}, ${String(held)} held, ${String(sent)} sent`;
};

/**
 * Tries every decision with every caller under all guards of one effect.
 * @param effect null when the project has no guard
 * @returns a line for each try with an unexpected result
 */
export const wrongDecisions = async (
  api: TestApi,
  callers: Callers,
  decisions: Decisions,
  effect: GuardEntry["effect"] | null,
): Promise<readonly string[]> => {
  const { prisma } = api.services.database;
  const cells: (DecisionAttempt & { readonly way: DecidingWay; readonly caller: Caller })[] =
    [];
  for (const way of DECIDING_WAYS)
    for (const caller of CALLERS)
      cells.push({ way, caller, ...(await decisions[way](caller)) });
  const wrong: string[] = [];
  const guards = GUARD_NAMES.filter((guard) => GUARDS[guard].effect === effect);
  await under(api, callers, guards, async () => {
    for (const { way, caller, decide, isDecided } of cells) {
      const since = await nextMoment(api.services);
      const before = await isDecided();
      const answer = await settle(decide);
      const started = await startedSince(prisma, callers.projectId, since);
      const got = [before, await isDecided(), started].join(", ");
      const expected = [false, mayDecide(way, caller), "nothing"].join(", ");
      if (got !== expected)
        wrong.push(
          `${way} by ${caller}: ${got} (answer: ${answer}); it has to be: ${expected}`,
        );
    }
  });
  return wrong;
};
