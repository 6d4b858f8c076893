import { addSeconds, type Clock } from "@/lib/core/clock";
import { isId, newId } from "@/lib/core/ids";
import { type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import type { Sealed } from "@/lib/platform/ports/encryption";
import {
  countEndpoints,
  deleteEndpoint,
  findEndpoint,
  forgetFailures,
  insertEndpoint,
  updateEndpoint,
} from "./repository";
import type { EndpointKey, EndpointRow, EndpointView } from "./rows";
import { newSigningSecret } from "./rules";
import {
  replaceSecret,
  secretContext,
  type SecretRow,
  signingSecrets,
} from "./secret-repository";
import { type Actor, actorName, mayReadPrivate } from "@/lib/core/actor";
import {
  type ApprovalsService,
  type Approved,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import { notFound } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import { type AuditData, doneBy, recordAuditOn, replaced } from "@/lib/news/audit/service";
import { requireReadableEvents, subscribedEvents } from "@/lib/news/events/service";
import type { SessionMadeService } from "@/lib/trust/session-made/service";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import {
  badUrl,
  changedMeanwhile,
  ENDPOINTS_MAX,
  needsPerson,
  needsPrivacyScope,
  tooManyEndpoints,
} from "./errors";

export interface Keys {
  seal(plaintext: Uint8Array, context: string): Sealed;
  open(sealed: Sealed, context: string): Buffer;
}

interface SecretsDeps {
  readonly keys: Keys;
  readonly reader: SqlReader;
  readonly clock: Clock;
}

const HOUR_SECONDS = 3600;

/**
 * Signing secrets of deliveries. They are stored encrypted, and shown only in the response that
 * creates them.
 */
export const createSigningSecrets = ({ keys, reader, clock }: SecretsDeps) => ({
  current: (key: EndpointKey): Promise<SecretRow[]> => signingSecrets(reader, key, clock.now()),

  /**
   * Stores a new secret. Earlier secrets continue to sign during the overlap.
   * @returns the new secret as plain text
   */
  replace: async (sql: Sql, key: EndpointKey, overlapHours: number): Promise<string> => {
    const secret = newSigningSecret();
    const now = clock.now();
    const row = { ...key, id: newId("webhookSecret") };
    const sealed = keys.seal(Buffer.from(secret), secretContext(row));
    await replaceSecret(
      sql,
      { ...row, sealed, createdAt: now },
      addSeconds(now, overlapHours * HOUR_SECONDS),
    );
    return secret;
  },

  open: async (key: EndpointKey): Promise<string[]> => {
    const rows = await signingSecrets(reader, key, clock.now());
    return rows.map((row) => keys.open(row.sealed, secretContext(row)).toString("utf8"));
  },
});

type SigningSecrets = ReturnType<typeof createSigningSecrets>;

// Texts of the approval, and of the mail to the owners, for changes that give an endpoint's events
// or its signing secret to a new receiver.

type Named = Pick<EndpointRow, "projectId" | "id" | "url" | "description">;
type Fields = Pick<
  EndpointRow,
  "url" | "events" | "payload" | "includePrivate" | "description" | "status"
>;

/**
 * Whether events go to another URL, or private details to a receiver that did not get them before.
 */
const isRedirected = (
  before: Pick<Fields, "url" | "includePrivate">,
  after: Pick<Fields, "url" | "includePrivate">,
): boolean => after.url !== before.url || (after.includePrivate && !before.includePrivate);

const WORDS: Readonly<Record<keyof Fields, (fields: Fields) => string>> = {
  url: ({ url }) => `URL: ${quoted(url)}`,
  events: ({ events }) => `Events: ${events.join(", ")}`,
  payload: ({ payload }) => `Payload: ${payload}`,
  includePrivate: ({ includePrivate }) =>
    `Details of private movements: ${includePrivate ? "sent" : "not sent"}`,
  description: ({ description }) =>
    `Name: ${description === null ? "none" : quoted(description)}`,
  status: ({ status }) => `Status: ${status}`,
};

/** The fields after the change, one per line. A changed field also shows its current value. */
const approvalLinesOf = (before: Fields, after: Fields): string[] =>
  Object.values(WORDS).map((words) => {
    const [was, is] = [words(before), words(after)];
    return was === is ? is : `${is} (now ${was.slice(was.indexOf(": ") + 2)})`;
  });

const valuesOf = ({ url, events, payload, includePrivate, description, status }: Fields) => ({
  url,
  events: [...events].sort(),
  payload,
  includePrivate,
  description,
  status,
});

const redirectionOf = (before: Named & Fields, after: Fields): Change => ({
  kind: "webhook_endpoint.redirect",
  title: `Send the events of the webhook endpoint ${before.id} elsewhere, or private details with them`,
  lines: approvalLinesOf(before, after),
  values: { endpointId: before.id, before: valuesOf(before), after: valuesOf(after) },
});

/** @param rotation `secretId`: the current secret; null when there is none */
const rotationOf = (
  endpoint: Named,
  {
    overlapHours,
    secretId,
  }: { readonly overlapHours: number; readonly secretId: string | null },
): Change => ({
  kind: "webhook_endpoint.rotate",
  title: `Make a new signing secret for the webhook endpoint ${endpoint.id}`,
  lines: [
    `URL: ${quoted(endpoint.url)}`,
    `Name: ${endpoint.description === null ? "none" : quoted(endpoint.description)}`,
    `The present secret signs for: ${String(overlapHours)} more hours`,
  ],
  values: { endpointId: endpoint.id, overlapHours, secretId },
});

const endpointNotice = (
  { publicUrl }: { readonly publicUrl: string },
  actor: Actor,
  { title, lines, at }: Pick<Change, "title" | "lines"> & { readonly at: Date },
): OwnerNotice => ({
  projectId: actor.projectId,
  subject: "A webhook endpoint of your project was changed",
  text: (project) =>
    [
      `A webhook endpoint of your project ${quoted(project)} at ${publicUrl} was changed:`,
      "",
      title,
      ...lines.map((line) => `- ${line}`),
      `- Changed by: ${actorName(actor)}`,
      `- When: ${at.toISOString()}`,
      "",
      `If this was not meant, delete the endpoint at ${publicUrl}/webhooks. Nothing is sent to it from then on.`,
    ].join("\n"),
});

export interface EndpointChangesDeps {
  readonly database: Database;
  readonly reader: SqlReader;
  readonly secrets: SigningSecrets;
  readonly sender: WebhookSender;
  readonly sessionMade: Pick<SessionMadeService, "makerOf" | "tellOwners">;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

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
} & {
  readonly status?: "active" | "paused" | undefined;
  readonly approval?: GivenApproval | undefined;
};

export interface SecretRotation {
  /** Hours for which the current secret continues to sign. */
  readonly overlapHours: number;
  readonly approval?: GivenApproval | undefined;
}

const CONCURRENCY = 10;

/**
 * Requires the permission to manage endpoints.
 * @throws DomainError `forbidden`
 */
export const mayChange = (actor: Actor): void => requirePermission(actor, "webhooks:manage");

const checkPrivate = (actor: Actor, includePrivate: boolean): void => {
  if (includePrivate && !mayReadPrivate(actor)) throw needsPrivacyScope();
};

export const withSecrets = async (
  deps: EndpointChangesDeps,
  endpoint: EndpointView,
): Promise<Endpoint> => {
  const key = { projectId: endpoint.projectId, endpointId: endpoint.id };
  return { ...endpoint, secrets: await deps.secrets.current(key) };
};

/**
 * The project's endpoint with this id.
 * @throws DomainError `not_found`, also for an endpoint of another project
 */
export const findOwn = async (
  deps: Pick<EndpointChangesDeps, "reader">,
  projectId: string,
  id: string,
): Promise<EndpointView> => {
  const endpoint = isId("webhookEndpoint", id)
    ? await findEndpoint(deps.reader, projectId, id)
    : null;
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
  {
    action,
    id: subject,
    data = {},
  }: { readonly action: string; readonly id: string; readonly data?: AuditData },
): Promise<void> =>
  recordAuditOn(sql, { ...doneBy(actor), action, subject, data, at: deps.clock.now() });

const linesOf = ({
  url,
  events,
  includePrivate,
}: Pick<EndpointRow, "url" | "events" | "includePrivate">): string[] => [
  `URL: ${quoted(url)}`,
  `Gets: ${events.includes("*") ? "all events" : events.join(", ")}`,
  ...(includePrivate ? ["Gets details of private movements too"] : []),
];

/**
 * Creates an endpoint.
 * @returns the endpoint and its signing secret, which is shown only this once
 * @throws DomainError `forbidden`, `insufficient_scope`, `invalid_request`, `invalid_state`
 */
export const createEndpoint = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  input: EndpointFields,
): Promise<{ endpoint: Endpoint; secret: string }> => {
  mayChange(actor);
  const events = subscribedEvents(actor, input.events);
  requireReadableEvents(actor, events);
  checkPrivate(actor, input.includePrivate);
  await checkUrl(deps, input.url);
  const { projectId } = actor;
  const id = newId("webhookEndpoint");
  const { url, payload, includePrivate, description = null } = input;
  const at = deps.clock.now();
  const secret = await deps.database.transaction(async (tx) => {
    const sql = sqlOf(tx);
    const madeBySession = await deps.sessionMade.makerOf(tx, actor);
    // Concurrent requests may exceed the maximum slightly. That is harmless, because the maximum
    // only keeps the list short.
    if ((await countEndpoints(sql, projectId)) >= ENDPOINTS_MAX) throw tooManyEndpoints();
    const own = { projectId, id, url, events, payload, includePrivate, description };
    await insertEndpoint(sql, {
      ...own,
      concurrency: CONCURRENCY,
      createdBy: actorName(actor),
      madeBySession,
      createdAt: at,
    });
    await audit(
      deps,
      { sql, actor },
      { action: "webhook_endpoint.created", id, data: { url, events, includePrivate } },
    );
    const made = { kind: "webhook_endpoint", id, projectId, at } as const;
    await deps.sessionMade.tellOwners(tx, {
      ...made,
      sessionId: madeBySession,
      lines: linesOf(own),
    });
    return deps.secrets.replace(sql, { projectId, endpointId: id }, 0);
  });
  return { endpoint: await withSecrets(deps, await findOwn(deps, projectId, id)), secret };
};

/**
 * Requires a person's approval of a change that gives an endpoint's events or its secret to a new
 * receiver.
 * @throws DomainError `forbidden` for an API key; `approval_required` and the other errors of
 * `requireApproval`
 */
const requirePerson = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  {
    change,
    approval,
  }: { readonly change: Change; readonly approval: GivenApproval | undefined },
): Promise<Approved> => {
  if (actor.type !== "user") throw needsPerson();
  return deps.approvals.requireApproval(actor, change, approval);
};

