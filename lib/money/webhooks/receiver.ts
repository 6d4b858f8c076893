import { createHmac, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { ListPage, ListQuery } from "@/lib/core/list-place";
import type { EndpointKey } from "./rows";
import { ENDPOINTS_MAX } from "./errors";
import { signatureOf, type SignatureState } from "./rules";

export interface ReceivedRequest {
  readonly id: number;
  readonly at: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** The received text; truncated when it is long. */
  readonly body: string;
  readonly signature: SignatureState;
}

interface ReceiverDeps {
  readonly key: Buffer;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly endpoints: {
    list(
      projectId: string,
      query: ListQuery,
    ): Promise<ListPage<{ readonly id: string; readonly url: string }>>;
    secretsOf(key: EndpointKey): Promise<readonly string[]>;
  };
}

const REQUESTS_MAX = 50;
const PROJECTS_MAX = 100;
const BODY_CHARACTERS_MAX = 16_384;
const HIDDEN_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "x-api-key"]);

const headersOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !HIDDEN_HEADERS.has(name)));

/**
 * A receiver of webhooks for development. Each project has a URL of this service, and can see the
 * latest requests to that URL. The requests are stored in memory only.
 */
export const createWebhookReceiver = ({ key, publicUrl, clock, endpoints }: ReceiverDeps) => {
  const requests = new LRUCache<string, ReceivedRequest[]>({ max: PROJECTS_MAX });
  let count = 0;

  const tokenOf = (projectId: string): string =>
    `${projectId}.${createHmac("sha256", key).update(projectId).digest("base64url")}`;

  // The URL contains an IPv4 address, because `localhost` may resolve to an IPv6 address, on which
  // the development server does not listen.
  const origin = publicUrl.replace(/^(https?:\/\/)localhost(?=[:/]|$)/, "$1127.0.0.1");
  const urlOf = (projectId: string): string =>
    `${origin}/api/dev/webhook-receiver/${tokenOf(projectId)}`;

  /**
   * The project to whose URL the token belongs.
   * @throws DomainError `not_found`
   */
  const projectOf = (token: string): string => {
    const [projectId = ""] = token.split(".");
    if (!isId("project", projectId)) throw notFound();
    const [expected, given] = [Buffer.from(tokenOf(projectId)), Buffer.from(token)];
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) throw notFound();
    return projectId;
  };

  const endpointsOf = async (projectId: string) => {
    const url = urlOf(projectId);
    const { data } = await endpoints.list(projectId, { limit: ENDPOINTS_MAX });
    return data.filter((endpoint) => endpoint.url === url);
  };

  const keep = (projectId: string, request: ReceivedRequest): void => {
    const before = requests.get(projectId) ?? [];
    requests.set(projectId, [request, ...before].slice(0, REQUESTS_MAX));
  };

  return {
    /**
     * Keeps a request in memory, with the result of verifying its signature.
     * @throws DomainError `not_found` for a token that this service did not make
     */
    receive: async (
      token: string,
      sent: { readonly headers: Headers; readonly raw: Uint8Array },
    ): Promise<void> => {
      const projectId = projectOf(token);
      const at = clock.now();
      const body = Buffer.from(sent.raw).toString("utf8");
      const own = await endpointsOf(projectId);
      const secrets = await Promise.all(
        own.map(({ id }) => endpoints.secretsOf({ projectId, endpointId: id })),
      );
      const header = (name: string): string | null => sent.headers.get(name);
      const signature = signatureOf(secrets.flat(), { header, body, now: at });
      const headers = headersOf(sent.headers);
      count += 1;
      keep(projectId, {
        id: count,
        at,
        headers,
        body: body.slice(0, BODY_CHARACTERS_MAX),
        signature,
      });
    },

    /** The latest requests, newest first, and the endpoints that send to this receiver. */
    read: async (projectId: string) => ({
      url: urlOf(projectId),
      endpointIds: (await endpointsOf(projectId)).map(({ id }) => id),
      requests: requests.get(projectId) ?? [],
    }),
  };
};

export type WebhookReceiver = ReturnType<typeof createWebhookReceiver>;
