/** One list of everything in a project that waits for a person, read from the modules. */
import { adviceOfProof, adviceOfVotes } from "@/lib/core/approval-advice";
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { titleAmount } from "@/lib/core/amount-text";
import { formatAmount } from "@/lib/core/money";
import { operationTitle } from "@/lib/core/titles";
import { roleMay } from "@/lib/core/permissions";
import { quoted } from "@/lib/trust/proofs/service";
import type { ContactsService } from "@/lib/books/contacts/service";
import type { DepositsService } from "@/lib/money/deposits/service";
import type { DecisionsService, DecisionView } from "@/lib/trust/decisions/service";
import {
  isInDoubt,
  mayOf as mayOfPayout,
  type PayoutsService,
  type PayoutView,
} from "@/lib/money/payouts/service";
import {
  isPrivateKind,
  mayOf,
  mayRetry,
  type Operation,
  type OperationsService,
} from "@/lib/money/operations/service";
import type { INBOX_KINDS } from "@/lib/contracts/inbox";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import type { ActorNames } from "@/lib/news/audit/service";
import {
  counted,
  type Movement,
  movementOfOperation,
  movementOfPayout,
  movementOfSchedule,
} from "./movement";

export interface InboxItem {
  readonly kind: (typeof INBOX_KINDS)[number];
  readonly id: string;
  readonly title: string;
  readonly toDo: string;
  /** Whether the person who reads the inbox may act on the item. */
  readonly mine: boolean;
  readonly by: string | null;
  /** The name of the person or API key that asked; null when the service did. */
  readonly byName: string | null;
  /** The movement that the item is about; null for items about something else. */
  readonly movement: Movement | null;
  /** The votes on the item so far; null when nobody votes on the item. */
  readonly votes: { readonly approvals: number; readonly required: number } | null;
  readonly since: Date;
  readonly until: Date | null;
  /** Path of the item's page in the dashboard. */
  readonly path: string;
}

/** An item before the names of the people and keys are read. */
type UnnamedItem = Omit<InboxItem, "byName">;

/** The fields of a parked job that the inbox shows. */
interface StoppedJob {
  readonly id: string;
  readonly failures: number;
  readonly parkedAt: Date;
}

/** The fields of a payout schedule that the inbox shows. */
interface ScheduleSummary {
  readonly schedule: {
    readonly id: string;
    readonly status: string;
    readonly suspendedAt: Date | null;
    readonly rows: number;
    readonly totals: Parameters<typeof movementOfSchedule>[0]["totals"];
    readonly chainId: number;
    readonly reference: string | null;
    readonly createdBy: string;
    readonly createdAt: Date;
  };
}

export interface ProjectInboxDeps {
  readonly decisions: Pick<DecisionsService, "list" | "requirementOf">;
  readonly actorNames: ActorNames;
  readonly operations: Pick<OperationsService, "listFor">;
  readonly payouts: Pick<PayoutsService, "list">;
  readonly schedules: {
    list(
      projectId: string,
      query: { readonly status: readonly ["awaiting_approval"]; readonly limit: number },
    ): Promise<{ readonly data: readonly ScheduleSummary[] }>;
  };
  readonly deposits: Pick<DepositsService, "quarantined">;
  readonly contacts: Pick<ContactsService, "proposed">;
  readonly privacy: {
    ofOperations(
      projectId: string,
      operationIds: readonly string[],
    ): Promise<ReadonlyMap<string, { readonly id: string }>>;
  };
  readonly policies: {
    list(projectId: string): Promise<readonly { readonly rules: PolicyRules }[]>;
  };
  readonly parkedJobs: { list(actor: UserActor): Promise<readonly StoppedJob[]> };
  readonly clock: Clock;
}

const LISTED_MAX = 100;
/**
 * Milliseconds for which a failure stays in the inbox. Older failures are only listed on the pages
 * of operations and payouts.
 */
const FAILED_MS = 7 * 24 * 3_600_000;

const titleOfOperation = ({ kind, request: { sources } }: Operation): string =>
  operationTitle({ kind, sources });

/** Adds the reference, which is the name that the maker gave to the payout or schedule. */
const withReference = (word: string, reference: string | null): string =>
  reference === null ? word : `${word} “${reference}”`;