const auditedFields = ({
  url,
  events,
  includePrivate,
  status,
}: Pick<EndpointView, "url" | "events" | "includePrivate" | "status">) => ({
  url,
  events,
  includePrivate,
  status,
});

/**
 * Whether the endpoint may receive more than before the change. A new description or a pause does
 * not count.
 */
const sendsMore = (
  before: EndpointView,
  after: Omit<EndpointFields, "description"> & { readonly status: string },
): boolean =>
  after.url !== before.url ||
  after.events.some((name) => !before.events.includes(name)) ||
  (after.payload === "full" && before.payload === "thin") ||
  (after.includePrivate && !before.includePrivate) ||
  (after.status === "active" && before.status !== "active");

const fieldsAfter = (actor: Actor, before: EndpointView, change: EndpointChange) => {
  const status = change.status ?? before.status;
  return {
    url: change.url ?? before.url,
    events:
      change.events === undefined ? before.events : subscribedEvents(actor, change.events),
    payload: change.payload ?? before.payload,
    includePrivate: change.includePrivate ?? before.includePrivate,
    description: change.description === undefined ? before.description : change.description,
    status,
    disabledReason: status === "disabled" ? before.disabledReason : null,
  };
};

/**
 * Changes an endpoint. Another URL, or private details that the endpoint did not get before, need
 * an approval. Further event types need none, because the project has already chosen their
 * receiver.
 * @throws DomainError `not_found`, `forbidden`, `insufficient_scope` for events that the key may
 * not read, `invalid_request`, `invalid_state` when the endpoint was changed meanwhile,
 * `approval_required`
 */
