import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { keccak256, type Hex } from "viem";
import { z } from "zod";
import { behind, type Call } from "./lagging-node";

/**
 * The fault to apply to a call. In a batch, the kinds `error`, `swallow` and `lag` apply to single
 * calls, and the other kinds to the whole HTTP request.
 */
export type Fault =
  /** Never answers; the call does not reach the chain. */
  | { readonly kind: "hang" }
  /** Answers with an HTTP status; the call does not reach the chain. */
  | { readonly kind: "status"; readonly status: number }
  /** Answers with HTTP 200 and this text. */
  | { readonly kind: "garbage"; readonly body: string }
  | { readonly kind: "delay"; readonly ms: number }
  /** The chain executes the call, but its answer is lost. */
  | { readonly kind: "lose_answer" }
  /**
   * A JSON-RPC error in the wording of nodes (`already known`, `nonce too low`); the call does not
   * reach the chain.
   */
  | { readonly kind: "error"; readonly message: string; readonly code?: number }
  /**
   * Answers `eth_sendRawTransaction` with the hash as if it were accepted, but does not pass it to
   * the chain.
   */
  | { readonly kind: "swallow" }
  /** Simulates a node that is this many blocks behind. */
  | { readonly kind: "lag"; readonly blocks: number };

export interface Rule {
  readonly fault: Fault;
  /** The JSON-RPC methods that get the fault; all of them when absent. */
  readonly methods?: readonly string[];
  /**
   * Restricts the rule to some calls of `methods`. `batchSize` is the number of calls in the HTTP
   * request, and 0 when the call is not in a batch.
   */
  readonly when?: (one: Call, batchSize: number) => boolean;
  /** Number of matching calls that pass before the rule applies. */
  readonly after?: number;
  /** Number of matching calls to which the rule applies; by default all. */
  readonly times?: number;
}

export interface ActiveRule {
  /** Number of calls to which the rule was applied. */
  readonly hits: number;
  off(): void;
}

export type Stage = "before" | "after";

export interface FaultProxy {
  readonly url: string;
  /** Applies the rule until `off`. The first rule that matches a call is used. */
  on(rule: Rule): ActiveRule;
  /** Removes all rules. Hanging calls stay without an answer. */
  clear(): void;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /**
   * Called before each request is passed on, and again once the chain has answered. On `cut` the
   * connection is closed, as if the caller had died.
   */
  readonly watch?: (stage: Stage, methods: readonly string[]) => "go" | "cut";
}

const call = z.object({
  jsonrpc: z.string(),
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});
const answer = z.looseObject({ id: z.union([z.number(), z.string(), z.null()]) });
type Answer = z.output<typeof answer>;

const CALL_FAULTS = ["error", "swallow", "lag"] as const;
type CallFault = Extract<Fault, { kind: (typeof CALL_FAULTS)[number] }>;
const isCallFault = (fault: Fault): fault is CallFault =>
  CALL_FAULTS.some((kind) => kind === fault.kind);

/** Thrown when the connection is cut. */
class Cut extends Error {}

interface Kept extends Rule {
  seen: number;
  hits: number;
}

const SERVER_ERROR = -32000;

const rawHash = (one: Call): Hex =>
  keccak256(z.custom<Hex>((value) => typeof value === "string").parse(one.params[0]));

/** Passes the calls to the chain. Anvil answers batches in order. */
const forwardTo =
  (target: string) =>
  async (calls: readonly Call[]): Promise<Answer[]> => {
    if (calls.length === 0) return [];
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls),
    });
    return z.array(answer).parse(await response.json());
  };

type Forward = ReturnType<typeof forwardTo>;

const answerFaulty = async (forward: Forward, one: Call, fault: CallFault): Promise<Answer> => {
  const base = { jsonrpc: "2.0", id: one.id };
  switch (fault.kind) {
    case "error":
      return { ...base, error: { code: fault.code ?? SERVER_ERROR, message: fault.message } };
    case "swallow":
      return { ...base, result: rawHash(one) };
    case "lag":
      return { ...(await behind(forward, one, fault.blocks)), id: one.id };
  }
};

const reply = (response: ServerResponse, status: number, body: string): void => {
  response
    .writeHead(status, { "content-type": status === 200 ? "application/json" : "text/plain" })
    .end(body);
};

/**
 * A proxy between a client and a chain's JSON-RPC (HTTP, single calls and batches) that produces
 * the faults of its rules. Without rules it changes nothing.
 */
export const startFaultProxy = async (
  target: string,
  { watch }: FaultProxyOptions = {},
): Promise<FaultProxy> => {
  const rules = new Set<Kept>();
  const forward = forwardTo(target);

  const faultOf = (one: Call, batchSize: number): Fault | null => {
    for (const rule of rules) {
      if (rule.methods && !rule.methods.includes(one.method)) continue;
      if (rule.when?.(one, batchSize) === false) continue;
      rule.seen += 1;
      const isDue = rule.seen > (rule.after ?? 0) && rule.hits < (rule.times ?? Infinity);
      if (!isDue) continue;
      rule.hits += 1;
      return rule.fault;
    }
    return null;
  };

  const answersTo = async (
    calls: readonly Call[],
    faults: readonly (Fault | null)[],
  ): Promise<Answer[]> => {
    const sound = calls.filter(
      (_, index) => !faults.some((fault, at) => at === index && fault && isCallFault(fault)),
    );
    const sounds = new Map((await forward(sound)).map((one) => [one.id, one]));
    return Promise.all(
      calls.map(async (one, index) => {
        const fault = faults[index];
        if (fault && isCallFault(fault)) return answerFaulty(forward, one, fault);
        return (
          sounds.get(one.id) ?? {
            jsonrpc: "2.0",
            id: one.id,
            error: { code: SERVER_ERROR, message: "no answer" },
          }
        );
      }),
    );
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: unknown = JSON.parse(await text(request));
    const calls = Array.isArray(body) ? z.array(call).parse(body) : [call.parse(body)];
    const methods = calls.map(({ method }) => method);
    if (watch?.("before", methods) === "cut") throw new Cut();
    const faults = calls.map((one) => faultOf(one, Array.isArray(body) ? calls.length : 0));
    const whole = faults.find((fault) => fault !== null && !isCallFault(fault));
    if (whole?.kind === "hang") return;
    if (whole?.kind === "status") {
      reply(response, whole.status, "The node is ill.");
      return;
    }
    if (whole?.kind === "garbage") {
      reply(response, 200, whole.body);
      return;
    }
    if (whole?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, whole.ms));
    const answers = await answersTo(calls, faults);
    if (watch?.("after", methods) === "cut" || whole?.kind === "lose_answer") throw new Cut();
    reply(response, 200, JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  };

  const server = createServer((request, response) => {
    // When the chain is unreachable, the client's connection is closed.
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("The proxy has no port.");
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    on: (rule) => {
      const kept: Kept = { ...rule, seen: 0, hits: 0 };
      rules.add(kept);
      return {
        get hits() {
          return kept.hits;
        },
        off: () => {
          rules.delete(kept);
        },
      };
    },
    clear: () => rules.clear(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
