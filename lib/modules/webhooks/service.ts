import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import { sqlOf, sqlOn } from "@/lib/db/sql";
import { recordAuditOn } from "@/lib/modules/audit/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { WebhookSender } from "@/lib/ports/webhook-sender";
import { createDeliveriesService } from "./deliveries";
import { disabledNotice } from "./disabled-notice";
import type { EndpointKey } from "./due-delivery-repository";
import {
  createEndpoint,
  findOwn,
  mayChange,
  removeEndpoint,
  rotateSecret,
  updateEndpointFields,
  withSecrets,
  type Endpoint,
  type EndpointChange,
  type EndpointChangesDeps,
  type EndpointFields,
} from "./endpoint-changes";
import { disableEndpoint, findEndpoint, listEndpoints } from "./endpoint-repository";
import { createSigningSecrets, type Keys } from "./secrets";

export type { Endpoint } from "./endpoint-changes";
export { fanOutEvents } from "./fan-out-repository";
export type { EndpointView } from "./endpoint-repository";
export type { Attempt, Delivery } from "./delivery";

export interface WebhooksDeps {
  readonly database: Database;
  readonly keys: Keys;
  readonly sender: WebhookSender;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const SYSTEM = "webhooks";

/** Disables an endpoint that is gone or has failed for too long, and mails the owners in the same transaction. */
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
    const entry = { projectId, actor: SYSTEM, action: "webhook_endpoint.disabled", subject: id };
    await recordAuditOn(sql, { ...entry, data: { url: endpoint.url, reason }, request: null, at });
    await deps.projects.tellOwners(tx, disabledNotice({ endpoint, reason, publicUrl: deps.publicUrl }));
  });

/** Endpoints that a project's events are sent to. They read, and move nothing. */
export const createWebhooksService = (deps: WebhooksDeps) => {
  const { database, sender, clock } = deps;
  const reader = sqlOn(database.pool);
  const secrets = createSigningSecrets({ keys: deps.keys, reader, clock });
  const changes: EndpointChangesDeps = { database, reader, secrets, sender, clock };

  return {
    /** @returns the endpoint and its signing secret, which is shown this once. @throws DomainError `forbidden`, `invalid_request`, `limit_exceeded` */
    create: (actor: Actor, input: EndpointFields) => createEndpoint(changes, actor, input),
    /** @throws DomainError `not_found` */
    get: async (projectId: string, id: string): Promise<Endpoint> =>
      withSecrets(changes, await findOwn(changes, projectId, id)),
    /** Oldest first. */
    list: async (projectId: string): Promise<Endpoint[]> =>
      Promise.all((await listEndpoints(reader, projectId)).map((endpoint) => withSecrets(changes, endpoint))),
    /** @throws DomainError `not_found`, `forbidden`, `invalid_request`, `invalid_state` when it was changed meanwhile */
    update: (actor: Actor, id: string, change: EndpointChange) => updateEndpointFields(changes, actor, id, change),
    /** Ends the endpoint; what was not delivered is not sent any more. @throws DomainError `not_found`, `forbidden` */
    remove: (actor: Actor, id: string) => removeEndpoint(changes, actor, id),
    /** Gives the endpoint a new secret; the old one signs too for `overlapHours`. @throws DomainError `not_found`, `forbidden` */
    rotate: (actor: Actor, id: string, overlap: { readonly overlapHours: number }) =>
      rotateSecret(changes, actor, id, overlap),
    /** For the worker. Does nothing when the endpoint is not active any more. */
    disable: (endpoint: EndpointKey, reason: "gone" | "failing") => disableDead(deps, endpoint, reason),
    /** The secrets that sign now, decrypted; for the worker alone. */
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
