import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { z } from "zod";
import { kindOf } from "./calls";
import type { Outcome } from "./node-client";

/** How long a request waits when no node is running. */
const PATIENCE_MS = 15_000;
/** Pause before a retry, long enough to notice that a node has ended. */
const RETRY_MS = 50;
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const HEADERS_OF_ONE_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "host"]);
const METHOD = /"method"\s*:\s*"([^"]*)"/g;

export interface GateOptions {
  readonly host: string;
  readonly port: number;
  /** The port of the node, as soon as one runs; null when none runs within the time. */
  readonly nodePort: (timeoutMs: number) => Promise<number | null>;
  /** Runs a call that changes the chain. */
  readonly submit: (method: string, params: readonly unknown[]) => Promise<Outcome>;
}

export interface Gate {
  readonly port: number;
  close(): Promise<void>;
}

const rpcCall = z.object({
  id: z.unknown().optional(),
  method: z.string(),
  params: z.unknown().optional(),
});
const rpcBody = z.union([rpcCall, z.array(rpcCall)]);
type RpcCall = z.output<typeof rpcCall>;

/**
 * Reads the body as bytes; null when it is longer than `bytesMax`. Listens to events, because an
 * async iterator takes twice the time.
 */
const readBody = (incoming: IncomingMessage, bytesMax: number): Promise<Buffer | null> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) resolve(null);
      else chunks.push(chunk);
    });
    incoming.once("error", reject);
    incoming.once("end", () =>
      resolve(
        chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
      ),
    );
  });

/**
 * Whether the unparsed body may be forwarded to the node. A body with escapes or without a method
 * has to be parsed first.
 */
const onlyReads = (body: string): boolean => {
  if (body.includes("\\")) return false;
  const methods = [...body.matchAll(METHOD)];
  return methods.length > 0 && methods.every(([, method = ""]) => kindOf(method) === "read");
};

const sendJson = (outgoing: ServerResponse, status: number, body: unknown): void => {
  outgoing.writeHead(status, {
    "content-type": "application/json",
    "access-control-allow-origin": "*",
  });
  outgoing.end(JSON.stringify(body));
};

const refusal = (id: unknown, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

const unavailable = (outgoing: ServerResponse): void => {
  if (outgoing.headersSent) outgoing.destroy();
  else
    sendJson(outgoing, 503, refusal(null, -32603, "The local chain is being started again."));
};

const withoutHop = (headers: IncomingMessage["headers"]): IncomingMessage["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HEADERS_OF_ONE_HOP.has(name)));

/**
 * Headers of the request to the node. A POST forwards only the content type and the origin, so
 * that the node does not compress its answer. The OPTIONS request that a browser sends first keeps
 * its headers.
 */
const requestHeaders = ({ method, headers }: IncomingMessage): IncomingMessage["headers"] => {
  if (method !== "POST") return withoutHop(headers);
  const { origin } = headers;
  return { "content-type": "application/json", ...(origin === undefined ? {} : { origin }) };
};

interface Door extends Pick<GateOptions, "nodePort" | "submit"> {
  readonly agent: Agent;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
}

/**
 * Forwards a read-only request to the node. Retries once when the node ended meanwhile, because
 * reading changes nothing.
 */
const passOn = async (door: Door, exchange: Exchange, isAgain = false): Promise<void> => {
  const { incoming, outgoing, body } = exchange;
  const { agent, nodePort } = door;
  const to = await nodePort(PATIENCE_MS);
  if (to === null) {
    unavailable(outgoing);
    return;
  }
  const headers = { ...requestHeaders(incoming), "content-length": String(body.length) };
  const options = {
    host: "127.0.0.1",
    port: to,
    method: incoming.method,
    path: incoming.url,
    headers,
    agent,
  };
  const sent = request(options, (answer) => {
    readBody(answer, Infinity).then(
      // Writes the head and the body in one call.
      (bytes) => {
        const length = { "content-length": String(bytes?.length ?? 0) };
        outgoing
          .writeHead(answer.statusCode ?? 502, { ...withoutHop(answer.headers), ...length })
          .end(bytes);
      },
      () => outgoing.destroy(),
    );
  });
  sent.once("error", () => {
    if (outgoing.destroyed) return;
    if (outgoing.headersSent || isAgain) unavailable(outgoing);
    else setTimeout(() => void passOn(door, exchange, true), RETRY_MS);
  });
  outgoing.once("close", () => sent.destroy());
  sent.end(body);
};

/** Sends one read-only call of a batch to the node, and returns the JSON-RPC response. */
const ask = async (
  { nodePort }: Door,
  { id = null, method, params }: RpcCall,
): Promise<unknown> => {
  const to = await nodePort(PATIENCE_MS);
  if (to === null) return refusal(id, -32603, "The local chain is being started again.");
  const response = await fetch(`http://127.0.0.1:${String(to)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: params ?? [] }),
  });
  return response.json();
};

const answer = async (door: Door, call: RpcCall): Promise<unknown> => {
  const { id = null, method, params = [] } = call;
  const kind = kindOf(method);
  if (kind === "refused")
    return refusal(id, -32601, `A local chain that is kept does not take ${method}.`);
  if (kind === "read") return ask(door, call);
  if (!Array.isArray(params)) return refusal(id, -32602, "The parameters must be a list.");
  return { jsonrpc: "2.0", id, ...(await door.submit(method, params)) };
};

const change = async (door: Door, outgoing: ServerResponse, body: string): Promise<void> => {
  let parsed: z.output<typeof rpcBody>;
  try {
    parsed = rpcBody.parse(JSON.parse(body));
  } catch {
    sendJson(outgoing, 200, refusal(null, -32600, "This is no JSON-RPC call."));
    return;
  }
  if (!Array.isArray(parsed)) {
    sendJson(outgoing, 200, await answer(door, parsed));
    return;
  }
  // Starts the calls of the batch in order. Calls that change the chain then also run in order, and
  // may share a block.
  sendJson(outgoing, 200, await Promise.all(parsed.map((call) => answer(door, call))));
};

/**
 * Opens the port of a local chain. Read-only requests go straight to the node; calls that change
 * the chain go to `submit`. The port stays open while a node is replaced, and a request that
 * arrives meanwhile waits for the next node.
 * @throws Error when the port is taken
 */
export const openGate = async ({
  host,
  port,
  nodePort,
  submit,
}: GateOptions): Promise<Gate> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const door: Door = { agent, nodePort, submit };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await readBody(incoming, BODY_BYTES_MAX);
    if (body === null) {
      sendJson(outgoing, 413, refusal(null, -32600, "The request is too large."));
      return;
    }
    const text = incoming.method === "POST" ? body.toString("latin1") : "";
    if (incoming.method !== "POST" || onlyReads(text))
      await passOn(door, { incoming, outgoing, body });
    else await change(door, outgoing, body.toString("utf8"));
  };

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => unavailable(outgoing));
  });
  server.keepAliveTimeout = 60_000;
  const own = await listen(server, port, host);
  return {
    port: own,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
};

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
