/** Runs `eth_getLogs` over any range on nodes that limit the range of one request. */
import {
  BaseError,
  HttpRequestError,
  numberToHex,
  RpcRequestError,
  type Transport,
} from "viem";
import { z } from "zod";
import type { LearntLimit } from "./learnt-limit";
import { RATE_LIMITED, STATE_MISSING } from "./node-errors";

const quantity = z.string().regex(/^0x[0-9a-f]+$/i);
const endBlock = z.object({ number: z.bigint(), hash: z.string() });
const rangedFilter = z.looseObject({ fromBlock: quantity, toBlock: quantity });
const rangedParams = z.tuple([rangedFilter.extend({ endBlock: endBlock.optional() })]);
type Filter = z.output<typeof rangedFilter>;

/**
 * A block that the answering node must have. Callers pass it as `endBlock` in the filter; it is not
 * sent to the node.
 */
export type EndBlock = z.output<typeof endBlock>;

/**
 * The answering node lacks the `endBlock` or has a different block at that number, so its logs may
 * be from another fork than the caller's.
 */
export class OtherChainError extends BaseError {
  constructor({ number, hash }: EndBlock) {
    super(`The node that was asked for logs does not have block ${String(number)} (${hash}).`);
  }
}

/**
 * HTTP statuses with which nodes reject a single request because of its content. Other statuses
 * (401, 429, 5xx) are about the account or the node.
 */
const REFUSING_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 414, 422]);
/**
 * JSON-RPC errors for which a smaller range does not help: a revert, an unknown method, invalid
 * JSON, a missing block or resource, and too many requests. Any other code may mean "range too
 * large", because providers have no common code for it.
 */
const OTHER_CODES: ReadonlySet<number> = new Set([
  3,
  -32601,
  -32700,
  STATE_MISSING,
  -32002,
  -32016,
  RATE_LIMITED,
  429,
]);

const mayBeTooLarge = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) =>
      (cause instanceof RpcRequestError && !OTHER_CODES.has(cause.code)) ||
      (cause instanceof HttpRequestError && REFUSING_STATUSES.has(cause.status)),
  ) !== null;

const hashed = z.object({ hash: z.string() });

type Ask = (filter: Filter) => Promise<unknown>;

/**
 * Requests one range after another. A refused range is halved, down to one block, and later ranges
 * of the call keep the smaller size.
 */
const collect = async (filter: Filter, limit: LearntLimit, ask: Ask): Promise<unknown[]> => {
  const last = BigInt(filter.toBlock);
  const logs: unknown[] = [];
  let size = BigInt(limit.current());
  let isRefused = false;
  for (let from = BigInt(filter.fromBlock); from <= last;) {
    const end = from + size - 1n < last ? from + size - 1n : last;
    try {
      const found = await ask({
        ...filter,
        fromBlock: numberToHex(from),
        toBlock: numberToHex(end),
      });
      for (const log of z.array(z.unknown()).parse(found)) logs.push(log);
      from = end + 1n;
    } catch (error) {
      if (end === from || !mayBeTooLarge(error)) throw error;
      size = (end - from + 1n) / 2n;
      isRefused = true;
    }
  }
  // Learnt only after the whole range was answered, because a node that lacks the newest blocks
  // refuses every range that ends there, of any size.
  if (isRefused) limit.learn(Number(size));
  return logs;
};

/**
 * Splits `eth_getLogs` with block numbers into ranges that the node accepts, and joins the logs in
 * order.
 */
export const withLogRanges =
  (transport: Transport, limit: LearntLimit): Transport =>
  (options) => {
    const made = transport(options);
    const request = async (
      args: { method: string; params?: unknown },
      requestOptions?: unknown,
    ): Promise<unknown> => {
      const ask = (params: unknown, method = args.method): Promise<unknown> =>
        made.request({ ...args, method, params } as never, requestOptions as never);
      // Both calls are made at the same time, so that they share a JSON-RPC batch and one node
      // answers both. One URL may lead to many nodes.
      const askOn = async (end: EndBlock, filter: Filter): Promise<unknown> => {
        const block = [numberToHex(end.number), false];
        const [logs, found] = await Promise.all([
          ask([filter]),
          ask(block, "eth_getBlockByNumber"),
        ]);
        if (hashed.safeParse(found).data?.hash.toLowerCase() !== end.hash.toLowerCase())
          throw new OtherChainError(end);
        return logs;
      };
      const ranged = args.method === "eth_getLogs" ? rangedParams.safeParse(args.params) : null;
      if (ranged?.success !== true) return ask(args.params);
      const [{ endBlock: end, ...filter }] = ranged.data;
      // A range that ends before it begins is not split, because nodes differ in how they answer
      // it.
      if (BigInt(filter.fromBlock) > BigInt(filter.toBlock)) return ask([filter]);
      return collect(filter, limit, (part) =>
        end === undefined ? ask([part]) : askOn(end, part),
      );
    };
    return { ...made, request: request as typeof made.request };
  };
