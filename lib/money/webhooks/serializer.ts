import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  testWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import type { getDelivery, listDeliveries } from "@/lib/contracts/webhook-deliveries";
import type { readWebhookReceiver } from "@/lib/contracts/dev";
import type { ListPage } from "@/lib/core/list-place";
import type { WebhookReceiver } from "./receiver";
import type { Attempt, Delivery, Endpoint } from "./service";

type EndpointBody = ResponseOf<typeof getWebhookEndpoint>;
type DeliveryBody = ResponseOf<typeof testWebhookEndpoint>;
type AttemptBody = ResponseOf<typeof getDelivery>["requests"][number];

export const toEndpoint = (endpoint: Endpoint): EndpointBody => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...endpoint.events],
  payload: endpoint.payload,
  includePrivate: endpoint.includePrivate,
  description: endpoint.description,
  status: endpoint.status,
  disabledReason: endpoint.disabledReason,
  failingSince: endpoint.failingSince?.toISOString() ?? null,
  pending: endpoint.pending,
  secrets: endpoint.secrets.map(({ id, createdAt, expiresAt }) => ({
    id,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
  })),
  suspendedAt: endpoint.suspendedAt?.toISOString() ?? null,
  createdBy: endpoint.createdBy,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
});

export const toEndpoints = ({
  data,
  nextCursor,
}: ListPage<Endpoint>): ResponseOf<typeof listWebhookEndpoints> => ({
  data: data.map(toEndpoint),
  nextCursor,
});

/** An endpoint with its new secret. No other response contains the secret. */
export const toEndpointWithSecret = (made: {
  readonly endpoint: Endpoint;
  readonly secret: string;
}): ResponseOf<typeof createWebhookEndpoint> => ({
  ...toEndpoint(made.endpoint),
  secret: made.secret,
});

export const toDelivery = (row: Delivery): DeliveryBody => ({
  id: row.id,
  endpointId: row.endpointId,
  kind: row.kind,
  eventId: row.eventId,
  type: row.type,
  sequence: row.sequence,
  previousSequence: row.previousSequence,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === "pending" ? row.dueAt.toISOString() : null,
  statusCode: row.statusCode,
  error: row.error,
  createdAt: row.createdAt.toISOString(),
  completedAt: row.completedAt?.toISOString() ?? null,
});

export const toDeliveries = (page: {
  readonly data: readonly Delivery[];
  readonly nextCursor: string | null;
}): ResponseOf<typeof listDeliveries> => ({
  data: page.data.map(toDelivery),
  nextCursor: page.nextCursor,
});

const toAttempt = (row: Attempt): AttemptBody => ({
  number: row.number,
  at: row.at.toISOString(),
  durationMs: row.durationMs,
  request: { url: row.url, headers: { ...row.requestHeaders }, body: row.requestBody },
  response:
    row.statusCode === null
      ? null
      : {
          statusCode: row.statusCode,
          headers: { ...row.responseHeaders },
          body: row.responseBody ?? "",
        },
  error: row.error,
});

export const toDeliveryWithRequests = (found: {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
}): ResponseOf<typeof getDelivery> => ({
  ...toDelivery(found.delivery),
  requests: found.attempts.map(toAttempt),
});

export const toReceived = (
  read: Awaited<ReturnType<WebhookReceiver["read"]>>,
): ResponseOf<typeof readWebhookReceiver> => ({
  url: read.url,
  endpointIds: [...read.endpointIds],
  data: read.requests.map(({ id, at, headers, body, signature }) => ({
    id,
    receivedAt: at.toISOString(),
    headers: { ...headers },
    body,
    signature,
  })),
});
