import { Agent, request } from "node:http";
import { z } from "zod";

/** Time within which a node must answer a call. Otherwise the node counts as gone. */
const CALL_TIMEOUT_MS = 30_000;

/** A node's answer to one call: a result, or its own error object. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The node's process has ended or does not answer. */
export class NodeGoneError extends Error {
  constructor(cause: unknown) {
    super("The chain's node does not answer.", { cause });
    this.name = "NodeGoneError";
  }
}

export interface NodeClient {
  readonly port: number;
  /** @throws NodeGoneError */
  call(method: string, params: readonly unknown[]): Promise<Outcome>;
  /**
   * Like `call`, but returns the result without its envelope.
   * @throws NodeGoneError; Error when the node answers with an error
   */
  ask(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown>;
  close(): void;
}

const answer = z.object({ result: z.unknown().optional(), error: z.unknown().optional() });

const post = (agent: Agent, port: number, body: string, timeout: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const options = { host: "127.0.0.1", port, method: "POST", agent, headers, timeout };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    });
    sent.once("error", reject);
    sent.once("timeout", () => sent.destroy(new Error("The node took too long.")));
    sent.end(body);
  });

/** Sends calls to one node sequentially: each is sent after the previous one is answered. */
export const createNodeClient = (port: number): NodeClient => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (
    method: string,
    params: readonly unknown[],
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<Outcome> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const text = await post(agent, port, body, timeoutMs).catch((cause: unknown) => {
      throw new NodeGoneError(cause);
    });
    const { result = null, error } = answer.parse(JSON.parse(text));
    return error === undefined ? { result } : { error };
  };
  return {
    port,
    call,
    ask: async (method, params, timeoutMs) => {
      const outcome = await call(method, params, timeoutMs);
      if ("error" in outcome)
        throw new Error(`${method} failed: ${JSON.stringify(outcome.error)}`);
      return outcome.result;
    },
    close: () => agent.destroy(),
  };
};
