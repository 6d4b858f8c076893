import type { z } from "zod";
import { redactSecrets } from "@/lib/core/redaction";
import { rpcAnswer } from "./schema";

const DEADLINE_MS = 10_000;

/** The bundler answered with a JSON-RPC error. */
export class BundlerRefusal extends Error {
  constructor(
    readonly rpcCode: number,
    message: string,
  ) {
    // The bundler may quote its own node's URL, and this text is shown to callers.
    super(redactSecrets(message));
    this.name = "BundlerRefusal";
  }
}

/**
 * The bundler did not answer, or its answer could not be parsed, so we do not know whether it processed the request.
 */
export class BundlerUnreachable extends Error {
  constructor(method: string, cause: unknown) {
    super(`The bundler did not answer ${method}.`, { cause });
    this.name = "BundlerUnreachable";
  }
}

export interface RpcClient {
  /** @throws BundlerRefusal, BundlerUnreachable */
  call<T extends z.ZodType>(method: string, params: readonly unknown[], answer: T): Promise<z.output<T>>;
}

export const createRpcClient = (url: string, fetchFn: typeof fetch = fetch): RpcClient => {
  let lastId = 0;

  const ask = async (method: string, params: readonly unknown[]): Promise<z.output<typeof rpcAnswer>> => {
    try {
      const response = await fetchFn(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: (lastId += 1), method, params }),
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      return rpcAnswer.parse(await response.json());
    } catch (cause) {
      throw new BundlerUnreachable(method, cause);
    }
  };

  return {
    call: async (method, params, answer) => {
      const reply = await ask(method, params);
      if ("error" in reply) throw new BundlerRefusal(reply.error.code, reply.error.message);
      const parsed = answer.safeParse(reply.result);
      if (!parsed.success) throw new BundlerUnreachable(method, parsed.error);
      return parsed.data;
    },
  };
};
