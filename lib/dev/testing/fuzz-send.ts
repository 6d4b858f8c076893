/**
 * Sends the fuzzer's requests over real HTTP, and compares the answers with the OpenAPI document.
 */
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { errorBody } from "@/lib/contracts/error-body";
import type { Contract } from "@/lib/contracts/contract";
import { ERROR_CODES } from "@/lib/core/errors";
import { isTagged } from "@/lib/http/conditional";
import { errorCodes } from "@/lib/http/openapi-errors";
import type { Json } from "@/lib/http/openapi-schemas";
import { createRouteTable } from "@/lib/http/route-table";
import { routes } from "@/lib/routes.gen";
import { headersBeyond } from "./declared-headers";
import type { ValuePool } from "./fuzz-pool";
import type { FuzzBody, FuzzRequest, Mutation } from "./fuzz-requests";

export interface FuzzAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly requestId: string;
  /** Names of the headers of the answer, in lower case. */
  readonly headers: readonly string[];
  readonly text: string;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

const PART_LENGTH_MAX = 2_000;
const LARGE_BYTES = 1_000_000;

const find = createRouteTable(routes);
const known: ReadonlySet<string> = new Set<string>(ERROR_CODES);

const textOf = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return Buffer.from(text.slice(0, PART_LENGTH_MAX)).toString();
};

type Holder = Record<string, unknown> | unknown[];
type Place = readonly [Holder, string];

/** All nested places of a value, outer ones first. */
const placesOf = (value: unknown): Place[] => {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Holder;
  return Object.entries(holder).flatMap(([key, inner]): Place[] => [
    [holder, key],
    ...placesOf(inner),
  ]);
};

/** Changes the value in place. */
const mutate = (value: unknown, { place, kind, value: replacement }: Mutation): void => {
  const places = placesOf(value);
  const chosen = places[place % Math.max(places.length, 1)];
  if (chosen === undefined) return;
  const [holder, key] = chosen;
  if (Array.isArray(holder)) {
    if (kind === "remove") holder.splice(Number(key), 1);
    else if (kind === "add") holder.push(replacement);
    else holder[Number(key)] = replacement;
  } else if (kind === "remove") Reflect.deleteProperty(holder, key);
  else holder[kind === "add" ? "unexpected" : key] = replacement;
};

const bytesOf = (body: FuzzBody, pool: ValuePool): Uint8Array => {
  if (body.kind === "none") return new Uint8Array();
  if (body.kind === "raw") return body.bytes;
  const value = structuredClone(pool.fill(body.value));
  for (const one of body.mutations) mutate(value, one);
  const text = JSON.stringify(value);
  const changed =
    body.prototype && text.startsWith("{")
      ? text.replace("{", '{"__proto__":{"role":"owner"},')
      : text;
  return Buffer.from(changed.replace(/,\}$/, "}"));
};

/**
 * Returns the request as it is sent, with values from the pool. `credentials` are the headers that
 * identify its caller.
 */
