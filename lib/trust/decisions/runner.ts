/**
 * The two jobs of a request. The first mails the possible voters who want mail, and expires the
 * request. The second carries out the decision.
 */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { oncePerMailbox } from "@/lib/core/mailbox";
import type { Database, Tx } from "@/lib/platform/db/client";
import type { ActorNames } from "@/lib/news/audit/service";
import type { MailOutbox } from "@/lib/news/mail/service";
import {
  type DecisionRequest,
  exclusionOf,
  mailedMaker,
  makersOf,
  noticeMail,
} from "./decision";
import {
  findRequest,
  lockRequest,
  markNotified,
  markSettled,
  readMembers,
  readVoters,
} from "./repository";
import type { DecisionSubject } from "./subject";
import { end } from "./vote";

type Turn = { readonly done: true } | { readonly done: false; readonly againInMs: number };

export interface DecisionRunnerDeps {
  readonly database: Database;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  readonly subjects: () => Readonly<Record<string, DecisionSubject>>;
  /** Returns those of `userIds` who want mail about requests. */
  readonly wantMail: (
    projectId: string,
    userIds: readonly string[],
  ) => Promise<ReadonlySet<string>>;
  readonly actorNames: ActorNames;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const MEMBERS_MAX = 1000;
/**
 * Maximum time until a job runs again. A longer pause in milliseconds could exceed the largest
 * integer of PostgreSQL.
 */
const SLEEP_MAX_MS = 24 * 3_600_000;
const DONE = { done: true } as const;

const keyOf = (jobId: string): { projectId: string; id: string } => {
  const [projectId = "", id = ""] = jobId.split("/");
  return { projectId, id };
};

/**
 * The person whose vote decided, as the actor of the following steps. The person's role was
 * checked when the vote was counted, and may have changed since. The actor therefore has the
 * lowest role that may move money.
 */
const deciderOf = ({ projectId, decidedBy }: DecisionRequest): UserActor | null =>
  decidedBy === null
    ? null
    : { type: "user", userId: decidedBy, sessionId: "decision", projectId, role: "operator" };

export const createDecisionRunner = (deps: DecisionRunnerDeps) => {
  const { database, clock } = deps;

  const notify = async (tx: Tx, request: DecisionRequest): Promise<void> => {
    const { projectId } = request;
    if (!(await markNotified(tx, request, clock.now()))) return;
    const { name, userIds } = await readMembers(tx, projectId, MEMBERS_MAX);
    const voters = await readVoters(tx, {
      projectId,
      userIds: [...userIds, ...makersOf(request)],
      lock: false,
    });
    const wanted = await deps.wantMail(projectId, userIds);
    const emails = userIds.flatMap((userId) =>
      wanted.has(userId) && exclusionOf(request, userId, voters) === null
        ? (voters.get(userId)?.email ?? [])
        : [],
    );
    const names = await deps.actorNames.of(projectId, [request.maker]);
    const maker = mailedMaker(request, names);
    const mail = noticeMail(request, { publicUrl: deps.publicUrl, project: name, maker });
    for (const to of oncePerMailbox(emails))
      await deps.outbox.enqueue(tx, projectId, { to, ...mail });
  };

  const run = (jobId: string): Promise<Turn> =>
    database.transaction(async (tx) => {
      const request = await lockRequest(tx, keyOf(jobId));
      if (request?.state !== "open") return DONE;
      const leftMs = request.expiresAt.getTime() - clock.now().getTime();
      if (leftMs <= 0) {
        await end(tx, request, { as: "expired", by: null, now: clock.now() });
        return DONE;
      }
      await notify(tx, request);
      return { done: false, againInMs: Math.min(leftMs, SLEEP_MAX_MS) };
    });

  /** Carries out the decision about a request. After an error the job stays and tries again. */
  const settle = async (jobId: string): Promise<Turn> => {
    const request = await findRequest(database.prisma, keyOf(jobId));
    if (request === null || request.settledAt !== null) return DONE;
    const { projectId, state, subject } = request;
    if (state === "open" || state === "cancelled") return DONE;
    const handler = deps.subjects()[subject.type];
    if (handler === undefined) throw new Error(`Nothing carries on a decided ${subject.type}.`);
    await handler.onDecided({
      projectId,
      id: subject.id,
      outcome: state,
      request,
      decidedBy: deciderOf(request),
    });
    await markSettled(database.prisma, request, clock.now());
    return DONE;
  };

  return { run, settle };
};
