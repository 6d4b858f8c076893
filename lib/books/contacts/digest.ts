/** A daily mail to a project's owners about contacts that were proposed since the previous mail. */
import { type Clock, nextDaily } from "@/lib/core/clock";
import type { Database, Tx } from "@/lib/platform/db/client";
import { quoted } from "@/lib/trust/proofs/service";
import { endJob, insertJobOnce, type JobResult, lockJob } from "@/lib/platform/jobs/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import type { Contact } from "./rows";
import { takeUntold } from "./repository";

const DIGEST_QUEUE = "contact_digest";

const jobIdOf = (projectId: string): string => `${projectId}/contact-digest`;

/**
 * Schedules the next daily mail to the owners. The mail is sent only if it would list proposed
 * contacts that no earlier mail has listed. Call this before locking a contact, because it locks
 * the project's job until the transaction ends. So a concurrent run of the job either sees the
 * change or starts after it.
 */
export const requestDigest = (tx: Tx, projectId: string, now: Date): Promise<void> =>
  insertJobOnce(tx, { id: jobIdOf(projectId), queue: DIGEST_QUEUE, runAt: nextDaily(now) });

const LISTED_MAX = 50;

const counted = (count: number): string =>
  count === 1 ? "1 contact waits" : `${String(count)} contacts wait`;

const lineOf = ({ name, address, proposedBy, proposedAt }: Contact): string =>
  `- ${quoted(name)}, ${address}, proposed by ${proposedBy} on ${proposedAt.toISOString()}`;

const digestNotice = (
  projectId: string,
  contacts: readonly Contact[],
  publicUrl: string,
): OwnerNotice => ({
  projectId,
  subject: `${counted(contacts.length)} for approval`,
  text: (project) => {
    const more = contacts.length - LISTED_MAX;
    return [
      `In your project ${quoted(project)} at ${publicUrl}, these contacts are new, or got another name or other chains:`,
      "",
      ...contacts.slice(0, LISTED_MAX).map(lineOf),
      ...(more > 0 ? [`- and ${String(more)} more`] : []),
      "",
      "Nobody has approved them: their names are not shown where people approve payments, and a policy that asks for approved contacts does not pay them.",
      `Compare each whole address with whom it belongs to, then approve or delete the contact: ${publicUrl}/contacts`,
    ].join("\n");
  },
});

interface DigestDeps {
  readonly database: Database;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/**
 * Runs the job. Each contact is marked once, so instances that run the job at the same time send
 * one mail.
 */
export const createContactDigest = ({ database, projects, publicUrl, clock }: DigestDeps) => ({
  run: (jobId: string): Promise<JobResult> =>
    database.transaction(async (tx) => {
      await lockJob(tx, jobId);
      const [projectId = ""] = jobId.split("/");
      const now = clock.now();
      const contacts = await takeUntold(tx, projectId, now);
      if (contacts.length === 0) {
        await endJob(tx, jobId);
        return { done: true, isRemoved: true };
      }
      await projects.tellOwners(tx, digestNotice(projectId, contacts, publicUrl));
      // The job waits until the next mail is due, so that later proposals are in that mail.
      return { done: false, againInMs: nextDaily(now).getTime() - now.getTime() };
    }),
});
