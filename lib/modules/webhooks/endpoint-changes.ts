import { actorName, mayReadPrivate, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/db/client";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { doneBy, recordAuditOn, replaced, type AuditData } from "@/lib/modules/audit/service";
import type { WebhookSender } from "@/lib/ports/webhook-sender";
import {
  countEndpoints,
  deleteEndpoint,
  findEndpoint,
  forgetFailures,
  insertEndpoint,
  updateEndpoint,
  type EndpointView,
} from "./endpoint-repository";
import { badUrl, changedMeanwhile, ENDPOINTS_MAX, needsPrivacyScope, tooManyEndpoints } from "./errors";
import type { SecretRow } from "./secret-repository";
import type { SigningSecrets } from "./secrets";

export interface EndpointChangesDeps {
  readonly database: Database;
  readonly reader: SqlReader;
  readonly secrets: SigningSecrets;
  readonly sender: WebhookSender;
  readonly clock: Clock;
}

/** An endpoint, and the secrets that sign for it now, without their values. */
export interface Endpoint extends EndpointView {
  readonly secrets: readonly Pick<SecretRow, "id" | "createdAt" | "expiresAt">[];
}

export interface EndpointFields {
  readonly url: string;
  readonly events: readonly string[];
  readonly description?: string | null | undefined;
  readonly payload: "full" | "thin";
  readonly includePrivate: boolean;
}

export type EndpointChange = {
  readonly [Field in keyof EndpointFields]?: EndpointFields[Field] | undefined;
} & { readonly status?: "active" | "paused" | undefined };

/** Parallel requests to one endpoint. */
const CONCURRENCY = 10;

/** @throws DomainError `forbidden` */
export const mayChange = (actor: Actor): void => requirePermission(actor, "webhooks:manage");

const checkPrivate = (actor: Actor, includePrivate: boolean): void => {
  if (includePrivate && !mayReadPrivate(actor)) throw needsPrivacyScope();
};

export const withSecrets = async (deps: EndpointChangesDeps, endpoint: EndpointView): Promise<Endpoint> => {
  const key = { projectId: endpoint.projectId, endpointId: endpoint.id };
  return { ...endpoint, secrets: await deps.secrets.current(key) };
};

/** @throws DomainError `not_found`, also for an endpoint of another project */
export const findOwn = async (
  deps: Pick<EndpointChangesDeps, "reader">,
  projectId: string,
  id: string,
): Promise<EndpointView> => {
  const endpoint = isId("webhookEndpoint", id) ? await findEndpoint(deps.reader, projectId, id) : null;
  if (endpoint === null) throw notFound();
  return endpoint;
};

const checkUrl = async (deps: EndpointChangesDeps, url: string): Promise<void> => {
  const problem = await deps.sender.check(url);
  if (problem !== null) throw badUrl(problem);
};

const audit = (
  deps: EndpointChangesDeps,
  { sql, actor }: { readonly sql: Sql; readonly actor: Actor },
  { action, id: subject, data = {} }: { readonly action: string; readonly id: string; readonly data?: AuditData },
): Promise<void> => recordAuditOn(sql, { ...doneBy(actor), action, subject, data, at: deps.clock.now() });

/** @returns the endpoint and its signing secret, which is shown this once. @throws DomainError `forbidden`, `invalid_request`, `limit_exceeded` */
export const createEndpoint = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  input: EndpointFields,
): Promise<{ endpoint: Endpoint; secret: string }> => {
  mayChange(actor);
  checkPrivate(actor, input.includePrivate);
  await checkUrl(deps, input.url);
  const { projectId } = actor;
  const id = newId("webhookEndpoint");
  const { url, payload, includePrivate, description = null } = input;
  const events = [...new Set(input.events)];
  const secret = await deps.database.rawTransaction(async (sql) => {
    // Two at once may both be the last one: the bound keeps the list short, and one more does no harm.
    if ((await countEndpoints(sql, projectId)) >= ENDPOINTS_MAX) throw tooManyEndpoints();
    const own = { projectId, id, url, events, payload, includePrivate, description };
    await insertEndpoint(sql, {
      ...own,
      concurrency: CONCURRENCY,
      createdBy: actorName(actor),
      createdAt: deps.clock.now(),
    });
    await audit(
      deps,
      { sql, actor },
      { action: "webhook_endpoint.created", id, data: { url, events, includePrivate } },
    );
    return deps.secrets.replace(sql, { projectId, endpointId: id }, 0);
  });
  return { endpoint: await withSecrets(deps, await findOwn(deps, projectId, id)), secret };
};

const auditedFields = ({
  url,
  events,
  includePrivate,
  status,
}: Pick<EndpointView, "url" | "events" | "includePrivate" | "status">) => ({ url, events, includePrivate, status });

/** @throws DomainError `not_found`, `forbidden`, `invalid_request`, `invalid_state` when it was changed meanwhile */
export const updateEndpointFields = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> => {
  mayChange(actor);
  const before = await findOwn(deps, actor.projectId, id);
  // An actor without privacy:read must not direct private details to a URL of its choice.
  const widens = change.includePrivate === true && !before.includePrivate;
  const moves = change.url !== undefined && change.url !== before.url;
  checkPrivate(actor, (widens || moves) && (change.includePrivate ?? before.includePrivate));
  if (change.url !== undefined) await checkUrl(deps, change.url);
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
  await deps.database.rawTransaction(async (sql) => {
    if (!(await updateEndpoint(sql, before, { ...after, at: deps.clock.now() }))) throw changedMeanwhile();
    if (before.status !== "active" && status === "active") await forgetFailures(sql, actor.projectId, id);
    const data = { ...auditedFields(after), ...replaced(auditedFields(before), auditedFields(after)) };
    await audit(deps, { sql, actor }, { action: "webhook_endpoint.updated", id, data });
  });
  return withSecrets(deps, await findOwn(deps, actor.projectId, id));
};

/** @throws DomainError `not_found`, `forbidden` */
export const removeEndpoint = async (deps: EndpointChangesDeps, actor: Actor, id: string): Promise<{ id: string }> => {
  mayChange(actor);
  const { url } = await findOwn(deps, actor.projectId, id);
  await deps.database.rawTransaction(async (sql) => {
    if (!(await deleteEndpoint(sql, actor.projectId, id))) throw notFound();
    await audit(deps, { sql, actor }, { action: "webhook_endpoint.deleted", id, data: { url } });
  });
  return { id };
};

/** Gives the endpoint a new secret; the old one signs too during the overlap. @throws DomainError `not_found`, `forbidden` */
export const rotateSecret = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  id: string,
  { overlapHours }: { readonly overlapHours: number },
): Promise<{ endpoint: Endpoint; secret: string }> => {
  mayChange(actor);
  const { projectId } = await findOwn(deps, actor.projectId, id);
  const secret = await deps.database.rawTransaction(async (sql) => {
    await audit(deps, { sql, actor }, { action: "webhook_endpoint.secret_rotated", id, data: { overlapHours } });
    return deps.secrets.replace(sql, { projectId, endpointId: id }, overlapHours);
  });
  return { endpoint: await withSecrets(deps, await findOwn(deps, projectId, id)), secret };
};