const titleOfPayout = ({ payout }: PayoutView): string => {
  const name = withReference("Payout", payout.reference);
  return `${name} to ${counted(payout.itemsTotal, payout.kind === "wallets" ? "wallet" : "account")}`;
};

const ofDecision = (
  actor: UserActor,
  { request, approvals, mayDecide }: DecisionView,
  movement: Movement | null,
): UnnamedItem => {
  const votes = { approvals, required: request.required.count };
  const toDo = adviceOfVotes({
    ...votes,
    mayDecide,
    hasVoted: request.votes.some(({ userId }) => userId === actor.userId),
    isMaker: request.makerUserId === actor.userId,
  });
  return {
    kind: "decision",
    id: request.id,
    title: request.title,
    toDo,
    mine: mayDecide,
    by: request.maker,
    movement,
    votes,
    since: request.createdAt,
    until: request.expiresAt,
    path: `/inbox/${request.id}`,
  };
};

/** Placeholder for the page of a private operation until its `tr_` id is read. */
const PRIVATE_PAGE = "/private";

const pathOfOperation = ({ id, kind }: Operation): string =>
  isPrivateKind(kind) ? PRIVATE_PAGE : `/activity/${id}`;

type Row = Omit<UnnamedItem, "kind" | "toDo" | "mine" | "until">;

const rowOfOperation = (operation: Operation): Row => ({
  id: operation.id,
  title: titleOfOperation(operation),
  by: operation.createdBy,
  movement: movementOfOperation(operation),
  votes: null,
  since: operation.createdAt,
  path: pathOfOperation(operation),
});

const rowOfPayout = (view: PayoutView): Row => ({
  id: view.payout.id,
  title: titleOfPayout(view),
  by: view.payout.createdBy,
  movement: movementOfPayout(view),
  votes: null,
  since: view.payout.createdAt,
  path: `/payouts/${view.payout.id}`,
});

const rowOfSchedule = ({ schedule }: ScheduleSummary): Row => {
  const { id, rows, reference, createdBy, createdAt } = schedule;
  return {
    id,
    title: `${withReference("Scheduled payout", reference)} to ${counted(rows, "wallet")}`,
    by: createdBy,
    movement: movementOfSchedule(schedule),
    votes: null,
    since: createdAt,
    path: `/payouts/schedules/${id}`,
  };
};

/**
 * Lists objects that wait for an approval. An object on which people vote is listed only as its
 * request for votes.
 */
const waiting = async (deps: ProjectInboxDeps, actor: UserActor): Promise<UnnamedItem[]> => {
  const { projectId, role } = actor;
  const pending = { status: ["pending" as const], limit: LISTED_MAX };
  const [decisions, operations, payouts, schedules, setting] = await Promise.all([
    deps.decisions.list(actor, { state: "open", limit: LISTED_MAX }),
    deps.operations.listFor(actor, pending),
    deps.payouts.list(projectId, pending),
    deps.schedules.list(projectId, { status: ["awaiting_approval"], limit: LISTED_MAX }),
    deps.decisions.requirementOf(projectId),
  ]);
  const voted = new Set(decisions.data.map(({ request }) => request.subject.id));
  const movements = new Map([
    ...operations.data.map((one) => [one.id, movementOfOperation(one)] as const),
    ...payouts.data.map((view) => [view.payout.id, movementOfPayout(view)] as const),
  ]);
  const mine = roleMay(role, "money:move");
  const adviceIf = (needsVotes: boolean) => ({
    toDo: adviceOfProof({ mayMove: mine, needsVotes }),
    mine,
  });
  const common = adviceIf(setting !== null);
  const open = [
    ...operations.data
      .filter((operation) => mayOf(operation).approve)
      .map((one) => ({
        ...common,
        ...rowOfOperation(one),
        kind: "operation" as const,
        until: one.expiresAt,
      })),
    ...payouts.data
      .filter((view) => mayOfPayout(view).approve)
      .map((view) => ({
        ...common,
        ...rowOfPayout(view),
        kind: "payout" as const,
        until: view.payout.expiresAt,
      })),
    ...schedules.data
      .filter(({ schedule }) => schedule.suspendedAt === null)
      .map((view) => ({
        // One person approves the schedule itself. Votes are requested only for its runs.
        ...adviceIf(false),
        ...rowOfSchedule(view),
        kind: "schedule" as const,
        until: null,
      })),
  ];
  return [
    ...decisions.data.map((view) =>
      ofDecision(actor, view, movements.get(view.request.subject.id) ?? null),
    ),
    ...open.filter(({ id }) => !voted.has(id)),
  ];
};

