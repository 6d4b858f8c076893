/** Keeps what a process sends to a chain's nodes within the chain's budget of requests. */
import type { Transport } from "viem";
import { DomainError } from "@/lib/core/errors";
import {
  createSharedBudget,
  type BudgetStore,
  type SharedBudget,
  type SharedBudgetOptions,
} from "@/lib/core/shared-budget";
import type { RpcFetch } from "./rpc-http";

const SEND = "eth_sendRawTransaction";

export interface RpcGate {
  /** Each call waits for its turn before the transport's own deadline begins. */
  transport(inner: Transport): Transport;
  /** Counts what is sent beyond the calls that waited: repeated ones, other URLs, parts of a search for logs or of a refused batch. */
  fetch(inner: RpcFetch): RpcFetch;
}

/** For a chain without a budget. */
export const OPEN_GATE: RpcGate = { transport: (inner) => inner, fetch: (inner) => inner };

const callsIn = (body: unknown): number => {
  if (typeof body !== "string" || !body.startsWith("[")) return 1;
  const batch: unknown = JSON.parse(body);
  return Array.isArray(batch) ? batch.length : 1;
};

export const gateOf = (budget: SharedBudget): RpcGate => {
  let underWay = 0;
  /** Of the calls under way, those that waited and were not sent yet. */
  let unsent = 0;
  return {
    transport: (inner) => (options) => {
      const made = inner(options);
      const request = async (
        args: { method: string; params?: unknown },
        requestOptions?: unknown,
      ): Promise<unknown> => {
        await budget.acquire(args.method === SEND ? "send" : "read");
        underWay += 1;
        unsent += 1;
        try {
          return await made.request(args as never, requestOptions as never);
        } finally {
          underWay -= 1;
          // A call that another one answered was not sent at all.
          unsent = Math.min(unsent, underWay);
        }
      };
      return { ...made, request: request as typeof made.request };
    },
    fetch: (inner) => (url, init) => {
      const calls = callsIn(init?.body);
      const awaited = Math.min(unsent, calls);
      unsent -= awaited;
      if (calls > awaited) budget.owe(calls - awaited);
      return inner(url, init);
    },
  };
};

interface ChainBudget {
  readonly chainId: number;
  readonly perSecond: number;
  readonly store: BudgetStore;
  readonly onWaited?: SharedBudgetOptions["onWaited"];
}

/** The gate of one chain in this process; all processes with the same store share the budget. */
export const createRpcGate = ({ chainId, perSecond, store, onWaited }: ChainBudget): RpcGate =>
  gateOf(
    createSharedBudget({
      chainId,
      perSecond,
      store,
      ...(onWaited === undefined ? {} : { onWaited }),
      onTimeout: () =>
        new DomainError(
          "chain_unavailable",
          `Too many requests wait for chain ${String(chainId)}, whose budget is RPC_BUDGET_${String(chainId)}. This one was not sent and moved nothing; try again shortly.`,
        ),
    }),
  );
