import type { RequestContext, Role } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import { recordAudit } from "@/lib/news/audit/service";
import type { MailOutbox } from "@/lib/news/mail/service";
import {
  insertProject,
  listMemberships,
  listOwnerEmails,
  projectName,
  type Membership,
} from "./repository";

export type { Membership } from "./repository";

export interface ProjectsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  /** Clock that measures the age of cached memberships. The default clock never goes back. */
  readonly monotonicMs?: () => number;
}

export interface ProjectsService {
  /**
   * The project in which a signed-in person works: the named one, or by default the project that
   * the person joined first. Makes no query when the memberships were read less than a second ago.
   * @throws DomainError `not_found` for a project that does not exist or of which the person is
   * not a member
   */
  resolve(userId: string, projectId: string | null): Promise<ResolvedProject>;
  /** The person's projects, the oldest membership first. */
  list(userId: string): Promise<Membership[]>;
  /** Creates a project in the caller's transaction, with the person as its owner. */
  create(
    tx: Tx,
    project: {
      readonly name: string;
      readonly ownerId: string;
      /**
       * True for a project that is listed last until it is renamed, because the person signed in
       * to join another project.
       */
      readonly placeholder?: boolean;
      readonly request?: RequestContext | null;
    },
  ): Promise<{ projectId: string }>;
  /**
   * Makes the next request to this instance read the person's memberships again. Other instances
   * follow within a second.
   */
  forget(userId: string): void;
  /**
   * Mails every owner of the project who has a verified address, once the caller's transaction is
   * committed. The mail is stored in that transaction, so neither a crash nor an unavailable mail
   * server loses the mail or fails the change.
   */
  tellOwners(tx: Tx, notice: OwnerNotice): Promise<void>;
  /**
   * Like `tellOwners`, for mail to one person about their own account. A person without a project
   * gets no mail.
   */
  tellPerson(tx: Tx, notice: PersonNotice): Promise<void>;
}

export interface ResolvedProject {
  readonly projectId: string;
  readonly role: Role;
}

export interface OwnerNotice {
  readonly projectId: string;
  readonly subject: string;
  /** The text, or a function that creates it from the project's name. */
  readonly text: string | ((projectName: string) => string);
}

export interface PersonNotice {
  readonly userId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const MEMBERSHIPS_MAX = 1000;
const OWNERS_MAX = 1000;

/**
 * The service of projects and memberships. Each instance caches memberships for less than a second.
 */
export const createProjectsService = (deps: ProjectsDeps): ProjectsService => {
  const { database, clock, outbox } = deps;
  const list = (userId: string): Promise<Membership[]> =>
    listMemberships(database.prisma, userId, MEMBERSHIPS_MAX);
  const memberships = createFreshCache<Membership[]>({
    load: list,
    keep: (known) => known.length > 0,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  return {
    resolve: async (userId, projectId) => choose(await memberships.get(userId), projectId),
    list,
    forget: (userId) => memberships.invalidate(userId),
    create: async (tx, { name, ownerId, placeholder = false, request = null }) => {
      const id = newId("project");
      const project = { id, name, ownerId, placeholder, createdAt: clock.now() };
      await insertProject(tx, project);
      const entry = {
        projectId: project.id,
        actor: ownerId,
        subject: project.id,
        request,
        at: project.createdAt,
      };
      await recordAudit(tx, { ...entry, action: "project.created", data: { name } });
      return { projectId: project.id };
    },
    tellOwners: async (tx, { projectId, subject, text }) => {
      const said = typeof text === "string" ? text : text(await projectName(tx, projectId));
      for (const to of await listOwnerEmails(tx, projectId, OWNERS_MAX))
        await outbox.enqueue(tx, projectId, { to, subject, text: said });
    },
    tellPerson: async (tx, { userId, to, subject, text }) => {
      // The outbox stores mail by project, so one of the person's projects is used.
      const [membership] = await listMemberships(tx, userId, 1);
      if (membership) await outbox.enqueue(tx, membership.projectId, { to, subject, text });
    },
  };
};

const choose = (
  memberships: readonly Membership[],
  projectId: string | null,
): ResolvedProject => {
  const found =
    projectId === null
      ? memberships[0]
      : memberships.find((membership) => membership.projectId === projectId);
  if (!found) throw notFound();
  return { projectId: found.projectId, role: found.role };
};
