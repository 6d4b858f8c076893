import { actorName, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { sqlOf, sqlOn, type Sql } from "@/lib/db/sql";
import { doneBy, recordAuditOn, type AuditData } from "@/lib/modules/audit/service";
import { mayReadPrivate } from "@/lib/modules/events/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { WebhookSender } from "@/lib/ports/webhook-sender";
import { createDeliveriesService } from "./deliveries";
import {
  countEndpoints,
  deleteEndpoint,
  disableEndpoint,
  findEndpoint,
  forgetFailures,
  insertEndpoint,
  listEndpoints,
  updateEndpoint,
  type EndpointView,
} from "./endpoint-repository";
import { badUrl, changedMeanwhile, ENDPOINTS_MAX, mayNotChange, needsPrivacyScope, tooManyEndpoints } from "./errors";
import type { LaneKey } from "./lane-repository";
import { disabledNotice } from "./notices";
import { createSigningSecrets, type Keys } from "./secrets";
import type { SecretRow } from "./secret-repository";

export { fanOutEvents } from "./fan-out-repository";
export type { EndpointView } from "./endpoint-repository";
export type { AttemptRow, DeliveryRow } from "./delivery-repository";

export interface WebhooksDeps {
  readonly database: Database;
  readonly keys: Keys;
  readonly sender: WebhookSender;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** An endpoint, and the secrets that sign for it now, without their values. */
export interface Endpoint extends EndpointView {
  readonly secrets: readonly Pick<SecretRow, "id" | "createdAt" | "expiresAt">[];
}

interface EndpointFields {
  readonly url: string;
  readonly events: readonly string[];
  readonly description?: string | null | undefined;
  readonly payload: "full" | "thin";
  readonly includePrivate: boolean;
}

type EndpointChange = {
  readonly [Field in keyof EndpointFields]?: EndpointFields[Field] | undefined;
} & { readonly status?: "active" | "paused" | undefined };

const CONCURRENCY = 10;
const SYSTEM = "webhooks";

/** @throws DomainError `forbidden` */
const mayChange = (actor: Actor): void => {
  if (actor.type === "user" && actor.role !== "owner" && actor.role !== "admin") throw mayNotChange();
};

const checkPrivate = (actor: Actor, includePrivate: boolean): void => {
  if (includePrivate && !mayReadPrivate(actor)) throw needsPrivacyScope();
};

/** Endpoints that a project's events are sent to. They read, and move nothing. */
export const createWebhooksService = (deps: WebhooksDeps) => {
  const { database, sender, clock } = deps;
  const reader = sqlOn(database.pool);
  const secrets = createSigningSecrets({ keys: deps.keys, reader, clock });

  const withSecrets = async (endpoint: EndpointView): Promise<Endpoint> => {
    const key = { projectId: endpoint.projectId, endpointId: endpoint.id };
    return { ...endpoint, secrets: await secrets.current(key) };
  };

  const find = async (projectId: string, id: string): Promise<EndpointView> => {
    const endpoint = isId("webhookEndpoint", id) ? await findEndpoint(reader, projectId, id) : null;
    if (endpoint === null) throw notFound();
    return endpoint;
  };

  const checkUrl = async (url: string): Promise<void> => {
    const problem = await sender.check(url);
    if (problem !== null) throw badUrl(problem);
  };

  const audit = (sql: Sql, actor: Actor, entry: { action: string; id: string; data?: AuditData }): Promise<void> => {
    const { action, id: subject, data = {} } = entry;
    return recordAuditOn(sql, { ...doneBy(actor), action, subject, data, at: clock.now() });
  };

  const create = async (actor: Actor, input: EndpointFields): Promise<{ endpoint: Endpoint; secret: string }> => {
    mayChange(actor);
    checkPrivate(actor, input.includePrivate);
    await checkUrl(input.url);
    const { projectId } = actor;
    const id = newId("webhookEndpoint");
    const { url, payload, includePrivate, description = null } = input;
    const events = [...new Set(input.events)];
    const secret = await database.rawTransaction(async (sql) => {
      // Two at once may both be the last one: the bound keeps the list short, and one more does no harm.
      if ((await countEndpoints(sql, projectId)) >= ENDPOINTS_MAX) throw tooManyEndpoints();
      const own = { projectId, id, url, events, payload, includePrivate, description };
      await insertEndpoint(sql, {
        ...own,
        concurrency: CONCURRENCY,
        createdBy: actorName(actor),
        createdAt: clock.now(),
      });
      await audit(sql, actor, { action: "webhook_endpoint.created", id, data: { url, events, includePrivate } });
      return secrets.replace(sql, { projectId, endpointId: id }, 0);
    });
    return { endpoint: await withSecrets(await find(projectId, id)), secret };
  };

  const update = async (actor: Actor, id: string, change: EndpointChange): Promise<Endpoint> => {
    mayChange(actor);
    const before = await find(actor.projectId, id);
    // Whoever may not read private details must not have them sent to a URL of their choice either.
    const widens = change.includePrivate === true && !before.includePrivate;
    const moves = change.url !== undefined && change.url !== before.url;
    checkPrivate(actor, (widens || moves) && (change.includePrivate ?? before.includePrivate));
    if (change.url !== undefined) await checkUrl(change.url);
    const status = change.status ?? before.status;
    const after = {
      url: change.url ?? before.url,
      events: change.events === undefined ? before.events : [...new Set(change.events)],
      payload: change.payload ?? before.payload,
      includePrivate: change.includePrivate ?? before.includePrivate,
      description: change.description === undefined ? before.description : change.description,
      status,
      disabledReason: status === "disabled" ? before.disabledReason : null,
    };
    await database.rawTransaction(async (sql) => {
      if (!(await updateEndpoint(sql, before, { ...after, at: clock.now() }))) throw changedMeanwhile();
      if (before.status !== "active" && status === "active") await forgetFailures(sql, actor.projectId, id);
      const { url, events, includePrivate } = after;
      await audit(sql, actor, {
        action: "webhook_endpoint.updated",
        id,
        data: { url, events, includePrivate, status },
      });
    });
    return withSecrets(await find(actor.projectId, id));
  };

  const remove = async (actor: Actor, id: string): Promise<{ id: string }> => {
    mayChange(actor);
    const { url } = await find(actor.projectId, id);
    await database.rawTransaction(async (sql) => {
      if (!(await deleteEndpoint(sql, actor.projectId, id))) throw notFound();
      await audit(sql, actor, { action: "webhook_endpoint.deleted", id, data: { url } });
    });
    return { id };
  };

  const rotate = async (
    actor: Actor,
    id: string,
    { overlapHours }: { readonly overlapHours: number },
  ): Promise<{ endpoint: Endpoint; secret: string }> => {
    mayChange(actor);
    const { projectId } = await find(actor.projectId, id);
    const secret = await database.rawTransaction(async (sql) => {
      await audit(sql, actor, { action: "webhook_endpoint.secret_rotated", id, data: { overlapHours } });
      return secrets.replace(sql, { projectId, endpointId: id }, overlapHours);
    });
    return { endpoint: await withSecrets(await find(projectId, id)), secret };
  };

  /** For the worker: ends an endpoint that is gone or has failed for too long, and tells the owners in the same transaction. */
  const disable = ({ projectId, endpointId: id }: LaneKey, reason: "gone" | "failing"): Promise<void> =>
    database.transaction(async (tx) => {
      const at = clock.now();
      const sql = sqlOf(tx);
      if (!(await disableEndpoint(sql, { projectId, id, reason, at }))) return;
      const endpoint = await findEndpoint(sql, projectId, id);
      if (endpoint === null) return;
      const entry = { projectId, actor: SYSTEM, action: "webhook_endpoint.disabled", subject: id };
      await recordAuditOn(sql, { ...entry, data: { url: endpoint.url, reason }, at });
      await deps.projects.tellOwners(tx, disabledNotice({ endpoint, reason, publicUrl: deps.publicUrl }));
    });

  return {
    create,
    /** @throws DomainError `not_found` */
    get: async (projectId: string, id: string): Promise<Endpoint> => withSecrets(await find(projectId, id)),
    /** Oldest first. */
    list: async (projectId: string): Promise<Endpoint[]> =>
      Promise.all((await listEndpoints(reader, projectId)).map(withSecrets)),
    update,
    remove,
    rotate,
    disable,
    /** In clear, those that sign now; for the worker alone. */
    secretsOf: secrets.open,
    deliveries: createDeliveriesService({ database, clock, find, mayChange }),
  };
};

export type WebhooksService = ReturnType<typeof createWebhooksService>;
