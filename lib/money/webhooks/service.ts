import { type ApprovalsService, quoted } from "@/lib/trust/proofs/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import {
  disableEndpoint,
  disableEndpointOfMaker,
  findEndpoint,
  listEndpoints,
  listEndpointsMadeBy,
} from "./repository";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { type ListPage, type ListQuery, pageOf } from "@/lib/core/list-place";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import { doneBy, recordAuditOn } from "@/lib/news/audit/service";
import type { SessionMadeService } from "@/lib/trust/session-made/service";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import { createDeliveriesService } from "./deliveries";
import type { EndpointKey, EndpointView } from "./rows";
import {
  createEndpoint,
  createSigningSecrets,
  type Endpoint,
  type EndpointChange,
  type EndpointChangesDeps,
  type EndpointFields,
  findOwn,
  type Keys,
  mayChange,
  removeEndpoint,
  rotateSecret,
  type SecretRotation,
  updateEndpointFields,
  withSecrets,
} from "./endpoint-changes";

const WHY = {
  gone: "it answered 410 Gone, which says that nothing should be sent there any more",
  failing: "every attempt of the last five days failed",
} as const;

const disabledNotice = (told: {
  readonly endpoint: EndpointView;
  readonly reason: keyof typeof WHY;
  readonly publicUrl: string;
}): OwnerNotice => {
  const { endpoint, reason, publicUrl } = told;
  return {
    projectId: endpoint.projectId,
    subject: "A webhook endpoint was disabled",
    text: (project) =>
      [
        `A webhook endpoint of your project ${quoted(project)} at ${publicUrl} was disabled, because ${WHY[reason]}:`,
        "",
        ...(endpoint.description === null ? [] : [`- Name: ${quoted(endpoint.description)}`]),
        `- URL: ${endpoint.url}`,
        `- Id: ${endpoint.id}`,
        "",
        `Nothing is lost. Set it to active again at ${publicUrl}/webhooks, then replay the events that it missed; GET ${publicUrl}/api/events lists them.`,
      ].join("\n"),
  };
};

export type { Endpoint } from "./endpoint-changes";
export { FAILING_MAX_MS, retryAfterMs } from "./rules";
export { fanOutEvents } from "./fan-out-repository";
export type { Attempt, Delivery, EndpointView } from "./rows";