export const toSent = (
  { method, template, params, query, headers, body }: FuzzRequest,
  pool: ValuePool,
  credentials: Readonly<Record<string, string>>,
): Sent => {
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(textOf(pool.fill(params[name]))),
  );
  const search = query
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name)}=${encodeURIComponent(textOf(pool.fill(value)))}`,
    )
    .join("&");
  const own = headers.map(([name, value]) => [name, textOf(pool.fill(value))] as const);
  return {
    method,
    path: `/api${path}${search === "" ? "" : `?${search}`}`,
    // The request's headers follow the caller's, so that credentials are duplicated instead of
    // replaced.
    headers: [...Object.entries(credentials), ...own],
    body: method === "GET" ? new Uint8Array() : bytesOf(body, pool),
  };
};

const read = async (incoming: IncomingMessage): Promise<string> => {
  // A stream of events ends when its reader disconnects.
  if (incoming.headers["content-type"]?.startsWith("text/event-stream") === true) {
    incoming.destroy();
    return "";
  }
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/**
 * @returns a function that sends one request. Its answer is null when the service closed the
 * connection because of a body above the limit
 */
export const createSender = (origin: string, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port, host } = new URL(origin);
  const once = ({ method, path, headers, body }: Sent): Promise<FuzzAnswer> =>
    new Promise((resolve, reject) => {
      const lines = [
        ["host", host],
        ...headers,
        ["content-length", String(body.byteLength)],
      ].flat();
      const outgoing = httpRequest(
        { agent, hostname, port, method, path, headers: lines },
        (incoming) => {
          read(incoming).then(
            (text) =>
              resolve({
                status: incoming.statusCode ?? 0,
                contentType: incoming.headers["content-type"] ?? "",
                requestId: String(incoming.headers["x-request-id"] ?? ""),
                headers: Object.keys(incoming.headers),
                text,
              }),
            reject,
          );
        },
      );
      outgoing.once("error", (error) =>
        reject(Object.assign(error, { reused: outgoing.reusedSocket })),
      );
      outgoing.end(body);
    });
  const send = async (sent: Sent): Promise<FuzzAnswer | null> => {
    try {
      return await once(sent);
    } catch (error) {
      if (sent.body.byteLength > LARGE_BYTES) return null;
      // Sends the request again when its persistent connection was reused, because the service may
      // close such a connection at that moment.
      if ((error as { reused?: boolean }).reused === true) return once(sent);
      throw error;
    }
  };
  return { send, close: () => agent.destroy() };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * The contract that answers a path. It may differ from the intended one, because a value can
 * contain the end of a path.
 */
const contractOf = (document: Json, { method, path }: Sent): Contract | null => {
  const contract = find(path.split("?")[0] ?? "")?.entry.module[method as "GET"]?.contract;
  // The route that answers all other paths is not an operation.
  return contract !== undefined && contract.path in (document.paths as Json) ? contract : null;
};

interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: Json;
}

/** The document's response for a status; null when there is none. */
const responseOf = (
  document: Json,
  { path, method }: Contract,
  status: number,
): DescribedResponse | null => {
  const paths = document.paths as Record<
    string,
    Record<string, { responses: Json }> | undefined
  >;
  const described = paths[path]?.[method.toLowerCase()]?.responses[String(status)] as
    | DescribedResponse
    | undefined;
  const name = described?.$ref?.split("/").at(-1);
  if (name === undefined) return described ?? null;
  return (
    (document.components as Record<string, Record<string, DescribedResponse>>).responses?.[
      name
    ] ?? null
  );
};

const successFault = (
  contract: Contract | null,
  { status, contentType, text }: FuzzAnswer,
): string | null => {
  // The document describes neither the redirect of a path with a trailing slash, nor the 304 that
  // answers the `If-None-Match` of a request.
  if (status === 308 || (status === 304 && contract !== null && isTagged(contract)))
    return null;
  if (contract === null) return `answered ${String(status)} on a path of no operation`;
  if (status !== contract.status)
    return `answered ${String(status)} and not ${String(contract.status)}`;
  if (contract.mediaType !== undefined)
    return contentType.startsWith(contract.mediaType) ? null : `answered with ${contentType}`;
  const result = contract.response.safeParse(parsed(text));
  return result.success
    ? null
    : `answered what its schema does not allow: ${result.error.message.slice(0, 300)}`;
};

const errorFault = (
  document: Json,
  contract: Contract | null,
  answer: FuzzAnswer,
): string | null => {
  const { status, requestId } = answer;
  const body = errorBody.safeParse(parsed(answer.text));
  if (!body.success) return `answered ${String(status)} without the form of an error`;
  const { code } = body.data;
  if (status >= 500) return `answered ${String(status)} ${code}`;
  if (!known.has(code)) return `answered the unknown code ${code}`;
  if (body.data.requestId !== requestId)
    return "answered another request id in its body than in its header";
  // An impossible target is refused before the service looks for an operation.
  if (contract === null || body.data.details?.[0]?.code === "invalid_target") return null;
  if (!errorCodes(contract).has(code as never))
    return `answered ${code}, which is not declared`;
  return responseOf(document, contract, status) === null
    ? `answered ${String(status)}, which is not described`
    : null;
};

/** Finds a header that the document does not list for the operation and status. */
const headerFault = (
  document: Json,
  contract: Contract | null,
  { status, headers }: FuzzAnswer,
): string | null => {
  const response = contract === null ? null : responseOf(document, contract, status);
  const beyond = response === null ? [] : headersBeyond(response.headers ?? {}, headers);
  return beyond.length === 0
    ? null
    : `answered ${String(status)} with ${beyond.join(", ")}, which is not described`;
};

/** The fault of an answer according to the document; null when there is none. */
export const faultOf = (document: Json, sent: Sent, answer: FuzzAnswer): string | null => {
  const contract = contractOf(document, sent);
  // A 503 of the readiness check is not an error body: it has the form of the normal answer, and
  // names what is missing.
  if (contract?.path === "/ready" && contract.response.safeParse(parsed(answer.text)).success)
    return null;
  const fault =
    answer.status < 400
      ? successFault(contract, answer)
      : errorFault(document, contract, answer);
  return fault ?? headerFault(document, contract, answer);
};
