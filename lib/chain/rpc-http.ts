import { Agent, request as requestHttp, type IncomingMessage } from "node:http";
import { Agent as TlsAgent, request as requestHttps } from "node:https";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/**
 * Maximum length of an answer, which is viem's default. viem would reject a longer answer, so a
 * longer one is not read to the end.
 */
export const ANSWER_BYTES_MAX = 10_485_760;

/**
 * The part of a `Response` that JSON-RPC needs. No whole `Response` is created, because creating
 * it takes longer than the rest of a call.
 */
export type RpcResponse = Pick<
  Response,
  "ok" | "status" | "statusText" | "headers" | "body" | "text"
>;
export type RpcFetch = (
  url: string | URL | Request,
  init?: RequestInit,
) => Promise<RpcResponse>;

const plain = { agent: new Agent({ keepAlive: true }), request: requestHttp };
const tls = { agent: new TlsAgent({ keepAlive: true }), request: requestHttps };

/** The bytes of an answer; null when it is longer than `ANSWER_BYTES_MAX`. */
const bytesOf = async (message: IncomingMessage): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > ANSWER_BYTES_MAX) return null; // Leaving the loop closes the connection.
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (message.headers["content-encoding"] !== "gzip") return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: ANSWER_BYTES_MAX }).catch(
    (error: unknown) => {
      if (error instanceof RangeError) return null;
      throw error;
    },
  );
};

export const rpcResponse = (
  status: number,
  headers: Headers,
  text: string | null,
  statusText = "",
): RpcResponse => ({
  ok: status >= 200 && status < 300,
  status,
  statusText,
  headers,
  body: null,
  text: () => Promise.resolve(text ?? ""),
});

/** The text of a response; null when it is longer than `ANSWER_BYTES_MAX`. */
export const textOf = async (response: RpcResponse): Promise<string | null> => {
  if (response.body === null)
    return Number(response.headers.get("content-length") ?? 0) > ANSWER_BYTES_MAX
      ? null
      : response.text();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return Buffer.concat(chunks).toString("utf8");
    bytes += value.byteLength;
    if (bytes > ANSWER_BYTES_MAX) break;
    chunks.push(value);
  }
  await reader.cancel();
  return null;
};

const headersOf = ({ headers }: IncomingMessage, length: number): Headers => {
  const type = headers["content-type"];
  const wait = headers["retry-after"];
  return new Headers({
    "content-length": String(length),
    ...(type === undefined ? {} : { "content-type": type }),
    ...(wait === undefined ? {} : { "retry-after": wait }),
  });
};

const answerTo = (url: URL, init: RequestInit, body: string): Promise<IncomingMessage> =>
  new Promise((done, fail) => {
    const { agent, request } = url.protocol === "https:" ? tls : plain;
    const headers = Object.fromEntries(new Headers(init.headers));
    const sent = request(url, {
      method: init.method ?? "POST",
      agent,
      headers: {
        ...headers,
        "accept-encoding": "gzip",
        "content-length": Buffer.byteLength(body),
      },
      ...(init.signal ? { signal: init.signal } : {}),
    });
    sent.once("response", done);
    sent.once("error", (error: NodeJS.ErrnoException) => {
      // The node closed the idle connection while it was being reused, so it has not read the
      // request.
      if (sent.reusedSocket && error.code === "ECONNRESET")
        answerTo(url, init, body).then(done, fail);
      else fail(error);
    });
    sent.end(body);
  });

/**
 * `fetch` for JSON-RPC over node:http with persistent connections. It uses a third of the processor
 * time of Node's own `fetch`. It takes text bodies, follows no redirects, and reads answers of at
 * most `ANSWER_BYTES_MAX`; for a longer answer it returns only the length.
 * @throws {Error} of node:http when the node cannot be reached; `AbortError` when `init.signal`
 * ends the request
 */
export const rpcFetch: RpcFetch = async (url, init) => {
  if (typeof init?.body !== "string" || url instanceof Request)
    throw new TypeError("JSON-RPC sends a text to a URL.");
  const message = await answerTo(new URL(url), init, init.body);
  const bytes = await bytesOf(message);
  const headers = headersOf(message, bytes?.byteLength ?? ANSWER_BYTES_MAX + 1);
  return rpcResponse(
    message.statusCode ?? 0,
    headers,
    bytes?.toString("utf8") ?? null,
    message.statusMessage,
  );
};
