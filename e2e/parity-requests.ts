import { BODY_BYTES_MAX } from "@/lib/contracts/contract";

/** Credentials for the requests of parity.spec.ts, which compares server.ts with plain Next. */
export interface ParityCredentials {
  readonly apiKey: string;
  readonly accessToken: string;
}

export interface ParityRequest {
  readonly name: string;
  readonly method: string;
  /** Path and query, without the origin. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * The client sends `body` without its end and waits. A server that refuses a body may close the
   * connection, and writing more would then fail before the answer is read.
   */
  readonly isUnfinished?: true;
  /**
   * Plain Next answers this request without the API's error body, so only the status is compared.
   */
  readonly statusOnly?: true;
}

const JSON_TYPE = { "content-type": "application/json" };
const TOO_LARGE = BODY_BYTES_MAX.authenticated + 1;

/**
 * One request for each kind of answer in which server.ts could differ from plain Next, although
 * both call the same route modules.
 */
export const parityRequests = ({
  apiKey,
  accessToken,
}: ParityCredentials): readonly ParityRequest[] => {
  const key = { "x-api-key": apiKey };
  const token = { authorization: `Bearer ${accessToken}` };
  const get = (
    name: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): ParityRequest =>
    headers === undefined
      ? { name, method: "GET", path }
      : { name, method: "GET", path, headers };
  const post = (
    name: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): ParityRequest => ({
    name,
    method: "POST",
    path,
    headers,
    body,
  });
  return [
    get("health", "/api/health"),
    get("description", "/api/openapi.json"),
    get("public list", "/api/chains"),
    get("query", "/api/tokens?chainId=31337"),
    get("bad query", "/api/tokens?chainId=abc"),
    get("token keys", "/api/auth/jwks"),
    get("key", "/api/auth/whoami", key),
    get("token", "/api/auth/whoami", token),
    get("person", "/api/me", token),
    get("key on a person's route", "/api/me", key),
    get("nobody", "/api/wallets"),
    get("malformed key", "/api/wallets", { "x-api-key": "cw_test_nonsense" }),
    get("malformed token", "/api/wallets", { authorization: "Bearer nonsense" }),
    get("key and token", "/api/wallets", { ...key, ...token }),
    get("project of others", "/api/wallets", {
      ...token,
      "x-project-id": "prj_01980000-0000-7000-8000-000000000000",
    }),
    get("page", "/api/operations?limit=1", key),
    get("bad page", "/api/operations?limit=0", key),
    get("unknown id", "/api/operations/op_01980000-0000-7000-8000-000000000000", key),
    get("encoded id", "/api/operations/a%2Fb", key),
    get(
      "stream of an unknown id",
      "/api/operations/op_01980000-0000-7000-8000-000000000000/events",
      key,
    ),
    get("unknown path", "/api/nothing"),
    get("deep unknown path", "/api/nothing/is/here", key),
    post("post to an unknown path", "/api/nothing", JSON_TYPE, "{}"),
    post("nonce", "/api/auth/nonce", JSON_TYPE, "{}"),
    post("body that is not JSON", "/api/swap/quote", { ...key, ...JSON_TYPE }, "{nope"),
    post(
      "fields at fault",
      "/api/swap/quote",
      { ...key, ...JSON_TYPE },
      '{"from":[{"amount":"1e3"}],"toChainId":"x"}',
    ),
    post("text", "/api/swap/quote", { ...key, "content-type": "text/plain" }, "{}"),
    {
      ...post(
        "body above the limit",
        "/api/swap/quote",
        { ...key, ...JSON_TYPE },
        "x".repeat(TOO_LARGE),
      ),
      isUnfinished: true,
    },
    post(
      "bad idempotency key",
      "/api/swap/request-otp",
      { ...key, ...JSON_TYPE, "idempotency-key": "" },
      "{}",
    ),
    { name: "head", method: "HEAD", path: "/api/chains" },
    { name: "other method", method: "DELETE", path: "/api/chains", statusOnly: true },
    { name: "options", method: "OPTIONS", path: "/api/chains", statusOnly: true },
    get("slash at the end", "/api/chains/"),
  ];
};

const HEADERS_THAT_MATTER = [
  "content-type",
  "cache-control",
  "www-authenticate",
  "location",
  "ratelimit-policy",
  "idempotent-replayed",
  "x-content-type-options",
  "content-security-policy",
  "referrer-policy",
];

/** Fields whose values differ from answer to answer, also on one server. */
const CHANGING = new Set([
  "requestId",
  "nonce",
  "uptimeSeconds",
  "latencyMs",
  "lastUsedAt",
  "expiresAt",
  "priceUsd",
  "docsUrl",
]);

const mask = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      CHANGING.has(name) ? typeof inner : mask(inner),
    ]),
  );
};

const bodyOf = (text: string): unknown => {
  try {
    return mask(JSON.parse(text));
  } catch {
    return text;
  }
};

const unfinished = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode(text)) });

const bodyToSend = ({ body, isUnfinished }: ParityRequest) => {
  if (body === undefined) return {};
  return isUnfinished ? { body: unfinished(body), duplex: "half" } : { body };
};

/** Sends the request, and returns the parts of the answer in which both servers must agree. */
export const answerOf = async (
  origin: string,
  request: ParityRequest,
): Promise<Record<string, unknown>> => {
  const response = await fetch(origin + request.path, {
    method: request.method,
    headers: { ...request.headers },
    redirect: "manual",
    signal: AbortSignal.timeout(30_000),
    ...bodyToSend(request),
  });
  const text = await response.text();
  if (request.statusOnly === true) return { status: response.status };
  // Next makes redirects in both servers, and they have no content that other headers would
  // protect.
  if (response.status >= 300 && response.status < 400)
    return { status: response.status, headers: { location: response.headers.get("location") } };
  const headers = HEADERS_THAT_MATTER.map((name) => [
    name,
    response.headers.get(name)?.replace(origin, "") ?? null,
  ]);
  const hasRequestId = response.headers.get("x-request-id")?.startsWith("req_") === true;
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string | null>,
    hasRequestId,
    // Nothing reads the body of a redirect, and Next writes it differently on its own server.
    body: bodyOf(text),
  };
};