/**
 * Lists payouts with rows whose payment is in doubt, until somebody has decided about each row.
 */
const doubtful = (actor: UserActor, views: readonly PayoutView[]): UnnamedItem[] => {
  const mine = roleMay(actor.role, "policies:manage");
  return views.filter(isInDoubt).map((view) => ({
    ...rowOfPayout(view),
    kind: "doubt",
    title: `Was it paid? ${titleOfPayout(view)}`,
    toDo: `This payment is in doubt. Do not pay it again before ${mine ? "you have decided: let the service check the chain" : "an owner or an admin has decided"}.`,
    path: `/payouts/${view.payout.id}#doubt`,
    ...{ mine, by: null, since: view.payout.updatedAt, until: null },
  }));
};

const failedAs = async (
  deps: ProjectInboxDeps,
  actor: UserActor,
  status: "failed" | "partially_completed",
): Promise<UnnamedItem[]> => {
  const query = { status: [status], limit: LISTED_MAX };
  const [operations, payouts] = await Promise.all([
    deps.operations.listFor(actor, query),
    deps.payouts.list(actor.projectId, query),
  ]);
  const common = {
    kind: "failure",
    mine: roleMay(actor.role, "money:move"),
    by: null,
    until: null,
  } as const;
  const words = status === "failed" ? "failed" : "was completed in part";
  const failures = [
    ...operations.data.filter(mayRetry).map((operation) => ({
      ...rowOfOperation(operation),
      ...common,
      title: `${titleOfOperation(operation)} ${words}`,
      toDo: "Read where the money is, and try again what failed.",
      since: operation.updatedAt,
    })),
    ...payouts.data
      .filter((view) => mayOfPayout(view).retry && !isInDoubt(view))
      .map((view) => ({
        ...rowOfPayout(view),
        ...common,
        title: `${titleOfPayout(view)} ${words}`,
        toDo: `Read why, and try ${counted(view.payout.itemsFailed, "failed row")} again.`,
        since: view.payout.updatedAt,
      })),
  ];
  const after = new Date(deps.clock.now().getTime() - FAILED_MS);
  return [...doubtful(actor, payouts.data), ...failures.filter(({ since }) => since > after)];
};

const failed = async (deps: ProjectInboxDeps, actor: UserActor): Promise<UnnamedItem[]> => {
  const lists = await Promise.all([
    failedAs(deps, actor, "failed"),
    failedAs(deps, actor, "partially_completed"),
  ]);
  return lists.flat();
};

const quarantined = async (
  deps: ProjectInboxDeps,
  actor: UserActor,
): Promise<UnnamedItem[]> => {
  const mine = roleMay(actor.role, "deposits:release");
  return (await deps.deposits.quarantined(actor.projectId, LISTED_MAX)).map(
    ({ deposit, token }) => ({
      kind: "deposit",
      id: deposit.id,
      title: `Deposit of ${titleAmount(deposit.amountBase, token)} in quarantine`,
      toDo: mine
        ? "Look at who sent it, and release it or leave it there."
        : "It waits for an owner or an admin.",
      mine,
      by: null,
      movement: {
        kind: "Deposit",
        amounts: [
          { amount: formatAmount(deposit.amountBase, token.decimals), symbol: token.symbol },
        ],
        chainId: token.chainId,
        recipient: null,
        reference: null,
      },
      votes: null,
      since: deposit.detectedAt,
      until: null,
      path: `/activity/${deposit.id}`,
    }),
  );
};

const COMPARE_CONTACT = "Compare the address, and approve or delete the contact.";

/**
 * Lists proposed contacts only if a policy requires an approval for contacts. Without such a
 * policy, the contacts can be paid without an approval.
 */
