import {
  type Actor,
  type RequestContext,
  unprovenSession,
  type UserActor,
} from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { deviceOf } from "@/lib/core/device";
import { notFound } from "@/lib/core/errors";
import { roleMay } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/platform/db/client";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAudit, type AuditEntry } from "@/lib/news/audit/service";
import type { Secrets } from "@/lib/platform/encryption/service";
import { recordEvents } from "@/lib/news/events/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import { announceEnded } from "@/lib/news/feed/service";
import { changedMeanwhile, linkUnknown, makerEnded, mayNotRestore } from "./errors";
import {
  createNotMeTokens,
  type Disowned,
  KIND_RULES,
  madeNotice,
  type MakerSession,
  notMeLines,
  suspendedNotice,
} from "./made-thing";
import {
  findMade,
  listMadeBy,
  lockMaker,
  proveMade,
  readMaker,
  readThing,
  suspendMade,
  type Ended,
} from "./repository";
import type { MadeThing, ThingName, ThingState } from "./rows";

export type { MadeKind, MadeThing, ThingName } from "./rows";

export interface SessionMadeDeps {
  readonly database: Database;
  readonly secrets: Pick<Secrets, "hash" | "matches">;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "list" | "tellOwners">;
  /**
   * Ends a session in the caller's transaction, and announces it. Does nothing when it has ended
   * already.
   */
  readonly endSession: (
    tx: Tx,
    sessionId: string,
    by: {
      readonly reason: string;
      readonly at: Date;
      readonly by: Pick<AuditEntry, "actor" | "request">;
    },
  ) => Promise<unknown>;
  readonly publicUrl: string;
  readonly clock: Clock;
}

interface NewThing extends ThingName {
  readonly projectId: string;
  readonly at: Date;
}

export interface DisownedView {
  readonly thing: Disowned;
  /** Null when the object has ended. */
  readonly state: ThingState | null;
  readonly maker: MakerSession;
  /** Other objects that the session created without a further proof and that still work. */
  readonly others: readonly MadeThing[];
}

export interface RestoreInput {
  readonly items: readonly ThingName[];
  readonly approval?: GivenApproval | undefined;
}

/**
 * Remembers which session created an object without a further proof (an API key, a webhook
 * endpoint, a schedule that awaits approval). Such an object continues to work when the session
 * expires or the person signs out. When a person ends sessions, the objects of the sessions are
 * suspended, and a proof restores them.
 */
export interface SessionMadeService {
  /**
   * The session to store for a new object; null when a person proved the API key that creates it.
   * Call it in the transaction that creates the object. A concurrent transaction that ends the
   * session waits for this transaction, and suspends the object too.
   * @throws DomainError `unauthorized` when the session or the key has ended in the meantime
   */
  makerOf(tx: Tx, actor: Actor): Promise<string | null>;
  /** Mails the owners about an object that `sessionId` created without a further proof. */
  tellOwners(
    tx: Tx,
    thing: NewThing & { readonly sessionId: string | null; readonly lines: readonly string[] },
  ): Promise<void>;
  /** The sentences with the link "This was not me", for a mail that the caller writes. */
  notMeLines(thing: NewThing & { readonly sessionId: string }): readonly string[];
  /**
   * Objects that sessions of the person created without a further proof, over all projects, newest
   * first (1,000 at most).
   */
  list(actor: UserActor): Promise<readonly MadeThing[]>;
  /**
   * Suspends the objects that ended sessions of the person created without a further proof. Call it
   * after ending them, in the same transaction.
   */
  suspend(
    tx: Tx,
    actor: UserActor,
    ended: Pick<Ended, "only" | "except">,
  ): Promise<readonly MadeThing[]>;
  /**
   * Restores suspended objects, and removes their link to a session.
   * @throws DomainError `not_found` when the person is not a member of an object's project, or
   * when an object has no link to a session; `forbidden` unless the person may create such an
   * object; `approval_required` and the other errors of `requireApproval`
   */
  restore(actor: UserActor, input: RestoreInput): Promise<readonly MadeThing[]>;
  /**
   * Returns the object that the mailed link names, and the session that created it. Changes
   * nothing.
   * @throws DomainError `not_found`
   */
  lookUp(token: string): Promise<DisownedView>;
  /**
   * Ends the session that created the object, and suspends everything that it created without a
   * further proof. May be repeated.
   * @throws DomainError `not_found`
   */
  disown(token: string, request: RequestContext | null): Promise<readonly MadeThing[]>;
}

const LIST_MAX = 1000;
const NOT_ME = "not_me_link";

type By = Pick<AuditEntry, "actor" | "request">;

/**
 * The service of objects that sessions created: suspends and restores them. Modules that create
 * such objects ask it for the responsible session.
 */
