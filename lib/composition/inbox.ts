import { createProjectInbox, type ProjectInboxDeps } from "@/lib/money/inbox/service";
import type { Identity } from "./identity";
import type { Money } from "./money";
import type { Platform } from "./platform";

type Movements = Pick<
  ProjectInboxDeps,
  "payouts" | "schedules" | "deposits" | "privacy" | "parkedJobs"
>;

/**
 * Builds the list of everything that waits for a person. The items come from the services that
 * store them.
 */
export const buildProjectInbox = (
  { clock }: Platform,
  { decisions, contacts, actorNames }: Identity,
  { operations, policyDocuments }: Money,
  movements: Movements,
) =>
  createProjectInbox({
    ...movements,
    decisions,
    contacts,
    actorNames,
    operations,
    policies: policyDocuments,
    clock,
  });