const proposed = async (deps: ProjectInboxDeps, actor: UserActor): Promise<UnnamedItem[]> => {
  const policies = await deps.policies.list(actor.projectId);
  const isAsked = policies.some(
    ({ rules }) =>
      rules.recipients === "approved_contacts" || rules.newRecipientHours !== undefined,
  );
  if (!isAsked) return [];
  const mine = roleMay(actor.role, "policies:manage");
  return (await deps.contacts.proposed(actor, LISTED_MAX)).map((contact) => ({
    kind: "contact",
    id: contact.id,
    title: `Contact ${quoted(contact.name)} is proposed`,
    toDo: [
      ...contact.warnings.map(({ message }) => message),
      mine ? COMPARE_CONTACT : "It waits for an owner or an admin.",
    ].join(" "),
    mine,
    by: contact.proposedBy,
    movement: null,
    votes: null,
    since: contact.proposedAt,
    until: null,
    path: `/contacts?q=${contact.address}`,
  }));
};

const unclearRefunds = async (
  deps: ProjectInboxDeps,
  actor: UserActor,
): Promise<UnnamedItem[]> => {
  const query = {
    status: ["processing" as const],
    subStatus: "needs_attention",
    limit: LISTED_MAX,
  };
  return (await deps.operations.listFor(actor, query)).data.map((operation) => ({
    ...rowOfOperation(operation),
    kind: "refund",
    title: `Decide about the refund: ${titleOfOperation(operation)}`,
    toDo: "The chains do not show for certain whether the money is back. Look, and decide.",
    mine: roleMay(actor.role, "money:move"),
    by: null,
    since: operation.updatedAt,
    until: null,
  }));
};

/** Lists jobs that stopped after too many failures, for people who may resume them. */
const stopped = async (deps: ProjectInboxDeps, actor: UserActor): Promise<UnnamedItem[]> => {
  if (!roleMay(actor.role, "members:manage")) return [];
  return (await deps.parkedJobs.list(actor)).map((job) => ({
    kind: "stopped_work",
    id: job.id,
    title: `The service stopped trying after ${String(job.failures)} failures`,
    toDo: "Read the reason in the settings, and let the service try again.",
    mine: true,
    by: null,
    movement: null,
    votes: null,
    since: job.parkedAt,
    until: null,
    path: "/settings/stopped-work",
  }));
};

/**
 * Replaces the placeholder paths of private operations by the paths of their pages, with one query.
 */
const withPrivatePages = async (
  { privacy }: ProjectInboxDeps,
  projectId: string,
  items: readonly UnnamedItem[],
): Promise<UnnamedItem[]> => {
  const ids = items.filter(({ path }) => path === PRIVATE_PAGE).map(({ id }) => id);
  const transfers = await privacy.ofOperations(projectId, ids);
  return items.map((item) => {
    const transfer = item.path === PRIVATE_PAGE ? transfers.get(item.id) : undefined;
    return transfer === undefined ? item : { ...item, path: `${PRIVATE_PAGE}/${transfer.id}` };
  });
};

/** Adds the names of the people and API keys that asked, with one query. */
const withNames = async (
  { actorNames }: ProjectInboxDeps,
  projectId: string,
  items: readonly UnnamedItem[],
): Promise<InboxItem[]> => {
  const names = await actorNames.of(
    projectId,
    items.flatMap(({ by }) => by ?? []),
  );
  return items.map((item) => ({
    ...item,
    byName: item.by === null ? null : (names.get(item.by) ?? null),
  }));
};

/** The service of a project's inbox. The inbox stores nothing: each module lists its items. */
export const createProjectInbox = (deps: ProjectInboxDeps) => ({
  /**
   * Lists everything in the project that waits for a person, at most a hundred items of each kind.
   * Items on which the person may act come first; otherwise the newest come first.
   */
  list: async (actor: UserActor): Promise<readonly InboxItem[]> => {
    const parts = await Promise.all([
      waiting(deps, actor),
      quarantined(deps, actor),
      unclearRefunds(deps, actor),
      proposed(deps, actor),
      failed(deps, actor),
      stopped(deps, actor),
    ]);
    const items = await withPrivatePages(deps, actor.projectId, parts.flat());
    return (await withNames(deps, actor.projectId, items)).sort(
      (a, b) => Number(b.mine) - Number(a.mine) || b.since.getTime() - a.since.getTime(),
    );
  },
});