export const createSessionMadeService = (deps: SessionMadeDeps): SessionMadeService => {
  const { database, clock, publicUrl } = deps;
  const tokens = createNotMeTokens(deps.secrets);
  const linkOf = ({
    sessionId,
    projectId,
    id,
    at,
  }: NewThing & { readonly sessionId: string }): string =>
    // After the #, so that no server and no proxy writes the token into its log, and no mail
    // scanner opens it.
    `${publicUrl}/not-me#${tokens.make({ projectId, id, sessionId }, at)}`;
  const suspendAll = createSuspension(deps);
  const readLink = createLinkReader(deps, tokens);

  return {
    makerOf: async (tx, actor) => {
      const session = unprovenSession(actor);
      if (session !== null && (await lockMaker(tx, actor))) throw makerEnded();
      return session;
    },
    tellOwners: async (tx, { sessionId, ...thing }) => {
      const maker = sessionId === null ? null : await readMaker(tx, sessionId);
      if (maker === null) return;
      const link = linkOf({ ...thing, sessionId: maker.id });
      await deps.projects.tellOwners(tx, madeNotice(thing, maker, { link, publicUrl }));
    },
    notMeLines: (thing) => notMeLines(linkOf(thing)),
    list: ({ userId }) => listMadeBy(sqlOn(database.pool), userId, LIST_MAX),
    suspend: (tx, actor, ended) =>
      suspendAll(
        tx,
        { ...ended, userId: actor.userId },
        { ...doneBy(actor), why: "the session that made it was ended" },
      ),
    restore: createRestore(deps),
    lookUp: readLink,
    disown: async (token, request) => {
      const { maker } = await readLink(token);
      const by = { actor: NOT_ME, request };
      return database.transaction(async (tx) => {
        await deps.endSession(tx, maker.id, { reason: "disowned", at: clock.now(), by });
        const why = 'somebody pressed "This was not me" in a mail about it';
        return suspendAll(tx, { userId: maker.userId, only: maker.id }, { ...by, why });
      });
    },
  };
};

/**
 * Records that each object was suspended or restored. For an API key, an event is stored too, and a
 * suspension ends the key's event streams.
 */
const record = async (
  tx: Tx,
  things: readonly MadeThing[],
  {
    what,
    at,
    by,
    data = {},
  }: { what: "suspended" | "restored"; at: Date; by: By; data?: AuditEntry["data"] },
): Promise<void> => {
  for (const { kind, id, projectId, sessionId } of things) {
    const entry = { ...by, projectId, subject: id, at };
    await recordAudit(tx, {
      ...entry,
      action: `${kind}.${what}`,
      data: { sessionId, ...data },
    });
    if (kind !== "api_key") continue;
    await recordEvents(tx, [
      { projectId, type: `api_key.${what}`, objectId: id, data: { keyId: id }, at },
    ]);
    if (what === "suspended") announceEnded(tx, id);
  }
};

const createSuspension =
  (deps: SessionMadeDeps) =>
  async (
    tx: Tx,
    ended: Ended,
    { why, actor, request }: By & { why: string },
  ): Promise<readonly MadeThing[]> => {
    const at = deps.clock.now();
    const ids = await suspendMade(tx, ended, at);
    if (ids.length === 0) return [];
    const things = await findMade(sqlOf(tx), ids);
    await record(tx, things, { what: "suspended", at, by: { actor, request } });
    for (const projectId of new Set(things.map((thing) => thing.projectId))) {
      const own = things.filter((thing) => thing.projectId === projectId);
      await deps.projects.tellOwners(
        tx,
        suspendedNotice(projectId, own, { why, publicUrl: deps.publicUrl }),
      );
    }
    return things;
  };

const createLinkReader =
  ({ database, clock }: SessionMadeDeps, tokens: ReturnType<typeof createNotMeTokens>) =>
  async (token: string): Promise<DisownedView> => {
    const thing = tokens.read(token, clock.now());
    const maker = thing === null ? null : await readMaker(database.prisma, thing.sessionId);
    if (thing === null || maker === null) throw linkUnknown();
    const sql = sqlOn(database.pool);
    const state = await readThing(sql, thing, thing.projectId);
    const made = await listMadeBy(sql, maker.userId, LIST_MAX);
    const others = made.filter(
      ({ id, sessionId, suspendedAt }) =>
        id !== thing.id && sessionId === maker.id && suspendedAt === null,
    );
    return { thing, state, maker, others };
  };

const restoration = (things: readonly MadeThing[]): Change => ({
  kind: "session_made.restore",
  title: "Let what a session made without a proof work again, and go on when sessions end",
  lines: things.map(({ kind, id, name, projectName, madeAt, userAgent }) => {
    const origin = `made ${madeAt.toISOString()} on ${deviceOf(userAgent)}`;
    return `${KIND_RULES[kind].words} ${quoted(name)} (${id}) of the project ${quoted(projectName)}, ${origin}`;
  }),
  values: things.map(({ kind, id, projectId, name }) => ({ kind, id, projectId, name })),
});

const createRestore = (deps: SessionMadeDeps): SessionMadeService["restore"] => {
  const { database, clock } = deps;

  const checkRights = async (actor: UserActor, things: readonly MadeThing[]): Promise<void> => {
    const memberships = await deps.projects.list(actor.userId);
    for (const { kind, projectId } of things) {
      const role = memberships.find((membership) => membership.projectId === projectId)?.role;
      if (role === undefined) throw notFound();
      if (!roleMay(role, KIND_RULES[kind].permission))
        throw mayNotRestore(KIND_RULES[kind].words);
    }
  };

  return async (actor, { items, approval }) => {
    const ids = [...new Set(items.map(({ id }) => id))];
    const things = await findMade(sqlOn(database.pool), ids);
    const isNamed = (thing: MadeThing): boolean =>
      items.some(({ id, kind }) => id === thing.id && kind === thing.kind);
    if (things.length !== ids.length || !things.every(isNamed)) throw notFound();
    await checkRights(actor, things);
    const approved = await deps.approvals.requireApproval(actor, restoration(things), approval);
    await database.transaction(async (tx) => {
      await approved.consume(tx);
      for (const thing of things)
        if (!(await proveMade(tx, thing, thing.projectId))) throw changedMeanwhile();
      await record(tx, things, {
        what: "restored",
        at: clock.now(),
        by: doneBy(actor),
        data: approved.record,
      });
    });
    return things;
  };
};