export const updateEndpointFields = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> => {
  mayChange(actor);
  const before = await findOwn(deps, actor.projectId, id);
  const after = fieldsAfter(actor, before, change);
  const redirects = isRedirected(before, after);
  // An actor without privacy:read must not direct private details to a URL of its choice.
  checkPrivate(actor, redirects && after.includePrivate);
  if (sendsMore(before, after)) requireReadableEvents(actor, after.events);
  if (change.url !== undefined) await checkUrl(deps, change.url);
  const approved = redirects
    ? await requirePerson(deps, actor, {
        change: redirectionOf(before, after),
        approval: change.approval,
      })
    : null;
  await deps.database.transaction(async (tx) => {
    const [sql, at] = [sqlOf(tx), deps.clock.now()];
    await approved?.consume(tx);
    if (!(await updateEndpoint(sql, before, { ...after, at }))) throw changedMeanwhile();
    if (before.status !== "active" && after.status === "active")
      await forgetFailures(sql, actor.projectId, id);
    const data = {
      ...auditedFields(after),
      ...replaced(auditedFields(before), auditedFields(after)),
      ...approved?.record,
    };
    await audit(deps, { sql, actor }, { action: "webhook_endpoint.updated", id, data });
    if (approved !== null) {
      const { title, lines } = redirectionOf(before, after);
      await deps.projects.tellOwners(tx, endpointNotice(deps, actor, { title, lines, at }));
    }
  });
  return withSecrets(deps, await findOwn(deps, actor.projectId, id));
};

