import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isFinal, type Status } from "@/lib/core/status";
import type { Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { FundsMovedError, fundsKeyOf, type FundsService } from "@/lib/modules/funds/service";
import type { UserOperationGas } from "@/lib/ports/bundler";
import type { RouteLeg, RouteRequest } from "@/lib/ports/routing";
import { toStored } from "@/lib/ports/routing-json";
import type { EventRow, NewOperation, OperationRow, OperationsRepository, OperationWithLegs } from "./repository";

export type { OperationWithLegs } from "./repository";

const RESERVE_TRIES_MAX = 5;
const EVENTS_PAGE = 100;
/** Notifications can be lost with a connection, so streams look by themselves this often. */
const EVENTS_POLL_MS = 2000;

export interface OperationsDeps {
  repository: OperationsRepository;
  funds: FundsService;
  clock: Clock;
  /** Wakes a waiting stream. */
  listener: { on(channel: string, handler: (payload: string) => void): () => void };
}

export interface StartOperation {
  projectId: string;
  kind: string;
  createdBy: string;
  request: RouteRequest;
  /** By source. */
  wallets: readonly { readonly id: string; readonly address: string }[];
  legs: readonly { readonly legId: string; readonly gas: UserOperationGas; readonly routeLeg: RouteLeg }[];
  /** Uses up what the operation comes from, in its transaction. False: it was used already, and nothing happens. */
  claim: (tx: Tx, operationId: string, now: Date) => Promise<boolean>;
}

const toRows = (input: StartOperation, operationId: string, now: Date): NewOperation => {
  const { request } = input;
  const minimumBase = input.legs.reduce((sum, { routeLeg }) => sum + routeLeg.minOutBase, 0n);
  const expectedBase = input.legs.reduce((sum, { routeLeg }) => sum + routeLeg.expectedOutBase, 0n);
  const sources = input.legs.map(({ routeLeg }) => {
    const source = request.sources[routeLeg.sourceIndex];
    const wallet = input.wallets[routeLeg.sourceIndex];
    if (!source || !wallet) throw new Error("A leg names a source that was not asked for.");
    return { source, wallet };
  });
  return {
    operation: {
      id: operationId,
      projectId: input.projectId,
      kind: input.kind,
      status: "pending",
      subStatus: "prepared",
      request: toStored(request),
      quoted: toStored({ expectedBase, minimumBase }),
      minimumBase: toDecimal(minimumBase),
      createdBy: input.createdBy,
      addresses: [...new Set([...request.sources.map((source) => source.owner), request.destination.recipient])],
      createdAt: now,
      updatedAt: now,
    },
    legs: input.legs.map(({ legId, gas, routeLeg }, position) => ({
      id: legId,
      operationId,
      position,
      walletId: sources[position]?.wallet.id ?? "",
      walletAddress: sources[position]?.source.owner ?? "",
      kind: routeLeg.kind,
      sourceChainId: sources[position]?.source.token.chainId ?? 0,
      destChainId: request.destination.token.chainId,
      state: "queued",
      routeLeg: toStored(routeLeg),
      amountBase: toDecimal(sources[position]?.source.amountBase ?? 0n),
      via: "user_operation",
      gas: toStored(gas),
      fromBlock: 0n,
      updatedAt: now,
    })),
    holds: input.legs.map(({ legId }, position) => {
      const source = sources[position]?.source;
      if (!source) throw new Error("A leg has no source.");
      return { ...fundsKeyOf(source), legId, amountBase: source.amountBase };
    }),
  };
};

/** Everything that moves money: accepted here, carried on by the driver, shown here. */
export const createOperationsService = ({ repository, funds, clock, listener }: OperationsDeps) => {
  /**
   * Accepts an operation; the workers carry it on. Null when `claim` says that it was accepted already.
   * @throws DomainError `insufficient_balance`, `chain_unavailable`
   */
  const start = async (input: StartOperation): Promise<OperationRow | null> => {
    const operationId = newId("operation");
    for (let attempt = 0; attempt < RESERVE_TRIES_MAX; attempt++) {
      const read = await funds.read(input.request.sources);
      const now = clock.now();
      const rows = toRows(input, operationId, now);
      try {
        const accepted = await repository.accept(rows, read, (tx) => input.claim(tx, operationId, now), now);
        return accepted ? await repository.find(operationId) : null;
      } catch (error) {
        if (!(error instanceof FundsMovedError)) throw error;
      }
    }
    throw new DomainError("invalid_state", "The wallet's balance keeps changing. Nothing was sent; try again.");
  };

  const get = async (projectId: string, id: string): Promise<OperationWithLegs> => {
    const operation = isId("operation", id) ? await repository.findInProject(projectId, id) : null;
    if (operation === null) throw notFound();
    return operation;
  };

  const list = async (
    projectId: string,
    query: { status?: Status | undefined; kind?: string | undefined; cursor?: string | undefined; limit: number },
  ): Promise<{ data: OperationWithLegs[]; nextCursor: string | null }> => {
    const rows = await repository.list({
      projectId,
      status: query.status,
      kind: query.kind,
      before: query.cursor,
      limit: query.limit + 1,
    });
    const data = rows.slice(0, query.limit);
    return { data, nextCursor: rows.length > query.limit ? (data.at(-1)?.id ?? null) : null };
  };

  /** Resolves at the next notification about the operation, after a while, or when `signal` aborts. */
  const nextChange = (operationId: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        unsubscribe();
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const timer = setTimeout(stop, EVENTS_POLL_MS);
      const unsubscribe = listener.on("operation_event", (payload) => {
        if (payload === operationId) stop();
      });
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
    });

  /** What happened after `afterSeq`, and what happens from now on, until the operation is final or `signal` aborts. */
  const events = async function* (
    operationId: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<EventRow> {
    let seq = afterSeq;
    while (!signal.aborted) {
      // Listening starts before reading, so that nothing falls in between.
      const change = nextChange(operationId, signal);
      const operation = await repository.find(operationId);
      const page = await repository.events(operationId, seq, EVENTS_PAGE);
      for (const event of page) {
        seq = event.seq;
        yield event;
      }
      if (page.length === EVENTS_PAGE) continue;
      if (operation === null || isFinal(operation.status)) return;
      await change;
    }
  };

  return { start, get, list, events };
};

export type OperationsService = ReturnType<typeof createOperationsService>;