interface WebhooksDeps {
  readonly database: Database;
  readonly keys: Keys;
  readonly sender: WebhookSender;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly sessionMade: Pick<SessionMadeService, "makerOf" | "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const SYSTEM = "webhooks";

/**
 * Disables the endpoints that one of these people or API keys made, in the caller's transaction. An
 * owner or admin may activate them again.
 */
const disableEndpointsMadeBy = async (
  tx: Tx,
  actor: Actor,
  { makers, at }: { readonly makers: readonly string[]; readonly at: Date },
): Promise<void> => {
  const { projectId } = actor;
  const sql = sqlOf(tx);
  for (const { id, url } of await listEndpointsMadeBy(sql, { projectId, makers })) {
    if (!(await disableEndpointOfMaker(sql, { projectId, id, at }))) continue;
    const entry = { ...doneBy(actor), action: "webhook_endpoint.disabled", subject: id, at };
    await recordAuditOn(sql, { ...entry, data: { url, reason: "maker_left" } });
  }
};

/** Lists and disables the endpoints of a person who leaves the project or gets a lower role. */
export const endpointsOfMembers = {
  list: (
    db: Queryable,
    by: { readonly projectId: string; readonly makers: readonly string[] },
  ) => listEndpointsMadeBy(sqlOf(db), by),
  stop: disableEndpointsMadeBy,
};

/**
 * Disables an endpoint that is gone or has failed for too long, and mails the owners in the same
 * transaction.
 */
const disableDead = (
  deps: WebhooksDeps,
  { projectId, endpointId: id }: EndpointKey,
  reason: "gone" | "failing",
): Promise<void> =>
  deps.database.transaction(async (tx) => {
    const at = deps.clock.now();
    const sql = sqlOf(tx);
    if (!(await disableEndpoint(sql, { projectId, id, reason, at }))) return;
    const endpoint = await findEndpoint(sql, projectId, id);
    if (endpoint === null) return;
    const entry = {
      projectId,
      actor: SYSTEM,
      action: "webhook_endpoint.disabled",
      subject: id,
    };
    await recordAuditOn(sql, {
      ...entry,
      data: { url: endpoint.url, reason },
      request: null,
      at,
    });
    await deps.projects.tellOwners(
      tx,
      disabledNotice({ endpoint, reason, publicUrl: deps.publicUrl }),
    );
  });

/** Endpoints to which a project's events are sent. They only receive data and move no money. */
export const createWebhooksService = (deps: WebhooksDeps) => {
  const { database, sender, clock } = deps;
  const reader = sqlOn(database.pool);
  const secrets = createSigningSecrets({ keys: deps.keys, reader, clock });
  const { approvals, projects, publicUrl, sessionMade } = deps;
  const changes: EndpointChangesDeps = {
    database,
    reader,
    secrets,
    sender,
    approvals,
    projects,
    sessionMade,
    publicUrl,
    clock,
  };

  return {
    /**
     * Creates an endpoint.
     * @returns the endpoint and its signing secret, which is shown only this once
     * @throws DomainError `forbidden`, `insufficient_scope`, `invalid_request`, `invalid_state`
     */
    create: (actor: Actor, input: EndpointFields) => createEndpoint(changes, actor, input),
    /**
     * The project's endpoint with this id.
     * @throws DomainError `not_found`
     */
    get: async (projectId: string, id: string): Promise<Endpoint> =>
      withSecrets(changes, await findOwn(changes, projectId, id)),
    /** The project's endpoints, oldest first. */
    list: async (
      projectId: string,
      { limit, cursor }: ListQuery,
    ): Promise<ListPage<Endpoint>> => {
      const rows = await listEndpoints(reader, projectId, {
        limit: limit + 1,
        after: cursor ?? null,
      });
      const { data, nextCursor } = pageOf(rows, limit, ({ id }) => id);
      return {
        data: await Promise.all(data.map((endpoint) => withSecrets(changes, endpoint))),
        nextCursor,
      };
    },
    /**
     * Changes an endpoint. Another URL, or private details that the endpoint did not get before,
     * need a person's approval.
     * @throws DomainError `not_found`, `forbidden`, `invalid_request`, `invalid_state` when the
     * endpoint was changed meanwhile, `approval_required`
     */
    update: (actor: Actor, id: string, change: EndpointChange) =>
      updateEndpointFields(changes, actor, id, change),
    /**
     * Deletes the endpoint; pending deliveries are not sent any more.
     * @throws DomainError `not_found`, `forbidden`
     */
    remove: (actor: Actor, id: string) => removeEndpoint(changes, actor, id),
    /**
     * Gives the endpoint a new secret; the old one continues to sign for `overlapHours`. Needs a
     * person's approval.
     * @throws DomainError `not_found`, `forbidden`, `approval_required`
     */
    rotate: (actor: Actor, id: string, rotation: SecretRotation) =>
      rotateSecret(changes, actor, id, rotation),
    /**
     * Disables an endpoint after failures; only for the worker. Does nothing when the endpoint is
     * no longer active.
     */
    disable: (endpoint: EndpointKey, reason: "gone" | "failing") =>
      disableDead(deps, endpoint, reason),
    /** The current signing secrets, decrypted; only for the worker. */
    secretsOf: secrets.open,
    deliveries: createDeliveriesService({
      database,
      clock,
      find: (projectId, id) => findOwn(changes, projectId, id),
      mayChange,
    }),
  };
};

export type WebhooksService = ReturnType<typeof createWebhooksService>;