/**
 * Deletes an endpoint. Its pending deliveries are not sent any more.
 * @throws DomainError `not_found`, `forbidden`
 */
export const removeEndpoint = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  id: string,
): Promise<{ id: string }> => {
  mayChange(actor);
  const { url } = await findOwn(deps, actor.projectId, id);
  await deps.database.rawTransaction(async (sql) => {
    if (!(await deleteEndpoint(sql, actor.projectId, id))) throw notFound();
    await audit(
      deps,
      { sql, actor },
      { action: "webhook_endpoint.deleted", id, data: { url } },
    );
  });
  return { id };
};

/**
 * Gives the endpoint a new secret; the old one continues to sign during the overlap. Needs an
 * approval.
 * @throws DomainError `not_found`, `forbidden`, `approval_required` and the other errors of
 * `requireApproval`
 */
export const rotateSecret = async (
  deps: EndpointChangesDeps,
  actor: Actor,
  id: string,
  { overlapHours, approval }: SecretRotation,
): Promise<{ endpoint: Endpoint; secret: string }> => {
  mayChange(actor);
  const before = await findOwn(deps, actor.projectId, id);
  const { projectId } = before;
  const [current] = await deps.secrets.current({ projectId, endpointId: id });
  const change = rotationOf(before, { overlapHours, secretId: current?.id ?? null });
  const approved = await requirePerson(deps, actor, { change, approval });
  const secret = await deps.database.transaction(async (tx) => {
    const sql = sqlOf(tx);
    await approved.consume(tx);
    const data = { overlapHours, ...approved.record };
    await audit(deps, { sql, actor }, { action: "webhook_endpoint.secret_rotated", id, data });
    const { title, lines } = change;
    await deps.projects.tellOwners(
      tx,
      endpointNotice(deps, actor, { title, lines, at: deps.clock.now() }),
    );
    return deps.secrets.replace(sql, { projectId, endpointId: id }, overlapHours);
  });
  return { endpoint: await withSecrets(deps, await findOwn(deps, projectId, id)), secret };
};
